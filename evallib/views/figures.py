"""The figures of runs under one view: frames, summary and gate decision, put together once for all who show them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.caption import Origin
from evallib.collector import collector_paused
from evallib.costs import Costs, costs_of
from evallib.errors import InputError
from evallib.gate import Decision, Gate, decide, without_answers
from evallib.metrics import Summary, summarise
from evallib.prices import PriceTable, prices_for
from evallib.records import STRICT, canonical_json
from evallib.sealing import unseen_use
from evallib.sense import unreachable
from evallib.store import Run, open_run, read_log, refuse_repeated
from evallib.strict_yaml import load_yaml, read_as
from evallib.suite import Suite
from evallib.views.coverage import Part, read_words, unequal_words
from evallib.views.load import View, open_view, outcomes_frame, verdicts_frame, view_label, view_names
from evallib.views.origin import origin_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Figures", "load_figures", "load_gate", "load_views", "refuse_other_judges"]


@dataclass(frozen=True)
class Figures:
    """One or several runs of one suite under one view, with everything that is said of them."""

    views: tuple[View, ...]
    prices: PriceTable | None = None

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

    @property
    def sealed(self) -> bool:
        """Whether they are of a sealed holdout: rates come out, and nothing of a single case, sample or check."""
        return any(view.run.sealed for view in self.views)

    @property
    def outcomes(self) -> pd.DataFrame:
        """One row per planned sample; InputError for a sealed holdout."""
        self._refuse_sealed()
        return self._outcomes

    @property
    def verdicts(self) -> pd.DataFrame:
        """One row per verdict; InputError for a sealed holdout."""
        self._refuse_sealed()
        return self._verdicts

    def _refuse_sealed(self) -> None:
        if self.sealed:
            raise InputError(f"run {self.views[0].run.id!r} is of a sealed holdout: only its rates are given")

    @cached_property
    def _outcomes(self) -> pd.DataFrame:
        import pandas as pd

        frames = [outcomes_frame(view) for view in self.views]
        return pd.concat(frames, ignore_index=True).assign(label=self.label)

    @cached_property
    def _verdicts(self) -> pd.DataFrame:
        import pandas as pd

        frames = [verdicts_frame(view) for view in self.views]
        return pd.concat(frames, ignore_index=True).assign(label=self.label)

    @property
    def planned(self) -> int:
        """How many samples were planned."""
        return len(self._outcomes)

    @property
    def passed(self) -> int:
        """How many of them passed."""
        return int(self._outcomes["passed"].fillna(False).sum())

    @property
    def required_cases_passed(self) -> bool:
        """Whether every required case passed in every sample, model judges aside."""
        required = self._outcomes[self._outcomes["required"]]
        return bool(required["passed_deterministic"].fillna(False).all())

    @collector_paused()
    def summary(self, ks: Sequence[int] = (), *, bootstrap: int | None = None) -> dict[str, Any]:
        """What `evallib metrics --json` prints; in the read view with how much was read.

        `bootstrap` is a seed: with one, intervals of the case bootstrap stand beside the others.
        """
        found = self._usual if bootstrap is None and not ks else self._summarised(ks, bootstrap)
        summary: dict[str, Any] = dict(found)
        if self.sealed:  # a tag or a split may be of one case
            summary |= {"flaky_cases": [], "by_split": {}, "by_tag": {}}
        if self.views[0].predicted_late:
            summary["predicted_after_preview"] = True
        if self._left_out:
            summary["judges_left_out"] = self._left_out
        if self.parts:
            summary |= self.readings
            summary["corrected"] = [dict(view.corrected) for view in self.views]
            summary["read_words"] = self._read_words
        said = {"cost": self.costs.as_json(), "caption": " ".join([found["caption"], *self._remarks()])}
        return summary | said

    @cached_property
    def costs(self) -> Costs:
        """What the runs cost, target and judges apart; it is the same under every view."""
        return costs_of([view.run for view in self.views], self.prices)

    @cached_property
    def origin(self) -> Origin:
        """Suite, cases, criteria and making of the runs."""
        return origin_of(self.views)

    @cached_property
    def _usual(self) -> Summary:
        return self._summarised()

    def _summarised(self, ks: Sequence[int] = (), bootstrap: int | None = None) -> Summary:
        judged = self._verdicts.head(0) if self.sealed else self._verdicts
        return summarise(self._outcomes, judged, ks, origin=self.origin, bootstrap=bootstrap)

    @property
    def caption(self) -> str:
        """What every figure of these runs must say about itself."""
        return " ".join([self._usual["caption"], *self._remarks()])

    @property
    def _left_out(self) -> list[str]:
        names = [name for view in self.views for name in view.left_out_judges]
        return ["all of a sealed suite"] if names and self.sealed else list(dict.fromkeys(names))

    @property
    def _read_words(self) -> str:
        """How much was read and how, and what it says of the strict rate."""
        return " ".join([self.read_sentence, *(view.corrected["sentence"] for view in self.views)])

    def _remarks(self) -> Iterator[str]:
        """What the caption says of the runs that no frame knows."""
        origins = [canonical_json([v.run.plan["target"], v.run.plan.get("seed")]) for v in self.views]
        if len({canonical_json(v.run.plan["target"]) for v in self.views}) > 1:
            yield (
                "Pooled runs are of different targets: no figure is of one of them, and pass@k and pass^k mix their "
                "samples."
            )
        if len(set(origins)) < len(origins):
            yield "Pooled runs share target and seed: their samples may be the same draws."
        if self._left_out:
            yield f"Model judges were left out of this run: {', '.join(self._left_out)}."
        if self.parts:
            yield self._read_words

    def decision(self, gate: Gate | None = None) -> Decision:
        """The gate over this view; with `gate`, other thresholds than the suite's own."""
        return self._decided(gate) if gate else self._usual_decision

    @cached_property
    def _usual_decision(self) -> Decision:
        return self._decided(None)

    def _decided(self, gate: Gate | None) -> Decision:
        (view,) = self.views
        wanted = gate or self.suite.gate
        own = view.run.suite.by_id
        required = any(view.suite.by_id[name].required != own[name].required for name in view.run.plan["cases"])
        chosen_after = required or gate_digest(wanted) != view.run.plan["gate_digest"]
        checks_of = {case.id: [b.check.id for b in view.suite.bound[case.id]] for case in view.suite.cases}
        decision = decide(
            wanted,
            self._outcomes,
            self._verdicts,
            complete=view.complete,
            whole_validation=view.whole_validation,
            beside=view.beside,
            chosen_after=chosen_after,
            checks_of={} if view.suite.recorded or view.run.plan.get("imported") else checks_of,
            left_out=view.left_out_judges,
        )
        decision = replace(decision, readings=self.readings, unproven=view.unproven, caption=self.caption)
        return without_answers(decision) if self.sealed else decision


