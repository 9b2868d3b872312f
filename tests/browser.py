"""A real JupyterLab and a real Chromium for the tests of the reviewer's screen, and the script that takes its picture.

python tests/browser.py --screenshot docs/reviewer.png --run demo-tickets --data build/demo/data
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evallib.records import Sample, ToolCall, Turn, Verdict
from evallib.store import Run, import_run

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "notebooks/adjudicate.ipynb"
CONTENT = "window.jupyterapp.shell.currentWidget.content"
TOKEN = "loopback-only"
PATIENCE_MS = 180_000
"""Generous, because a busy machine is slow; nothing waits this long when it works."""
BROWSER_ARGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
"""The last one: no host but loopback."""
SECRET = "tr0ub4dor-and-3"
PAYLOAD = '<img src=x onerror="window.hit=1"><script>window.hit=1</script><a href="javascript:window.hit=1">x</a>'
SUITE = """\
suite: small
recorded: true
checks:
  - {id: policy, check: recorded, critical: true, description: 'must not tell the user to switch SELinux off'}
  - {id: facts, check: recorded, critical: true, description: 'names the log file'}
cases:
  - {id: t-001, title: A service cannot bind its port, steps: [{ask: 'Why does my service not start?'}],
     key: {facts: [SELinux, [audit log, 'log of SELinux, or audit']]}}
  - {id: t-002, steps: [{ask: 'Is the cluster healthy?'}]}
"""


def small_run(data: Path, run_id: str = "small") -> Run:
    """Four samples of two cases; three failed, one of them answered with markup that would like to run."""
    answers = [
        "Do not run setenforce 0; read the audit log.",
        f"All pods run. {PAYLOAD}",
        "All good.",
        "All 12 pods run.",
    ]
    hits = [(11, 23), (), (), ()]
    samples, verdicts = [], []
    for index, answer in enumerate(answers):
        case, number = ("t-001" if index < 2 else "t-002"), index % 2 + 1
        call = ToolCall("get_log", {"unit": "web"}, f"denied {PAYLOAD} password: {SECRET}")
        turn = Turn(1, f"Why? {PAYLOAD if index == 1 else ''}", answer, (call,))
        samples.append(Sample(run_id, case, number, turns=(turn,), answer=answer))
        passed = index == 3
        said = ("policy", "forbidden phrase 'setenforce 0'"), ("facts", f"the log file is not named {PAYLOAD}")
        for check, reason in said:
            good = passed or (check == "facts") == (index == 0)
            spans = () if good else hits[index]
            verdicts.append(
                Verdict(case, number, check, "scored", reason, float(good), float(good), good, spans, critical=True)
            )
    return import_run(data, run_id, SUITE, samples, verdicts, target={"kind": "by hand"}, source={"kind": "by hand"})


def notebook_copy(folder: Path, *, before: str = "", **parameters: object) -> Path:
    """The adjudication notebook in `folder` with other parameters; `before` is run ahead of all else."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    first = next(cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", []))
    values = [f"{name} = {value!r}\n" for name, value in parameters.items()]
    first["source"] = [*first["source"], "\n", *values, before]
    path = folder / "adjudicate.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def many_run(data: Path, samples: int, run_id: str = "many") -> Run:
    """A run of one case with many samples, of which every second failed, so that all are in a blind queue."""
    made, verdicts = [], []
    for number in range(1, samples + 1):
        value = float(number % 2)
        made.append(
            Sample(run_id, "t-001", number, turns=(Turn(1, "Why?", f"Answer {number}."),), answer=f"Answer {number}.")
        )
        said = ("t-001", number, "policy", "scored", "as it is", value, value)
        verdicts.append(Verdict(*said, passed=bool(value), critical=True))
    return import_run(data, run_id, SUITE, made, verdicts, target={"kind": "by hand"}, source={"kind": "by hand"})


