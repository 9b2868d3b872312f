"""What a reviewer sees in a notebook: `show_review` gives the screen where somebody can answer, else the queue.

`review` draws and forwards, with `review.js` and `review.css` beside it; all decisions are the session's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["ReviewWidget", "review_widget", "show_review"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("evallib.widgets.review"), name)
    raise AttributeError(f"module 'evallib.widgets' has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
