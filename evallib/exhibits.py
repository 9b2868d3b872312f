"""What the notebooks show of one stored run: plain frames, plain text and drawings, each naming its view.

Frames hold untrusted text, so they are plain ones: pandas escapes them, while a Styler, Markdown or HTML would not.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evallib.caption import joined, judge_words
from evallib.charts import Drawing, case_tiles, gate_chart, reliability_chart, show
from evallib.desk.tables import base_folder
from evallib.errors import InputError
from evallib.figures import Figures, load_views
from evallib.gate import Decision
from evallib.metrics import curves, passes_histogram, per_case, per_case_check
from evallib.printing import corrected_words, interval, number, sample_lines
from evallib.records import POST_HOC_LABEL, STRICT, canonical_json, whole_seconds
from evallib.store import Run, StoredRescoring

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Exhibits", "flat_figures", "open_exhibits", "set_display", "table_html"]

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

        rows = list(_plan_rows(self.run))
        return pd.DataFrame({"of the run": [name for name, _ in rows], "is": [said for _, said in rows]})

    def overview(self) -> pd.DataFrame:
        """One row per view: counts, pass rate with interval and bounds, mean score."""
        import pandas as pd

        rows = [_overview_row(summary) for summary in self._summaries]
        if any("corrected" in summary for summary in self._summaries):
            words = [corrected_words(summary.get("corrected", [])) for summary in self._summaries]
            rows = [{**row, "corrected by reading": said} for row, said in zip(rows, words, strict=True)]
        return self._captioned(pd.DataFrame(rows))

    def captions(self) -> pd.DataFrame:
        """The sentence that belongs to each view's figures: counts, error policy, and how much was read."""
        import pandas as pd

        return pd.DataFrame([[_heading(s), s["caption"]] for s in self._summaries], columns=["view", "caption"])

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
        return self._captioned(pd.DataFrame([_check_row(name, self._summaries) for name in names]))

    def figures(self) -> pd.DataFrame:
        """Every figure of every view in full precision, as `evallib metrics --json` prints it."""
        import pandas as pd

        columns = {_heading(s): dict(flat_figures(s)) for s in self._summaries}
        frame = pd.DataFrame(columns).rename_axis("figure").reset_index()
        return frame.fillna("")

    def samples(self, view: str = "") -> pd.DataFrame:
        """One row per planned sample, of strict and of every other view unless one is named."""
        import pandas as pd

        chosen = [self.view(view)] if view else self.views
        columns = ["case_id", "sample", "sample_status", "reason"]
        first = chosen[0].outcomes
        frame = first[columns].copy()
        for place, figures in enumerate(chosen, 2):
            frame.insert(place, _heading(self._summary(figures.view)), list(_words(figures.outcomes)))
        frame.insert(2 + len(chosen), f"score ({chosen[0].view})", first["score"])
        return pd.DataFrame(frame)

    def failing(self, most: int = 10, view: str = STRICT) -> str:
        """The answers that did not pass, as plain text with control characters spelled out, at most `most`."""
        (one,) = self.view(view).views
        keys = [key for key, outcome in one.outcomes.items() if not outcome.passed]
        by_key = {sample.key: sample for sample in self.run.samples}
        lines = [f"{min(most, len(keys))} of {len(keys)} answers that did not pass in view {view}", ""]
        for key in keys[: max(most, 0)]:
            verdicts = [v for v in one.verdicts if (v.case_id, v.sample) == key]
            lines += sample_lines(by_key[key], verdicts, one.outcomes[key])
        return "\n".join(lines)

    def curves(self, k: str = "") -> pd.DataFrame:
        """pass@k and pass^k over k of every view; `k` names some, as in `1,2,5`."""
        return self._captioned(_labelled(self._curves(k)))

    def _curves(self, k: str) -> pd.DataFrame:
        import pandas as pd

        return pd.concat([curves(figures.outcomes, _ks(k)) for figures in self.views], ignore_index=True)

    def reliability(self, k: str = "") -> Drawing:
        """pass@k against pass^k over k, meeting at the pass rate, one panel per view."""
        import pandas as pd

        histogram = pd.concat([passes_histogram(figures.outcomes) for figures in self.views], ignore_index=True)
        return show(reliability_chart(self._curves(k), histogram, caption=self._caption))

    def cases(self, view: str = STRICT) -> pd.DataFrame:
        """One row per case of a view: samples, passes, errors, scores."""
        return self._captioned(_labelled(per_case(self.view(view).outcomes)), view)

    def decision(self, view: str = STRICT) -> str:
        """The gate's decision in words, one line per rule."""
        return "\n".join(self._decide(view).lines())

    def rules(self, view: str = STRICT) -> pd.DataFrame:
        """One row per rule of the gate, with its reason."""
        import pandas as pd

        rules = self._decide(view).rules
        rows = [[rule.rule, "pass" if rule.passed else "blocked", rule.reason] for rule in rules]
        return self._captioned(pd.DataFrame(rows, columns=["rule", _heading(self._summary(view)), "reason"]), view)

    def gate(self, view: str = STRICT) -> Drawing:
        """The rules, and each check's mean against its threshold."""
        return show(gate_chart(self._decide(view)))

    def tiles(self, view: str = STRICT) -> Drawing:
        """One tile per case; of more than a hundred the lowest."""
        figures = self.view(view)
        cases = per_case(figures.outcomes)
        marks = per_case_check(figures.outcomes, figures.verdicts)
        caption = self._summary(view)["caption"]
        if len(cases) > _TILES:
            caption = f"The {_TILES} lowest of {len(cases)} cases.\n{caption}"
            cases = cases.sort_values("score_mean", na_position="first", kind="stable").head(_TILES)
        gate = figures.suite.gate
        return show(case_tiles(cases, marks, floor=gate.floor if gate else None, caption=caption))

    def _captioned(self, frame: pd.DataFrame, view: str = "") -> pd.DataFrame:
        """The frame with the caption of its figures, which `table_html` writes below it."""
        frame.attrs["caption"] = self._summary(view)["caption"] if view else self._caption
        return frame

    def entries(self) -> pd.DataFrame:
        """One row per rescoring of the run: who, when, why, and how many verdicts were recomputed or carried."""
        import pandas as pd

        return pd.DataFrame([_entry_row(one, self._row(one), self._label(one)) for one in self._rescorings])

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

        rows = [[one.name, self._label(one), *row] for one in self._rescorings for row in _flip_rows(self._row(one))]
        return pd.DataFrame(rows, columns=["entry", "label", "case", "sample", STRICT, _RESCORED, "checks", "flip"])

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

    @property
    def _caption(self) -> str:
        return joined([s["caption"] for s in self._summaries])

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

    Below it stands the caption of its figures, where it has one.
    """
    import pandas as pd

    numbered, most = isinstance(frame.index, pd.RangeIndex), pd.get_option("display.max_rows")
    cut = most is not None and len(frame) > most
    table = frame.to_html(index=not numbered, escape=True, max_rows=most, show_dimensions=cut, notebook=True)
    if said := frame.attrs.get("caption"):
        lines = "<br>".join(html.escape(line) for line in str(said).split("\n"))
        table = re.sub("(<table[^>]*>)", lambda tag: f"{tag[0]}<caption>{lines}</caption>", table, count=1)
    return f'{_LEFT}<div class="evallib-table">{table}</div>'


def flat_figures(summary: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """(`pass_at.1`, its JSON) for every value of a summary, in its order."""
    for name, value in summary.items():
        where = f"{path}.{name}" if path else str(name)
        if isinstance(value, Mapping) and value:
            yield from flat_figures(value, where)
        else:
            yield where, canonical_json(value)


def _plan_rows(run: Run) -> Iterator[tuple[str, str]]:
    plan = run.plan
    yield "run", run.id
    yield "suite", f"{plan['suite']}, digest {plan['suite_digest'][:16]}"
    imported = bool(plan.get("imported"))
    yield "imported" if imported else "begun", whole_seconds(str(plan.get("created", "")))
    if imported:
        yield "source", _said(plan["source"])
    yield "cases", str(len(plan["cases"])) if imported else f"{len(plan['cases'])} ({plan.get('split') or 'all'})"
    yield "samples in the source" if imported else "planned samples", str(len(run.planned))
    for title in ("target", "judge", "labels", "self_check", "build", "host"):
        if plan.get(title):
            yield title.replace("_", "-"), _said(plan[title])
    if not run.complete:
        yield "ended", "not yet: the run is incomplete"
        return
    if not imported:
        yield "ended", whole_seconds(str(run.manifest.get("finished", "")))
    yield "samples", _said(run.manifest["counts"]["statuses"])
    yield "usage", _said({**run.manifest["usage"], "cost_usd": run.manifest["cost_usd"]})


def _said(value: object) -> str:
    """A value of JSON in words; what is null, empty or an empty list is left out of a mapping."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    if not isinstance(value, Mapping):
        return str(value)
    said = {str(name).replace("_", " "): "" if one is None else _said(one) for name, one in value.items()}
    return ", ".join(f"{name} {text}" for name, text in said.items() if text)


