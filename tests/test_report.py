"""Reports: notebooks executed into one page that works offline, whose figures are the run's, and that runs nothing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from evallib._assets import notebook
from evallib.display import table_html
from evallib.errors import InfrastructureError, InputError
from evallib.exhibits.rows import flat_figures
from evallib.records import POST_HOC_LABEL
from evallib.report import NOTEBOOKS, ReportOrder, build_report
from evallib.report.build import _planned
from evallib.report.page import Section, clean_html, clean_svg, notebook_html
from evallib.views.figures import load_views
from tests.browser import PAYLOAD, axe, chromium_browser
from tests.making import stored_run
from tests.test_exhibits import _loop

USUAL = [name for name in NOTEBOOKS if name not in {"compare", "calibrate"}]
"""What a report of one run that was rescored and read holds; nothing was calibrated."""


class _Tables(HTMLParser):
    """All tables of a page as lists of rows of cell texts."""

    def __init__(self, page):
        super().__init__()
        self.tables = []
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self._in_cell = True
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        self._in_cell = self._in_cell and tag not in {"td", "th"}

    def handle_data(self, data):
        if self._in_cell:
            self.tables[-1][-1][-1] += data


def _figures(page):
    """Column heading to {figure: JSON} of the table that holds them in full."""
    rows = next(table for table in _Tables(page).tables if "figure" in table[0])
    return {name: {row[0]: row[place] for row in rows[1:]} for place, name in enumerate(rows[0]) if place}


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    """Data, log and page of a run that was rescored and read, and one of whose answers would like to run script."""
    folder = tmp_path_factory.mktemp("loop")
    data, log = _loop(folder)
    return data, log, build_report(ReportOrder("r-1", data, log, folder / "out"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The page of a run that is nothing but hostile answers: only the notebook that shows answers."""
    data = tmp_path_factory.mktemp("hostile")
    stored_run(data, {"c-1": [PAYLOAD, "no"], "c-2": [f"five {PAYLOAD} http://example.org/x.png", "no"]}, run_id="r-2")
    return data, build_report(ReportOrder("r-2", data, data / "log", data / "out", ("run",)))


def test_the_page_holds_every_notebook(loop):
    page = loop[2].read_text(encoding="utf-8")
    assert re.findall(r'<section id="(\w+)">', page) == USUAL
    assert page.count("<svg") >= 6


def test_the_top_of_the_page_says_what_each_view_comes_to(loop):
    page = loop[2].read_text(encoding="utf-8")
    top = page[: page.index("<main>")]
    (table,) = _Tables(top).tables
    rows = [dict(zip(table[0], row, strict=True)) for row in table[1:]]
    assert [re.match("[a-z]+", row["view"])[0] for row in rows] == ["strict", "rescored", "read"]
    assert re.match(r"0\.500 \[0\.\d{3},\s0\.\d{3}\]$", rows[0]["pass rate, 95 %"])
    assert (rows[0]["samples passed"], rows[0]["without outcome"]) == ("2 of 4", "0")
    assert {row["gate"] for row in rows} <= {"pass", "blocked"}
    assert [POST_HOC_LABEL in row["view"] for row in rows] == [False, True, True]
    assert '<p class="decision"><b class="' in top
    (caption,) = re.findall('<p class="caption">(.*?)</p>', top)
    assert "Suite small (digest" in caption
    assert "machine " in caption


def test_the_page_says_shared_sentences_once_and_nothing_to_whoever_sits_in_lab(loop):
    page = loop[2].read_text(encoding="utf-8")
    assert page.count("Every view the run has is opened") == 1
    assert not re.search(r"Name (a stored|the) run|Press |[Rr]un this cell again", page)


def test_every_figure_on_the_page_is_the_runs_in_each_view(loop):
    data, log, page = loop
    shown = list(_figures(page.read_text(encoding="utf-8")).values())
    for figures, column in zip(load_views("r-1", data, log), shown, strict=True):
        wanted = dict(flat_figures(figures.summary()))
        assert {name: text for name, text in column.items() if text} == wanted


