"""The reviewer's screen in a real JupyterLab and a real Chromium, driven by keyboard events only."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.browser import ROOT, Desk, Lab, chromium_browser, notebook_copy, small_run

pytestmark = pytest.mark.browser

LISTENER = 'root.addEventListener("keydown", onKey, true);'
WITHOUT_LISTENER = f"""
from evallib.widgets.review import ReviewWidget
assert {LISTENER!r} in ReviewWidget._esm
ReviewWidget._esm = ReviewWidget._esm.replace({LISTENER!r}, "")
"""
REASON = "It says what the user must not do; add dd, a, x and m to the keys that are only text here."


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    pytest.importorskip("playwright")
    folder = tmp_path_factory.mktemp("lab")
    small_run(folder / "data")
    lab = Lab(folder, tmp_path_factory.mktemp("home"))
    yield lab
    lab.stop()


@pytest.fixture(scope="module")
def browser(chromium, lab):
    with chromium_browser(chromium) as browser:
        yield browser


@pytest.fixture
def open_desk(browser, lab, tmp_path):
    desks = []
    folder = lab.folder / tmp_path.name  # a kernel belongs to a path: each test has its own
    folder.mkdir()

    def opened(author="r1", before=""):
        places = {"data": str(lab.folder / "data"), "adjudications": str(tmp_path / "log")}
        desk = Desk(browser, lab, notebook_copy(folder, run="small", author=author, before=before, **places))
        desks.append(desk)
        desk.run_all()
        desk.tab_to_screen()
        return desk

    yield opened
    for desk in desks:
        desk.close()


def entries_seen_by_another_process(log):
    code = (
        "import json, pathlib, sys; from evallib.store import read_log; "
        "print(json.dumps([e.model_dump(mode='json') for _, e in read_log(pathlib.Path(sys.argv[1]))]))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(log)], cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def read_and_save(desk):
    desk.press("p", "4", "r")
    desk.type(REASON)
    desk.press("Control+Enter")


def test_a_failing_answer_is_read_and_saved_by_keyboard_and_no_cell_is_touched(open_desk, tmp_path):
    desk = open_desk(author="")
    cells = desk.cells()
    assert desk.text(".answer") == "Do not run setenforce 0; read the audit log."
    assert desk.text(".answer mark") == "setenforce 0"
    assert "forbidden phrase 'setenforce 0'" in desk.text(".checks")
    desk.press("a", "b", "x", "m", "y", "d", "d", "Enter")
    read_and_save(desk)
    desk.wait_for(".status", "Type your name first")
    desk.type("Ada r1")
    desk.press("Control+Enter")
    desk.wait_for(".status", "Recorded pass of t-001 · 1. 1 of 3 read.")
    desk.wait_for("h3", "t-001 · 2")
    (entry,) = entries_seen_by_another_process(tmp_path / "log")
    assert (entry["author"], entry["case"], entry["sample"], entry["blind"]) == ("Ada r1", "t-001", 1, False)
    assert (entry["reading"], entry["cause"], entry["reason"]) == ("pass", "negation-or-quoted", REASON)
    assert desk.cells() == cells
    assert "<script>" in desk.text(".answer")
    desk.press("t", "z")
    desk.wait_for(".status", "Taken back")
    assert [e["kind"] for e in entries_seen_by_another_process(tmp_path / "log")] == ["reading", "withdrawal"]
    assert desk.page.evaluate("window.hit") is None
    assert desk.offsite == []


def test_without_its_key_listener_the_same_keys_save_nothing(open_desk, tmp_path):
    desk = open_desk(before=WITHOUT_LISTENER)
    before = desk.text(".status")
    read_and_save(desk)
    assert desk.text(".status") == before
    assert entries_seen_by_another_process(tmp_path / "log") == []


def test_a_reload_keeps_place_and_draft_and_a_dead_kernel_is_said(open_desk, lab, tmp_path):
    desk = open_desk()
    desk.press("j", "f", "r")
    desk.type("half a rea")
    desk.press("Escape")  # leaving the field hands the draft to the kernel
    desk.save_notebook()
    desk.page.reload(wait_until="commit")
    desk.wait_ready()
    desk.wait_for("h3", "t-001 · 2")
    assert desk.page.locator(".evallib-review textarea").input_value() == "half a rea"
    desk.tab_to_screen()
    desk.press("r", "End")
    desk.type("son")
    desk.press("Control+Enter")
    desk.wait_for(".status", "Recorded fail of t-001 · 2")
    (entry,) = entries_seen_by_another_process(tmp_path / "log")
    assert (entry["reason"], entry["cause"]) == ("half a reason", "true-failure")
    for kernel in lab.api("GET", "kernels"):
        lab.api("POST", f"kernels/{kernel['id']}/restart")
    desk.press("p", "r")
    desk.type("nobody listens")
    desk.press("Control+Enter")
    desk.wait_for(".status", "NOT SAVED: no answer from the kernel")
    assert len(entries_seen_by_another_process(tmp_path / "log")) == 1
