"""The sentence that belongs to every printed rate: which cases, how many samples, scored by what, against what, where.

One function writes it, `caption`, out of the figures and of where they come from. A pass rate without it is no
evidence (article 3), so whatever prints a rate prints it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evallib.stdout import counted

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "NOT_NAMED", "About", "Made", "Origin", "about", "brief", "caption", "captioned", "counts_words", "joined",
    "judge_words", "short",
]  # fmt: skip

NOT_NAMED = "not named"


@dataclass(frozen=True, slots=True)
class Made:
    """How one run came to be, in words."""

    run: str
    target: str
    """Kind and model."""
    build: str = NOT_NAMED
    """What the target was built from."""
    evallib: str = NOT_NAMED
    """Version and revision that scored it."""
    machine: str = NOT_NAMED
    when: str = NOT_NAMED

    def words(self) -> str:
        """All of it but the run's id."""
        return f"target {self.target}, build {self.build}; {self.evallib}; machine {self.machine}; {self.when}"


@dataclass(frozen=True, slots=True)
class Origin:
    """What figures were made of: suite, cases, criteria and runs."""

    suite: str
    digest: str
    """Of the suite, 12 hex."""
    cases: str
    """Which of the suite's cases, in words."""
    criteria: str
    """Digest of all that decides these verdicts, 12 hex."""
    passes_when: str
    """When a sample passes, in words."""
    made: tuple[Made, ...]

    def as_dict(self) -> dict[str, Any]:
        """The object that stands as `origin` in `metrics --json`."""
        return asdict(self)


class About(NamedTuple):
    """What a chart or table says of one view: in short where it is looked at, in full where it is looked up."""

    view: str
    label: str = ""
    """The words every figure of the view carries; empty for strict."""
    counts: str = ""
    criteria: str = ""
    """Digest of what decides the verdicts."""
    caption: str = ""
    suite: str = ""
    """Its id and digest, as in `tickets@0123456789ab`."""
    cases: str = ""
    """Which of the suite's cases, in words."""

    def row(self) -> dict[str, Any]:
        """What stands in each row of a chart's data."""
        said = {"view": self.view, "post_hoc": bool(self.label), "label": self.label, "suite": self.suite}
        return {**said, "counts": self.counts, "criteria": self.criteria}

    def parts(self) -> list[str]:
        """What is said in short, without the view's name."""
        criteria = f"criteria {self.criteria}" if self.criteria else ""
        return [part for part in (self.suite, self.cases, self.counts, criteria, self.label) if part]


def about(*summaries: Mapping[str, Any]) -> list[About]:
    """What charts and tables say of views, out of their summaries."""
    return [_about(one, one["origin"] or {}) for one in summaries]


def _about(summary: Mapping[str, Any], origin: Mapping[str, Any]) -> About:
    return About(
        summary["view"],
        summary["label"] or "",
        counts_words(summary),
        origin.get("criteria", ""),
        short(summary),
        f"{origin['suite']}@{origin['digest']}" if origin else "",
        origin.get("cases", ""),
    )


def brief(said: Sequence[About]) -> list[str]:
    """The short form: one line for each view, and before them what is the same of several."""
    parts = [one.parts() for one in said]
    shared = [one for one in parts[0] if all(one in each for each in parts)] if len(said) > 1 else []
    own = [[part for part in each if part not in shared] for each in parts]
    lines = [f"{one.view}: {'; '.join(each)}".removesuffix(": ") for one, each in zip(said, own, strict=True)]
    return ["; ".join(shared), *lines] if shared else lines


def caption(summary: Mapping[str, Any], origin: Origin | None = None, remark: str = "") -> str:
    """What figures must say about themselves: what was counted, how, under which view, and where it comes from."""
    runs = f"run{'s' if len(summary['runs']) > 1 else ''} {', '.join(summary['runs'])}"
    subject = f"Suite {origin.suite} (digest {origin.digest}), {origin.cases}, {runs}" if origin else _first_up(runs)
    rule = origin.passes_when if origin else "the suite's pass rule holds"
    intervals = "with 95 % Wilson intervals on effective cases, which are about other cases like these"
    method = f"pass rate, pass@k and pass^k are means over cases{_of_one(summary) or f' {intervals}'}"
    parts = [
        f"{subject}, view {summary['view']}: {counts_words(summary)}.",
        *([f"Criteria {origin.criteria}."] if origin else []),
        f"A sample passes when {rule}; {method}.",
        *_made_sentences(origin.made if origin else ()),
        *filter(None, [remark]),
        *_remarks(summary),
    ]
    return " ".join(parts)


