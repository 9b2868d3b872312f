"""The reviewer's screen over a queue of 10,000 answers (a part of `make bench`), measured inside the browser.

In a real JupyterLab and a headless Chromium: from the key that runs the cell to the first sheet on the screen, the
sitting being open; from each `j` or `k` to the next item drawn, key by key; from a reading's key to what strict says,
which waits for the disk. Each ends in the animation frame after the change. Needs the development tools.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ITEMS, KEYS, READINGS = 10_000, 150, 20
GOALS = {"open_s": 1.0, "key_ms": 20.0}

WATCH = """
() => {
  window.measured = [];
  let from = 0, before = "";
  const seen = () => {
    const screen = document.querySelector(".evallib-review");
    if (!screen) return "";
    const part = (where) => screen.querySelector(where);
    return `${part(".paper h3")?.textContent ?? ""}|${part(".rail")?.dataset.phase}`;
  };
  window.addEventListener("keydown", () => { from = performance.now(); before = seen(); }, true);
  new MutationObserver(() => {
    const now = seen();
    if (!from || !now || now === before || now.startsWith("|")) return;
    const began = from;
    from = 0;
    requestAnimationFrame(() => window.measured.push(performance.now() - began));
  }).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-phase"] });
}
"""


def measure() -> dict[str, Any]:
    """What was measured; empty without a Chromium or without the development tools."""
    executable = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
    if executable is None or importlib.util.find_spec("playwright") is None:
        return {}
    sys.path.insert(0, str(ROOT))
    from evallib.desk.session import ReviewSession
    from tests.browser import Desk, Lab, chromium_browser, many_run, review_notebook

    with tempfile.TemporaryDirectory() as scratch:
        data, work = Path(scratch, "data"), Path(scratch, "work")
        work.mkdir()
        run = many_run(data, ITEMS)
        run.verdicts  # noqa: B018  # read the Parquet before the clock starts
        began = time.perf_counter()
        ReviewSession([run], Path(scratch, "log"), "bench")
        session_s = time.perf_counter() - began
        log = str(Path(scratch, "log"))
        lab = Lab(work, Path(scratch, "home"))
        try:
            with chromium_browser(executable) as browser:
                notebook = review_notebook(work, "many", data=str(data), adjudications=log, query="as=bench")
                return {"session_s": session_s} | _in_browser(Desk(browser, lab, notebook))
        finally:
            lab.stop()


def _in_browser(desk: Any) -> dict[str, Any]:
    desk.press("Shift+Enter")
    desk.page.locator(".jp-Notebook .jp-InputPrompt", has_text="[1]").wait_for()
    desk.page.evaluate(WATCH)
    desk.press("Shift+Enter")
    opened = _next(desk, 1)
    desk.tab_to_screen()
    desk.page.evaluate("window.measured.length = 0")
    for number in range(KEYS):
        desk.press("k" if number % 3 == 2 else "j")
        _next(desk, number + 1)
    keys = _taken(desk)
    for number in range(READINGS):
        desk.press("p")
        _next(desk, number + 1)
        desk.press("j")
        desk.page.locator(".evallib-review .rail[data-phase=read]").wait_for()
        desk.page.evaluate(f"window.measured.length = {number + 1}")
    saves = _taken(desk)
    return {
        "items": ITEMS,
        "open_s": opened / 1000,
        "key_ms": median(keys),
        "key_p95_ms": quantiles(keys, n=20)[-1],
        "save_ms": median(saves),
    }


def _next(desk: Any, count: int) -> float:
    desk.page.wait_for_function(f"window.measured.length >= {count}")
    return float(desk.page.evaluate("window.measured.at(-1)"))


def _taken(desk: Any) -> list[float]:
    taken = desk.page.evaluate("window.measured.splice(0)")
    return [float(one) for one in taken]


def show(found: dict[str, Any]) -> None:
    """Print what was measured beside the goals."""
    if not found:
        print("the reviewer's screen: not measured; needs a Chromium on PATH and the development tools (make test)")
        return
    print(f"the reviewer's screen, {found['items']:,} items in a blind queue")
    print(f"  the sitting opened in     {found['session_s']:8.2f} s beyond reading the run")
    print(f"  cell to first sheet       {found['open_s']:8.2f} s    (goal {GOALS['open_s']:.0f} s)")
    print(f"  key to next item, median  {found['key_ms']:8.1f} ms   (goal {GOALS['key_ms']:.0f} ms)")
    print(f"  key to next item, 95 %    {found['key_p95_ms']:8.1f} ms")
    print(f"  reading saved and shown   {found['save_ms']:8.1f} ms")


if __name__ == "__main__":
    show(measure())
