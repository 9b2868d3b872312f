"""A bundle holds all that is published of some runs, and whatever is changed in it afterwards is found out."""

import hashlib
import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evallib.adjudication import make_reading
from evallib.cli import main
from evallib.entries import Withdrawal
from evallib.errors import IncompleteError, InputError
from evallib.publishing.bundle import make_bundle
from evallib.publishing.contents import concerning
from evallib.publishing.criteria import quiet
from evallib.publishing.parts import MANIFEST, derived, facts_of, manifest_text
from evallib.publishing.proof import bundle_digest, is_bundle, prove
from evallib.publishing.quoted import figure_rows
from evallib.records import POST_HOC_LABEL
from evallib.rescoring.apply import rescore
from evallib.rescoring.upholding import upheld
from evallib.rule import load_rule
from evallib.store import append_entry, open_run, read_log
from evallib.store.files import sha256_of
from tests.licensing import citing
from tests.making import SUITE, code_suite, stored_run

ENTRY = """\
kind: rescoring
slug: digit
author: r1
reason: "'4' is <b>four</b>"
changes: [{check: says, cases: [c-1], fix: widen, reason: "a digit\\nis as good", judgement: true}]
expects: [{run: r-1, case: c-1, sample: 2, to: pass}]
"""


def everything(folder: Path) -> tuple[Path, Path]:
    """Two runs rescored by one entry, of which the first was read, a third of the same suite, and one of another."""
    data, log = folder / "data", folder / "adjudications"
    runs = [
        stored_run(data, {"c-1": ["four", said], "c-2": ["six", "five"]}, run_id=name)
        for name, said in (("r-1", "it is 4"), ("r-2", "nine"))
    ]
    stored_run(data, {"c-1": ["four"]}, run_id="r-3")
    other = stored_run(data, {"c-1": ["four"]}, run_id="o-1", suite_text=SUITE.replace("suite: small", "suite: other"))
    (folder / "new.yaml").write_text(SUITE.replace("[four]", "[[four, '4']]"))
    said = {"reading": "pass", "cause": "too-narrow", "reason": "4 is four", "author": "r1"}
    read = append_entry(log, make_reading(runs[0], "c-1", 2, **said))
    (folder / "entry.yaml").write_text(citing(ENTRY, [read.id]))
    rescore(runs, folder / "new.yaml", folder / "entry.yaml", log)
    taken = append_entry(log, make_reading(runs[0], "c-2", 1, **said))
    append_entry(log, Withdrawal(author="r1", withdraws=taken.id, reason="misread"))
    append_entry(log, make_reading(other, "c-1", 1, **said))
    return data, log


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    data, log = everything(folder)
    return make_bundle(["r-1", "r-2"], folder / "bundle", data, log, pages=False)


@pytest.fixture
def bundle(published: Path, tmp_path: Path) -> Path:
    """A copy elsewhere, as of whoever fetched it: nothing else of its makers is there."""
    return Path(shutil.copytree(published, tmp_path / "fetched"))


def hashed_again(bundle: Path) -> Path:
    """The manifest of a forger who thinks of the hashes."""
    (bundle / MANIFEST).write_text(manifest_text(bundle))
    return bundle


def test_a_bundle_holds_the_originals_the_rescored_files_and_the_entries_about_them(bundle: Path) -> None:
    proof = prove(bundle)
    assert (proof.problems, is_bundle(bundle)) == ([], True)
    assert proof.checked == len([p for p in bundle.rglob("*") if p.is_file()]) - 1
    kinds = [logged.entry.kind for logged in read_log(bundle / "adjudications")]
    assert kinds == ["reading", "rescoring", "reading", "withdrawal"]
    for run in ("r-1", "r-2"):
        assert [one.name[11:] for one in open_run(run, bundle / "data").rescorings] == ["digit"]


