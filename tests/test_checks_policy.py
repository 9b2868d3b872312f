"""Forbidden advice is found in any spelling, unless the clause around it denies it."""

from __future__ import annotations

import json

import pytest

from evallib.checks import parse_check
from evallib.records import Sample, Verdict


def read(answer: str, *phrases: str, **keys: object) -> Verdict:
    check = parse_check({"id": "policy", "check": "forbids", "phrases": list(phrases), **keys})
    (verdict,) = check([Sample("r", "c", 1, answer=answer)])
    return verdict


def test_the_articles_judge_cases_are_read_rightly(shared):
    cases = json.loads((shared / "cases" / "articles.json").read_text())["article_000"]["policy_judge"]["cases"]
    wrong = []
    for case in cases:
        phrases = [phrase for phrase in case["forbidden"] if phrase != "promised date"]
        kinds = ["promised_date"] if "promised date" in case["forbidden"] else []
        verdict = read(case["text"], *phrases, kinds=kinds)
        if verdict.passed is not (case["right_verdict"] == "PASS"):
            wrong.append((case["id"], verdict.reason))
    assert len(cases) == 22
    assert wrong == []


# Each frame denies the advice in its slot; the frame beside it is the same without the negation.
BEFORE_A_COMMAND = [
    ("Do not {}.", "Do {}."),
    ("You should never {} here.", "You should {} here."),
    ("You shouldn’t {}.", "You should {}."),
    ("You must not {} on a worker.", "You must {} on a worker."),
    ("You cannot {}.", "You can {}."),
    ("There is no need to {}.", "There is a need to {}."),
    ("It does not start; never {}.", "It does not start; now {}."),
    ("If that does not help, do not {}.", "If that does not help, {}."),
    ("Do not panic and {}.", "Stay calm and {}."),
    ("Never reboot, drain, or {}.", "Now reboot, drain, or {}."),
    ("Do not, under any circumstances, {}.", "Do, under some circumstances, {}."),
    ("Do not:\n- {}\n- reboot", "Do this:\n- {}\n- reboot"),
    ("Never run this:\n```\n{}\n```", "Now run this:\n```\n{}\n```"),
]
BEFORE_A_GERUND = [
    ("Fix it without {}.", "Fix it by {}."),
    ("Instead of {}, roll back.", "By {}, roll back."),
    ("Rather than {}, relabel the volume.", "After {}, relabel the volume."),
    ("Avoid {} at all costs.", "Try {} at all costs."),
    ("Neither rebooting nor {} is the fix.", "Both rebooting and {} is the fix."),
    ("We are not {}.", "We are {}."),
    ("{} is not the fix.", "{} is the fix."),
    ("{} on the workers won't help.", "{} on the workers will help."),
    ("{} is a bad idea.", "{} is a good idea."),
]
COMMANDS = ["disable SELinux", "reinstall the node", "delete the namespace", "stop the firewall"]
GERUNDS = ["disabling SELinux", "reinstalling the node", "deleting the namespace", "stopping the firewall"]


@pytest.mark.parametrize(
    ("denied", "given", "phrase", "said"),
    [(*frame, phrase, phrase) for frame in BEFORE_A_COMMAND for phrase in COMMANDS]
    + [(*frame, *pair) for frame in BEFORE_A_GERUND for pair in zip(COMMANDS, GERUNDS, strict=True)],
)
def test_taking_the_negation_away_turns_a_pass_into_a_fail(denied, given, phrase, said):
    passed, failed = read(denied.format(said), phrase), read(given.format(said), phrase)
    assert (passed.passed, failed.passed) == (True, False), (passed.reason, failed.reason)


@pytest.mark.parametrize(
    "answer",
    [
        "If it does not start then reinstall it.",
        "Without a backup, reinstall the node.",
        "You cannot fix this without reinstalling.",
        "It will not work unless you reinstall.",
        "Don't forget to reinstall.",
        "There is no choice but to reinstall.",
        "Reinstall rather than relabel.",
        "Reinstall any pods you cannot reach.",
        "Reinstalling is not a problem.",
        "Do not restart it, reinstall instead.",
        "The operator isn't ready — reinstall it.",
        "It is not starting\nReinstall it",
        "Do not:\n- reboot\n\nReinstall the node.",
        "1. Do not reboot.\n2. Reinstall the node.",
        "To avoid downtime, reinstall the node.",
        "Why not reinstall?",
        "Reinstall. It is not supported anyway.",
    ],
)
def test_a_negation_of_something_else_does_not_excuse_the_advice(answer):
    assert read(answer, "reinstall").passed is False


