"""Charts in a real browser: in a dark notebook their words are light, and nothing white is painted behind them."""

from __future__ import annotations

import json

import pytest

from tests.browser import Desk, Lab, chromium_browser
from tests.making import stored_run

pytestmark = pytest.mark.browser

HOSTS = ["lab", "notebook"]
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


def _notebooks(folder):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cell = {"cell_type": "code", "id": "c1", "metadata": {}, "outputs": [], "execution_count": None, "source": CODE}
    book = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    for host in HOSTS:  # each its own notebook, so that neither meets the kernel the other left behind
        (folder / f"{host}.ipynb").write_text(json.dumps(book), encoding="utf-8")


@pytest.fixture(scope="module", params=["JupyterLab Dark", "JupyterLab Light"])
def lab(request, tmp_path_factory, chromium):
    folder = tmp_path_factory.mktemp("lab")
    stored_run(folder / "data", {"c-1": ["four"], "c-2": ["six"]})
    _notebooks(folder)
    running = Lab(folder, tmp_path_factory.mktemp("home"), theme=request.param)
    yield running, request.param.endswith("Dark")
    running.stop()


@pytest.mark.parametrize("host", HOSTS)
def test_words_of_a_chart_follow_the_theme_and_nothing_is_painted_behind(lab, chromium, host):
    running, dark = lab
    with chromium_browser(chromium) as browser:
        desk = Desk(browser, running, running.folder / f"{host}.ipynb", host=host)
        desk.press("Shift+Enter")
        desk.page.locator("canvas.marks").wait_for()
        found = desk.page.evaluate(COUNT)
        assert found["clear"] > 0.7 * found["all"]
        words, wrong = ("light", "dark") if dark else ("dark", "light")
        assert found[words] > 300
        assert found[wrong] < 0.002 * found["all"]
        assert not desk.offsite
        desk.close()
