"""The reviewer's screen without a browser: what is sent to it, what it may ask, what happens headless."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from ipywidgets import Widget

from evallib.errors import InputError
from evallib.records import Sample, Verdict
from evallib.session import ReviewSession, open_session
from evallib.store import import_run, read_log
from evallib.widgets import ReviewWidget, show_review
from tests.browser import NOTEBOOK, PAYLOAD, SUITE, notebook_copy, small_run

WIDGETS = NOTEBOOK.parent.parent / "evallib/widgets"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    small_run(folder)
    return folder


@pytest.fixture
def log(tmp_path):
    return tmp_path / "adjudications"


@pytest.fixture
def widget(data, log):
    widget = ReviewWidget(open_session("small", data=data, adjudications=log))
    widget.sent = []
    widget.send = widget.sent.append
    yield widget
    Widget.close_all()


def decision(seq="a-1", **change):
    message = {"kind": "decide", "seq": seq, "id": {"case": "t-001", "sample": 1}, "author": "r1", "reading": "fail"}
    return {**message, "cause": "", "check": "", "reason": "it names the command", **change}


def receive(widget, message):
    widget._handle_custom_msg(message, [])
    return widget.sent[-1]


def test_one_message_saves_one_reading_and_is_answered_with_the_next_place(widget, log):
    answer = receive(widget, decision())
    ((_, entry),) = read_log(log)
    assert (entry.author, entry.case, entry.reading, entry.reason) == ("r1", "t-001", "fail", "it names the command")
    assert (answer["seq"], answer["saved"], answer["position"]) == ("a-1", True, 1)
    assert answer["says"] == "Recorded fail of t-001 · 1. 1 of 3 read."
    assert (widget.window["by"], widget.window["rows"][0]["state"]) == ("r1", "fail")


def test_a_message_that_comes_twice_is_saved_once_and_answered_twice(widget, log):
    assert receive(widget, decision()) == receive(widget, decision())
    assert (len(read_log(log)), len(widget.sent)) == (1, 2)


def test_a_decision_names_its_sample_so_that_it_cannot_land_on_the_next(widget, log):
    widget.position = 2
    receive(widget, decision())
    assert read_log(log)[0].entry.case == "t-001"


@pytest.mark.parametrize("change", [{"author": " "}, {"reason": "  "}, {"reading": ""}, {"check": "no-such-check"}])
def test_what_cannot_be_saved_is_said_and_nothing_moves(widget, log, change):
    answer = receive(widget, decision(**change))
    assert (answer["saved"], answer["position"], read_log(log)) == (False, 0, [])
    assert answer["says"]


def test_a_refused_disk_is_said_to_the_reviewer(widget, log):
    log.write_text("a file where the log should be")
    answer = receive(widget, decision())
    assert (answer["saved"], widget.window["read"]) == (False, 0)
    assert "is a file, not a folder" in answer["says"]


def test_taking_back_goes_to_the_sample_again(widget, log):
    receive(widget, decision())
    answer = receive(widget, {"kind": "undo", "seq": "a-2"})
    assert (answer["saved"], answer["position"], len(read_log(log))) == (True, 0, 2)
    assert receive(widget, {"kind": "undo", "seq": "a-3"})["saved"] is False


def test_only_a_window_of_a_long_queue_is_in_the_browser(tmp_path):
    keys = [("t-001", number) for number in range(1, 501)]
    samples = [Sample("long", *key, answer="word " * 200) for key in keys]
    verdicts = [Verdict(*key, "policy", "scored", "no", 0.0, 0.0, passed=False, critical=True) for key in keys]
    run = import_run(tmp_path, "long", SUITE, samples, verdicts, target={}, source={})
    widget = ReviewWidget(ReviewSession(run, tmp_path / "log", "r1"))
    widget.position = 250
    assert (widget.session.position, widget.window["start"]) == (250, 235)
    assert (len(widget.window["rows"]), sorted(widget.window["sheets"])[::6]) == (30, ["247", "253"])
    assert len(json.dumps(widget.get_state())) < 100_000
    Widget.close_all()


def test_an_answer_is_sent_as_pieces_of_text_with_its_hit_marked(widget):
    assert ["setenforce 0", ["policy"]] in widget.window["sheets"]["0"]["answer"]
    assert any(PAYLOAD in text for text, _ in widget.window["sheets"]["1"]["answer"])


def test_the_screen_has_no_way_to_make_markup_of_a_text_and_fetches_nothing():
    script = (WIDGETS / "review.js").read_text(encoding="utf-8")
    style = (WIDGETS / "review.css").read_text(encoding="utf-8")
    sinks = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|eval\(|Function\("
    )
    assert re.findall(sinks, script) == []
    assert re.findall(r"https?:|//cdn|\bimport\b|\bfetch\(|@import|url\(", script + style) == []


def test_a_jupyter_session_shows_the_screen_and_headless_a_plain_table(data, log, monkeypatch):
    session = open_session("small", data=data, adjudications=log)
    monkeypatch.setenv("JPY_SESSION_NAME", "adjudicate.ipynb")
    assert isinstance(show_review(session), ReviewWidget)
    assert isinstance(show_review(session, interactive=False), pd.DataFrame)
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert isinstance(show_review(session), pd.DataFrame)
    Widget.close_all()


def test_an_unknown_run_is_refused_with_the_known_ones(data, log):
    with pytest.raises(InputError, match="runs there: small"):
        open_session("smal", data=data, adjudications=log)


@pytest.mark.slow
def test_headless_the_notebook_shows_the_queue_and_decides_nothing(data, log, tmp_path, monkeypatch):
    papermill = pytest.importorskip("papermill")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(NOTEBOOK.parent.parent))
    given = {"run": "small", "data": str(data), "adjudications": str(log)}
    done = papermill.execute_notebook(NOTEBOOK, tmp_path / "out.ipynb", parameters=given, progress_bar=False)
    shown = [output.get("data", {}) for cell in done.cells for output in cell.get("outputs", [])]
    tables = [data["text/html"] for data in shown if "text/html" in data]
    assert any("t-001" in table for table in tables)
    assert not [data for data in shown if "application/vnd.jupyter.widget-view+json" in data]
    assert "<img" not in "".join(tables)
    assert not Path(log).exists()


def test_a_copy_of_the_notebook_keeps_its_cells_and_takes_the_parameters(tmp_path):
    copy = json.loads(notebook_copy(tmp_path, run="small", author="r1").read_text())
    parameters = next(cell for cell in copy["cells"] if "parameters" in cell["metadata"].get("tags", []))
    assert "".join(parameters["source"]).endswith("run = 'small'\nauthor = 'r1'\n")
    assert len(copy["cells"]) == len(json.loads(NOTEBOOK.read_text())["cells"])
