"""The figures of runs under one view: frames, summary and gate decision, put together once for all who show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.caption import Origin
from evallib.coverage import Part, read_words, unequal_words
from evallib.errors import InputError
from evallib.gate import Decision, Gate, decide
from evallib.metrics import Summary, summarise
from evallib.origin import origin_of
from evallib.records import canonical_json
from evallib.sense import unreachable
from evallib.store import Run, open_run, read_log
from evallib.strict_yaml import load_yaml, read_as
from evallib.suite import Suite
from evallib.views import View, open_view, outcomes_frame, verdicts_frame, view_label, view_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Figures", "load_figures", "load_gate", "load_views"]


@dataclass(frozen=True)
class Figures:
    """One or several runs of one suite under one view, with everything that is said of them."""

    views: tuple[View, ...]

    @property
    def view(self) -> str:
        """The view's name; of several runs they all have it."""
        return self.views[0].name

    @property
    def suite(self) -> Suite:
        """The suite whose criteria stand in this view."""
        return self.views[0].suite

    @property
    def label(self) -> str:
        """The words every figure of these runs carries."""
        return view_label(*self.views)

    @property
    def parts(self) -> tuple[Part, ...]:
        """How much of each run was read, by check and strict verdict; empty outside the read view."""
        return tuple(part for view in self.views for part in view.parts)

    @property
    def readings(self) -> dict[str, Any]:
        """What stands beside every read figure: the counts of each run, and where the runs are not read alike."""
        if not self.parts:
            return {}
        return {"readings": [view.readings for view in self.views], "read_unequally": unequal_words(self.parts) or None}

    @property
    def read_sentence(self) -> str:
        """How much of each run was read and how, in words, and whether they are read alike; empty for other views."""
        said = [_read_sentence(view) for view in self.views if view.parts]
        return " ".join([*said, *filter(None, [unequal_words(self.parts)])])

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """One row per planned sample."""
        import pandas as pd

        frames = [outcomes_frame(view) for view in self.views]
        return pd.concat(frames, ignore_index=True).assign(label=self.label)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """One row per verdict."""
        import pandas as pd

        frames = [verdicts_frame(view) for view in self.views]
        return pd.concat(frames, ignore_index=True).assign(label=self.label)

    def summary(self, ks: Sequence[int] = ()) -> dict[str, Any]:
        """What `evallib metrics --json` prints; in the read view with how much was read."""
        found = summarise(self.outcomes, self.verdicts, ks, origin=self.origin) if ks else self._usual
        summary: dict[str, Any] = dict(found)
        if self.views[0].predicted_late:
            summary["predicted_after_preview"] = True
        if self._left_out:
            summary["judges_left_out"] = self._left_out
        if self.parts:
            summary |= self.readings
            summary["corrected"] = [dict(view.corrected) for view in self.views]
            summary["read_words"] = self._read_words
        return summary | {"caption": " ".join([found["caption"], *self._remarks()])}

    @cached_property
    def origin(self) -> Origin:
        """Suite, cases, criteria and making of the runs."""
        return origin_of(self.views)

    @cached_property
    def _usual(self) -> Summary:
        return summarise(self.outcomes, self.verdicts, origin=self.origin)

    @property
    def caption(self) -> str:
        """What every figure of these runs must say about itself."""
        return " ".join([self._usual["caption"], *self._remarks()])

    @property
    def _left_out(self) -> list[str]:
        return list(dict.fromkeys(name for view in self.views for name in view.left_out_judges))

    @property
    def _read_words(self) -> str:
        """How much was read and how, and what it says of the strict rate."""
        return " ".join([self.read_sentence, *(view.corrected["sentence"] for view in self.views)])

    def _remarks(self) -> Iterator[str]:
        """What the caption says of the runs that no frame knows."""
        origins = [canonical_json([v.run.plan["target"], v.run.plan.get("seed")]) for v in self.views]
        if len(set(origins)) < len(origins):
            yield "Pooled runs share target and seed: their samples may be the same draws."
        if self._left_out:
            yield f"Model judges were left out of this run: {', '.join(self._left_out)}."
        if self.parts:
            yield self._read_words

    def decision(self, gate: Gate | None = None) -> Decision:
        """The gate over this view; with `gate`, other thresholds than the suite's own."""
        (view,) = self.views
        wanted = gate or self.suite.gate
        planned = view.run.plan["gate_digest"]
        chosen_after = gate_digest(wanted) != planned
        checks_of = {case.id: [b.check.id for b in view.suite.bound[case.id]] for case in view.suite.cases}
        decision = decide(
            wanted,
            self.outcomes,
            self.verdicts,
            complete=view.complete,
            whole_validation=view.whole_validation,
            chosen_after=chosen_after,
            checks_of={} if view.suite.recorded or view.run.plan.get("imported") else checks_of,
            left_out=view.left_out_judges,
        )
        return replace(decision, readings=self.readings, caption=self.caption)


