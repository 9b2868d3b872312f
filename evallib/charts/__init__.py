"""Charts of one or several views: they draw what `metrics`, `gate` and `concordance` computed, and compute nothing.

`drawing` is what all share: title and caption inside the picture, what each row says of its view, colours, the picture
for a notebook or a file; `ladder` rates with intervals, one below another. `reliability`, `tiles`, `gate`, `checks`,
`calibration`, `usage`, `rates`, `forest` and `slopes` are a chart each.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evallib.charts.calibration import calibration_chart
    from evallib.charts.checks import check_bars
    from evallib.charts.drawing import About, Drawing, Drawings, about, show, to_png, to_svg
    from evallib.charts.forest import forest_chart
    from evallib.charts.gate import gate_chart
    from evallib.charts.rates import rate_chart
    from evallib.charts.reliability import reliability_chart
    from evallib.charts.slopes import slope_chart
    from evallib.charts.tiles import case_tiles
    from evallib.charts.usage import usage_chart

_HOMES = {
    "About": "drawing",
    "Drawing": "drawing",
    "Drawings": "drawing",
    "about": "drawing",
    "calibration_chart": "calibration",
    "case_tiles": "tiles",
    "check_bars": "checks",
    "forest_chart": "forest",
    "gate_chart": "gate",
    "rate_chart": "rates",
    "reliability_chart": "reliability",
    "show": "drawing",
    "slope_chart": "slopes",
    "to_png": "drawing",
    "to_svg": "drawing",
    "usage_chart": "usage",
}
"""Public name to the module of this package that defines it."""

__all__ = [
    "About", "Drawing", "Drawings", "about", "calibration_chart", "case_tiles", "check_bars", "forest_chart",
    "gate_chart", "rate_chart", "reliability_chart", "show", "slope_chart", "to_png", "to_svg", "usage_chart",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