def test_every_row_of_its_figures_carries_its_label(bundle: Path) -> None:
    rows = (bundle / "figures" / "figures.csv").read_text().splitlines()[1:]
    later = [row for row in rows if ",rescored:" in row or ",read," in row]
    assert later
    assert all(POST_HOC_LABEL in row for row in later)
    figures = json.loads((bundle / "figures" / "figures.json").read_text())["figures"]
    assert [(f["run"], f["view"].partition(":")[0], bool(f["label"])) for f in figures] == [
        ("r-1", "strict", False), ("r-1", "rescored", True), ("r-1", "read", True),
        ("r-2", "strict", False), ("r-2", "rescored", True),
    ]  # fmt: skip
    assert all(bool(f["cites"]) == (f["view"] != "strict") for f in figures)


def test_it_lists_runs_without_readings_and_what_was_left_out(bundle: Path) -> None:
    said = (bundle / "README.md").read_text()
    assert "Quoted without any reading: `r-2`." in said
    assert "left out: `r-3`." in said
    assert "not in this bundle: none." in said


def test_a_rescoring_of_more_runs_than_are_published_names_the_others(tmp_path: Path) -> None:
    data, log = everything(tmp_path)
    made = make_bundle(["r-2"], tmp_path / "bundle", data, log, pages=False)
    assert "not in this bundle: `r-1`." in (made / "README.md").read_text()
    assert not (made / "data" / "runs" / "r-1").exists()


def test_the_changelog_is_dated_by_check_and_shows_no_markup(bundle: Path) -> None:
    said = (bundle / "criteria.md").read_text()
    assert "\n## says\n" in said
    assert "widen · c-1 · by r1: a digit is as good" in said
    assert "a judgement call" in said
    assert "<b>" not in said
    assert "(c-1 2 fail to pass)" in said


def test_what_is_to_be_held_against_a_rescoring_stands_in_changelog_and_readme(bundle: Path) -> None:
    """Its author's reading licensed it; here a reading it cites is taken back, and the rule is another."""
    log = bundle / "adjudications"
    cited = next(one for one in read_log(log) if one.entry.kind == "rescoring").entry.readings[0]
    append_entry(log, Withdrawal(author="r1", withdraws=cited, reason="misread"))
    (log / "RULE.yaml").write_text((log / "RULE.yaml").read_text().replace("since: ", "since: '1999-01-01' # ", 1))
    forged_again(bundle)
    for name in ("criteria.md", "README.md"):
        said = (bundle / name).read_text().replace("\\", "")
        assert "licensed by nobody's reading but its author's own" in said
        assert f"cites {cited}, which was taken back since" in said
        assert "made under another rule than the one that holds now: its text is RULE.yaml beside the rescored" in said
    assert prove(bundle, redraw=False).problems == []


@pytest.mark.parametrize("text", ["<script>", "[a](http://x)", "a|b", "# no", "`x`", "**x**", "a\n\n# b"])
def test_a_written_text_does_nothing_in_markdown(text: str) -> None:
    from nbconvert.filters import markdown2html

    page = str(markdown2html(f"- {quiet(text)}"))
    assert not any(tag in page for tag in ("<script", "<a ", "<h1", "<code", "<strong", "<table"))


def changed_byte(bundle: Path) -> None:
    path = bundle / "data/runs/r-1/samples.parquet"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


def removed_entry(bundle: Path) -> None:
    readings = (bundle / "adjudications").rglob("*-reading-*.yaml")
    next(path for path in readings if "case: c-1" in path.read_text()).unlink()


def removed_rescoring(bundle: Path) -> None:
    next((bundle / "adjudications").rglob("*-rescoring-*.yaml")).unlink()


def edited_figure(bundle: Path) -> None:
    path = bundle / "figures/figures.json"
    path.write_text(path.read_text().replace('"pass_rate": 0.75', '"pass_rate": 0.95', 1))


def edited_row(bundle: Path) -> None:
    path = bundle / "figures/figures.csv"
    path.write_text(path.read_text().replace(POST_HOC_LABEL, "", 1))


