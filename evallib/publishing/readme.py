"""The page that says what is what in a bundle, written from the facts that its `bundle.json` holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evallib.publishing.criteria import quiet
from evallib.stdout import counted

__all__ = ["readme"]

_FILES = (
    ("data/runs/<run>/", "the original: plan, suite, answers, verdicts; in `rescored/`, changed criteria beside it"),
    ("data/calibrations/", "records that verdicts of model judges name, where they do"),
    ("adjudications/", "the written rule, and every entry about these runs: readings, plans, rescorings, locks"),
    ("criteria.md", "the changelog of criteria: what was changed after reading, by whom, why, and what flipped"),
    ("figures/figures.json", "every figure of every view, with its label and the ids of the entries it rests on"),
    ("figures/figures.csv", "the same, one figure a row"),
    ("figures/<run>/", "the charts, as pictures and as Vega-Lite specifications with their rows"),
    ("report/<run>.html", "the notebooks as one page, which runs nothing and asks nothing of a network"),
    ("bundle.json", "what the bundle holds"),
    ("MANIFEST.sha256", "the SHA-256 of every file but itself"),
)
_PROOF = """\
    evallib verify THIS_FOLDER

hashes every file, holds the runs against their manifests, the entries against their names and one another, and the
flips of each rescoring against its verdicts, makes figures, rows of charts, the table of all figures on each page,
changelog and this text again, and compares. Verdicts of evallib's own kinds of check are computed again from the
answers; those of judges, code and other packages' kinds, and recorded ones, are taken from the file. Pictures, and what
else stands on a page, are hashed only. `sha256sum -c MANIFEST.sha256` does the first part without evallib.
Whoever changes all of it at once is found out only by a digest of `MANIFEST.sha256` that was published elsewhere.
"""


def readme(facts: Mapping[str, Any], quoted: Sequence[Mapping[str, Any]]) -> str:
    """The page as Markdown."""
    files = ["## What is what", "", "| here | is |", "|---|---|", *(f"| `{name}` | {told} |" for name, told in _FILES)]
    parts = [*_top(facts), *_figures(quoted), "", *files, "", *_open(facts), "## Proof", "", _PROOF]
    return "\n".join(parts)


def _top(facts: Mapping[str, Any]) -> Iterator[str]:
    runs = ", ".join(f"`{run}`" for run in facts["runs"])
    yield from (f"# {runs}", "")
    made = f"{counted(len(facts['runs']), 'run')}, {counted(len(facts['entries']), 'entry', 'entries')}"
    yield from (f"Made with evallib {facts['evallib']} on {facts['made']}: {made}.", "")
    yield "`strict` is what the criteria said when a run was made; any other view was chosen after reading the answers."
    yield ""


def _figures(quoted: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("## Figures", "", "| run | view | pass rate | planned | label |", "|---|---|---|---|---|")
    for one in quoted:
        rate = one["metrics"]["pass_rate"]
        shown = "none" if rate is None else f"{rate:.3f}"
        yield f"| {one['run']} | {quiet(one['view'])} | {shown} | {one['metrics']['planned']} | {quiet(one['label'])} |"


def _open(facts: Mapping[str, Any]) -> Iterator[str]:
    yield from ("## Locks", "", *(f"- `{run}`: {quiet(words)}" for run, words in facts["locks"].items()), "")
    yield from _held_against(facts["held_against"])
    yield from ("## What is not here", "")
    silent, other, left = (facts[name] for name in ("without_readings", "elsewhere", "left_out"))
    yield f"- Quoted without any reading: {_names(silent)}."
    yield f"- Rescored by the same entries, and not in this bundle: {_names(other)}."
    yield f"- Runs of the same suites that lay beside these, and were left out: {_names(left)}."
    yield from ("- Answers of a sealed holdout: they are never published.", "")


def _held_against(told: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from ("## What is to be held against the rescorings", "")
    yield from ([f"- `{id_}`: {quiet(said)}." for id_, each in told.items() for said in each] or ["- Nothing."])
    yield ""


def _names(runs: Sequence[str]) -> str:
    return ", ".join(f"`{run}`" for run in runs) or "none"
