"""The chart of strict pass rates beside those corrected by reading: it draws what `audit` computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evallib.charts.drawing import BLUE, GREY, WIDTH, About, AltairChart, titled
from evallib.charts.ladder import ladder
from evallib.concordance.audit import Audit, Rate
from evallib.records import POST_HOC_LABEL, STRICT

__all__ = ["rate_chart"]

_CORRECTED = "corrected"
_KINDS = {STRICT: (GREY, "circle"), _CORRECTED: (BLUE, "square")}
_KEY = "Grey circle: strict. Blue square: corrected by what was read. Line: 95 % interval."


def rate_chart(audits: Sequence[Audit], *, about: Sequence[About] = ()) -> AltairChart:
    """One row per check: the strict rate over the corrected one, each with its interval, or why there is none.

    `about` is what the strict view says of itself.
    """
    rows = [row for one in audits for row in _rows(one, about)]
    drawn = ladder(rows, _KINDS, "pass rate")
    key = f"{_KEY}\n{audits[0].sentence()}"
    title = f"Pass rate, strict and corrected by reading (run {audits[0].run})"
    meta = {"views": [STRICT, _CORRECTED], "labels": {STRICT: "", _CORRECTED: POST_HOC_LABEL}}
    seen = ". ".join(row["words"] for row in rows)
    return titled(drawn, title, meta, WIDTH, said=about, seen=f"{seen}.", key=key)


def _rows(one: Audit, about: Sequence[About]) -> list[dict[str, Any]]:
    said = about[0].row() if about else {}
    total = sum(stratum.of for stratum in one.strata)
    rows = [_row(one, STRICT, one.strict, total), _row(one, _CORRECTED, one.corrected, one.n)]
    return [{**said, **row} for row in rows]


def _row(one: Audit, kind: str, rate: Rate, n: int) -> dict[str, Any]:
    low, high = rate.interval or (None, None)
    of = one.check or "whole answers"
    shown = f"{rate.value:.3f}, n {n}" if rate.value is not None else rate.why
    ends = f", 95 % {low:.3f} to {high:.3f}" if low is not None else ""
    label = POST_HOC_LABEL if kind == _CORRECTED else ""
    return {
        "of": of, "kind": kind, "rate": kind, "value": rate.value, "lo": low, "hi": high, "n": n, "why": rate.why,
        "view": kind, "post_hoc": bool(label), "label": label, "words": f"{of}, {kind}: {shown}{ends}",
    }  # fmt: skip
