"""Executed notebooks as one self-contained HTML page: no script, no request, nothing that an answer could switch on.

Three walls stand between an untrusted text and the browser: what is shown is built anew from a short list of tags
without attributes, pictures from a short list of shapes, and the page's own policy forbids scripts and requests.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["Section", "ViewLine", "clean_html", "clean_svg", "html_page", "notebook_html"]

# fmt: off
_TAGS = frozenset({
    "b", "blockquote", "br", "caption", "code", "details", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "li", "ol", "p", "pre", "strong", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul",
})
# fmt: on
_SILENT = frozenset({"script", "style", "template", "title", "iframe", "object", "svg", "math"})
"""Elements that go with all they hold."""
_EMPTY = frozenset({"br", "hr"})
_SPANS = frozenset({"colspan", "rowspan"})
# fmt: off
_SHAPES = frozenset({
    "circle", "clipPath", "defs", "ellipse", "g", "line", "linearGradient", "path",
    "polygon", "polyline", "rect", "stop", "svg", "text", "tspan", "title",
})
# fmt: on
_ROWS = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
_CELLS = re.compile(r"<(t[hd])>(.*?)</\1>", re.DOTALL)
_BESIDE = 60
"""Characters that a phone shows beside one another; the rows of wider tables are written out there, cell after cell."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Section:
    """One executed notebook."""

    name: str
    notebook: NotebookNode


class ViewLine(NamedTuple):
    """What the top of the page says of one view: a row of its table."""

    name: str
    label: str
    """The words every figure of the view carries; empty for strict."""
    cells: Mapping[str, str]
    """By the heads of their columns; the first is the pass rate."""
    remark: str
    """What stands below the pass rate."""
    places: Sequence[float]
    """The pass rate and the ends of its interval, where it has one: what the bar beside it shows."""


