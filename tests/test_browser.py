"""The reviewer's screen in a real JupyterLab, Notebook 7 and Chromium, driven by keyboard events only."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from evallib.adjudication import strict_word
from evallib.desk.session import ReviewSession
from tests.browser import BROWSER_ARGS, PATIENCE_MS, ROOT, SECRET, Desk, many_run, review_notebook, small_run
from tests.hostile import hostile_run

pytestmark = pytest.mark.browser

LISTENER = 'root.addEventListener("keydown", onKey, true);'
WITHOUT_LISTENER = f"""
from evallib.widgets.review import ReviewWidget
if "whole" not in globals():
    whole = ReviewWidget._esm
    assert {LISTENER!r} in whole
    ReviewWidget._esm = whole.replace({LISTENER!r}, "")
else:
    ReviewWidget._esm = whole
"""
PATIENT = """
from evallib.widgets.review import ReviewWidget
ReviewWidget._esm = ReviewWidget._esm.replace("PATIENCE_MS = 3000", "PATIENCE_MS = 120_000")
assert "120_000" in ReviewWidget._esm
"""
"""For tests of anything but silence: on a busy machine the kernel may take longer than a reader waits."""
REASON = "It says what the user must not do; add dd, a, x and m, which are only text here."
FOREIGN = (
    "script, img, svg, iframe, object, embed, a, style, link, meta, form, video, math, [data-commandlinker-command]"
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {run.id: run for run in (small_run(folder), hostile_run(folder), many_run(folder, 200))}, folder


@pytest.fixture
def open_desk(browser, lab, runs, tmp_path):
    desks = []
    folder = lab.folder / tmp_path.name  # a kernel belongs to a path: each test has its own
    folder.mkdir()

    def opened(run="small", query="as=r1", before=PATIENT, host="lab", browser=browser):
        places = {"data": str(runs[1]), "adjudications": str(tmp_path / "log"), "query": query}
        desk = Desk(browser, lab, review_notebook(folder, run, before=before, **places), host=host)
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


def of_kind(entries, kind):
    return {(e["case"], e["sample"]): e for e in entries if e["kind"] == kind}


def agreeing(runs, run, tmp_path):
    """Each item of the blind queue of r1 in its order, and what a reading must say to agree with strict."""
    session = ReviewSession([runs[0][run]], tmp_path / "no-log", "r1")
    return [(item, strict_word(runs[0][run], *item[1:])) for item in session.queue]


def explain(desk, cause, reason):
    """Say why, by the key of a cause and a reason."""
    desk.press(cause)
    desk.type(reason)
    desk.press("Control+Enter")


def differ_from_strict(desk, queue):
    """Read a failed item that is not the first as a pass, up to the reason; gives its name."""
    place = next(number for number, (_, word) in enumerate(queue) if word == "fail" and number)
    desk.press(*["j"] * place, "p")
    desk.wait_for_phase("differ")
    desk.press("4")
    return queue[place][0].name


@pytest.mark.parametrize(("host", "many"), [("lab", 10), ("notebook", 10)])
def test_hostile_items_are_read_blind_by_keyboard_alone(open_desk, runs, tmp_path, host, many):
    desk = open_desk("hostile", query="", host=host)
    cells = desk.cells()
    desk.press("p")
    assert desk.text(".empty").startswith("Type your name above")
    desk.focus("input.name")
    desk.type("r1")
    desk.press("Enter")
    desk.wait_for(".status", "saved as r1")
    assert desk.is_on(".evallib-review")
    queue = agreeing(runs, "hostile", tmp_path)
    assert len(queue) == 10
    for number, (item, word) in enumerate(queue[:many]):
        desk.wait_for("h3", f"{item.case} · 1")
        assert desk.hits() == 0
        desk.press("a", "b", "y", "d", "d", "h", "t", "z", "Backspace", "Delete")
        desk.press("f")
        desk.wait_for_phase("agree" if word == "fail" else "differ")
        if word == "fail":
            desk.press("h", "g", "Enter")
        else:
            explain(desk, "2", f"{number}: {REASON}")
    desk.wait_for(".status", f"{many} of 10 read.")
    entries = entries_seen_by_another_process(tmp_path / "log")
    readings, differences = of_kind(entries, "reading"), of_kind(entries, "difference")
    assert (len(entries), {e["blind"] for e in readings.values()}) == (2 * many, {True})
    for number, (item, word) in enumerate(queue[:many]):
        said = differences[item.case, 1]
        assert said["agrees"] is (word == "fail")
        assert said["reason"] == ("agrees" if word == "fail" else f"{number}: {REASON}")
    assert desk.cells() == cells
    assert desk.page.evaluate("window.hit") is None
    assert desk.page.locator(f".evallib-review :is({FOREIGN})").count() == 0
    assert desk.offsite == []


def test_decisions_as_fast_as_keys_go_are_all_on_the_disk(open_desk, runs, tmp_path):
    desk = open_desk("many")
    desk.wait_for("h3", " · ")
    queue = agreeing(runs, "many", tmp_path)
    ahead = [(item[1:3], "agrees" if word == "pass" else f"no {n}") for n, (item, word) in enumerate(queue[:40])]
    for _, reason in ahead:  # by one who knows what strict says, and waits for nothing
        desk.press("p")
        desk.press("Enter") if reason == "agrees" else explain(desk, "4", reason)
    desk.wait_for(".status", "40 of 200 read.")
    wanted, name = dict(ahead), ""
    while len(wanted) < len(queue):  # by one who learns it from the screen, and waits for that alone
        desk.press("p")
        name, phase = desk.revealed(after=name)
        case, sample = name.split(" · ")
        wanted[case, int(sample)] = "agrees" if phase == "agree" else f"no {sample}"
        desk.press("Enter") if phase == "agree" else explain(desk, "4", f"no {sample}")
    desk.wait_for(".status", "200 of 200 read.")
    entries = entries_seen_by_another_process(tmp_path / "log")
    readings, differences = of_kind(entries, "reading"), of_kind(entries, "difference")
    assert {key: e["reason"] for key, e in differences.items()} == wanted
    agree = {item[1:3] for item, word in queue if word == "pass"}
    assert {key for key, reason in wanted.items() if reason == "agrees"} == agree
    assert {(e["reading"], e["blind"]) for e in readings.values()} == {("pass", True)}
    assert (len(queue), len(entries)) == (200, 400)


def test_a_slow_kernel_a_cause_too_many_and_another_layout_save_nothing_unseen(open_desk, runs, tmp_path):
    pid = tmp_path / "pid"
    code = f"import os, pathlib; pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))\n"
    desk = open_desk(before=code + WITHOUT_LISTENER)
    keys = ["f", "Enter", "p", "4", ".", "Enter"]
    before = desk.text(".status")
    desk.press(*keys)
    assert desk.text(".status") == before
    assert entries_seen_by_another_process(tmp_path / "log") == []
    desk.run_again()  # with the listener: the control of the test above
    desk.tab_to_screen()
    (first, word), (second, other), *_ = agreeing(runs, "small", tmp_path)
    read_while_the_kernel_stands_still(desk, int(pid.read_text()), first.name, "fail" if word == "error" else word)
    assert [e["kind"] for e in entries_seen_by_another_process(tmp_path / "log")] == ["reading"]
    if word == "pass":
        desk.press("Enter")
    else:
        desk.press("4", ".", "Enter")
    desk.wait_for("h3", second.name)
    desk.press_on_layout(*{"pass": ("з", "KeyP"), "fail": ("а", "KeyF")}[other])
    type_a_reason_where_none_is_asked(desk)
    entries = entries_seen_by_another_process(tmp_path / "log")
    assert [(e["kind"], e.get("blind")) for e in entries if e["kind"] == "reading"] == [("reading", True)] * 2
    assert [e["kind"] for e in entries] == ["reading", "difference", "reading"]
    assert entries[2]["reading"] == other


def read_while_the_kernel_stands_still(desk, kernel, name, strict):
    os.kill(kernel, signal.SIGSTOP)
    try:
        desk.press("p")
        desk.wait_for(".status", "NOT SAVED: no answer from the kernel")
        desk.press("f")
        desk.wait_for(".status", f"NOT TAKEN: the kernel has not answered your pass of {name} yet.")
        desk.press("p")
        desk.wait_for(".status", "NOT SAVED: no answer from the kernel")
    finally:
        os.kill(kernel, signal.SIGCONT)
    says = "the same: Enter goes on." if strict == "pass" else f"{strict}: why do you differ? 1–9, 0, x."
    desk.wait_for(".status", f"The answer came late. Recorded pass of {name}. Strict says {says} a amends.")
    assert f"strict {'✓' if strict == 'pass' else '✗'} {strict}" in desk.text(".versus")


def type_a_reason_where_none_is_asked(desk):
    desk.press("2")
    desk.type("quoted u, a p f ")
    desk.wait_for(".status", "You agree with strict: Enter saves. 16 keys typed since were not taken.")
    desk.press("Control+Enter")
    desk.wait_for(".status", "17 keys typed since were not taken.")
    assert desk.text(".rail").count("You agree with strict.") == 1


def test_reload_kernel_restart_and_a_killed_kernel_lose_nothing(open_desk, runs, tmp_path):
    pid = tmp_path / "pid"
    desk = open_desk(before=f"import os, pathlib; pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))")
    queue = agreeing(runs, "small", tmp_path)
    name = differ_from_strict(desk, queue)
    desk.type("half a rea")
    desk.wait_until(lambda: any("half a rea" in p.read_text() for p in (tmp_path / "log/.drafts").glob("*.json")))
    desk.save_notebook()
    desk.page.reload(wait_until="commit")
    desk.wait_ready()
    desk.wait_for("h3", name)
    assert desk.page.locator(".evallib-review textarea").input_value() == "half a rea"
    desk.tab_to_screen()
    os.kill(int(pid.read_text()), signal.SIGSTOP)  # killed at once, its host's dialog might take the keys
    desk.press("r", "End")
    desk.type("son")
    desk.press("Control+Enter")
    desk.wait_for(".status", "NOT SAVED: no answer from the kernel")
    context = "window.jupyterapp.shell.currentWidget.sessionContext"
    desk.page.evaluate(f"{context}.statusChanged.connect((_, status) => (window.told ??= []).push(status))")
    os.kill(int(pid.read_text()), signal.SIGKILL)
    assert [e["kind"] for e in entries_seen_by_another_process(tmp_path / "log")] == ["reading"]
    desk.page.wait_for_function("window.told?.some(status => /restarting/.test(status)) && told.at(-1) === 'idle'")
    desk.run_again()
    desk.wait_for("h3", name)
    assert desk.page.locator(".evallib-review textarea").input_value() == "half a reason"
    desk.tab_to_screen()
    desk.press("Enter")
    desk.wait_for(".status", "Recorded " + name + ": negation-or-quoted. 1 of 4 read.")
    reading, difference = entries_seen_by_another_process(tmp_path / "log")
    assert (reading["reading"], reading["blind"], difference["reason"]) == ("pass", True, "half a reason")
    assert (difference["cause"], difference["canned"]) == ("negation-or-quoted", False)


def test_a_killed_browser_loses_at_most_the_last_second_of_a_reason(open_desk, browser, chromium, runs, tmp_path):
    victim = browser.browser_type.launch(executable_path=chromium, args=BROWSER_ARGS, timeout=PATIENCE_MS)
    desk = open_desk(browser=victim)
    name = differ_from_strict(desk, agreeing(runs, "small", tmp_path))
    typed = "more than a second old "
    desk.type(typed)
    desk.page.evaluate("setTimeout(() => (window.second = 'over'), 1000)")  # the browser's second, however busy it is
    while desk.page.evaluate("window.second") != "over":  # it never stops typing
        desk.type("z")
        typed += "z"
    desk.kill_browser()
    again = open_desk()
    again.wait_for("h3", name)
    kept = again.page.locator(".evallib-review textarea").input_value()
    assert kept.startswith("more than a second old ")
    assert typed.startswith(kept)
    again.press("r", "End")
    again.type("!")
    again.press("Control+Enter")
    again.wait_for(".status", f"Recorded {name}")
    reading, difference = entries_seen_by_another_process(tmp_path / "log")
    assert (reading["reading"], difference["reason"]) == ("pass", f"{kept}!")


def show_and_mask(desk):
    assert SECRET not in desk.page.locator(".evallib-review").text_content()
    desk.press("m")
    desk.wait_for(".count", "credentials shown (m masks them)")
    assert SECRET in desk.page.locator(".folds pre").text_content()
    desk.press("m")
    desk.wait_for(".count", "credentials masked (m shows them)")
    assert SECRET not in desk.page.locator(".evallib-review").text_content()


def read_a_check_and_skip(desk):
    desk.press("c")
    desk.wait_for("h3", "t-002 · 2 · policy")
    desk.press("p", "Escape")
    assert desk.text(".status") == desk.text(".next") == "Choose; then say why where you differ."
    desk.press("Escape")
    desk.wait_for(".status", "The whole answer again.")
    assert "policy" not in desk.text("h3")
    desk.press("c")
    desk.wait_for("h3", "t-002 · 2 · policy")
    desk.press("p", "Enter")
    desk.wait_for(".status", "Recorded pass of t-002 · 2 · policy")
    desk.press("s")
    desk.wait_for(".status", "Skipped t-002 · 2: it comes again at the end.")
    assert desk.page.locator(".row[data-mark=skip]").count() == 1


def narrow_by_facets(desk):
    desk.filter("strict=fail case=t-002")
    desk.wait_for(".status", "1 item.")
    desk.wait_for("h3", "t-002 · 1")
    desk.filter("colour=red")
    desk.page.locator(".evallib-review .status", has_text=re.compile("^'colour=red': is no word of a query")).wait_for()
    assert desk.page.locator(".row").count() == 1
    desk.press("Escape")
    assert desk.page.locator(".facets input").input_value() == "strict=fail case=t-002"
    desk.filter("strict=fail open")
    desk.wait_for(".status", "0 items.")
    assert desk.text(".empty") == "Nothing fits “strict=fail open”. / asks for something else, an empty line for all."
    assert not desk.page.locator(".rail .strict").is_visible(), "it is of an item that is not there"


def test_every_key_of_the_screen_does_what_its_hint_says(open_desk, tmp_path):
    desk = open_desk(query="as=r1 sighted")
    first = desk.text("h3")
    assert desk.page.locator(".facts dd p").all_inner_texts() == ["SELinux", "audit log / log of SELinux, or audit"]
    show_and_mask(desk)
    tops = desk.page.locator(".evallib-review .reading").first.bounding_box()
    desk.press("?")
    assert desk.page.locator(".evallib-review .help").is_visible()
    assert desk.page.locator(".evallib-review .reading").first.bounding_box() == tops  # nothing is pushed down
    desk.press("Escape", "j", "k")
    assert desk.text("h3") == first
    assert desk.text("mark.against") == "setenforce 0"
    desk.select("mark.against")
    desk.press("e", "f", "Enter")
    desk.wait_for(".status", "Recorded fail")
    assert "pace" not in desk.text(".progress"), "one reading says nothing of a pace"
    desk.press("-")
    explain(desk, "0", "cannot tell")
    desk.wait_for(".status", "Recorded unsure")
    desk.press("p", "2", "Escape", ".", "Enter")  # Esc leaves the box, and what was chosen stays
    desk.wait_for(".status", "Recorded pass")
    desk.wait_for(".progress", "pace")
    desk.press("u")
    desk.wait_for(".status", "Withdrawn: pass, of t-002 · 1; the entry stays in the log.")
    desk.press("Shift+U")
    desk.wait_for(".status", "Restored")
    desk.press("a", "f", "Enter")
    desk.wait_for(".status", "Recorded fail")
    read_a_check_and_skip(desk)
    narrow_by_facets(desk)
    entries = entries_seen_by_another_process(tmp_path / "log")
    said = [(e["kind"], e.get("reading"), e.get("cause"), e["reason"], e.get("canned")) for e in entries]
    assert [s[0] for s in said] == ["reading"] * 3 + ["withdrawal"] * 2 + ["reading"] * 2
    assert (entries[0]["span"], said[0][1:4]) == ([11, 23], ("fail", "true-failure", "agrees"))
    assert said[1][1:4] == ("unsure", "cannot-judge", "cannot tell")
    assert (said[2][1:3], said[2][4]) == (("pass", "too-narrow"), True)
    assert entries[5]["supersedes"]
    assert (entries[6]["check"], entries[6]["sample"], said[6][1]) == ("policy", 2, "pass")


def test_axe_finds_nothing_serious_in_light_and_dark(open_desk, runs, tmp_path):
    desk = open_desk()
    found = []
    queue = agreeing(runs, "small", tmp_path)
    phases = ["differ" if word == "fail" else "agree" for _, word in queue]
    for theme, phase in zip(["JupyterLab Light", "JupyterLab Dark"], phases, strict=False):
        desk.set_theme(theme)
        found += desk.axe()
        desk.press("?")
        found += desk.axe()
        desk.press("Escape", "p")
        desk.wait_for_phase(phase)
        desk.press("h")
        desk.page.locator(".evallib-review .history").wait_for()
        found += desk.axe()
        desk.press("n")
        desk.wait_for_phase("read")
    assert [(one["id"], node["target"], node["failureSummary"]) for one in found for node in one["nodes"]] == []


IN_SIGHT = """part => {
  const screen = document.querySelector(".evallib-review");
  screen.scrollIntoView({ block: "start" });
  const box = screen.querySelector(part).getBoundingClientRect();
  const panel = screen.closest(".jp-WindowedPanel-outer, .jp-Notebook").getBoundingClientRect();
  return box.height > 0 && box.top >= panel.top - 1 && box.bottom <= panel.bottom + 1;
}"""
CUT = "part => { const e = document.querySelector(`.evallib-review ${part}`); return e.scrollHeight - e.clientHeight; }"


def test_a_small_window_hides_neither_status_nor_decision_nor_the_sample_in_the_queue(open_desk, runs, tmp_path):
    desk = open_desk()
    desk.page.set_viewport_size({"width": 1280, "height": 800})
    place = next(number for number, (_, word) in enumerate(agreeing(runs, "small", tmp_path)) if word == "fail")
    desk.press(*["j"] * place, "p")
    desk.wait_for_phase("differ")
    desk.press("4")
    desk.type("x")
    for width in (1280, 900):
        desk.page.set_viewport_size({"width": width, "height": 800})
        for part in (".status", ".tools", ".save", ".next", ".canned", "textarea", ".strict"):
            assert desk.page.evaluate(IN_SIGHT, part), (width, part)
        assert desk.page.evaluate(CUT, ".decision") <= 0
    desk.page.set_viewport_size({"width": 700, "height": 800})
    assert desk.page.evaluate(IN_SIGHT, ".status")
    desk.page.locator(".evallib-review .row .case").first.evaluate("e => (e.textContent = 'long-'.repeat(40))")
    row = desk.page.locator(".evallib-review .row").first
    sample = row.locator(".name span").last
    assert sample.inner_text().startswith(" · ")
    assert (
        sample.bounding_box()["x"] + sample.bounding_box()["width"]
        <= row.bounding_box()["x"] + row.bounding_box()["width"]
    )
