"""Where figures come from: suite, cases and criteria of some views, and how their runs were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evallib.caption import NOT_NAMED, Made, Origin
from evallib.records import digest, whole_seconds
from evallib.stdout import counted
from evallib.store import Run
from evallib.suite import Suite
from evallib.views.load import View

__all__ = ["criteria_digest", "origin_of"]

_PASSES_WHEN = {
    "critical": "every critical check passes",
    "top": "every check is at its top value",
}
_BUILDS = ("build", "revision", "version", "brain")
"""Keys of a target's identity, or labels of a run, that say what was built."""


def origin_of(views: Sequence[View]) -> Origin:
    """The origin of figures over `views`, which share one suite and one view."""
    first = views[0].suite
    return Origin(
        suite=first.suite,
        digest=first.digest[:12],
        cases=_cases_words(first, {case for view in views for case in view.run.plan["cases"]}),
        criteria=criteria_digest(views),
        passes_when=_PASSES_WHEN[first.pass_rule],
        made=tuple(_made(view.run) for view in views),
    )


def criteria_digest(views: Sequence[View]) -> str:
    """Digest (12 hex) of everything that decides the views' verdicts: pass rule, and each check of each case.

    Readings are no criteria: those of `read` are strict's.
    """
    each = [view.criteria() for view in views]
    deciding = each[0] if len(each) == 1 else sorted({one for criteria in each for one in criteria})
    return digest([views[0].suite.pass_rule, deciding], 12)


def _cases_words(suite: Suite, chosen: set[str]) -> str:
    """`all 10 cases`, `the validation split (10 of 30 cases)` or `a pick of 3 of 30 cases`."""
    every = {case.id: case.split for case in suite.cases}
    if chosen == set(every):
        return f"all {counted(len(every), 'case')}" if len(every) > 1 else "its one case"
    of = f"{len(chosen)} of {len(every)} cases"
    split = {every[case] for case in chosen if case in every}
    whole = len(split) == 1 and chosen == {case for case, one in every.items() if one in split}
    return f"the {split.pop()} split ({of})" if whole else f"a pick of {of}"


def _made(run: Run) -> Made:
    plan = run.plan
    imported = bool(plan.get("imported"))
    when = whole_seconds(str(plan.get("created") or ""))
    return Made(
        run=run.id,
        target=_target_words(plan["target"]),
        build=_build_words(plan["target"], plan.get("labels") or {}),
        evallib="scored elsewhere" if imported else _evallib_words(plan),
        machine=_machine_words(plan.get("host") or {}),
        when=f"imported {when}" if imported else f"begun {when}" if when else "begun at no known time",
    )


def _target_words(target: Mapping[str, Any]) -> str:
    kind, model = str(target.get("kind") or "of no known kind"), str(target.get("model") or "")
    return f"{kind}, model {model or NOT_NAMED}"


def _build_words(target: Mapping[str, Any], labels: Mapping[str, Any]) -> str:
    said = [f"{name} {found[name]}" for found in (target, labels) for name in _BUILDS if found.get(name)]
    return ", ".join(dict.fromkeys(said)).removeprefix("build ") or NOT_NAMED


def _evallib_words(plan: Mapping[str, Any]) -> str:
    build = plan.get("build") or {}
    version = (plan.get("versions") or {}).get("evallib") or "of no known version"
    revision = f" at {str(build['revision'])[:8]}" if build.get("revision") else ""
    return f"evallib {version}{revision}{' with changes' if build.get('dirty') else ''}"


def _machine_words(host: Mapping[str, Any]) -> str:
    parts = [str(host.get("cpu") or "")]
    parts += [counted(int(host["cores"]), "core")] if host.get("cores") else []
    parts += [f"{host['memory_gib']} GiB"] if host.get("memory_gib") else []
    return ", ".join(part for part in parts if part) or NOT_NAMED