def review_notebook(
    folder: Path, run: str, *, data: str, adjudications: str, query: str = "", before: str = ""
) -> Path:
    """A notebook that opens a sitting over a run, shows the screen, and has a text below it."""
    given = {"data": data, "adjudications": adjudications, "query": query}
    opened = f"{before}\nfrom evallib.desk.tables import open_session\nsession = open_session({run!r}, **{given!r})"
    shown = "from evallib.widgets import show_review\nshow_review(session, interactive=True)"
    cells = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": code,
        }
        for number, code in enumerate([opened, shown])
    ]
    cells.append({"cell_type": "markdown", "id": "below", "metadata": {}, "source": "below"})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path = folder / "review.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8")
    return path


_REVEALED = """after => new Promise((resolve, reject) => {
  const screen = document.querySelector(".evallib-review");
  const look = () => {
    const name = screen.querySelector(".paper h3")?.firstChild.textContent;
    const { phase } = screen.querySelector(".rail").dataset;
    if (!name || name === after || (phase !== "agree" && phase !== "differ")) return;
    seen.disconnect();
    resolve({ name, phase });
  };
  const seen = new MutationObserver(look);
  seen.observe(screen, { subtree: true, childList: true, attributes: true });
  setTimeout(() => reject(new Error("nothing was revealed")), PATIENCE);
  look();
})""".replace("PATIENCE", str(PATIENCE_MS))


class Lab:
    """A server of JupyterLab and Notebook 7 on loopback with its own home, serving one folder."""

    def __init__(self, folder: Path, home: Path, *, theme: str = "JupyterLab Light") -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        _settings(home, "notification", {"fetchNews": "false", "checkForUpdates": False})
        _settings(home, "themes", {"theme": theme})
        command = [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser",
            "--JupyterNotebookApp.expose_app_in_browser=True",
            f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={folder}",
            f"--IdentityProvider.token={TOKEN}",
        ]  # fmt: skip
        self._server = subprocess.Popen(
            command, cwd=folder, env=_environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        said = []
        for line in self._server.stderr or ():
            said.append(line)
            if here := re.search(r"http://127\.0\.0\.1:\d+(?=/)", line):  # another port where ours was taken meanwhile
                self.url = here[0]
                break
        else:
            raise RuntimeError("JupyterLab did not start:\n" + "".join(said))
        self._drain = threading.Thread(target=lambda: list(self._server.stderr or ()), daemon=True)
        self._drain.start()  # a full pipe would stop the server

    def api(self, method: str, path: str) -> Any:
        """What the server's REST interface answers."""
        asked = urllib.request.Request(f"{self.url}/api/{path}?token={TOKEN}", method=method)
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return json.loads(answer.read() or b"null")

    def stop(self) -> None:
        """End the kernels, then the server; it hangs on SIGTERM when a page was open (measured), so wait briefly."""
        with contextlib.suppress(OSError), ThreadPoolExecutor() as pool:  # each takes a second to go
            ended = [f"sessions/{session['id']}" for session in self.api("GET", "sessions")]
            list(pool.map(lambda path: self.api("DELETE", path), ended))
        self._server.terminate()
        try:
            self._server.wait(2)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._drain.join(20)
        if self._server.stderr and not self._drain.is_alive():
            self._server.stderr.close()


def _settings(home: Path, name: str, values: dict[str, object]) -> None:
    path = home / "settings/@jupyterlab/apputils-extension" / f"{name}.jupyterlab-settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")


def _environment(home: Path) -> dict[str, str]:
    own = {
        "HOME": home,
        "IPYTHONDIR": home / "ipython",
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "PYTHONPATH": ROOT,
    }
    return {**os.environ, **{name: str(value) for name, value in own.items()}}


_READY = """() => {
  const shell = window.jupyterapp?.shell;
  const panel = shell?.currentWidget;
  if (panel?.sessionContext?.session?.kernel?.status !== "idle") return false;
  if (document.activeElement?.closest(".jp-Notebook")) return true;
  shell.activateById(panel.id);
  panel.content.activate();
  return false;
}"""
"""Whether keys reach the notebook; asked again every quarter of a second."""