def edited_chart(bundle: Path) -> None:
    path = bundle / "figures/r-1/reliability.json"
    path.write_text(path.read_text().replace('"value": 0.75', '"value": 0.95', 1))


def edited_page(bundle: Path) -> None:
    path = bundle / "README.md"
    path.write_text(path.read_text().replace("`r-2`", "none"))


def left_out_run(bundle: Path) -> None:
    shutil.rmtree(bundle / "data/runs/r-2")
    path = bundle / "bundle.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps({**facts, "runs": ["r-1"], "without_readings": [], "elsewhere": ["r-2"]}))


def added_run(bundle: Path) -> None:
    shutil.copytree(bundle / "data/runs/r-1", bundle / "data/runs/r-9")


def edited_verdicts(bundle: Path) -> None:
    first, second = bundle / "data/runs/r-1", bundle / "data/runs/r-2"
    (name,) = (path.name for path in (first / "rescored").iterdir())
    shutil.copyfile(second / "rescored" / name / "verdicts.parquet", first / "rescored" / name / "verdicts.parquet")


_FORGERIES = (
    changed_byte, removed_entry, removed_rescoring, edited_figure, edited_row, edited_chart, edited_page, left_out_run,
    added_run, edited_verdicts,
)  # fmt: skip


@pytest.mark.parametrize("forge", _FORGERIES)
def test_a_forgery_is_found_out_also_where_the_hashes_were_made_to_fit(bundle: Path, forge) -> None:
    forge(bundle)
    assert prove(hashed_again(bundle), redraw=forge is edited_chart).problems


def rewritten(path: Path, forge: Callable[[list[Any]], object]) -> None:
    """A table of verdicts with rows that somebody changed."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    forge(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def all_pass(rows: list[Any]) -> None:
    for row in rows:
        row["passed"] = True


def invented(bundle: Path, forge: Callable[[list[Any]], object] = all_pass, run: str = "r-1") -> Path:
    """Other rescored verdicts, with entry, facts, figures, texts and hashes made anew to fit."""
    log, folder = bundle / "adjudications", bundle / "data" / "runs" / run
    (rescored,) = (folder / "rescored").iterdir()
    path = rescored / "verdicts.parquet"
    was = sha256_of(path)
    rewritten(path, forge)
    (twin,) = log.rglob("*-rescoring-*.yaml")
    content = twin.read_text().replace(was, sha256_of(path)).encode()
    twin.unlink()
    twin.with_name(f"{twin.stem[:-12]}{hashlib.sha256(content).hexdigest()[:12]}.yaml").write_bytes(content)
    for entry in bundle.glob("data/runs/*/rescored/*/entry.yaml"):
        entry.write_bytes(content)
    return forged_again(bundle)


def forged_again(bundle: Path) -> Path:
    """All that follows from runs and entries, made anew by the package's own functions."""
    facts = json.loads((bundle / "bundle.json").read_text())
    facts |= facts_of(bundle, facts["runs"])
    (bundle / "bundle.json").write_text(json.dumps(facts))
    for place, text in derived(bundle, facts).items():
        (bundle / place).write_bytes(text)
    return hashed_again(bundle)


def test_invented_verdicts_do_not_bear_out_the_flips_of_their_entry(bundle: Path) -> None:
    first, second = prove(invented(bundle), redraw=False).problems
    assert "check 'says' on sample 1 of case 'c-2' of run 'r-1' is pass there, and fail by the criteria" in first
    assert "sample 1 of case 'c-2' of run 'r-1' flips from fail to pass by the verdicts" in second
    assert "does not flip by the entry" in second


@pytest.mark.parametrize("origin", ["computed", "carried"])
def test_a_rescored_verdict_that_was_changed_without_a_flip_is_named(bundle: Path, origin: str) -> None:
    """By a forger who made entry, figures, texts and hashes anew to fit."""
    invented(bundle, lambda rows: next(row for row in rows if row["origin"] == origin).update(value=0.5))
    (problem,) = prove(bundle, redraw=False).problems
    assert re.search(r"check '\w+' on sample 1 of case 'c-1' .* is pass there, and pass by .*its value", problem)