def _of_one(summary: Mapping[str, Any]) -> str:
    return "; one case has no interval" if summary["cases"] == 1 else ""


def short(summary: Mapping[str, Any]) -> str:
    """The caption without what the readings of its runs were in full: the label has them in short."""
    return str(summary["caption"]).removesuffix(str(summary.get("read_words", ""))).strip()


def counts_words(summary: Mapping[str, Any]) -> str:
    """Cases, samples and those without an outcome, as in `2 cases x 5 samples = 10 planned, all scored`."""
    low, high = summary["samples_per_case"]
    samples = counted(low, "sample") if low == high else f"{low} to {high} samples"
    planned = f"{counted(summary['cases'], 'case')} x {samples} = {summary['planned']} planned"
    if not summary["errors"]:
        return f"{planned}, all scored"
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in summary["errors_by"].items())
    fails = "fail" if summary["errors"] == 1 else "fails"
    return f"{planned}, {summary['scored']} scored, {summary['errors']} without an outcome ({kinds}) counted as {fails}"


def _made_sentences(made: Sequence[Made]) -> list[str]:
    """Where the runs come from; what is the same of all of them is said once."""
    runs: dict[str, list[str]] = {}
    for one in made:
        runs.setdefault(one.words(), []).append(one.run)
    if len(runs) == 1:
        return [f"{_first_up(words)}." for words in runs]
    return [f"{', '.join(names)}: {words}." for words, names in runs.items()]


def _remarks(summary: Mapping[str, Any]) -> list[str]:
    """What only some figures must say."""
    parts = []
    low, high = summary["samples_per_case"]
    if low != high:
        parts.append(f"Pooled over samples the pass rate is {summary['pass_rate_micro']:.3f}.")
    if left := summary["score_left_out"]:
        parts.append(
            f"The mean score leaves out {counted(left, 'sample')} without a score, and the figures of a check the "
            "verdicts that could not be had."
        )
    if summary["depends_on_errors"]:
        low_end, high_end = summary["bounds"]
        parts.append(
            f"The conclusion depends on the errors: between {low_end:.3f} (all fail) and {high_end:.3f} (all pass)."
        )
    judges = {name: c for name, c in summary["by_check"].items() if c["stochastic"] and c["n"] > c["not_applicable"]}
    if judges:
        parts.append(f"Model verdicts: {'; '.join(f'{name} {judge_words(one)}' for name, one in judges.items())}.")
    if summary["label"]:
        parts.append(f"{_first_up(summary['label'])}.")
    return parts


def judge_words(check: Mapping[str, Any]) -> str:
    """Who answered a check and whether that was ever measured against people, as in `judged by m, uncalibrated`."""
    return f"judged by {', '.join(check['judge']) or 'nobody'}, {check['calibration'] or 'uncalibrated'}"


def joined(captions: Sequence[str]) -> str:
    """The captions of several views, one line each: what each says alone, then once what all of them say."""
    said = [one.removesuffix(".").split(". ") for one in captions]
    shared = [one for one in said[0] if all(one in each for each in said)] if said else []
    own = [". ".join(one for one in each if one not in shared) for each in said]
    return "\n".join(f"{one}." for one in [*own, ". ".join(shared)] if one)


def captioned(
    frame: pd.DataFrame, summaries: Sequence[Mapping[str, Any]] = (), *, said: Sequence[About] = ()
) -> pd.DataFrame:
    """The frame with what `table_html` writes below it: what its views say in short, and folded their captions."""
    frame.attrs["brief"] = "\n".join(brief(said or about(*summaries)))
    frame.attrs["caption"] = joined([one["caption"] for one in summaries] or [one.caption for one in said])
    return frame


def _first_up(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