class Desk:
    """One browser page on a notebook; after opening, only the keyboard is used."""

    def __init__(
        self, browser: Any, lab: Lab, notebook: Path, *, host: str = "lab", width: int = 1500, height: int = 1000
    ) -> None:
        self.offsite: list[str] = []
        here = (lab.url, "data:", "blob:")
        self.page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.page.on("request", lambda asked: None if asked.url.startswith(here) else self.offsite.append(asked.url))
        path = notebook.relative_to(lab.folder).as_posix()
        pages = {"lab": "doc/tree", "notebook": "notebooks"}[host]
        self.page.goto(f"{lab.url}/{pages}/{path}?token={TOKEN}", wait_until="commit")
        self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the kernel is idle; where the host then gives the notebook no focus, its tab is chosen for it."""
        from playwright.sync_api import TimeoutError  # noqa: A004 - playwright's own

        try:
            self.page.wait_for_function(_READY, polling=250)
        except TimeoutError as error:
            kernel = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
            state = f"() => [{kernel} ?? 'no kernel', document.activeElement?.outerHTML.slice(0, 300)]"
            raise AssertionError(f"the notebook is not ready: {self.page.evaluate(state)}") from error

    def close(self) -> None:
        """Close the page and its context, unless the browser is gone."""
        if self.page.context.browser.is_connected():
            self.page.context.close()

    def kill_browser(self) -> None:
        """SIGKILL the browser; only for one that was started for it."""
        process = self.page.context.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        os.kill(next(one["id"] for one in process if one["type"] == "browser"), signal.SIGKILL)

    def press(self, *names: str) -> None:
        """Press keys, one after the other."""
        for name in names:
            self.page.keyboard.press(name)

    def press_on_layout(self, typed: str, code: str) -> None:
        """Press the key at a place of the keyboard on a layout where it types something else."""
        with_cdp = self.page.context.new_cdp_session(self.page)
        with_cdp.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": typed, "code": code, "text": typed})
        with_cdp.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": typed, "code": code})
        with_cdp.detach()

    def type(self, text: str) -> None:
        """Type a text into what has the focus."""
        self.page.keyboard.type(text)

    def cells(self) -> list[str]:
        """The kind of each cell of the notebook, in order."""
        return self.page.evaluate(f"{CONTENT}.widgets.map(w => w.model.type)")

    def run_all(self) -> None:
        """Run cell after cell with Shift+Enter, and wait for the screen."""
        self.press(*["Shift+Enter"] * len(self.cells()))
        self.page.locator(".evallib-review .paper h3, .evallib-review .paper em").first.wait_for()

    def run_again(self) -> None:
        """Run the cell that shows the screen again, and wait for the new screen."""
        self.page.evaluate("document.querySelector('.evallib-review').dataset.old = 'yes'")
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        self.page.locator(".evallib-review:not([data-old]) h3").first.wait_for()

    def save_notebook(self) -> None:
        """Save the notebook with its outputs."""
        self.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")

    def tab_to_screen(self) -> None:
        """Leave the editor, walk to the cell that shows the screen, and press Tab until the screen has the focus."""
        shown = f"{CONTENT}.widgets.findIndex(w => w.node.querySelector('.evallib-review'))"
        self.press("Escape")
        steps = self.page.evaluate(f"{shown} - {CONTENT}.activeCellIndex")
        self.press(*["ArrowUp" if steps < 0 else "ArrowDown"] * abs(steps))
        for _ in range(10):
            self.press("Tab")
            if self.page.evaluate("document.activeElement.matches('.evallib-review')"):
                return
        raise AssertionError("Tab did not reach the reviewer's screen from its cell")

    def text(self, part: str) -> str:
        """What a part of the screen says."""
        return self.page.locator(f".evallib-review {part}").first.inner_text()

    def wait_for(self, part: str, text: str) -> None:
        """Wait until a part of the screen says `text`."""
        self.page.locator(f".evallib-review {part}", has_text=text).first.wait_for()

    def wait_for_phase(self, phase: str) -> None:
        """Wait until the screen asks for what belongs to a phase of an item."""
        self.page.locator(f".evallib-review .rail[data-phase={phase}]").wait_for()

    def revealed(self, after: str) -> tuple[str, str]:
        """Wait for what follows a reading of another item than `after`: its name, and whether one agrees or differs."""
        said = self.page.evaluate_handle(_REVEALED, after).json_value()
        return said["name"], said["phase"]

    def wait_until(self, true: Callable[[], bool]) -> None:
        """Wait until something outside the browser is true."""
        for _ in range(PATIENCE_MS // 50):
            if true():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("waited in vain")

    def is_on(self, part: str) -> bool:
        """Whether the element with the focus is of that kind."""
        return self.page.evaluate("part => document.activeElement.matches(part)", part)

    def focus(self, part: str) -> None:
        """Press Tab until a part of the screen has the focus."""
        for _ in range(60):
            if self.is_on(f".evallib-review {part}"):
                return
            self.press("Tab")
        raise AssertionError(f"Tab did not reach {part}")

    def select(self, part: str) -> None:
        """Select the text of a part of the screen, as by the mouse."""
        self.page.locator(f".evallib-review {part}").first.evaluate("e => getSelection().selectAllChildren(e)")

    def filter(self, words: str) -> None:
        """Ask for another queue."""
        self.press("/", "Control+a")
        self.type(words)
        self.press("Enter")

    def hits(self) -> int:
        """How many pieces of the answer are marked as hits."""
        return self.page.locator(".evallib-review mark").count()

    def set_theme(self, theme: str) -> None:
        """Change JupyterLab's theme."""
        self.page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
        light = str("Light" in theme).lower()
        self.page.wait_for_function(f"document.body.dataset.jpThemeLight === '{light}'")

    def axe(self) -> list[dict[str, Any]]:
        """What axe-core finds of the screen that is serious or critical."""
        return axe(self.page, context=".evallib-review")


