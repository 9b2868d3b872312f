"""What the notebook on rescoring shows: a preview, strict against rescored against read, and every rescoring so far.

Frames hold untrusted text, so they are plain ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.charts import About, Drawing, about, show, slope_chart
from evallib.desk.tables import base_folder
from evallib.exhibits.run import Exhibits, open_exhibits
from evallib.printing import number
from evallib.records import POST_HOC_LABEL, STRICT, SampleKey, whole_seconds
from evallib.rescoring.impact import Impact, preview
from evallib.rescoring.ledger import dated_rescorings, predictions
from evallib.standing import standing_readings
from evallib.stdout import counted
from evallib.store import LoggedEntry, Run, read_log
from evallib.views.load import READ, View
from evallib.views.triples import Triple, readings_of, triples, words_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RescoreExhibits", "open_rescoring"]

_NO_PREVIEW = (
    "Nothing is previewed: name the changed suite in the cell of parameters (suite), and an entry where there is one."
)
_NEVER = "This run was never rescored."
_ALARMS = (
    "over-fixed", "unread-flip", "still-wrong", "false-pass", "false-fail", "fixed", "agreed-fail", "agreed-pass", "",
)  # fmt: skip
"""States in the order in which somebody should look at them."""


@dataclass(frozen=True)
class RescoreExhibits:
    """One run, its views, the log, and perhaps what a changed suite would do to it."""

    exhibits: Exhibits
    log: Sequence[LoggedEntry]
    impact: Impact | None = None

    @property
    def run(self) -> Run:
        """The run."""
        return self.exhibits.run

    def preview(self) -> pd.DataFrame:
        """One row per flip of the preview: whether it was foretold and read, and what newly matches."""
        impact = self.impact
        if impact is None:
            return _frame((), _NO_PREVIEW)
        flips = impact.as_dict()["flips"]
        return _frame((_flip_row(flip) for flip in flips), "The changed suite would flip nothing.")

    def previewed(self) -> pd.DataFrame:
        """What the preview says beside its flips: figures under both criteria, checks, costs, and what is refused."""
        if self.impact is None:
            return _frame((), _NO_PREVIEW)
        rows = (*_rate_rows(self.impact), *_check_rows(self.impact))
        refused = ({"of the preview": "would be refused", "is": said} for said in self.impact.would_refuse)
        return _frame((*rows, *refused))

    def changes(self) -> pd.DataFrame:
        """One row per criterion that a rescoring of the run changed, with its reason."""
        return self.exhibits.changes() if self._view else _frame((), _NEVER)

    def flips(self) -> pd.DataFrame:
        """One row per sample whose outcome a rescoring changed, or was expected to and did not."""
        return self.exhibits.flips() if self._view else _frame((), _NEVER)

    def overview(self) -> pd.DataFrame:
        """One row per view of the run: counts, pass rate with interval and bounds, mean score."""
        return self.exhibits.overview()

    def checks(self) -> pd.DataFrame:
        """One row per check: in each view its mean in raw units and its counts."""
        return self.exhibits.checks()

    def slopes(self) -> Drawing | pd.DataFrame:
        """From strict to the preview, or to the newest rescoring, case by case, with what people read as ticks."""
        rescored = self._rescored
        if rescored is None:
            return _frame((), _NEVER)
        strict = about(self.exhibits.view(STRICT).summary())[0]
        return show(slope_chart(list(self._case_rows(rescored)), about=[strict, self._about], note=self._note))

    def triple(self) -> pd.DataFrame:
        """One row per answer or verdict that was read or flips: three sides never merged, and how they stand."""
        label = self._about.label if self._rescored is not None else ""
        found = sorted(self._triples, key=lambda one: _ALARMS.index(one.state))
        rescored = f"rescored ({label})" if label else "rescored"
        rows = (
            {
                "case": one.case_id, "sample": one.sample, "check": one.check or "(answer)", STRICT: one.strict,
                READ: one.read or "—", rescored: one.rescored or "—", "state": one.state,
            }
            for one in found
        )  # fmt: skip
        return _frame(rows, "Nothing was read, and nothing flips.")

    def history(self) -> pd.DataFrame:
        """One row per rescoring in the log, of whatever run, oldest first: who, when, why, and how it turned out."""
        return _frame(map(_history_row, dated_rescorings(self.log)), "Nothing was ever rescored.")

    def predictions(self) -> pd.DataFrame:
        """One row per author of a rescoring: how the flips they expected came out."""
        return _frame((one._asdict() for one in predictions(self.log)), "Nothing was ever rescored.")

    @property
    def _view(self) -> View | None:
        """The newest rescoring of the run."""
        found = [figures.views[0] for figures in self.exhibits.views if figures.view.startswith("rescored:")]
        return found[-1] if found else None

    @property
    def _rescored(self) -> Mapping[SampleKey, str] | None:
        """What each answer is under the preview, else under the newest rescoring; None where there is neither."""
        strict = {key[:2]: word for key, word in words_of(self._strict).items() if not key[2]}
        if self.impact is not None:
            mine = (flip for flip in self.impact.flips if flip.run == self.run.id)
            return strict | {(flip.case_id, flip.sample): flip.after for flip in mine}
        view = self._view
        return None if view is None else {k[:2]: word for k, word in words_of(view).items() if not k[2]}

    @property
    def _strict(self) -> View:
        return self.exhibits.view(STRICT).views[0]

    @property
    def _about(self) -> About:
        if self.impact is not None:
            suite = self.impact.suite
            flips = counted(sum(flip.run == self.run.id for flip in self.impact.flips), "flip")
            return About(f"preview of {suite.suite}", POST_HOC_LABEL, flips, suite.digest[:12])
        assert self._view is not None  # whoever asks has looked
        return about(self.exhibits.view(self._view.name).summary())[0]

    @property
    def _note(self) -> str:
        return "A preview: nothing was rescored." if self.impact is not None else ""

    @property
    def _triples(self) -> Iterator[Triple]:
        strict = words_of(self._strict)
        if self.impact is not None:  # of checks that flip nothing a preview keeps no word
            answers = {key: word for key, word in strict.items() if not key[2]}
            rescored = {(*key, ""): word for key, word in (self._rescored or {}).items()}
            yield from triples(answers, rescored, self._read_as)
            return
        yield from triples(strict, words_of(self._view) if self._view else None, self._read_as)

    @property
    def _read(self) -> View | None:
        """The read view, where somebody read something."""
        found = [figures.views[0] for figures in self.exhibits.views if figures.view == READ]
        return found[0] if found else None

    @property
    def _read_as(self) -> dict[tuple[str, int, str], str]:
        return readings_of(self._read, standing_readings(self.run, self.log)) if self._read else {}

    def _case_rows(self, rescored: Mapping[SampleKey, str]) -> Iterator[dict[str, Any]]:
        strict = {key[:2]: word for key, word in words_of(self._strict).items() if not key[2]}
        unread = self._unread
        flips = Counter(key[0] for key, word in strict.items() if rescored.get(key, word) != word)
        read = self._read_rates()
        for case_id, planned in self.run.plan["cases"].items():
            keys = [(case_id, sample) for sample in range(1, planned + 1)]
            if flips[case_id] or case_id in read:
                yield {
                    "case_id": case_id, "n": planned, "flips": flips[case_id], "unread": unread[case_id],
                    "strict": sum(strict.get(key) == "pass" for key in keys) / planned,
                    "rescored": sum(rescored.get(key) == "pass" for key in keys) / planned,
                    "read": read.get(case_id),
                }  # fmt: skip

    @property
    def _unread(self) -> Counter[str]:
        """Per case the flips that nobody read."""
        if self.impact is not None:
            mine = (flip for flip in self.impact.flips if flip.run == self.run.id)
            return Counter(flip.case_id for flip in mine if flip.read == "unread")
        return Counter(one.case_id for one in self._triples if one.state == "unread-flip" and not one.check)

    def _read_rates(self) -> dict[str, float]:
        """Per case of which something was read its pass rate in the read view."""
        view = self._read
        if view is None:
            return {}
        passes: dict[str, int] = defaultdict(int)
        for (case_id, _), outcome in view.outcomes.items():
            passes[case_id] += outcome.passed is True
        return {case: passes[case] / self.run.plan["cases"][case] for case, _ in view.states}


def open_rescoring(run: str, *, data: str | Path, adjudications: str | Path, change: str = "") -> RescoreExhibits:
    """A run with its rescorings and readings; with `change`, what that would do to it. Folders as `base_folder`.

    `change` is the path of a suite, and perhaps after a comma that of an entry. A preview leaves its stamp, as on the
    command line.
    """
    suite, _, entry = (part.strip() for part in change.partition(","))
    base = base_folder(data)
    exhibits = open_exhibits(run, data=data, adjudications=adjudications)
    log = base / adjudications
    impact = preview([exhibits.run], base / suite, base / entry if entry else None, log) if suite else None
    return RescoreExhibits(exhibits, read_log(log), impact)


def _frame(rows: Iterable[Mapping[str, Any]], none: str = "") -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows) or [{"nothing to show": none}])


def _flip_row(flip: Mapping[str, Any]) -> dict[str, Any]:
    foretold = {True: "expected", False: "UNEXPECTED", None: "no entry"}[flip["expected"]]
    return {
        "run": flip["run"], "case": flip["case_id"], "sample": flip["sample"], STRICT: flip["from"],
        f"preview ({POST_HOC_LABEL})": flip["to"], "foretold": foretold, "people": flip["read"],
        "checks": ", ".join(flip["checks"]), "newly matches": " | ".join(hit["text"] for hit in flip["hits"]),
    }  # fmt: skip


def _rate_rows(impact: Impact) -> Iterator[dict[str, str]]:
    for one in impact.rates():
        k = list(one["pass_at"])[-1]
        figures = {"pass rate": one["pass_rate"], f"pass@{k}": one["pass_at"][k], f"pass^{k}": one["pass_hat"][k]}
        both = "; ".join(f"{name} {' -> '.join(map(number, pair))}" for name, pair in figures.items())
        before, after = one["passed"]
        yield {
            "of the preview": one["run"] or "all pooled",
            "is": f"{before} -> {after} of {one['planned']} pass; {both} ({POST_HOC_LABEL})",
        }


def _check_rows(impact: Impact) -> Iterator[dict[str, str]]:
    costs = {cost.check: cost for cost in impact.costs}
    for one in impact.checks():
        cost = costs.get(one["check"])
        took = f"; {cost.per_1000_s:.3f} s of CPU for 1,000 answers{', SLOW' * cost.slow}" if cost else ""
        said = f"{one['to_pass']} verdicts to pass, {one['to_fail']} to fail, part of {counted(one['flips'], 'flip')}"
        yield {"of the preview": f"check {one['check']}", "is": f"{said}{took}"}


def _history_row(one: Mapping[str, Any]) -> dict[str, Any]:
    changes = (f"{c['check']}: {c['fix']}{' (judgement)' * c['judgement']}" for c in one["changes"])
    outcome = ", ".join(f"{one[word]} {word}" for word in ("expected", "unexpected", "missed", "reverse", "unread"))
    return {
        "time": whole_seconds(one["time"]),
        "view": one["view"],
        "label": one["label"],
        "author": one["author"],
        "reason": one["reason"],
        "runs": ", ".join(one["runs"]),
        "changes": "; ".join(changes),
        "flips": f"{one['flips']}: {outcome}",
    }