def test_figures_of_later_views_are_labelled_wherever_they_stand(loop):
    page = loop[2].read_text(encoding="utf-8")
    headings = [cell for table in _Tables(page).tables for cell in table[0] if cell.startswith(("rescored", "read ("))]
    assert headings
    assert all(POST_HOC_LABEL in cell for cell in headings)
    assert any(POST_HOC_LABEL in text.lower() for text in re.findall(r"<svg.*?</svg>", page, re.DOTALL))


def test_another_run_gives_another_page(loop, hostile):
    first, second = (_figures(page.read_text(encoding="utf-8"))["strict"] for page in (loop[2], hostile[1]))
    assert first["runs"] == '["r-1"]'
    assert second["runs"] == '["r-2"]'
    assert first["pass_rate"] != second["pass_rate"]


def test_executed_copies_lie_in_the_output_folder_and_hold_no_widget_state(loop):
    copies = sorted(loop[2].with_suffix("").glob("*.ipynb"))
    assert [copy.stem for copy in copies] == sorted(USUAL)
    assert not [copy for copy in copies if "application/vnd.jupyter.widget-state" in copy.read_text(encoding="utf-8")]


def test_the_page_has_no_script_no_link_and_none_of_this_machines_paths(loop, hostile):
    for page in (loop[2], hostile[1]):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(script|img|iframe|link|object)\b", text)
        assert not re.search(r"""(src|href)=["'](?!#)""", text)
        assert str(page.parent.parent) not in text


def test_every_rate_in_a_table_is_one_of_the_runs_figures(loop):
    data, log, page = loop
    known = set()
    for figures in load_views("r-1", data, log):
        for _, text in flat_figures(figures.summary()):
            found = json.loads(text)
            flat = found if isinstance(found, list) else [found]
            known |= {f"{one:.3f}" for one in flat if isinstance(one, float)}
    shown = [table for table in _Tables(page.read_text(encoding="utf-8")).tables if "pass rate" in table[0]]
    cells = [cell for table in shown for row in table[1:] for cell in row]
    rates = {rate for cell in cells for rate in re.findall(r"\b[01]\.\d{3}\b", cell)}
    assert rates
    assert rates <= known


def test_every_table_and_picture_of_rates_names_what_it_is_of(loop):
    page = loop[2].read_text(encoding="utf-8")
    tables = [table for table in re.findall(r"<table.*?</table>", page, re.DOTALL) if ">pass rate<" in table]
    assert tables
    for table in tables:
        ((short, full),) = re.findall("<caption><details[^>]*><summary>(.*?)</summary>(.*?)</details>", table)
        assert "small@" in short
        assert full.startswith("Suite small (digest")
    pictures = re.findall(r'<figure role="img" aria-label="(.*?)">(<svg.*?</svg>)', page, re.DOTALL)
    assert pictures
    for said, picture in pictures:
        assert "small@" in re.sub("<[^>]*>", " ", picture)
        assert "Suite small (digest" in said


def test_a_page_folds_its_captions_and_a_printed_section_has_one_in_full(loop):
    page = loop[2].read_text(encoding="utf-8")
    for section in re.findall(r"<section.*?</section>", page, re.DOTALL):
        assert section.count('<details class="full">') == ("<caption>" in section)
        assert not re.search("<caption>(?!<details)", section)


def test_a_table_or_sentence_that_stands_on_the_page_is_not_shown_again():
    table = new_output("display_data", data={"text/html": "<table><tbody><tr><td>7</td></tr></tbody></table>"})
    cells = [new_markdown_cell("Counts."), new_code_cell("shown()", outputs=[table])]
    again = [
        new_markdown_cell("The same again."),
        new_code_cell("again()", outputs=[table]),
        new_markdown_cell("More."),
    ]
    said = set()
    first = notebook_html(Section("a", new_notebook(cells=cells)), said)
    second = notebook_html(Section("b", new_notebook(cells=again)), said)
    assert "<td>7</td>" in first
    assert "<td>7</td>" not in second
    assert ("The same again." in second, "More." in second) == (False, True)