class _Cleaner(HTMLParser):
    """Builds HTML anew out of `_TAGS`; everything else becomes text or goes."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in _SILENT
        if self._silent or tag not in _TAGS:
            return
        spans = "".join(f' {name}="{int(v)}"' for name, v in attrs if name in _SPANS and v and v.isdecimal())
        self.parts.append(f"<{tag}{spans}>")
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _EMPTY:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif not self._silent and tag in self._open:
            while (last := self._open.pop()) != tag:
                self.parts.append(f"</{last}>")
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(html.escape(data))

    def cleaned(self) -> str:
        """What was built, with every element closed."""
        self.close()
        return "".join(self.parts) + "".join(f"</{tag}>" for tag in reversed(self._open))


def clean_html(markup: str) -> str:
    """The same tables and texts built anew from a short list of tags, without any attribute that could act."""
    cleaner = _Cleaner()
    cleaner.feed(markup)
    return cleaner.cleaned()


def clean_svg(picture: str, prefix: str) -> str:
    """The picture for standing inside a page: known shapes only, its ids under `prefix` so that pictures never mix."""
    root = ET.fromstring(picture)  # noqa: S314 - drawn by vl-convert; expat refuses entities that explode
    _keep_shapes(root, prefix)
    return ET.tostring(root, encoding="unicode")


def _keep_shapes(element: ET.Element, prefix: str) -> None:
    element.tag = element.tag.rpartition("}")[2]
    for name, value in list(element.attrib.items()):
        del element.attrib[name]
        if name == "id":
            element.set(name, prefix + value)
        elif name.isidentifier() or name.replace("-", "").isalpha():
            _keep_attribute(element, name, value, prefix)
    for child in list(element):
        if str(child.tag).rpartition("}")[2] in _SHAPES:  # a comment's tag is a function
            _keep_shapes(child, prefix)
        else:
            element.remove(child)


def _keep_attribute(element: ET.Element, name: str, value: str, prefix: str) -> None:
    """Drops handlers, links and what parts are called, and points references at this picture's own ids.

    The figure around it says in words what is drawn.
    """
    local = re.sub(r"url\(['\"]?#", f"url(#{prefix}", value)
    foreign = "url(" in local and f"url(#{prefix}" not in local
    if not name.lower().startswith(("on", "aria-")) and name.lower() not in {"href", "role"} and not foreign:
        element.set(name, local)


def notebook_html(section: Section, said: set[str] | None = None) -> str:
    """Cells of an executed notebook: sentences and outputs, and at the end all its code, folded.

    A printed page unfolds the first caption, so that a section torn out says in full what its figures are of.

    Cells tagged `lab` speak to somebody who sits before the notebook and are left out; those tagged `optional`, a
    sentence and its table, where the table has nothing to show. `said` holds the sentences and tables that stand on the
    page already: the notebooks share some, and a page shows each once; a sentence goes with its table.
    """
    said = set() if said is None else said
    parts: list[str] = []
    code: list[str] = []
    for place, cell in enumerate(section.notebook.cells):
        tags = cell.metadata.get("tags", [])
        if "lab" in tags or cell.source in said or ("optional" in tags and _shows_nothing(section.notebook, place)):
            continue
        if cell.cell_type == "markdown":
            parts.append(_said(cell.source))
            said.add(cell.source)
        elif shown := _cell(cell, f"{section.name}-{place}-"):
            code.append(cell.source)
            if shown not in said:
                parts.append(shown)
            elif parts and parts[-1].startswith(_SAID):
                parts.pop()
            said.add(shown)
    folded = html.escape("\n\n".join(code))
    fold = f'<details class="code"><summary>code of this section</summary><pre>{folded}</pre></details>'
    page = "\n".join([*parts, *([fold] if code else [])])
    return page.replace("<caption><details>", '<caption><details class="full">', 1)


_SAID = '<div class="said">'


def _said(source: str) -> str:
    from nbconvert.filters import markdown2html

    words = clean_html(markdown2html(source)).replace("¶</h", "</h")  # its link is not in the list
    return f"{_SAID}{words}</div>"


def _shows_nothing(notebook: NotebookNode, place: int) -> bool:
    """Whether the first code cell from `place` on has no row of a table, or one that says so."""
    cell = next((one for one in notebook.cells[place:] if one.cell_type == "code"), None)
    tables = [_text(output.get("data", {}).get("text/html", "")) for output in (cell.outputs if cell else [])]
    return not any("<td" in table and "<th>nothing to show</th>" not in table for table in tables)


def _cell(cell: NotebookNode, prefix: str) -> str:
    """What a cell of code put out; several pictures stand side by side where there is room."""
    tags = cell.metadata.get("tags", [])
    if cell.cell_type != "code" or "injected-parameters" in tags:  # this machine's paths
        return ""
    outputs = [_output(output, f"{prefix}{place}-") for place, output in enumerate(cell.outputs)]
    shown = "\n".join(outputs)
    if sum(one.startswith("<figure") for one in outputs) > 1:
        shown = f'<div class="charts">{shown}</div>'
    if shown and "folded" in tags:
        shown = f'<details class="shown"><summary>show</summary>{shown}</details>'
    return shown


def _output(output: NotebookNode, prefix: str) -> str:
    if output.output_type == "stream":
        return _plain(output.text) if output.name == "stdout" else ""
    data: Mapping[str, Any] = output.get("data", {})
    plain = _text(data.get("text/plain", ""))
    if "image/svg+xml" in data:
        picture = clean_svg(_text(data["image/svg+xml"]), prefix)
        return f'<figure role="img" aria-label="{html.escape(plain, quote=True)}">{picture}</figure>'
    if "text/html" in data:
        return _table(clean_html(_text(data["text/html"])))
    return _plain(plain)


def _table(table: str) -> str:
    """A table in a box that scrolls; a wide one whose cells name their columns, for screens that stack them."""
    head, body, rest = table.partition("<tbody>")
    heads = [words for _, words in _CELLS.findall(head)]
    wide = len(heads) > 2 and _least_width(heads, rest) > _BESIDE and head.count("<tr>") == 1
    names = " ".join([" numbered"] * _is_numbered(table) + [" stack"] * wide)
    rows = _ROWS.sub(lambda row: _named(row, heads), rest) if wide else rest
    return f'<div class="table{names}">{head}{body}{rows}</div>'


def _least_width(heads: Sequence[str], body: str) -> int:
    """How many characters side by side the columns need: each its longest word, and a gap."""
    rows = [heads, *([text for _, text in _CELLS.findall(row)] for row in _ROWS.findall(body))]
    columns = zip(*(row for row in rows if len(row) == len(heads)), strict=True)
    return sum(2 + max((len(word) for cell in column for word in cell.split()), default=0) for column in columns)


def _named(row: re.Match[str], heads: Sequence[str]) -> str:
    cells = zip(_CELLS.findall(row[1]), heads, strict=False)
    return f"<tr>{''.join(_named_cell(tag, text, of) for (tag, text), of in cells)}</tr>"


def _named_cell(tag: str, text: str, of: str) -> str:
    """A cell with its column's name, of text that was cleaned."""
    return f'<{tag} data-of="{html.escape(html.unescape(of), quote=True)}">{text}</{tag}>'


