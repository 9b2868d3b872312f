"""Figures made from changed criteria still say so when they are cut out of picture, table, page or store.

Titles, captions and headings of pages are taken away first; what is looked at is the data itself.
"""

import json
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from evallib.charts.drawing import Drawing, spec_of
from evallib.cli import main
from evallib.exhibits.run import Exhibits, open_exhibits
from evallib.records import POST_HOC_LABEL, STRICT
from evallib.report import ReportOrder, build_report
from evallib.store import read_log
from evallib.tracking.page import draw_page
from evallib.views.load import View
from tests.test_exhibits import _loop

_SAID = {"title", "subtitle", "description", "usermeta", "caption"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Data and log of a run that was rescored and read."""
    return _loop(tmp_path_factory.mktemp("loop"))


@pytest.fixture(scope="module")
def exhibits(place: tuple[Path, Path]) -> Exhibits:
    return open_exhibits("r-1", data=place[0], adjudications=place[1])


@pytest.fixture(scope="module")
def later(exhibits: Exhibits) -> list[str]:
    """Every view but strict."""
    return [figures.view for figures in exhibits.views if figures.view != STRICT]


def stripped(part: Any) -> Any:
    """A specification without anything that is said about it."""
    if isinstance(part, Mapping):
        return {name: stripped(one) for name, one in part.items() if name not in _SAID}
    return [stripped(one) for one in part] if isinstance(part, list) else part


def drawn(exhibits: Exhibits, views: list[str]) -> Iterator[tuple[str, Drawing]]:
    yield "reliability", exhibits.reliability()
    yield "check_bars", exhibits.check_bars()
    for view in views:
        yield f"gate {view}", exhibits.gate(view)
        yield f"tiles {view}", exhibits.tiles(view)
        yield f"check_bars {view}", exhibits.check_bars(view)


def test_every_row_of_a_chart_says_its_view_and_that_it_was_chosen_after_reading(
    exhibits: Exhibits, later: list[str]
) -> None:
    for name, drawing in drawn(exhibits, later):
        spec = stripped(spec_of(drawing.chart))
        rows = [row for rows in spec["datasets"].values() for row in rows]
        assert rows, name
        for row in rows:
            assert row.get("view"), (name, row)
            assert (row["view"] == STRICT) == (POST_HOC_LABEL not in row["label"]), (name, row)


def frames(exhibits: Exhibits, views: list[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    for name in (
        "overview",
        "captions",
        "checks",
        "figures",
        "samples",
        "curves",
        "entries",
        "changes",
        "flips",
        "story",
    ):
        yield name, getattr(exhibits, name)()
    for view in views:
        yield f"samples {view}", exhibits.samples(view)
        yield f"cases {view}", exhibits.cases(view)
        yield f"rules {view}", exhibits.rules(view)
        yield f"outcomes {view}", exhibits.view(view).outcomes
        yield f"verdicts {view}", exhibits.view(view).verdicts


_LATER = re.compile(r"rescored:|rescored \(|^read \(")
"""How heads and cells name a later view."""


def unlabelled(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Heads of columns, and cells, that speak of a later view where neither row nor column says the label."""
    bad = [head for head in heads if _LATER.search(head) and POST_HOC_LABEL not in head]
    for row in rows:
        if POST_HOC_LABEL not in " ".join(row):
            cells = zip(heads, row, strict=False)
            bad += [cell for head, cell in cells if _LATER.search(cell) and POST_HOC_LABEL not in head]
    return bad


def test_every_row_or_column_of_a_table_says_it(exhibits: Exhibits, later: list[str]) -> None:
    for name, frame in frames(exhibits, later):
        frame.attrs.clear()  # the caption below the table
        heads = [str(column) for column in frame]
        rows = [[str(cell) for cell in row] for row in frame.itertuples(index=False)]
        assert not unlabelled(heads, rows), name
        if name.partition(" ")[2]:
            labelled = [POST_HOC_LABEL in " ".join([*heads, *row]) for row in rows]
            assert all(labelled), name


class _Tables(HTMLParser):
    """The tables of a page as rows of texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
        self._cell = tag in {"td", "th"} or (self._cell and tag not in {"table", "caption", "tr"})

    def handle_endtag(self, tag: str) -> None:
        self._cell = self._cell and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._cell:
            self.tables[-1][-1][-1] += data


def test_every_table_and_picture_of_a_page_says_it_without_the_pages_head(
    place: tuple[Path, Path], tmp_path: Path
) -> None:
    page = build_report(ReportOrder("r-1", *place, tmp_path)).read_text(encoding="utf-8")
    body = page[page.index("<main>") :]
    body = re.sub(r"<caption.*?</caption>|<h\d.*?</h\d>", "", body, flags=re.DOTALL)
    tables = [table for table in _Tables(body).tables if table]
    assert any(POST_HOC_LABEL in " ".join(table[0]) for table in tables)
    for table in tables:
        assert not unlabelled(table[0], table[1:]), table
    pictures = re.findall(r"<svg.*?</svg>", body, re.DOTALL)
    for picture in pictures:
        if re.search(r"rescored:|view read", picture):
            assert POST_HOC_LABEL in " ".join(re.sub(r"<[^>]*>", " ", picture).lower().split())


def test_the_text_of_failing_answers_says_it(exhibits: Exhibits, later: list[str]) -> None:
    for view in later:
        assert POST_HOC_LABEL in exhibits.failing(view=view)


def test_the_parquet_file_of_a_rescoring_says_it_under_any_name(place: tuple[Path, Path], tmp_path: Path) -> None:
    (file,) = (place[0] / "runs" / "r-1").glob("rescored/*/verdicts.parquet")
    copy = tmp_path / "x.parquet"
    copy.write_bytes(file.read_bytes())
    metadata = pq.read_schema(copy).metadata
    assert metadata[b"view"].startswith(b"rescored:")
    assert metadata[b"post_hoc"] == b"true"
    assert POST_HOC_LABEL in metadata[b"label"].decode()
    table = pq.read_table(copy)
    assert table.slice(0, 1).select(["case_id", "passed"]).schema.metadata == metadata


def test_every_metric_of_mlflow_from_a_later_view_is_named_so_and_its_tags_say_it(
    exhibits: Exhibits, place: tuple[Path, Path], later: list[str]
) -> None:
    log = read_log(place[1])
    for name in (STRICT, *later):
        figures = exhibits.view(name)
        page = draw_page(exhibits.run, figures.summary(), figures.decision().as_json(), log)
        assert (POST_HOC_LABEL in page.tags.get("evallib.label", "")) == (name != STRICT)
        assert (page.tags["evallib.post_hoc"] == "true") == (name != STRICT)
        plain = {metric for metric in page.metrics if metric in {"pass_rate", "score_mean", "pass_at.1", "planned"}}
        assert bool(plain) == (name == STRICT)
        prefixes = {
            re.sub(r"\.(pass_rate|score_mean)$", "", m)
            for m in page.metrics
            if m.endswith((".pass_rate", ".score_mean"))
        }
        for prefix in prefixes:
            view: View = exhibits.view(prefix.replace("rescored.", "rescored:", 1)).views[0]
            said = page.tags.get(f"evallib.{prefix}.label", page.tags.get("evallib.label", ""))
            assert view.label == said
            assert POST_HOC_LABEL in said


@pytest.mark.parametrize("words", [["metrics", "r-1"], ["gate", "r-1"]])
def test_what_a_command_prints_says_it_in_the_object_and_in_words(
    place: tuple[Path, Path], later: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--data", str(place[0]), "--adjudications", str(place[1])]
    for view in later:
        assert main([*words, "--view", view, "--json", *where]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["view"] == view
        assert POST_HOC_LABEL in said["label"]
        assert main([*words, "--view", view, *where]) == 0
        assert POST_HOC_LABEL in capsys.readouterr().out.lower()