def test_strict_verdicts_are_computed_again_too(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["verify", str(bundle / "data" / "runs" / "r-1"), "--adjudications", str(bundle / "adjudications")]
    assert main(given) == 0
    assert "16 of 16 verdicts were computed again from answers and criteria\n" in capsys.readouterr().out
    path = bundle / "data" / "runs" / "r-1" / "verdicts.parquet"
    was = sha256_of(path)
    rewritten(path, lambda rows: rows[-1].update(weight=7.0))
    for text in (path.with_name("run.json"), *bundle.rglob("*.yaml")):
        text.write_text(text.read_text().replace(was, sha256_of(path)))
    (problem,) = upheld(open_run("r-1", bundle / "data"), []).problems
    assert "its value, hits, weight or origin differ" in problem


def test_no_code_of_a_stored_suite_is_run_to_verify_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = code_suite('return 1, "so"', "- {id: full, check: not_empty}")
    run = stored_run(tmp_path, {"c-1": ["four"]}, suite_text=text)
    monkeypatch.setattr("evallib.checks.code.evaluate", None)
    assert upheld(run, []) == ([], 1, 2)
    path = run.folder / "verdicts.parquet"
    rewritten(path, lambda rows: rows.remove(next(row for row in rows if row["check_id"] == "x")))
    run.manifest["files"][path.name] = sha256_of(path)
    (problem,) = upheld(run, []).problems
    assert "check 'x' on sample 1 of case 'c-1' of run 'r-1' is missing there" in problem


def test_verify_of_a_data_folder_folds_rescored_verdicts_too(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--adjudications", str(bundle / "adjudications")]
    assert main(["verify", str(bundle / "data"), *given]) == 0
    invented(bundle)
    assert main(["verify", str(bundle / "data"), *given]) == 2
    assert "sample 1 of case 'c-2' of run 'r-1' flips from fail to pass" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("said", "instead", "told"),
    [
        ("carried: 6", "carried: 7", "2 recomputed and 6 carried"),
        ("missed: []", "missed: [{run: r-1, case: c-2, sample: 1, to: pass}]", "missed are not those"),
        ("expected: true", "expected: false", "its score, checks or prediction differ"),
        ("case_id: c-1", "kase: c-1", "does not say what flipped"),
    ],
)
def test_counts_and_predictions_of_an_entry_follow_from_its_verdicts(
    bundle: Path, said: str, instead: str, told: str
) -> None:
    (folder,) = (bundle / "data" / "runs" / "r-1" / "rescored").iterdir()
    text = (folder / "entry.yaml").read_text()
    assert said in text, text
    (folder / "entry.yaml").write_text(text.replace(said, instead, 1))
    (problem,) = upheld(open_run("r-1", bundle / "data"), read_log(bundle / "adjudications")).problems
    assert told in problem


@pytest.mark.parametrize("shown", ["<td>", '<td data-of="strict">', '<td data-of="rescored:x (so)" class="long">'])
def test_the_table_on_a_page_is_found_however_a_narrow_screen_shows_it(bundle: Path, shown: str) -> None:
    rows = figure_rows("r-1", bundle / "data", bundle / "adjudications")
    cells = [f"{shown}{html.escape(cell)}</td>" for row in rows for cell in row]
    (bundle / "report").mkdir()
    page = bundle / "report" / "r-1.html"
    for text, told in (("".join(cells), False), ("".join(cells[:-1]), True)):
        page.write_text(text)
        assert any(str(page) in one for one in prove(hashed_again(bundle), redraw=False).problems) is told


def test_what_is_missing_or_too_much_is_named(bundle: Path) -> None:
    (bundle / "note.txt").write_text("x")
    (bundle / "criteria.md").unlink()
    (bundle / "link").symlink_to("bundle.json")
    said = " ".join(prove(bundle, redraw=False).problems)
    assert "note.txt: stands in the bundle but is not in its manifest" in said
    assert "criteria.md: is missing" in said
    assert "link: is a link" in said


@pytest.mark.parametrize("name", ["bundle.json", MANIFEST])
def test_without_its_own_two_files_it_proves_nothing(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    (problem,) = prove(bundle, redraw=False).problems
    assert name in problem


def test_a_missing_entry_is_named_with_the_figures_that_rest_on_it(bundle: Path) -> None:
    removed_entry(bundle)
    path = bundle / "bundle.json"
    facts = json.loads(path.read_text())
    here = {entry.stem for entry in (bundle / "adjudications").rglob("*.yaml")}
    path.write_text(json.dumps({**facts, "entries": [one for one in facts["entries"] if one in here]}))
    said = prove(hashed_again(bundle), redraw=False).problems
    assert any("on which the figures of r-" in one and "rest, is missing from" in one for one in said)


def test_a_bundle_is_proven_from_a_clean_clone(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.autocrlf=true"]
        subprocess.run(["git", *who, *words], cwd=bundle, check=True, capture_output=True)

    digest = bundle_digest(bundle)
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "x")
    git("clone", "-q", str(bundle), str(tmp_path / "clone"))
    shutil.rmtree(tmp_path / "clone" / ".git")
    monkeypatch.chdir(tmp_path)
    assert main(["verify", "clone"]) == 0
    assert bundle_digest(tmp_path / "clone") == digest


def test_a_bundle_in_a_repository_of_its_own_is_proven_too(bundle: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=bundle, check=True)
    assert prove(bundle, redraw=False).problems == []


def test_nothing_is_published_of_a_changed_or_an_incomplete_run(tmp_path: Path) -> None:
    data, log = everything(tmp_path)
    with (data / "runs/r-1/verdicts.parquet").open("ab") as file:
        file.write(b"x")
    with pytest.raises(InputError):
        make_bundle(["r-1"], tmp_path / "out" / "bundle", data, log, pages=False)
    (data / "runs/r-2/run.json").unlink()
    with pytest.raises(IncompleteError):
        make_bundle(["r-2"], tmp_path / "out" / "bundle", data, log, pages=False)
    assert not list((tmp_path / "out").glob("*")) if (tmp_path / "out").exists() else True


def test_a_folder_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    data, log = everything(tmp_path)
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "x").write_text("x")
    with pytest.raises(InputError, match="exists already and is never overwritten"):
        make_bundle(["r-1"], tmp_path / "bundle", data, log, pages=False)


def test_entries_of_other_runs_stay_out_and_what_takes_one_back_comes_along(tmp_path: Path) -> None:
    data, log = everything(tmp_path)
    found = concerning([open_run("o-1", data)], read_log(log), load_rule(log).rule)
    assert [logged.entry.kind for logged in found] == ["reading"]


@pytest.mark.slow
def test_the_command_writes_pages_too_and_prints_the_digest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, log = everything(tmp_path)
    out = tmp_path / "bundle"
    given = ["--data", str(data), "--adjudications", str(log), "--bundle", str(out)]
    assert main(["report", "r-3", *given, "--notebook", "run"]) == 2
    assert not out.exists()
    assert main(["report", "r-3", *given]) == 0
    assert bundle_digest(out) in capsys.readouterr().out
    page = (out / "report" / "r-3.html").read_text()
    assert str(tmp_path) not in page
    assert not [p for p in out.rglob("*") if p.is_file() and str(tmp_path).encode() in p.read_bytes()]
    assert main(["verify", str(out)]) == 0
    rate = next(row for row in figure_rows("r-3", out / "data", out / "adjudications") if row[0] == "pass_rate")
    (out / "report" / "r-3.html").write_text(re.sub(rf"(<td>pass_rate</td>\s*<td>){rate[1]}", r"\g<1>0.95", page))
    (problem,) = prove(hashed_again(out), redraw=False).problems
    assert "r-3.html: its 'pass_rate' is not what the run and the entries here give" in problem
