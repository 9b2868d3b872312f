"""Required texts, exact answers and numbers."""

from __future__ import annotations

import pytest

from evallib.checks import parse_check
from evallib.records import Sample, Verdict


def judged(kind: str, answer: str, **keys: object) -> Verdict:
    (verdict,) = parse_check({"id": "x", "check": kind, **keys})([Sample("r", "c", 1, answer=answer)])
    return verdict


def test_mentions_gives_the_share_and_names_what_is_missing():
    verdict = judged("mentions", "See KB-2210.", all_of=["KB-2210", ["proxy version", "version of the proxy"]])
    assert (verdict.value, verdict.passed, verdict.spans) == (0.5, False, (4, 11))
    assert verdict.reason == ("1 of 2 required texts are there; missing: 'proxy version' or 'version of the proxy'")


def test_mentions_without_share_is_all_or_nothing():
    assert judged("mentions", "a", all_of=["a", "b"], share=False).value == 0
    assert judged("mentions", "a b", all_of=["a", "b"], share=False).value == 1


@pytest.mark.parametrize("answer", ["KB-22100", "XKB-2210", "kb-2210-old", "KB_2210", "KB-2210_b"])
def test_a_longer_identifier_does_not_mention_the_shorter(answer):
    assert judged("mentions", f"see {answer} here", all_of=["KB-2210"]).passed is False


@pytest.mark.parametrize(
    ("text", "inside", "alone"),
    [
        ("/etc/fstab", ["/etc/fstab.bak", "x/etc/fstab", "/mnt/etc/fstab", "/etc/fstab/x", "/etc/fstab_o"],
         ["`/etc/fstab`", "/etc/fstab.", "host:/etc/fstab", "(/etc/fstab)", "/etc/fstab, x"]),
        ("/healthz", ["/healthz2", "/healthz/live"], ["http://web:8080/healthz", "GET /healthz", "acme.io/healthz"]),
        ("~/.ssh/config", ["~/.ssh/config.d", "x~/.ssh/config"], ["in ~/.ssh/config"]),
        ("C++", ["C++14", "AC++"], ["C++", "C++.", "(c++)"]),
        ("C#", ["C#9", "VC#"], ["C#, F#"]),
        (".NET", ["ASP.NET", ".NETX"], [".NET 8", "*.NET*"]),
        ("--force", ["--forced", "--force-all", "x--force"], ["`--force`", "git push --force."]),
        ("@dana", ["kim@dana", "@dana2"], ["@dana:", "ask @dana."]),
        ("values.yaml", ["values.yaml.bak", "my-values.yaml", "a.values.yaml"], ["charts/values.yaml", "values.yaml."]),
        ("acme.io", ["acme.io.evil.com", "notacme.io", "mail.acme.io"], ["https://acme.io/x", "acme.io."]),
        ("10 %", ["110 %"], ["10 %", "10 %of"]),
        ("\u00b0C", [], ["20\u00b0C", "20 \u00b0C"]),
        ("$5", ["$50"], ["US$5", "$5."]),
        ("/24", [], ["10.0.0.0/24"]),
        ("Next steps:", [], ["Next steps:restart"]),
        ("restart", [], ["Restart.Then wait"]),
    ],
)  # fmt: skip
def test_a_name_with_signs_in_it_is_not_found_inside_a_longer_one(text, inside, alone):
    found = {answer for answer in (*inside, *alone) if judged("mentions", f"see {answer} here", all_of=[text]).passed}
    assert found == set(alone)


@pytest.mark.parametrize("answer", ["(kb-2210)", "KB‑2210.", "**KB–2210**", "KB-2210, KB-1"])
def test_case_mark_up_and_the_kind_of_dash_do_not_matter(answer):
    verdict = judged("mentions", answer, all_of=["KB-2210"])
    assert verdict.passed is True
    assert answer[slice(*verdict.spans)].lower()[:2] == "kb"


@pytest.mark.parametrize("answer", ["Can’t\nsign in", "can't **sign** in"])
def test_quotes_and_blanks_are_taken_as_they_come(answer):
    assert judged("mentions", answer, all_of=["can't sign in"]).passed is True


def test_decomposed_letters_are_found():
    assert judged("mentions", "Cafe\u0301", all_of=["Café"]).spans == (0, 5)


def test_a_version_is_not_inside_a_longer_one():
    assert judged("mentions", "4.15.2", all_of=["4.15"]).passed is False
    assert judged("mentions", "Update to v4.15, then reboot.", all_of=["4.15"]).passed is True
    assert judged("mentions", "dev4.15", all_of=["4.15"]).passed is False
    assert judged("mentions", "It is 4.15.", all_of=["4.15"]).passed is True


def test_an_empty_list_requires_nothing():
    assert judged("mentions", "x", all_of=[]).reason == "nothing is required"


@pytest.mark.parametrize(
    ("answer", "passed"),
    [(" paris.\n", True), ("**Paris**", True), ("Paris, I think", False), ("", False), ("PARIS!", True)],
)
def test_exact_compares_the_bare_answer(answer, passed):
    assert judged("exact", answer, any_of=["Paris"]).passed is passed


@pytest.mark.parametrize(
    ("answer", "expected", "passed"),
    [
        ("4,183", 4183, True),
        ("4\u00a0183 hosts", 4183, True),
        ("4.183", 4183, False),
        ("m+n = 256+37 = 293.", 293, True),
        ("between 3-5", 5, False),
        ("it is \u22125 degrees", -5, True),
        ("60 or 75", 75, False),
        ("75 or 75", 75, True),
        ("Of 100 hosts, 60% are ready", 60, False),
        ("no idea", 1, False),
        ("I don't think it's 12.", 12, False),
    ],
)
def test_number_reads_the_last_number(answer, expected, passed):
    assert judged("number", answer, equals=expected).passed is passed


def test_number_says_why_it_did_not_compare():
    assert judged("number", "60%", equals=60).reason == "the last number, 60, is a percentage: not compared"
    assert judged("number", "60 %", equals=60, percent=True).passed is True
    assert judged("number", "4.183", equals=4183).reason.startswith("ambiguous: 4.183 is 4.183 or 4183")


def test_number_may_be_off_by_its_tolerance():
    assert judged("number", "3.14", equals=3.14159, tolerance=0.01).passed is True
    assert judged("number", "3.1", equals=3.14159, tolerance=0.01).passed is False