def _text(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def _is_numbered(table: str) -> bool:
    """Whether its rows are headed 0, 1, 2 ...: pandas' own numbering, not an index somebody chose."""
    heads = re.findall(r"<tr>\s*<th>(.*?)</th>", table.partition("<tbody>")[2])
    return bool(heads) and heads == [str(number) for number in range(len(heads))]


def _plain(text: str) -> str:
    return f"<pre>{html.escape(_ANSI.sub('', text))}</pre>"


def html_page(
    title: str,
    views: Sequence[ViewLine],
    sections: Iterable[Section],
    *,
    decision: tuple[str, str] = ("", ""),
    notices: Sequence[str] = (),
    caption: str = "",
) -> str:
    """The whole page: the decision and why, what must be minded, a row for each view, their caption, the sections."""
    of = "<br>".join(html.escape(line) for line in caption.split("\n"))
    word, why = map(html.escape, decision)
    said: set[str] = set()
    parts = list(sections)
    links = " ".join(f'<a href="#{html.escape(part.name)}">{html.escape(part.name)}</a>' for part in parts)
    bodies = "\n".join(
        f'<section id="{html.escape(part.name)}">\n{notebook_html(part, said)}\n</section>' for part in parts
    )
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{html.escape(title)} · evallib report</title>
<style>
{style}</style>
</head>
<body>
<header>
<p class="kind">evallib report</p>
<p class="title">{html.escape(title)}</p>
{f'<p class="decision"><b class="{word}">{word}</b> {why}</p>' if word else ""}
{"".join(f'<p class="notice" role="note">{html.escape(one)}</p>' for one in notices)}
{_views(views) if views else ""}
<p class="caption">{of}</p>
<nav>{links}</nav>
</header>
<main>
{bodies}
</main>
</body>
</html>
"""


def _views(views: Sequence[ViewLine]) -> str:
    """A row for each view, with a bar from 0 to 1 for its pass rate and interval."""
    heads = ["view", *dict.fromkeys(head for view in views for head in view.cells)]
    head = "".join(f"<th>{html.escape(one)}</th>" for one in heads)
    rows = "".join(f"<tr>{''.join(_view(view, heads))}</tr>" for view in views)
    return f'<div class="table views stack"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _view(view: ViewLine, heads: Sequence[str]) -> Iterator[str]:
    label = f" <em>{html.escape(view.label)}</em>" if view.label else ""
    yield f'<th data-of="view">{html.escape(view.name)}{label}</th>'
    below = _bar(*view.places) + (f"<small>{html.escape(view.remark)}</small>" if view.remark else "")
    for head in heads[1:]:
        words = html.escape(view.cells.get(head, "")).replace(", ", ",&nbsp;")  # an interval stays in one line
        yield _named_cell("td", f"{words}{below}", html.escape(head))
        below = ""


def _bar(rate: float, low: float | None = None, high: float | None = None) -> str:
    line = "" if low is None or high is None else f'<i style="left:{low:.1%};width:{high - low:.1%}"></i>'
    return f'<span class="bar">{line}<b style="left:{rate:.1%}"></b></span>'
