"""No credential leaves a stored answer by another door: the log, strict's words, the diff, frames and exports."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evallib.adjudication import make_reading, make_resolution
from evallib.checks.folding import UNSEEN
from evallib.cli import main
from evallib.concordance.disputes import disputes
from evallib.desk.session import ReviewSession
from evallib.desk.sheet_lines import sheet_lines
from evallib.desk.tables import queue_frame, seen_readings
from evallib.errors import InputError
from evallib.exhibits.run import open_exhibits
from evallib.masking import Masks
from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.standing import standing_readings
from evallib.store import append_entry, import_run, read_log
from evallib.views.readings import export_readings

SECRET = "S3cretPassw0rd99x"
SUITE = f"""\
suite: leaky
recorded: true
checks:
  - {{id: policy, check: recorded, critical: true, description: 'password: {SECRET} is not told'}}
cases:
  - {{id: t-001, title: 'password={SECRET}', steps: [{{ask: 'Why?'}}]}}
"""


@pytest.fixture
def run(tmp_path):
    """Two answers that say the credential without its name; only a tool's result names it."""
    samples, verdicts = [], []
    for number, passed in ((1, False), (2, True)):
        said = f"It is {SECRET}, as I said." if passed else f"So type {SECRET} there."
        call = ToolCall("get", {}, f"password: {SECRET}")
        samples.append(
            Sample("leaky", "t-001", number, turns=(Turn(1, "Why?", said, (call,) * (number == 1)),), answer=said)
        )
        value = float(passed)
        verdicts.append(
            Verdict("t-001", number, "policy", "scored", f"says {SECRET}", value, value, passed, critical=True)
        )
    return import_run(tmp_path / "data", "leaky", SUITE, samples, verdicts, target={}, source={})


def test_the_log_keeps_no_credential_in_what_strict_said(run):
    for check in ("", "policy"):
        assert SECRET not in make_reading(run, "t-001", 1, reading="fail", author="Ann", blind=True, check=check).strict


def test_a_sheet_shows_none_blind_or_revealed(run, tmp_path):
    session = ReviewSession([run], tmp_path / "log", "Ann")
    item = next(item for item in session.queue if item.sample == 1)
    assert SECRET not in repr(session.sheet(item))
    session.decide(item, "pass")
    assert SECRET not in repr(session.sheet(item))
    assert SECRET not in "".join(sheet_lines(session.sheet(item)))
    assert SECRET in repr(session.sheet(item, unmasked=True))


def test_a_diff_masks_what_either_record_names(run, tmp_path):
    session = ReviewSession([run], tmp_path / "log", "Ann", blind=False)
    item = next(item for item in session.queue if item.sample == 1)
    said = "".join(piece.text for piece in session.diff(item))
    assert "type" in said
    assert SECRET not in said


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_frames_and_exports_show_none_also_of_entries_that_hold_one(run, tmp_path, ending):
    log, out = tmp_path / "log", tmp_path / f"out.{ending}"
    made = make_reading(run, "t-001", 1, reading="pass", author="Ann", reason=f"{SECRET} is no password", cause="other")
    append_entry(log, made.model_copy(update={"strict": f"fail: says {SECRET}"}))
    session = ReviewSession([run], log, "Ann", blind=False)
    assert SECRET not in queue_frame(session).iloc[:1].to_csv()
    assert SECRET not in seen_readings(session).to_csv()
    export_readings([run], read_log(log), out)
    assert SECRET not in out.read_text("utf-8")


_UNSEEN = st.from_regex(f"[{UNSEEN}]{{1,3}}", fullmatch=True)


@given(st.integers(1, len(SECRET) - 1), _UNSEEN)
def test_what_shows_nothing_inside_a_credential_does_not_unmask_it(place, unseen):
    cut = SECRET[:place] + unseen + SECRET[place:]
    for named, again in ((SECRET, cut), (cut, SECRET), (cut, cut)):
        masked = Masks([f"password: {named}"]).mask(f"so I typed {again}!")
        assert SECRET[4:] not in "".join(c for c in masked if c in SECRET)
        assert masked.endswith("!")
        assert again not in masked


def shown(capsys, run, *arguments):
    capsys.readouterr()
    folders = ["--data", str(run.folder.parent.parent), "--adjudications", str(run.folder.parent.parent / "log")]
    assert main(["show", "leaky", *arguments, *folders]) == 0
    return capsys.readouterr().out


def test_show_prints_none_unless_asked(run, capsys):
    for arguments in ([], ["--case", "t-001"], ["--failing"]):
        assert SECRET not in shown(capsys, run, *arguments)
    printed = shown(capsys, run, "--failing")
    assert "S3cr... (17 characters)" in printed
    assert f"So type {SECRET} there." in shown(capsys, run, "--failing", "--unmasked")


def test_what_readers_said_is_printed_and_listed_without(run, capsys):
    log = run.folder.parent.parent / "log"
    for author, word in (("Ann", "pass"), ("Bo", "fail")):
        append_entry(log, make_reading(run, "t-001", 1, reading=word, author=author, reason=f"it says {SECRET}"))
    readings = standing_readings(run, read_log(log))
    append_entry(log, make_resolution(run, ("t-001", 1, ""), readings, author="Cy", reading="fail", reason=SECRET))
    assert shown(capsys, run, "--readings").count("S3cr... (17 characters)") == 3
    assert SECRET not in shown(capsys, run, "--readings")
    (dispute,) = disputes([run], read_log(log))
    assert SECRET not in json.dumps(dispute.as_dict())
    assert SECRET in repr(read_log(log)), "the log itself keeps what a reader typed"


def test_the_run_notebook_shows_none(run, tmp_path):
    exhibits = open_exhibits("leaky", data=run.folder.parent.parent, adjudications=tmp_path / "log")
    assert SECRET not in exhibits.failing()
    assert "S3cr... (17 characters)" in exhibits.failing()
    assert SECRET not in exhibits.samples().to_json()


def test_a_reader_is_told_once_that_their_reason_would_put_one_into_the_log(run, tmp_path):
    session = ReviewSession([run], tmp_path / "log", "Ann")
    item = next(item for item in session.queue if item.sample == 1)
    session.decide(item, "pass")
    said = {"cause": "other", "reason": f"to type {SECRET} is fine"}
    with pytest.raises(InputError, match=r"S3cr\.\.\. \(17 characters\) is fine.*git keeps the log") as told:
        session.explain(item, **said)
    assert SECRET not in str(told.value)
    assert len(read_log(tmp_path / "log")) == 1
    assert session.explain(item, **said).entry.reason == said["reason"]
    with pytest.raises(InputError, match="holds a credential"):
        session.decide(item, "fail", cause="other", reason=f"{SECRET} again")
    session.decide(item, "unsure", cause="other", reason="the password is told")
