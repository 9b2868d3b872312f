"""Charts in a real browser: in a dark notebook their words are light, and nothing white is painted behind them."""

from __future__ import annotations

import contextlib
import json

import pytest

from tests.browser import Desk, Lab, chromium_browser
from tests.making import stored_run

pytestmark = pytest.mark.browser

HOSTS = {"JupyterLab Dark": "lab", "JupyterLab Light": "notebook"}
CODE = """\
from evallib.exhibits.run import open_exhibits
exhibits = open_exhibits("r-1", data="data", adjudications="log")
exhibits.gate()"""
COUNT = """() => {
  const drawn = document.querySelector("canvas.marks");
  const { data } = drawn.getContext("2d").getImageData(0, 0, drawn.width, drawn.height);
  const found = { light: 0, dark: 0, clear: 0, all: data.length / 4 };
  for (let i = 0; i < data.length; i += 4) {
    const [r, g, b, a] = data.slice(i, i + 4);
    if (a === 0) found.clear += 1;
    else if (a > 200 && Math.min(r, g, b) > 200) found.light += 1;
    else if (a > 200 && Math.max(r, g, b) < 60) found.dark += 1;
  }
  return found;
}"""


@contextlib.contextmanager
def _served(folder, home, theme):
    lab = Lab(folder, home, theme=theme)
    try:
        yield lab
    finally:
        lab.stop()


def _notebook(folder):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cell = {"cell_type": "code", "id": "c1", "metadata": {}, "outputs": [], "execution_count": None, "source": CODE}
    book = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path = folder / "gate.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8")
    return path


@pytest.mark.parametrize(("theme", "host"), HOSTS.items())
def test_words_of_a_chart_follow_the_theme_and_nothing_is_painted_behind(tmp_path, chromium, theme, host):
    folder, dark = tmp_path / "lab", theme.endswith("Dark")
    stored_run(folder / "data", {"c-1": ["four"], "c-2": ["six"]})
    with _served(folder, tmp_path / "home", theme) as lab, chromium_browser(chromium) as browser:
        desk = Desk(browser, lab, _notebook(folder), host=host)
        desk.press("Shift+Enter")
        desk.page.locator("canvas.marks").wait_for()
        desk.page.wait_for_function(f"(({COUNT})().clear < ({COUNT})().all)")  # it is there before it is painted
        found = desk.page.evaluate(COUNT)
        assert found["clear"] > 0.7 * found["all"]
        words, wrong = ("light", "dark") if dark else ("dark", "light")
        assert found[words] > 300
        assert found[wrong] < 0.002 * found["all"]
        assert not desk.offsite
        desk.close()