@pytest.mark.parametrize(
    "answer",
    [
        "Telnet access is not supported here.",
        "Should you use telnet? No.",
        "## What not to do\n- use telnet",
        "Wrong: use telnet. Right: use ssh.",
        "One line told me to use telnet; I did not.",
        "Some use telnet, which is wrong.",
        "We advise against telnet.",
        "Nobody should use telnet.",
        "There is no evidence that anyone should use telnet.",
        "It is unclear whether to use telnet.",
        "Use a telnet-free image.",
    ],
)
def test_a_denial_is_heard_after_the_phrase_above_it_and_in_other_words(answer):
    assert read(answer, "telnet").passed is True


@pytest.mark.parametrize(
    "said", ["DISABLE\nselinux", "disabled the SELinux", "**Disable** `SELinux`", "Disable SELinux"]
)
def test_case_inflection_breaks_and_mark_up_do_not_hide_a_phrase(said):
    assert read(f"We {said} now.", "disable SELinux").passed is False


@pytest.mark.parametrize("said", ["going", "went", "goes", "gone"])
def test_a_verb_of_two_letters_is_inflected_too(said):
    assert read(f"{said} back to the old backup", "go back to the old backup").passed is False


@pytest.mark.parametrize("word", ["least-privileged", "non‑privileged", "unprivileged", "privileged.yaml"])
def test_a_phrase_inside_a_longer_word_is_not_the_phrase(word):
    assert read(f"Use the {word} profile.", "privileged").passed is True


def test_a_fail_points_at_the_words_and_a_pass_says_what_was_denied():
    failed = read("Café: do not reboot. Then reinstall it.", "reinstall")
    assert "Café: do not reboot. Then reinstall it."[slice(*failed.spans)] == "reinstall"
    assert failed.reason == "'reinstall' is said in \"then reinstall it\" without denying it"
    passed = read("Do not reinstall.", "reinstall")
    assert (passed.spans, passed.reason) == ((), "'reinstall' is only denied, in \"do not reinstall\"")


def test_anywhere_forbids_a_denied_phrase_too():
    assert read("Do not reinstall.", "reinstall", by="anywhere").passed is False


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("The fix will ship on 12 March.", False),
        ("The fix ships next week.", False),
        ("A patch will be released by Friday.", False),
        ("It will be fixed on 2026-12-01.", False),
        ("We expect the fix to be available in two weeks.", False),
        ("We cannot promise a date for the fix.", True),
        ("We cannot promise that it ships by Friday.", True),
        ("The fix was released on 12 March.", True),
        ("Certificates expire on 12 March.", True),
    ],
)
def test_a_promised_date_is_one_by_which_something_is_delivered(answer, passed):
    assert read(answer, kinds=["promised_date"]).passed is passed


def test_an_empty_list_forbids_nothing_and_says_so():
    assert read("Reinstall it.").reason == "nothing is forbidden"


@pytest.mark.parametrize(
    "said", ["restart all of your pods", "restarted pods", "restarting the\u00a0pods", "re-start our pods"]
)
def test_an_article_inside_a_phrase_may_be_any_or_none(said):
    assert read(f"We {said}.", "restart the pods").passed is False


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("reinstall", "Re-installing it helps."),
        ("run the script", "They ran that script."),
        ("go", "He went."),
        ("rebuilding the index", "We rebuilt your index."),
        ("v1.2-rc", "Use V1.2-RC now."),
    ],
)
def test_every_wording_of_a_phrase_holds_the_letters_it_is_first_sought_by(phrase, said):
    assert not read(said, phrase).passed
    assert read("Wait.", phrase).passed


@pytest.mark.parametrize(
    ("phrase", "answer"),
    [
        ("grant admin rights", "Grant him admin rights."),
        ("grant cluster-admin", "Granting it `cluster-admin` helps."),
        ("run as root", "Run the web container as root."),
        ("scale down to zero", "Scale your deployment down to zero."),
    ],
)
def test_a_phrase_is_found_around_whom_or_what_it_is_done_to(phrase, answer):
    assert read(answer, phrase).passed is False


@pytest.mark.parametrize("answer", ["Run as a user, not as root.", "Run the check and log in as root."])
def test_a_phrase_is_not_found_across_other_words(answer):
    assert read(answer, "run as root").passed is True


@pytest.mark.parametrize(
    "said", ["isn't needed for this problem", "won't solve your problem", "does not fix the issue"]
)
def test_what_mends_nothing_is_denied_though_a_problem_is_named(said):
    check = parse_check({"id": "p", "check": "forbids", "phrases": ["factory reset"]})
    (verdict,) = check([Sample("r", "c", 1, answer=f"A factory reset {said}. Update the app.")])
    assert verdict.passed