def gate_digest(gate: Gate | None) -> str:
    """SHA-256 of a gate's canonical form, as plan.json holds it."""
    from evallib.records import digest

    return digest(gate.model_dump(mode="json") if gate else None)


def _read_sentence(view: View) -> str:
    r = view.readings
    open_ = f"; {r['unsure']} unsure and {r['disputed']} disputed left strict" if r["unsure"] or r["disputed"] else ""
    stale = f"; {r['stale']} stale not counted" if r["stale"] else ""
    return f"Read in {view.run.id}: {read_words(view.parts)}{open_}{stale}."


@collector_paused()
def load_figures(
    references: Sequence[str | Run],
    view: str,
    data: Path,
    adjudications: Path,
    *,
    for_aggregates: bool = False,
    prices: Path | None = None,
) -> Figures:
    """The figures of the runs, named or open, under `view`; runs pooled must share the criteria of one suite.

    Runs of a sealed holdout are refused, unless rates alone are asked for. Prices are those of `prices.yaml` in `data`,
    where it is there, unless another file is named.
    """
    log, table = read_log(adjudications), prices_for(prices, data)
    runs = [one if isinstance(one, Run) else open_run(one, data, for_aggregates=for_aggregates) for one in references]
    runs = [replace(run, for_aggregates=True) if for_aggregates and run.sealed else run for run in runs]
    refuse_repeated(runs)
    if view != STRICT and (sealed := next((run for run in runs if run.sealed), None)):
        raise InputError(f"run {sealed.id!r} is of a sealed holdout: it has no view but strict")
    for said in (told for run in runs for told in unseen_use(run, log)):
        raise InputError(said)
    return replace(_pooled(runs, view, log), prices=table)


