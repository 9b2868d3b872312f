"""The reviewer's screen without a browser: what is sent to it, what it may ask, what happens headless."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from ipywidgets import Widget

from evallib.desk.session import ReviewSession
from evallib.desk.tables import open_session
from evallib.errors import InputError
from evallib.records import Sample, Turn, Verdict
from evallib.scoring import score_samples
from evallib.store import import_run, open_run, read_log
from evallib.suite import parse_suite
from evallib.widgets import ReviewWidget, show_review
from evallib.widgets.payload import LONGEST
from tests.browser import NOTEBOOK, PAYLOAD, SUITE, notebook_copy, small_run

WIDGETS = NOTEBOOK.parent.parent / "evallib/widgets"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    small_run(folder)
    small_run(folder, "sibling")
    return folder


@pytest.fixture
def log(tmp_path):
    return tmp_path / "adjudications"


@pytest.fixture
def opened(data, log):
    def make(*runs, author="r1", **more):
        found = [open_run(run, data) for run in runs or ("small",)]
        return listening(ReviewWidget(ReviewSession(found, log, author, **more)))

    yield make
    Widget.close_all()


def listening(widget):
    widget.sent = []
    widget.send = widget.sent.append
    return widget


def tell(widget, kind, **content):
    widget._handle_custom_msg({"kind": kind, "seq": f"s-{len(widget.sent)}", **content}, [])
    return widget.sent[-1] if widget.sent else None


def look(widget):
    """All rows, and the sheets by case and sample."""
    end = len(widget.session.queue)
    found = tell(widget, "look", rows=[0, end], sheets=list(range(min(end, 7))))
    return found["rows"], {tuple(sheet["name"].split(" · ")[:2]): sheet for sheet in found["sheets"].values()}


def known_to_the_browser(widget):
    return json.dumps([widget.get_state(["legend", "position", "author"]), widget.sent])


def strict(widget, item):
    return widget.session.runs[item.run].verdicts_of[item.case, item.sample]


def test_while_blind_nothing_that_is_hidden_is_in_any_trait_or_message(opened):
    widget = opened("small", "sibling", author="r2")
    rows, _ = look(widget)
    item = rows[0]["id"]
    tell(widget, "skip", item=item)
    tell(widget, "next", item=item)
    tell(widget, "ask", item=item, what="unmask")
    tell(widget, "draft", item=item, draft={"reason": "x"})
    for what in ("diff", "history", "check"):
        refused = tell(widget, "ask", item=item, what=what)
        assert (refused["saved"], "hidden" in refused["says"]) == (False, True)
    sent = known_to_the_browser(widget)
    told = ["forbidden phrase", "is not named", "small", "sibling", "by hand", "agreeing", '["policy"]', "deciding"]
    assert [words for words in told if words in sent] == []
    assert "arm A" in sent
    assert "must not tell the user to switch SELinux off" in sent  # what to judge by is no secret


def test_a_reading_reveals_its_own_item_and_no_other(opened):
    widget = opened()
    _, sheets = look(widget)
    before = [sheet for sheet in sheets.values() if sheet["strict"]]
    reply = tell(widget, "decide", item=sheets["t-001", "1"]["id"], reading="pass")
    assert (before, reply["saved"], reply["sheet"]["stage"]) == ([], True, "explain")
    assert (reply["sheet"]["strict"]["word"], reply["sheet"]["strict"]["agreeing"]) == ("fail", "fail")
    assert ["setenforce 0", ["policy"], []] in reply["sheet"]["answer"]
    others = [s for s in look(widget)[1].values() if s["id"] != reply["sheet"]["id"]]
    assert [sheet["strict"] for sheet in others] == [None, None, None]


def test_the_rows_of_a_blind_queue_say_nothing_of_strict_even_when_read(opened):
    widget = opened()
    _, sheets = look(widget)
    tell(widget, "decide", item=sheets["t-001", "1"]["id"], reading="fail")
    rows, _ = look(widget)
    assert {row["note"] for row in rows} == {""}
    assert sorted(row["mark"] for row in rows) == ["", "", "", "fail"]


def test_a_sighted_queue_says_what_strict_says_in_its_rows(opened):
    rows, sheets = look(opened(blind=False))
    assert [row["note"] for row in rows] == ["strict fail", "strict fail", "strict fail", "strict pass"]
    assert all(sheet["strict"] for sheet in sheets.values())


def test_two_messages_store_a_difference_and_two_an_agreement(opened, log):
    widget = opened()
    _, sheets = look(widget)
    wrong, right = sheets["t-001", "1"]["id"], sheets["t-002", "2"]["id"]
    tell(widget, "decide", item=wrong, reading="pass", seconds=2.5)
    tell(widget, "explain", item=wrong, cause="negation-or-quoted", reason="it says not to")
    tell(widget, "decide", item=right, reading="pass")
    said = tell(widget, "explain", item=right)["says"]
    one, about, two, agreed = [logged.entry for logged in read_log(log)]
    assert (one.blind, one.seconds, one.reading, about.cause, about.reason) == (
        True, 2.5, "pass", "negation-or-quoted", "it says not to",
    )  # fmt: skip
    assert (two.reading, agreed.agrees, agreed.reason) == ("pass", True, "agrees")
    assert said == "Recorded t-002 · 2: agrees with strict. 2 of 4 read."


def test_a_message_that_comes_twice_is_saved_once_and_answered_twice(opened, log):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    for _ in range(2):
        assert tell(widget, "decide", item=item, reading="fail", seq="same")["saved"]
    assert len(read_log(log)) == 1


def test_a_decision_over_a_reading_that_was_not_shown_is_refused_and_shows_it(opened, log):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    first = tell(widget, "decide", item=item, reading="pass", base="", seq="first")
    refused = tell(widget, "decide", item=item, reading="fail", base="", seq="second")
    assert (first["saved"], refused["saved"], refused["sheet"]["strict"]["word"]) == (True, False, "fail")
    assert refused["says"] == (
        "your reading of t-001 · 1 is pass, which this screen did not show yet. "
        "Strict says fail: why do you differ? 1–9, 0, x. a amends."
    )
    assert tell(widget, "decide", item=item, reading="pass", base="", seq="first")["saved"]
    assert [logged.entry.reading for logged in read_log(log)] == ["pass"]
    base = refused["sheet"]["base"]
    assert tell(widget, "decide", item=item, reading="fail", base=base, seq="third")["saved"]
    assert [logged.entry.supersedes for logged in read_log(log)] == ["", base]


def test_two_screens_of_one_reader_show_what_the_other_said_with_the_first_refusal(opened, log):
    first, second = opened(), opened()
    sheet = look(first) and look(second)[1]["t-001", "1"]
    tell(first, "decide", item=sheet["id"], reading="pass", base="")
    refused = tell(second, "decide", item=sheet["id"], reading="fail", base="")
    assert (refused["saved"], refused["sheet"]["mine"]["reading"], refused["row"][1]["mark"]) == (False, "pass", "pass")
    assert refused["says"].startswith("your reading of t-001 · 1 is pass, which this screen did not show yet.")
    tell(first, "undo")
    refused = tell(second, "decide", item=sheet["id"], reading="fail", base=refused["sheet"]["base"])
    assert (refused["saved"], refused["sheet"]["mine"]) == (False, None)
    assert refused["says"].endswith("has no reading of yours, which this screen did not show yet. 0 of 4 read.")
    assert len(read_log(log)) == 2


def test_the_screen_is_told_what_its_queue_was_narrowed_by(opened):
    widget = opened()
    assert tell(widget, "filter", words=" case=t-001  open ")["words"] == "case=t-001 open"
    assert tell(widget, "filter", words="colour=red")["words"] == "case=t-001 open"
    assert tell(widget, "filter", words="case=t-002 case=t-002")["says"] == "2 items. 0 of 2 read."


def test_a_decision_names_its_item_so_that_it_cannot_land_on_the_next(opened, log):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    tell(widget, "go", position=3)
    tell(widget, "decide", item=item, reading="fail")
    assert (read_log(log)[0].entry.case, read_log(log)[0].entry.sample) == ("t-001", 1)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("decide", {"reading": ""}),
        ("decide", {"reading": "unsure"}),
        ("explain", {"reading": "pass"}),
        ("undo", {}),
        ("redo", {}),
        ("filter", {"words": "strict=fail"}),
        ("filter", {"words": "nonsense"}),
        ("delete", {}),
        ("ask", {"what": "everything"}),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(opened, log, kind, content):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    answer = tell(widget, kind, item=item, **content)
    assert (answer["saved"], read_log(log)) == (False, [])
    assert answer["says"]


def test_an_item_of_another_screen_is_refused(opened):
    answer = tell(opened(), "decide", item="0123456789abcdef", reading="pass")
    assert (answer["saved"], answer["says"]) == (False, "this item is of another queue; run the cell again")


def test_without_a_name_nothing_is_shown_and_the_name_makes_the_queue(opened):
    widget = opened(author="")
    look_refused = tell(widget, "look", rows=[0, 4])
    assert "sheets" not in look_refused or not look_refused["sheets"]
    answer = tell(widget, "author", author=" Ada ")
    assert (answer["saved"], answer["author"], widget.session.author) == (True, "Ada", "Ada")
    assert look(widget)[1]


def test_how_much_of_what_was_read_is_told_when_all_of_it_is(opened):
    widget = opened()
    ids = [sheet["id"] for sheet in look(widget)[1].values()]
    for item in ids:
        answer = tell(widget, "decide", item=item, reading="infra")
        assert ("coverage" in answer["progress"]) == (item == ids[-1])
    assert answer["progress"]["coverage"] == "small, strict fail: 3 of 3; small, strict pass: 1 of 1"


def test_a_refused_disk_is_said_to_the_reviewer(opened, log):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    log.rmdir() if log.is_dir() else None
    log.write_text("a file where the log should be")
    answer = tell(widget, "decide", item=item, reading="fail")
    assert (answer["saved"], answer["progress"]["read"]) == (False, 0)
    assert "is a file, not a folder" in answer["says"]


def test_withdrawing_goes_to_the_item_again_and_restoring_undoes_it(opened, log):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    tell(widget, "decide", item=item, reading="fail")
    undone = tell(widget, "undo")
    assert (undone["sheet"]["id"], undone["sheet"]["stage"], undone["sheet"]["blind"]) == (item, "read", False)
    assert tell(widget, "redo")["sheet"]["mine"]["reading"] == "fail"
    assert [logged.entry.kind for logged in read_log(log)] == ["reading", "withdrawal", "withdrawal"]


def test_a_draft_and_the_place_wait_for_the_next_screen(opened):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    tell(widget, "decide", item=item, reading="pass")
    assert tell(widget, "draft", item=item, draft={"cause": "too-narrow", "reason": "half a"})["saved"]
    tell(widget, "go", position=2)
    again = opened()
    assert again.position == 2
    assert look(again)[1]["t-001", "1"]["draft"] == {"cause": "too-narrow", "reason": "half a"}


def test_cited_text_is_stored_as_its_place_in_the_stored_answer(opened, log):
    widget = opened()
    item = look(widget)[1]["t-001", "1"]["id"]
    tell(widget, "decide", item=item, reading="fail", span=[11, 23])
    assert read_log(log)[0].entry.span == (11, 23)


def test_what_a_check_asked_for_is_told_from_what_it_forbids_even_where_both_failed(tmp_path):
    suite = """\
