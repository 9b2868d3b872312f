"""What the notebook on readers shows: plain frames and a drawing of agreement, disputes and audits of one run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.caption import captioned
from evallib.charts import Drawing, about, rate_chart, show
from evallib.concordance.audit import Audit, Rate, StratumAudit
from evallib.concordance.concord import Concord
from evallib.concordance.disputes import Dispute
from evallib.concordance.review import Review, review
from evallib.desk.tables import base_folder
from evallib.entries import Resolution
from evallib.printing import corrected_words, interval, number
from evallib.records import STRICT
from evallib.statistics.agreement import Coefficient
from evallib.stdout import counted
from evallib.store import open_run, read_log
from evallib.views.figures import Figures, load_figures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReadingExhibits", "open_readings"]


@dataclass(frozen=True)
class ReadingExhibits:
    """The readings of one run, ready to be shown. Frames hold untrusted text, so they are plain ones."""

    review: Review
    figures: Figures
    """Of the strict view, which says what the rates are of."""

    def agreement(self) -> pd.DataFrame:
        """One row per check and kind of label: n, every coefficient with its interval, and what was said how often."""
        return _frame(map(_agreement_row, self.review.agreement), self.review.sentences()[0])

    def disputes(self) -> pd.DataFrame:
        """One row per reader of an item on which readers differ, the open ones first."""
        rows = (row for one in self.review.disputes for row in _dispute_rows(one))
        return _frame(rows, "Standing readings differ nowhere.")

    def audit(self) -> pd.DataFrame:
        """One row per check and strict word: what was drawn, read and found wrong, and what was picked by hand."""
        rows = (_stratum_row(one, stratum) for one in self.review.audits for stratum in one.strata if stratum.of)
        return self._captioned(_frame(rows))

    def rates(self) -> pd.DataFrame:
        """One row per check: the strict pass rate and the one corrected by reading, or why there is none."""
        return self._captioned(_frame(_rate_row(one) for one in self.review.audits))

    def corrected(self) -> Drawing:
        """The same as a picture."""
        return show(rate_chart(self.review.audits, about=about(self.figures.summary())))

    def _captioned(self, frame: pd.DataFrame) -> pd.DataFrame:
        return captioned(frame, [self.figures.summary()])

    def sentences(self) -> pd.DataFrame:
        """What each number licenses, in words."""
        said = self.review.sentences()
        return self._captioned(_frame({"what the numbers allow to be said": one} for one in said))


def open_readings(run: str, *, data: str | Path, adjudications: str | Path) -> ReadingExhibits:
    """What is known of the readings of a stored run; relative folders count from `base_folder`."""
    base = base_folder(data)
    opened = open_run(run, base / data)
    figures = load_figures([opened], STRICT, base / data, base / adjudications)
    return ReadingExhibits(review([opened], read_log(base / adjudications)), figures)


def _frame(rows: Iterable[dict[str, Any]], none: str = "Nothing was read.") -> pd.DataFrame:
    """The rows, or one that says why there are none."""
    import pandas as pd

    return pd.DataFrame(list(rows) or [{"nothing to show": none}])


def _about(check: str) -> str:
    return check or "whole answers"


def _figure(one: Coefficient | Rate) -> str:
    return number(one.value) + interval(one.interval)


def _agreement_row(one: Concord) -> dict[str, Any]:
    found = one.coefficients
    return {
        "of": _about(one.check),
        "label": one.what,
        "readers": ", ".join(one.readers),
        "n": one.items,
        "cases": one.cases,
        "agreement": _figure(found["agreement"]),
        "kappa": _figure(found["kappa"]),
        "alpha": _figure(found["alpha"]),
        "AC1": _figure(found["ac1"]),
        "labels given": "; ".join(
            f"{reader}: {', '.join(f'{count} {label}' for label, count in sorted(counts.items()))}"
            for reader, counts in one.marginals.items()
        ),
        "undefined": "; ".join(f"{name}: {c.why}" for name, c in found.items() if c.why),
    }


def _dispute_rows(one: Dispute) -> list[dict[str, Any]]:
    held = one.resolution.entry if one.resolution else None
    stands = "open: strict stands"
    if isinstance(held, Resolution):
        own = ", one of the readers" if held.self_resolved else ""
        stands = f"{held.reading}, by {held.author}{own}: {held.reason}"
    return [
        {
            "case": one.item.case,
            "sample": one.item.sample,
            "of": said.check or "the answer",
            "reader": f"{said.reader} (says two things)" if said.reader in one.forked else said.reader,
            "says": said.reading,
            "cause": said.cause,
            "reason": said.reason,
            "blind": "blind" if said.blind else "sighted",
            "stands": stands,
        }
        for said in one.said
    ]


def _stratum_row(one: Audit, s: StratumAudit) -> dict[str, Any]:
    wrong = {"pass": ("false pass", "false passes"), "fail": ("false fail",), "error": ("read as pass",) * 2}[s.strict]
    return {
        "of": _about(one.check),
        "strict": f"{s.strict} ({s.of})",
        "drawn": s.read + s.lost,
        "read and settled": s.read,
        "found": counted(s.false, *wrong) if s.read else "",
        "share": number(s.share) + interval(s.interval),
        "blind": s.blind,
        "infra": s.infra,
        "unsettled or unread": s.lost,
        "picked by hand": f"{s.picked}, of them {counted(s.picked_false, *wrong)}" if s.picked else "",
        "chosen": s.how or s.picked_words,
    }


def _rate_row(one: Audit) -> dict[str, Any]:
    return {
        "of": _about(one.check),
        "strict": _figure(one.strict),
        "items": sum(stratum.of for stratum in one.strata if stratum.of),
        "corrected": corrected_words([one.as_dict()]),
        "read": one.n,
    }