def _heading(summary: Mapping[str, Any]) -> str:
    """A column's name: the view, and its label where it has one, so that no cell of it stands without."""
    return f"{summary['view']} ({summary['label']})" if summary["label"] else str(summary["view"])


def _labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame as it is shown: each row's view with its label in words."""
    named = zip(frame["view"], frame["label"], strict=True)
    shown = frame.assign(view=[_heading({"view": view, "label": label}) for view, label in named])
    return shown.drop(columns=["post_hoc", "label"])


def _overview_row(s: Mapping[str, Any]) -> dict[str, Any]:
    k = list(s["pass_at"])[-1]
    return {
        "view": _heading(s),
        "passed": f"{round(s['pass_rate_micro'] * s['planned'])} of {s['planned']}",
        "cases": s["cases"],
        "errors": s["errors"],
        "pass rate": f"{number(s['pass_rate'])}{interval(s['pass_rate_interval'])}",
        "without errors": number(s["without_errors"]["pass_rate"]),
        "bounds": interval(s["bounds"]).strip(),
        f"pass@{k}": number(s["pass_at"][k]),
        f"pass^{k}": number(s["pass_hat"][k]),
        "mean score": number(s["score_mean"]),
    }


def _check_row(name: str, summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    row, by = {"check": name}, ""
    for s in summaries:
        check = s["by_check"].get(name)
        row[_heading(s)] = _counted(check) if check else "—"
        if check:
            by = judge_words(check) if check["stochastic"] else "rule"
    return {**row, "answered by": by}


def _counted(check: Mapping[str, Any]) -> str:
    counts = {word.replace("_", " "): check[word] for word in ("passed", "failed", "not_scored", "not_applicable")}
    said = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    return f"mean {number(check['mean_raw'])}: {said}"


def _words(outcomes: pd.DataFrame) -> Iterable[str]:
    for status, passed, reading in zip(outcomes["status"], outcomes["passed"], outcomes["reading"], strict=True):
        word = status.replace("_", " ") if status != "scored" else "pass" if passed else "fail"
        yield f"{word} (read: {reading})" if reading else word


def _ks(given: str) -> tuple[int, ...]:
    """`1,2,5` as numbers; InputError for anything else."""
    try:
        ks = tuple(int(one) for one in given.split(",")) if given else ()
    except ValueError:
        ks = (0,)
    if any(k < 1 for k in ks):
        raise InputError(f"k is {given!r}; expected whole numbers from 1, separated by commas, as in 1,2,5")
    return ks


def _entry_row(one: StoredRescoring, row: Mapping[str, Any], label: str) -> dict[str, Any]:
    entry = one.entry
    predicted = "predicted after preview" if entry.predicted_after_preview else "predicted before the result was seen"
    return {
        "entry": one.name,
        "label": label,
        "author": entry.author,
        "time": whole_seconds(entry.time),
        "reason": entry.reason,
        "recomputed": row["recomputed"],
        "carried": row["carried"],
        "expected flips": predicted if entry.expects else "none named",
    }


def _flip_rows(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    for flip in row["flips"]:
        word = "expected" if flip["expected"] else "UNEXPECTED"
        word += ", reverse" if flip["to"] == "fail" else ""
        checks = ", ".join(flip["checks"])
        yield [flip["case_id"], flip["sample"], flip["from"], flip["to"], checks, word]
    for missed in row["missed"]:
        yield [missed["case"], missed["sample"], "", "", "", f"MISSED, expected {missed['to']}"]
