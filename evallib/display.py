"""How a notebook shows frames: whole texts, flush left, escaped, each with the caption of its figures."""

from __future__ import annotations

import html
import os
import re
from typing import TYPE_CHECKING, Any

from evallib.errors import EvallibError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["set_display", "table_html"]


def set_display(*, interactive: bool | None = None) -> None:
    """Let frames show whole texts and captions, no mathematics, and headless (which a page is made of) all rows.

    Mathematics is off because JupyterLab typesets what stands between dollars, and an answer may hold anything. An
    error of ours is shown as its sentence, without the code that found it.
    """
    import pandas as pd

    if interactive is None:
        interactive = bool(os.environ.get("JPY_SESSION_NAME"))
    pd.set_option("display.max_colwidth", None)
    pd.set_option("display.max_columns", None)
    pd.set_option("display.max_rows", 60 if interactive else 1000)
    pd.set_option("display.html.use_mathjax", False)
    pd.set_option("display.float_format", "{:.3f}".format)
    _set_shell()


def _set_shell() -> None:
    import pandas as pd
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell and shell.display_formatter:
        shell.display_formatter.formatters["text/html"].for_type(pd.DataFrame, table_html)
        shell.set_custom_exc((EvallibError,), _show_sentence)  # type: ignore[no-untyped-call]  # IPython's own


def _show_sentence(shell: Any, kind: type[EvallibError], error: EvallibError, *_: object, **__: object) -> None:
    shell._showtraceback(kind, error, [f"{kind.__name__}: {error}"])  # noqa: SLF001 - the one way to the notebook


_LEFT = (
    "<style>.evallib-table.evallib-table :is(td, th, caption) {text-align: left}"
    ".evallib-table.evallib-table th {max-width: 9em; font-weight: 600}"
    ".evallib-table.evallib-table table {min-width: min(100%, 30em)}"
    ".evallib-table caption {caption-side: bottom; padding-top: .4em; font-size: .85em}</style>"
)
"""JupyterLab sets all cells flush right; its rule is as specific as one class and one element.

A head takes no more room than it needs in several lines: else what stands below it in few words is wide, and the
reasons beside it are narrow and tall.
"""


def table_html(frame: pd.DataFrame) -> str:
    """A plain frame as pandas writes it, every text escaped, but flush left and without pandas' own row numbers.

    A head may be broken after an underscore. Below it stands what its figures are of in short, where it is known, and
    folded the whole caption.
    """
    import pandas as pd

    numbered, most = isinstance(frame.index, pd.RangeIndex), pd.get_option("display.max_rows")
    cut = most is not None and len(frame) > most
    table = frame.to_html(index=not numbered, escape=True, max_rows=most, show_dimensions=cut, notebook=True)
    head, end, body = table.partition("</thead>")
    table = re.sub("(?<=<th>)[^<]+", lambda words: words[0].replace("_", "_<wbr>"), head) + end + body
    if frame.empty:
        none = f'<tr><th colspan="{max(1, frame.shape[1])}">nothing to show</th></tr>'
        table = table.replace("<tbody>", f"<tbody>{none}", 1)
    if frame.attrs.get("caption"):
        short, full = ("<br>".join(map(html.escape, frame.attrs[name].split("\n"))) for name in ("brief", "caption"))
        fold = f"<caption><details><summary>{short}</summary>{full}</details></caption>"
        table = re.sub("(<table[^>]*>)", lambda tag: f"{tag[0]}{fold}", table, count=1)
    return f'{_LEFT}<div class="evallib-table">{table}</div>'