suite: two
checks:
  - {id: names, check: mentions, all_of: [alpha, beta], critical: true}
  - {id: policy, check: forbids, phrases: [gamma], critical: true}
cases: [{id: c-1, steps: [{ask: 'Why?'}]}]
"""
    answer = "alpha and gamma"
    sample = Sample("two", "c-1", 1, turns=(Turn(1, "Why?", answer),), answer=answer)
    verdicts = score_samples(parse_suite(suite, "two"), [sample])
    run = import_run(tmp_path, "two", suite, [sample], verdicts, target={}, source={})
    widget = listening(ReviewWidget(ReviewSession([run], tmp_path / "log", "r1", blind=False)))
    (sheet,) = look(widget)[1].values()
    assert sheet["answer"] == [["alpha", [], ["names"]], [" and ", [], []], ["gamma", ["policy"], []]]
    Widget.close_all()


def test_only_what_is_looked_at_is_in_the_browser(tmp_path):
    keys = [("t-001", number) for number in range(1, 501)]
    samples = [Sample("long", *key, answer="word " * 200) for key in keys]
    verdicts = [Verdict(*key, "policy", "scored", "no", 0.0, 0.0, passed=False, critical=True) for key in keys]
    run = import_run(tmp_path, "long", SUITE, samples, verdicts, target={}, source={})
    widget = listening(ReviewWidget(ReviewSession([run], tmp_path / "log", "r1")))
    found = tell(widget, "look", rows=[0, 500], sheets=list(range(500)))
    assert (len(found["rows"]), len(found["sheets"]), found["total"]) == (200, 7, 500)
    state = {name: value for name, value in widget.get_state().items() if name not in {"_esm", "_css"}}
    assert len(json.dumps(state)) < 5_000
    Widget.close_all()


def test_a_long_answer_comes_shortened_and_whole_when_asked_for(tmp_path):
    answer = "y" * LONGEST + "the end"
    sample = Sample("long", "t-001", 1, answer=answer)
    verdict = Verdict("t-001", 1, "policy", "scored", "no", 0.0, 0.0, passed=False, critical=True)
    run = import_run(tmp_path, "long", SUITE, [sample], [verdict], target={}, source={})
    widget = listening(ReviewWidget(ReviewSession([run], tmp_path / "log", "r1")))
    ((_, sheet),) = look(widget)[1].items()
    assert (sheet["answer"][0][0], sheet["left"], sheet["length"]) == ("y" * LONGEST, 7, LONGEST + 7)
    assert sheet["answer"][1][0] == "\n… 7 more characters are not shown here."
    whole = tell(widget, "ask", item=sheet["id"], what="whole")["sheet"]
    assert (whole["answer"], whole["left"], whole["strict"]) == ([[answer, [], []]], 0, None)
    Widget.close_all()


def test_text_is_sent_as_text_and_characters_that_hide_are_named(opened):
    _, sheets = look(opened())
    assert any(PAYLOAD in text for text, _, _ in sheets["t-001", "2"]["answer"])
    assert PAYLOAD in sheets["t-001", "2"]["folds"][0]["text"]


def test_the_screen_has_no_way_to_make_markup_of_a_text_and_fetches_nothing():
    script, style = ReviewWidget._esm, (WIDGETS / "review.css").read_text(encoding="utf-8")
    sinks = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|eval\(|Function\("
    )
    assert re.findall(sinks, script) == []
    assert re.findall(r"https?:|//cdn|^\s*import\b|\bfetch\(|@import|url\(", script + style, re.MULTILINE) == []


def test_every_key_of_the_help_is_a_key_that_does_something():
    keys = (WIDGETS / "js/keys.js").read_text(encoding="utf-8")
    review = (WIDGETS / "js/review.js").read_text(encoding="utf-8")
    tools = re.findall(r'^  \["(.)", "(\w+)",', keys, re.MULTILINE)
    assert len(tools) == 13
    assert [command for _, command in tools if not re.search(rf"^    {command}\b", review, re.MULTILINE)] == []


def test_a_jupyter_session_shows_the_screen_and_headless_a_plain_table(data, log, monkeypatch):
    session = open_session("small", data=data, adjudications=log)
    monkeypatch.setenv("JPY_SESSION_NAME", "adjudicate.ipynb")
    assert isinstance(show_review(session), ReviewWidget)
    assert isinstance(show_review(session, interactive=False), pd.DataFrame)
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert isinstance(show_review(session), pd.DataFrame)
    Widget.close_all()


def test_an_unknown_run_is_refused_with_the_known_ones(data, log):
    with pytest.raises(InputError, match="runs there: sibling, small"):
        open_session("smal", data=data, adjudications=log)


@pytest.mark.slow
def test_headless_the_notebook_shows_the_queue_and_decides_nothing(data, log, tmp_path, monkeypatch):
    papermill = pytest.importorskip("papermill")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOK.parent.parent))
    given = {"run": "small, sibling", "data": str(data), "adjudications": str(log), "query": "as=r1 case=t-001"}
    done = papermill.execute_notebook(NOTEBOOK, tmp_path / "out.ipynb", parameters=given, progress_bar=False)
    shown = [output.get("data", {}) for cell in done.cells for output in cell.get("outputs", [])]
    tables = [data["text/html"] for data in shown if "text/html" in data]
    assert any("t-001" in table and "arm B" in table for table in tables)
    assert not [table for table in tables if "t-002" in table]
    assert not [data for data in shown if "application/vnd.jupyter.widget-view+json" in data]
    assert "<img" not in "".join(tables)
    assert not Path(log).exists()


def test_a_copy_of_the_notebook_keeps_its_cells_and_takes_the_parameters(tmp_path):
    copy = json.loads(notebook_copy(tmp_path, run="small", query="as=r1").read_text())
    parameters = next(cell for cell in copy["cells"] if "parameters" in cell["metadata"].get("tags", []))
    assert "".join(parameters["source"]).endswith("run = 'small'\nquery = 'as=r1'\n")
    assert len(copy["cells"]) == len(json.loads(NOTEBOOK.read_text())["cells"])