def test_several_pictures_of_a_cell_stand_side_by_side():
    picture = new_output("display_data", data={"image/svg+xml": "<svg><text>a</text></svg>", "text/plain": "a"})
    for outputs, beside in (([picture], False), ([picture, picture], True)):
        page = notebook_html(Section("n", new_notebook(cells=[new_code_cell("x", outputs=outputs)])))
        assert ('<div class="charts">' in page) is beside


def test_cells_of_a_wide_table_name_their_columns_for_a_narrow_screen():
    wide = pd.DataFrame([{f"a column called & {n}": "some-quite-long-words" for n in range(5)}])
    for frame, stacks in ((wide, True), (pd.DataFrame([{str(n): n for n in range(5)}]), False)):
        output = new_output("display_data", data={"text/html": table_html(frame)})
        page = notebook_html(Section("n", new_notebook(cells=[new_code_cell("x", outputs=[output])])))
        assert ('class="table stack"' in page) is stacks
        assert ('<td data-of="a column called &amp; 0">some-quite-long-words</td>' in page) is stacks


def test_a_page_is_small_and_has_a_print_style(loop):
    assert loop[2].stat().st_size < 3_000_000
    assert "@media print" in loop[2].read_text(encoding="utf-8")


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_whole_page_asks_for_nothing_and_its_words_stand_out(loop, chromium, scheme):
    with chromium_browser(chromium) as browser:
        page = browser.new_context(viewport={"width": 400, "height": 800}, color_scheme=scheme).new_page()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(loop[2].as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        page.emulate_media(media="print")
        page.emulate_media(media="screen")
        assert asked == [loop[2].as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        ink, paper = page.evaluate(
            "[getComputedStyle(document.querySelector('figure text')).fill,"
            " getComputedStyle(document.body).backgroundColor]"
        )
        (low, high) = sorted(_brightness(colour) for colour in (ink, paper))
        assert (high + 0.05) / (low + 0.05) >= 7
        assert [(one["id"], node["target"]) for one in axe(page) for node in one["nodes"]] == []


def _brightness(colour):
    """Relative luminance (WCAG 2) of `rgb(...)`."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.browser
def test_a_browser_opens_the_page_offline_and_runs_nothing_of_an_answer(hostile, chromium):
    with chromium_browser(chromium) as browser:
        page = browser.new_page()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(hostile[1].as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
        assert 'onerror="window.hit=1"' in page.inner_text("main")
        assert page.evaluate("window.hit === undefined && document.querySelectorAll('main img, main a').length === 0")
        assert asked == [hostile[1].as_uri()]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"depth": "3"},
            "no notebook of this report has a parameter 'depth'; there are report: interactive; run: failing,",
        ),
        ({"failing": "many"}, "parameter 'failing' is 'many'; expected a whole number, as in failing=10"),
        ({"interactive": "perhaps"}, "parameter 'interactive' is 'perhaps'; expected true or false or none"),
        ({"run": "r-2"}, "parameter 'run' is set by the report itself"),
    ],
)
def test_parameters_are_checked_before_anything_is_executed(tmp_path, parameters, said):
    stored_run(tmp_path, {"c-1": ["four"], "c-2": ["five"]})
    with pytest.raises(InputError, match=re.escape(said)):
        build_report(ReportOrder("r-1", tmp_path, tmp_path / "log", tmp_path / "out", (), parameters))
    assert not (tmp_path / "out").exists()


def test_an_unknown_notebook_is_refused_with_those_there_are(tmp_path):
    stored_run(tmp_path, {"c-1": ["four"], "c-2": ["five"]})
    with pytest.raises(InputError, match=r"no notebook is called 'sums.ipynb' .* known: .*reliability"):
        build_report(ReportOrder("r-1", tmp_path, tmp_path / "log", tmp_path / "out", ("sums",)))


def _own_notebook(folder, code, parameters="run = ''", name="own"):
    first = nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]})
    cells = [first, nbformat.v4.new_code_cell(code)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    (folder / "notebooks").mkdir()
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), folder / f"notebooks/{name}.ipynb")


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        ("import os; os._exit(9)", InfrastructureError, "notebook 'own' "),
        ("1 / 0", InfrastructureError, "notebook 'own' stopped with ZeroDivisionError: division by zero"),
        ("from evallib.errors import InputError; raise InputError('no such view')", InputError, "no such view"),
    ],
)
def test_a_notebook_that_does_not_reach_its_end_gives_no_page(tmp_path, monkeypatch, code, error, said):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]})
    _own_notebook(tmp_path, code)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=said):
        build_report(ReportOrder("r-1", tmp_path / "data", tmp_path / "log", tmp_path / "out", ("own",)))
    assert not (tmp_path / "out/r-1.html").exists()


def test_another_run_is_compared_when_it_is_named(tmp_path, monkeypatch):
    for name in ("before", "after"):
        stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]}, run_id=name)
    _own_notebook(tmp_path, "print(run_a, 'against', run_b)", "run_a = ''\nrun_b = ''", "compare")
    monkeypatch.chdir(tmp_path)
    asked = ("after", tmp_path / "data", tmp_path / "log", tmp_path / "out")
    page = build_report(ReportOrder(*asked, ("gate", "compare"), {"run_a": "before"})).read_text(encoding="utf-8")
    assert "before against after" in page
    usual = [one.name for one in _planned(ReportOrder(*asked), ReportOrder(*asked).opened())]
    comparing = ReportOrder(*asked, parameters={"run_a": "before"})
    named = [one.name for one in _planned(comparing, comparing.opened())]
    assert [name for name in named if name not in usual] == ["compare"]


def test_a_copy_never_goes_over_the_notebook_itself(tmp_path, monkeypatch):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]}, run_id="notebooks")
    _own_notebook(tmp_path, "1")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="would overwrite the notebook itself"):
        build_report(ReportOrder("notebooks", tmp_path / "data", tmp_path / "log", tmp_path, ("own",)))


# what reaches the page


@pytest.mark.parametrize(
    ("markup", "built"),
    [
        ('<td onclick="x()" style="a">1 &lt; 2</td>', "<td>1 &lt; 2</td>"),
        ("<style>td {}</style><p>a</p>", "<p>a</p>"),
        ("<script>x()</script>b", "b"),
        ('<svg><a href="javascript:x()">c</a></svg>d', "d"),
        ("<img src=x onerror=x()>e", "e"),
        ('<th colspan="2" rowspan="x">f</th>', '<th colspan="2">f</th>'),
        ("<table><tr><td>g", "<table><tr><td>g</td></tr></table>"),
        ("</td></div>h", "h"),
    ],
)
def test_markup_is_built_anew_from_a_short_list(markup, built):
    assert clean_html(markup) == built


@pytest.mark.parametrize(("index", "hidden"), [([0, 1], True), (["x", "y"], False), ([1, 2], False)])
def test_only_the_numbering_pandas_adds_is_hidden(index, hidden):
    frame = pd.DataFrame({"a": [7, 8]}, index=index)
    for shown, numbered in ((frame.to_html(), hidden), (frame.to_html(index=False), False)):
        output = new_output("display_data", data={"text/html": shown})
        page = notebook_html(Section("n", new_notebook(cells=[new_code_cell("x", outputs=[output])])))
        assert ('class="table numbered"' in page) is numbered


def test_a_picture_keeps_its_shapes_and_loses_what_acts():
    picture = (
        '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script><foreignObject/>'
        '<defs><clipPath id="c0"/></defs><g clip-path="url(#c0)" fill="url(http://example.org)">'
        "<text>a &lt; b</text></g></svg>"
    )
    cleaned = clean_svg(picture, "p1-")
    assert '<clipPath id="p1-c0"' in cleaned
    assert 'clip-path="url(#p1-c0)"' in cleaned
    assert "a &lt; b" in cleaned
    assert not re.search("script|onload|foreign|http", cleaned)


def test_a_notebook_that_refuses_its_parameters_leaves_no_folder(tmp_path, monkeypatch):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]})
    _own_notebook(tmp_path, "from evallib.errors import InputError; raise InputError('no')")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no"):
        build_report(ReportOrder("r-1", tmp_path / "data", tmp_path / "log", tmp_path / "new" / "out", ("own",)))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("code", "said", "kept"),
    [
        ("print('before'); import os; os.kill(os.getpid(), 9)", "own' (was not finished|did not reach)", "import os"),
        ("print('before'); 1 / 0", "own' stopped with ZeroDivisionError", "before"),
        ("print('before')\nimport time\ntime.sleep(60)", "own' has a cell that took more than 1 s", "before"),
    ],
)
def test_what_stops_a_notebook_is_told_and_the_partial_copy_and_the_files_for_ci_stay(
    tmp_path, monkeypatch, code, said, kept
):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]})
    _own_notebook(tmp_path, code)
    monkeypatch.chdir(tmp_path)
    seconds = 1 if "sleep" in code else 60
    order = ReportOrder("r-1", tmp_path / "data", tmp_path / "log", tmp_path / "out", ("own",), cell_seconds=seconds)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/r-1.html").write_text("the page of an earlier report", encoding="utf-8")
    with pytest.raises(InfrastructureError, match=said) as stopped:
        build_report(order)
    told = str(stopped.value)
    test = ET.parse(tmp_path / "out/r-1.junit.xml").getroot().find(".//testcase[@name='the report']/error")
    assert test is not None
    assert told in test.attrib["message"]
    assert told in json.loads((tmp_path / "out/r-1.json").read_text(encoding="utf-8"))["notices"][0]
    assert "The report failed" in (tmp_path / "out/r-1.md").read_text(encoding="utf-8").splitlines()[2]
    assert kept in (tmp_path / "out/r-1/own.ipynb").read_text(encoding="utf-8")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"r-1", "r-1.md", "r-1.junit.xml", "r-1.json"}


@pytest.mark.parametrize(
    ("frame", "stands"),
    [
        (pd.DataFrame([], columns=["check", "read"]), False),
        (pd.DataFrame([{"nothing to show": "name the changed suite"}]), False),
        (pd.DataFrame([{"check": "nothing to show", "read": 3}]), True),
    ],
)
def test_an_optional_table_without_rows_leaves_the_page_with_its_sentence(frame, stands):
    table = new_output("display_data", data={"text/html": table_html(frame), "text/plain": "a table"})
    cells = [
        new_markdown_cell("Before a next change.", metadata={"tags": ["optional"]}),
        new_code_cell("preview()", outputs=[table], metadata={"tags": ["optional"]}),
        new_markdown_cell("What else."),
    ]
    page = notebook_html(Section("own", new_notebook(cells=cells)))
    assert "What else." in page
    assert ("Before a next change." in page) is stands
    assert ("<table" in page) is stands


def test_cells_that_speak_of_the_parameters_or_of_readings_are_not_for_every_page():
    tags = {
        (name, cell.source.split("\n")[0]): cell.metadata.get("tags", [])
        for name in ("rescore", "run")
        for cell in nbformat.read(notebook(name), as_version=4).cells
    }
    assert [tags["rescore", one] for one in ("rescoring.preview()", "rescoring.previewed()")] == [["optional"]] * 2
    assert tags["run", "exhibits.coverage()"] == ["optional"]
    assert [found for (_, said), found in tags.items() if said.startswith("Where the cell above names")] == [["lab"]]
