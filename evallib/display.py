"""How a notebook shows frames: whole texts, flush left, escaped, each with the caption of its figures."""

from __future__ import annotations

import html
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["set_display", "table_html"]


def set_display(*, interactive: bool | None = None) -> None:
    """Let frames show whole texts and captions, no mathematics, and headless (which a page is made of) all rows.

    Mathematics is off because JupyterLab typesets what stands between dollars, and an answer may hold anything.
    """
    import pandas as pd

    if interactive is None:
        interactive = bool(os.environ.get("JPY_SESSION_NAME"))
    pd.set_option("display.max_colwidth", None)
    pd.set_option("display.max_columns", None)
    pd.set_option("display.max_rows", 60 if interactive else 1000)
    pd.set_option("display.html.use_mathjax", False)
    pd.set_option("display.float_format", "{:.3f}".format)
    _show_tables()


def _show_tables() -> None:
    import pandas as pd
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell and shell.display_formatter:
        shell.display_formatter.formatters["text/html"].for_type(pd.DataFrame, table_html)


_LEFT = (
    "<style>.evallib-table.evallib-table :is(td, th, caption) {text-align: left}"
    ".evallib-table caption {caption-side: bottom; padding-top: .4em; font-size: .85em}</style>"
)
"""JupyterLab sets all cells flush right; its rule is as specific as one class and one element."""


def table_html(frame: pd.DataFrame) -> str:
    """A plain frame as pandas writes it, every text escaped, but flush left and without pandas' own row numbers.

    Below it stands what its figures are of in short, where it is known, and folded the whole caption.
    """
    import pandas as pd

    numbered, most = isinstance(frame.index, pd.RangeIndex), pd.get_option("display.max_rows")
    cut = most is not None and len(frame) > most
    table = frame.to_html(index=not numbered, escape=True, max_rows=most, show_dimensions=cut, notebook=True)
    if frame.attrs.get("caption"):
        short, full = ("<br>".join(map(html.escape, frame.attrs[name].split("\n"))) for name in ("brief", "caption"))
        fold = f"<caption><details><summary>{short}</summary>{full}</details></caption>"
        table = re.sub("(<table[^>]*>)", lambda tag: f"{tag[0]}{fold}", table, count=1)
    return f'{_LEFT}<div class="evallib-table">{table}</div>'