def gate_digest(gate: Gate | None) -> str:
    """SHA-256 of a gate's canonical form, as plan.json holds it."""
    from evallib.records import digest

    return digest(gate.model_dump(mode="json") if gate else None)


def _read_sentence(view: View) -> str:
    r = view.readings
    open_ = f"; {r['unsure']} unsure and {r['disputed']} disputed left strict" if r["unsure"] or r["disputed"] else ""
    stale = f"; {r['stale']} stale not counted" if r["stale"] else ""
    return f"Read in {view.run.id}: {read_words(view.parts)}{open_}{stale}."


def load_figures(references: Sequence[str | Run], view: str, data: Path, adjudications: Path) -> Figures:
    """The figures of the runs, named or open, under `view`; runs pooled must share the criteria of one suite."""
    log = read_log(adjudications)
    runs = [one if isinstance(one, Run) else open_run(one, data) for one in references]
    if len({run.id for run in runs}) < len(runs):
        raise InputError("the same run is named twice; name each run once")
    return _pooled(runs, view, log)


def load_views(reference: str, data: Path, adjudications: Path, names: Sequence[str] = ()) -> list[Figures]:
    """The figures of one run under each of its views (or those named), strict first."""
    log = read_log(adjudications)
    run = open_run(reference, data)
    return [_pooled([run], name, log) for name in (names or view_names(run, log))]


def _pooled(runs: Sequence[Run], name: str, log: Any) -> Figures:
    views = tuple(open_view(run, name, log) for run in runs)
    other = next((v for v in views if v.suite.digest != views[0].suite.digest), None)
    if other is not None:
        raise InputError(
            f"runs {views[0].run.id!r} and {other.run.id!r} were scored by different criteria; figures of two criteria "
            "are never pooled"
        )
    _refuse_other_meaning(views)
    return Figures(views)


def _refuse_other_meaning(views: Sequence[View]) -> None:
    """A kind of check whose code came to judge otherwise gives figures of two criteria under one suite."""
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for view, verdict in ((one, v) for one in views for v in one.verdicts if len(views) > 1 and v.decides):
        decides, run_id = first.setdefault((verdict.case_id, verdict.check_id), (verdict.decides, view.run.id))
        if decides != verdict.decides:
            raise InputError(
                f"check {verdict.check_id!r} of runs {run_id!r} and {view.run.id!r} was judged under other criteria or "
                "by another version of its kind; rescore both with one suite and pool those views"
            )


def load_gate(path: Path, suite: Suite) -> Gate:
    """Thresholds from a YAML file (a gate, or a mapping with key `gate`); each check they name must exist."""
    document = load_yaml(path)
    inside = ("gate",) if isinstance(document.value, dict) and set(document.value) == {"gate"} else ()
    gate = read_as(Gate, document, inside)
    for name, said in unreachable(gate.checks, [b.check for bounds in suite.bound.values() for b in bounds]):
        raise InputError(f"{document.where((*inside, 'checks', name))}: {said}")
    return gate
