"""The gap between what everybody sees and a sealed holdout: visible pass rate minus that of the holdout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evallib.errors import InputError
from evallib.statistics.unpaired import newcombe
from evallib.stdout import signed
from evallib.views.figures import Figures

__all__ = ["gap", "gap_lines"]


def gap(visible: Figures, holdout: Figures) -> dict[str, Any]:
    """The object that `metrics --holdout --json` prints; InputError where one is not what it must be."""
    if not holdout.sealed:
        raise InputError(f"run {holdout.views[0].run.id!r} is of no sealed suite; seal it before its first run")
    if visible.sealed:
        raise InputError("the visible runs are of a sealed suite themselves; name runs that everybody may see")
    seen, hidden = visible.summary(), holdout.summary()
    interval = None
    if seen["pass_rate_interval"] and hidden["pass_rate_interval"]:
        interval = newcombe(
            (seen["pass_rate"], *seen["pass_rate_interval"]), (hidden["pass_rate"], *hidden["pass_rate_interval"])
        )
    found = None if None in (seen["pass_rate"], hidden["pass_rate"]) else seen["pass_rate"] - hidden["pass_rate"]
    same = {str(figures.views[0].run.plan["target"].get("model", "")) for figures in (visible, holdout)}
    return {
        "gap": found,
        "gap_interval": list(interval) if interval else None,
        "cases": {"visible": seen["cases"], "holdout": hidden["cases"]},
        "same_model": len(same) == 1,
        "post_hoc": seen["post_hoc"],
        "label": seen["label"],
        "visible": seen,
        "holdout": hidden,
    }


def gap_lines(found: Mapping[str, Any]) -> list[str]:
    """The gap in words, both captions with it."""
    seen, hidden = found["visible"], found["holdout"]
    label = f" ({found['label']})" if found["label"] else ""
    shown = "none" if found["gap"] is None else signed(found["gap"])
    low_high = found["gap_interval"]
    interval = f" [{', '.join(map(signed, low_high))}]" if low_high else " (no interval: it takes two cases of each)"
    n = f"unpaired, {seen['cases']} visible and {hidden['cases']} sealed cases"
    lines = [f"visible minus holdout{label}: {shown}{interval}, {n}"]
    if not found["same_model"]:
        lines.append("the two were run against different models: the gap is no sign of tuning")
    rates = ((name, one["pass_rate"]) for name, one in (("visible", seen), ("holdout", hidden)))
    lines += [f"{name} pass rate {'none' if rate is None else format(rate, '.3f')}" for name, rate in rates]
    return [*lines, seen["caption"], hidden["caption"]]