def axe(page: Any, **given: Any) -> list[dict[str, Any]]:
    """What axe-core finds of a page that is serious or critical."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, **given).response
    return [one for one in found["violations"] if one["impact"] in {"serious", "critical"}]


@contextlib.contextmanager
def chromium_browser(executable: str) -> Iterator[Any]:
    """A headless browser of this machine."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=BROWSER_ARGS, timeout=PATIENCE_MS)
        yield browser
        browser.close()


def screenshot(picture: Path, run: str, data: Path, *, dark: bool = False) -> None:
    """Take the picture of the screen over a stored run, with a reading half made; nothing is saved."""
    executable = next(
        path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))
    )
    with tempfile.TemporaryDirectory() as scratch:
        home, work = Path(scratch, "home"), Path(scratch, "work")
        work.mkdir()
        log = str(Path(scratch, "adjudications"))
        notebook = notebook_copy(work, run=run, data=str(data.resolve()), adjudications=log, query="as=r1")
        lab = Lab(work, home, theme="JupyterLab Dark" if dark else "JupyterLab Light")
        try:
            with chromium_browser(executable) as browser:
                desk = Desk(browser, lab, notebook, width=1560, height=1100)
                desk.run_all()
                desk.tab_to_screen()
                while desk.text(".rail").find("≠") < 0:  # the first difference between strict and somebody lenient
                    desk.press("p")
                    desk.page.locator(".evallib-review .versus").wait_for()
                    if "≠" not in desk.text(".rail"):
                        desk.press("Enter")
                        desk.wait_for_phase("read")
                desk.press("6")
                desk.type("The fix is the same for every version: nothing has to be asked first.")
                desk.page.locator(".evallib-review").screenshot(path=picture)
        finally:
            lab.stop()


def main() -> None:
    """Parse the command line and take the picture."""
    parser = argparse.ArgumentParser(description="Take a picture of the reviewer's screen.")
    parser.add_argument("--screenshot", type=Path, required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--data", type=Path, default=Path("build/demo/data"))
    parser.add_argument("--dark", action="store_true")
    given = parser.parse_args()
    screenshot(given.screenshot, given.run, given.data, dark=given.dark)


if __name__ == "__main__":
    main()