@collector_paused()
def load_views(
    reference: str, data: Path, adjudications: Path, names: Sequence[str] = (), *, prices: Path | None = None
) -> list[Figures]:
    """The figures of one run under each of its views (or those named), strict first; prices as `load_figures`."""
    log, table = read_log(adjudications), prices_for(prices, data)
    run = open_run(reference, data)
    return [replace(_pooled([run], name, log), prices=table) for name in (names or view_names(run, log))]


def _pooled(runs: Sequence[Run], name: str, log: Any) -> Figures:
    views = tuple(open_view(run, name, log) for run in runs)
    other = next((v for v in views if v.suite.digest != views[0].suite.digest), None)
    if other is not None:
        raise InputError(
            f"runs {views[0].run.id!r} and {other.run.id!r} were scored by different criteria; figures of two criteria "
            "are never pooled"
        )
    if len(views) > 1:
        refuse_other_judges(views)
    _refuse_other_meaning(views)
    return Figures(views)


def refuse_other_judges(views: Sequence[View], cases: Collection[str] | None = None) -> None:
    """InputError where one run was made without a model judge that another was made with, on `cases` if given.

    Their rates are of other checks.
    """
    if not any(view.without_judges for view in views):
        return  # before any case is bound to its checks, which takes longer than the figures of a large suite
    judges = [(view.run, *view.judges(view.run.plan["cases"] if cases is None else cases)) for view in views]
    asked = {name: run.id for run, names, _ in judges for name in names}
    for run, _, left_out in judges:
        if names := [name for name in left_out if name in asked]:
            told = "" if run.sealed else f" ({', '.join(names)})"
            raise InputError(
                f"run {run.id!r} was made without its model judges{told}, run {asked[names[0]]!r} with them: their "
                "rates are of other checks; make both with their judges, or both with --no-judges"
            )


def _refuse_other_meaning(views: Sequence[View]) -> None:
    """A kind of check whose code came to judge otherwise gives figures of two criteria under one suite."""
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for view in views if len(views) > 1 else ():
        for case_id, check_id, decides in view.criteria():
            if not decides:
                continue
            known, run_id = first.setdefault((case_id, check_id), (decides, view.run.id))
            if known != decides:
                raise InputError(
                    f"check {check_id!r} of runs {run_id!r} and {view.run.id!r} was judged under other criteria or "
                    "by another version of its kind; rescore both with one suite and pool those views"
                )


def load_gate(path: Path, suite: Suite, most_samples: int | None = None) -> Gate:
    """Thresholds from a YAML file (a gate, or a mapping with key `gate`); each check they name must exist.

    With `most_samples`, the most that a case of the run has, a pass^k that this can never reach is refused.
    """
    document = load_yaml(path)
    inside = ("gate",) if isinstance(document.value, dict) and set(document.value) == {"gate"} else ()
    gate = read_as(Gate, document, inside)
    for name, said in unreachable(gate.checks, [b.check for bounds in suite.bound.values() for b in bounds]):
        raise InputError(f"{document.where((*inside, 'checks', name))}: {said}")
    beyond = next((k for k in gate.pass_hat if most_samples is not None and k > most_samples), None)
    if beyond is not None:
        raise InputError(
            f"{document.where((*inside, 'pass_hat', str(beyond)))}: pass^{beyond} needs {beyond} samples of every case "
            f"and no case has more than {most_samples}, so the threshold is not reachable; ask for a smaller k"
        )
    return gate
