"""What the notebooks show of one stored run: plain frames, plain text and drawings, each naming its view.

Frames hold untrusted text, so they are plain ones: pandas escapes them, while a Styler, Markdown or HTML would not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.caption import captioned
from evallib.charts import (
    Drawing,
    Drawings,
    about,
    case_tiles,
    check_bars,
    gate_chart,
    reliability_chart,
    show,
    usage_chart,
)
from evallib.desk.tables import base_folder
from evallib.display import set_display
from evallib.errors import InputError
from evallib.exhibits.rows import (
    check_counts,
    check_row,
    entry_row,
    flat_figures,
    flip_rows,
    heading,
    labelled,
    outcome_words,
    overview_row,
    plan_rows,
    whole_ks,
)
from evallib.gate import Decision
from evallib.masking import Masks, masks_of
from evallib.metrics import curves, passes_histogram, per_case, per_case_check
from evallib.printing import corrected_words, sample_lines
from evallib.records import POST_HOC_LABEL, STRICT
from evallib.spending import spending, spread_bins, spread_points
from evallib.store import Run, StoredRescoring
from evallib.story import notices, story_rows
from evallib.views.figures import Figures, load_views

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

__all__ = ["Exhibits", "open_exhibits", "set_display"]

_RESCORED = f"rescored ({POST_HOC_LABEL})"
_TILES = 100
"""More cases than this make no picture that anybody reads."""


@dataclass(frozen=True)
class Exhibits:
    """One stored run under each of its views, ready to be shown; strict comes first."""

    views: tuple[Figures, ...]

    @property
    def run(self) -> Run:
        """The run."""
        return self.views[0].views[0].run

    def plan(self) -> pd.DataFrame:
        """What was decided before the first sample, and what came of it: one row per thing.

        An imported run was decided elsewhere: it says when it was imported and where from.
        """
        import pandas as pd

        rows = list(plan_rows(self.run))
        return pd.DataFrame({"of the run": [name for name, _ in rows], "is": [said for _, said in rows]})

    def overview(self) -> pd.DataFrame:
        """One row per view: counts, pass rate with interval and bounds, mean score."""
        import pandas as pd

        rows = [overview_row(summary) for summary in self._summaries]
        if any("corrected" in summary for summary in self._summaries):
            words = [corrected_words(summary.get("corrected", [])) for summary in self._summaries]
            rows = [{**row, "corrected by reading": said} for row, said in zip(rows, words, strict=True)]
        return self._captioned(pd.DataFrame(rows))

    def captions(self) -> pd.DataFrame:
        """The sentence that belongs to each view's figures: counts, error policy, and how much was read."""
        import pandas as pd

        return pd.DataFrame([[heading(s), s["caption"]] for s in self._summaries], columns=["view", "caption"])

    def coverage(self) -> pd.DataFrame:
        """One row per check and strict verdict: how much people read, by how many, blind or not, and how chosen."""
        import pandas as pd

        columns = ["check", "strict", "of", "read", "by two", "readers", "blind", "chosen"]
        parts = [part for figures in self.views for part in figures.parts]
        rows = [
            [p.check or "(answer)", p.strict, p.of, p.read, p.by_two, p.readers, p.blind, "; ".join(p.chosen)]
            for p in parts
        ]
        return pd.DataFrame(rows, columns=columns)

    def checks(self) -> pd.DataFrame:
        """One row per check: in each view its mean in raw units and its counts."""
        import pandas as pd

        names = dict.fromkeys(name for s in self._summaries for name in s["by_check"])
        return self._captioned(pd.DataFrame([check_row(name, self._summaries) for name in names]))

    def figures(self) -> pd.DataFrame:
        """Every figure of every view in full precision, as `evallib metrics --json` prints it."""
        import pandas as pd

        columns = {heading(s): dict(flat_figures(s)) for s in self._summaries}
        frame = pd.DataFrame(columns).rename_axis("figure").reset_index()
        return frame.fillna("")

    def samples(self, view: str = "") -> pd.DataFrame:
        """One row per planned sample, of strict and of every other view unless one is named."""
        import pandas as pd

        chosen = [self.view(view)] if view else self.views
        columns = ["case_id", "sample", "sample_status", "reason"]
        first = chosen[0].outcomes
        frame = first[columns].assign(reason=first["reason"].map(Masks().mask))
        for place, figures in enumerate(chosen, 2):
            frame.insert(place, heading(self._summary(figures.view)), list(outcome_words(figures.outcomes)))
        frame.insert(2 + len(chosen), f"score: {heading(self._summary(chosen[0].view))}", first["score"])
        return pd.DataFrame(frame)

    def failing(self, most: int = 10, view: str = STRICT) -> str:
        """The answers that did not pass, at most `most`: plain text, credentials masked, control characters named."""
        (one,) = self.view(view).views
        keys = [key for key, outcome in one.outcomes.items() if not outcome.passed]
        by_key = {sample.key: sample for sample in self.run.samples}
        named = heading(self._summary(view))
        lines = [f"{min(most, len(keys))} of {len(keys)} answers that did not pass in view {named}", ""]
        shown = keys[: max(most, 0)]
        masks = masks_of(*map(by_key.__getitem__, shown))
        for key in shown:
            verdicts = [v for v in one.verdicts if (v.case_id, v.sample) == key]
            lines += sample_lines(by_key[key], verdicts, one.outcomes[key], masks)
        return "\n".join(lines)

    def curves(self, k: str = "") -> pd.DataFrame:
        """pass@k and pass^k over k of every view; `k` names some, as in `1,2,5`."""
        return self._captioned(labelled(self._curves(k)))

    def _curves(self, k: str) -> pd.DataFrame:
        import pandas as pd

        return pd.concat([curves(figures.outcomes, whole_ks(k)) for figures in self.views], ignore_index=True)

    def reliability(self, view: str = "", *, k: str = "", columns: int = 1) -> Drawing:
        """pass@k against pass^k over k, meeting at the pass rate, of every view or of one.

        `columns` panels, one per view, stand side by side.
        """
        import pandas as pd

        histogram = pd.concat([passes_histogram(figures.outcomes) for figures in self.views], ignore_index=True)
        curves, most, said = self._curves(k), int(histogram["cases"].max()), self._summaries
        if view:
            said, name = [self._summary(view)], self.view(view).view
            curves, histogram = (frame[frame["view"] == name] for frame in (curves, histogram))
        return show(reliability_chart(curves, histogram, about=about(*said), columns=columns, most=most))

    def each_view(self, chart: str, **given: str) -> Drawings:
        """The chart of that name of each view, in scales that can be compared."""
        return Drawings(tuple(getattr(self, chart)(figures.view, **given) for figures in self.views))

    def cases(self, view: str = STRICT) -> pd.DataFrame:
        """One row per case of a view: samples, passes, errors, scores."""
        return self._captioned(labelled(per_case(self.view(view).outcomes)), view)

    def decision(self, view: str = STRICT) -> str:
        """The gate's decision in words, one line per rule."""
        return "\n".join(self._decide(view).lines())

    def rules(self, view: str = STRICT) -> pd.DataFrame:
        """One row per rule of the gate, with its reason."""
        import pandas as pd

        rules = self._decide(view).rules
        rows = [[rule.rule, "pass" if rule.passed else "blocked", rule.reason] for rule in rules]
        return self._captioned(pd.DataFrame(rows, columns=["rule", heading(self._summary(view)), "reason"]), view)

    def gate(self, view: str = STRICT) -> Drawing:
        """The rules, and each check's mean against its threshold."""
        return show(gate_chart(self._decide(view), about=about(self._summary(view))))

    def check_bars(self, view: str = "") -> Drawing:
        """One bar per check of every view, or of one: how many verdicts passed, failed or could not be had."""
        import pandas as pd

        chosen = [self._summary(view)] if view else self._summaries
        frame = pd.DataFrame([row for summary in chosen for row in check_counts(summary)])
        return show(check_bars(frame, about=about(*chosen)))

    def usage(self) -> Drawing:
        """Seconds, tokens and cost of the samples; the same in every view."""
        model = str(self.run.plan["target"].get("model") or "")
        frame = spending(self.run.samples, model, self.views[0].prices)
        return show(usage_chart(spread_bins(frame), spread_points(frame), about=about(self._summaries[0])))

    def story(self) -> pd.DataFrame:
        """The run in a sentence for each thing worth knowing, from what ran to what to read next."""
        import pandas as pd

        rows = [*(("Mind", said) for said in notices(self.views[0].views[0])), *story_rows(self.views)]
        return self._captioned(pd.DataFrame(rows, columns=["about", "is"]))

    def tiles(self, view: str = STRICT) -> Drawing:
        """One tile per case; of more than a hundred the lowest."""
        figures = self.view(view)
        cases = per_case(figures.outcomes)
        marks = per_case_check(figures.outcomes, figures.verdicts)
        note = f"The {_TILES} lowest of {len(cases)} cases." if len(cases) > _TILES else ""
        if note:
            cases = cases.sort_values("score_mean", na_position="first", kind="stable").head(_TILES)
        floor = figures.suite.gate.floor if figures.suite.gate else None
        return show(case_tiles(cases, marks, floor=floor, about=about(self._summary(view)), note=note))

    def _captioned(self, frame: pd.DataFrame, view: str = "") -> pd.DataFrame:
        return captioned(frame, [self._summary(view)] if view else self._summaries)

    def entries(self) -> pd.DataFrame:
        """One row per rescoring of the run: who, when, why, and how many verdicts were recomputed or carried."""
        import pandas as pd

        return pd.DataFrame([entry_row(one, self._row(one), self._label(one)) for one in self._rescorings])

    def changes(self) -> pd.DataFrame:
        """One row per criterion that a rescoring changed, with its reason."""
        import pandas as pd

        rows = [
            {"entry": one.name, "label": self._label(one), **change.model_dump(mode="json")}
            for one in self._rescorings
            for change in one.entry.changes
        ]
        return pd.DataFrame([{**row, "cases": ", ".join(row["cases"]) or "all"} for row in rows])

    def flips(self) -> pd.DataFrame:
        """One row per sample whose outcome a rescoring changed, or was expected to and did not."""
        import pandas as pd

        rows = [[one.name, self._label(one), *row] for one in self._rescorings for row in flip_rows(self._row(one))]
        return pd.DataFrame(
            rows, columns=["entry", "label", "case", "sample", STRICT, _RESCORED, "score", "checks", "flip"]
        )

    def view(self, name: str) -> Figures:
        """The figures of one view; InputError lists those there are."""
        found = next((figures for figures in self.views if name in {figures.view, figures.view.split(":")[0]}), None)
        if found is None:
            known = ", ".join(figures.view for figures in self.views)
            raise InputError(f"run {self.run.id!r} has no view {name!r}; its views: {known}")
        return found

    @cached_property
    def _summaries(self) -> list[dict[str, Any]]:
        return [figures.summary() for figures in self.views]

    def _summary(self, view: str) -> dict[str, Any]:
        return self._summaries[self.views.index(self.view(view))]

    @property
    def _rescorings(self) -> list[StoredRescoring]:
        shown = {figures.view for figures in self.views}
        found = [one for one in self.run.rescorings if f"rescored:{one.name}" in shown]
        if not found:
            raise InputError(f"run {self.run.id!r} was never rescored; see `evallib rescore --help`")
        return found

    def _label(self, rescoring: StoredRescoring) -> str:
        return self.view(f"rescored:{rescoring.name}").views[0].label

    def _row(self, rescoring: StoredRescoring) -> Mapping[str, Any]:
        return next(row for row in rescoring.entry.runs if row["run"] == self.run.id)

    def _decide(self, view: str) -> Decision:
        return self.view(view).decision()


def open_exhibits(run: str, *, data: str | Path, adjudications: str | Path) -> Exhibits:
    """A stored run to show; relative folders count from `base_folder`."""
    base = base_folder(data)
    return Exhibits(tuple(load_views(run, base / data, base / adjudications)))
