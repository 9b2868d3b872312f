"""What reads wrong in a suite, without showing its checks anything: numbers, tools, memorised answers.

Problems cannot be meant: a guarded call that the trajectory lacks, a check that applies to no case, a required case
that only a model could pass, a write of a tool that writes nothing, likely slips (`spelling`), wordings that nothing
else in the suite says (`showing`), names and patterns that fit nothing (`declared`); `sense` refuses more on loading.
Warnings come of rules that can be wrong: another number in the description or the rubric, a rule of the gate that all
or none meet, weights that are no shares of one, a check that counts otherwise in one case, wording that the question
passes, answers in the agent's own prompt, ids that are none, keys and tools nobody reads or declares.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evallib.case import Case
from evallib.checks.base import Check
from evallib.checks.facts import whole
from evallib.checks.folding import fold
from evallib.checks.judge import Judge
from evallib.checks.tools import ToolCheck, contains
from evallib.checks.turns import OverSteps
from evallib.gate import TOLERANCE
from evallib.records import Sample, canonical_json
from evallib.selfchecks.declared import (
    loose_aliases,
    loose_entities,
    loose_returns,
    rare_names,
    strange_patterns,
    stray_entities,
    uncallable,
)
from evallib.selfchecks.showing import stray_values, unasked_options, unechoed_words, unshown_wordings
from evallib.selfchecks.spelling import likely_slips, misspelt_declarations, misspelt_names
from evallib.sense import raw_range
from evallib.stdout import counted
from evallib.suite import Suite

__all__ = ["Findings", "lint"]

_WORDING = {"matches", "mentions", "refusal", "exact", "number", "choice"}
_PHRASES = {"forbids", "mentions", "refusal"}
_NUMBER = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?)(?:[ -]?([A-Za-z]+|%))?")
_GRADE = re.compile(r"([^\W\d_] )?(?<![\w.-])(\d{1,3}):(?!\d)")
"""A number that a rubric explains, and whether a word stands before it."""
_UNITS = {
    **{unit: scale for scale in "kmgt" for unit in (f"{scale}i", f"{scale}b", f"{scale}ib")},
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"), "ms": "ms", "milliseconds": "ms",
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"), **dict.fromkeys(("h", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"), "%": "%", "percent": "%",
}  # fmt: skip
"""Units to what is compared: 384Mi, 384 MiB and 384 MB are said of one thing."""
_WORDS_IN_A_ROW = 6
"""So many words of a reference in a row are no coincidence."""


class Findings(NamedTuple):
    """`problems` cannot be meant; `warnings` are for a person to judge."""

    problems: tuple[str, ...]
    warnings: tuple[str, ...]


def lint(suite: Suite, prompts: Sequence[str] = ()) -> Findings:
    """Everything that reads wrong; `prompts` are the agent's own, beside the suite's system prompt."""
    if suite.recorded:
        return Findings((), ())
    checks = [(case, check) for case in suite.cases for check in _checks(suite, case)]
    tools = [tool for _, check in checks if isinstance(check, ToolCheck) for tool in check.named_tools()]
    either = [*rare_names(suite, tools), *unshown_wordings(suite, checks)]
    either += [one for _, check in checks for one in stray_values(suite, check)]
    written = [(check, f"check {check.id!r} of case {case.id!r}", text) for case, check in checks
               for text in _patterns(check)]  # fmt: skip
    phrases = [(where, text) for check, where, text in written if check.check in _PHRASES]
    problems = [
        *_applies_to_nothing(suite), *loose_returns(suite), *strange_patterns(suite), *loose_aliases(suite, set(tools)),
        *(said for one in checks for said in _of_a_check(suite, *one)),
        *(said for said, wrong in either if wrong),
        *(said for case in suite.cases for said in _of_a_case(suite, case)),
        *_misspelt(suite, [(where, text) for _, where, text in written], phrases),
        *unechoed_words(suite, [one for case in suite.cases for one in _told_by_nothing(suite, case)]),
    ]  # fmt: skip
    warnings = [
        *(said for _, check in checks for said in _contradicted(check)),
        *(said for case in suite.cases for said in _memorised(case, (suite.system, *prompts))),
        *(said for said, wrong in either if not wrong),
        *stray_entities(suite), *_odd_weights(suite), *_echoed(checks), *_counting_otherwise(suite),
        *_undeclared_tools(suite, checks), *_missed_by_nothing(suite), *_unread_keys(suite),
    ]  # fmt: skip
    return Findings(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(warnings)))


def _of_a_check(suite: Suite, case: Case, check: Check) -> Iterator[str]:
    yield from loose_entities(case, check)
    yield from unasked_options(case, check)
    yield from uncallable(suite, case, check)
    yield from _passes_anything(case, check)


def _of_a_case(suite: Suite, case: Case) -> Iterator[str]:
    yield from _guarded_not_required(suite, case)
    yield from _only_judged(suite, case)
    yield from _no_writes(suite, case)
    yield from _unguarded(suite, case)


def _told_by_nothing(suite: Suite, case: Case) -> Iterator[tuple[str, str]]:
    """(where, text) of what no reference need hold: forbidden phrases, and all wordings of a fact but one."""
    referred = any(step.reference for step in case.steps)
    for check in _checks(suite, case):
        where = f"check {check.id!r} of case {case.id!r}"
        if check.check == "forbids":
            yield from ((where, phrase) for phrase in _of(check).phrases)
        elif check.check in {"mentions", "refusal"} and referred:
            facts = [fact for fact in _of(check).all_of if not isinstance(fact, str) and len(fact) > 1]
            yield from ((where, wording) for fact in facts for wording in fact)


def _misspelt(suite: Suite, criteria: Sequence[tuple[str, str]], phrases: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Likely slips, each told once: as one in a name where it is one."""
    names = list(misspelt_names(suite, phrases))
    told = tuple(problem.partition(" stands nowhere else")[0] for problem in names)
    yield from names or misspelt_declarations(suite, criteria)
    yield from (slip for slip in likely_slips(suite, criteria) if not slip.startswith(told))


def _checks(suite: Suite, case: Case) -> Iterator[Check]:
    for bound in suite.bound[case.id]:
        yield from _parts(bound.check)


def _applies_to_nothing(suite: Suite) -> Iterator[str]:
    """Checks of the whole suite whose `when` no case meets, or names tags and splits that there are not."""
    tags = {tag for case in suite.cases for tag in case.tags}
    for check in suite.checks:
        if check.when is None:
            continue
        unknown = [tag for tag in check.when.not_tags if tag not in tags]
        unknown += [name for name in check.when.split if name not in {"train", "validation", "holdout"}]
        if unknown:
            yield f"check {check.id!r}: `when` names {unknown[0]!r}, which no case has; correct its spelling"
        elif not any(check.when.applies(case.tags, case.split) for case in suite.cases):
            yield f"check {check.id!r}: `when` holds for no case; widen it, or remove the check"


def _only_judged(suite: Suite, case: Case) -> Iterator[str]:
    """A required case that no deterministic check could pass: what a model says never decides one."""
    bound = [one.check for one in suite.bound[case.id]]
    deciding = bound if suite.pass_rule == "top" else [check for check in bound if check.critical]
    judged = [check for check in deciding if check.stochastic]
    if case.required and judged and len(judged) == len(deciding):
        yield (
            f"case {case.id!r} is required and only {judged[0].id!r}, a model's judgement, could pass it, which never "
            "decides a required case; add a deterministic check, or `required: false`"
        )


def _no_writes(suite: Suite, case: Case) -> Iterator[str]:
    """Writes that a case expects of a tool which the suite declares as one that writes nothing."""
    for check in _checks(suite, case):
        for write in _of(check).expected if check.check == "authority" else ():
            names = (write.tool, *suite.domain.aliases.get(write.tool, ()))
            if not any(suite.tools[name].write for name in names if name in suite.tools) and set(names) & set(
                suite.tools
            ):
                yield (
                    f"case {case.id!r}: check {check.id!r} expects the write {write.tool!r}, which `tools` does not "
                    "declare as one; add `write: true`"
                )


def _unguarded(suite: Suite, case: Case) -> Iterator[str]:
    """Calls that must be left open, of a tool which the suite declares as one that runs at once."""
    for tool, _ in _left_open(list(_checks(suite, case))):
        if tool in suite.tools and not suite.tools[tool].guarded:
            yield (
                f"case {case.id!r}: must leave {tool!r} open for approval, which `tools` does not declare as guarded; "
                "add `guarded: true`"
            )


def _missed_by_nothing(suite: Suite) -> Iterator[str]:
    """Rules of the gate that the lowest figure there can be meets."""
    if suite.gate is None:
        return
    told = [(name, getattr(suite.gate, name), 0.0) for name in ("mean", "floor", "pass_rate")]
    lowest = {one.check.id: reach for bound in suite.bound.values() for one in bound if (reach := raw_range(one.check))}
    told += [(f"checks.{name}", least, lowest[name][0]) for name, least in suite.gate.checks.items() if name in lowest]
    told += [(f"pass_hat.{k}", least, 0.0) for k, least in suite.gate.pass_hat.items()]
    for name, least, low in told:
        if least is not None and least <= low:
            yield f"the gate's `{name}: {least:g}` is met by any figure; raise it, or remove the rule"
    decided = {bound.check.id for case in suite.cases if case.split == "validation" for bound in suite.bound[case.id]}
    for name in suite.gate.checks if decided else ():
        if name not in decided:
            yield f"the gate's `checks.{name}` can be met by no release, as no validation case has it; remove the rule"
    floor, mean = suite.gate.floor, suite.gate.mean
    if floor is not None and mean is not None and 0 < mean <= floor:
        yield f"the gate's `mean: {mean:g}` is met by whatever meets `floor: {floor:g}`; raise it, or remove the rule"


def _passes_anything(case: Case, check: Any) -> Iterator[str]:
    """A score that passes from the lowest there is."""
    reach, least = raw_range(check), getattr(check, "pass_at", None)
    if reach and least is not None and least <= reach[0]:
        yield f"check {check.id!r} of case {case.id!r}: any score is at `pass_at: {least:g}`; raise it"


def _counting_otherwise(suite: Suite) -> Iterator[str]:
    """Checks that count otherwise in one case than in three and more others."""
    counts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for case, bounds in suite.bound.items():
        for check, _ in bounds:
            counts[check.id][f"weight {check.weight:g}, {'' if check.critical else 'not '}critical"].append(case)
    for name, ways in counts.items():
        often = max(ways, key=lambda way: len(ways[way]))
        for way, cases in ways.items():
            if len(cases) == 1 and len(ways[often]) > 2:
                others = f"({way}) than in {len(ways[often])} others ({often})"
                yield f"check {name!r} counts otherwise in case {cases[0]!r} {others}; correct it"


def _odd_weights(suite: Suite) -> Iterator[str]:
    """Weights of three and more checks of the suite that are written as shares of one, and are not."""
    weights = [check.weight for check in suite.checks if "weight" in check.model_fields_set and check.weight]
    shares, whole_ones = [one for one in weights if one < 1], [one for one in weights if one >= 1]
    if len(shares) < 3 or len(whole_ones) > 1 or len(set(weights)) == 1:
        return
    if abs(sum(weights) - 1) > TOLERANCE:
        yield (
            f"the weights {', '.join(f'{one:g}' for one in weights)} add up to {sum(weights):g}, not 1; correct one, "
            "or write whole numbers, as only their proportions count"
        )


def _parts(check: Check) -> tuple[Check, ...]:
    return tuple(part for _, part in check.parts) if isinstance(check, OverSteps) else (check,)


def _guarded_not_required(suite: Suite, case: Case) -> Iterator[str]:
    """A call that must be left open, beside a trajectory that does not ask for that call."""
    groups: dict[int, list[Check]] = defaultdict(list)
    for check, _ in suite.bound[case.id]:
        for step, part in check.parts if isinstance(check, OverSteps) else ((0, check),):
            groups[step].append(part)
    for step, checks in groups.items():
        asked = [_of(check).required for check in checks if check.check == "trajectory"]
        for tool, args in _left_open(checks):
            if asked and not any(call.tool == tool and contains(call.args, args) for calls in asked for call in calls):
                where = f", step {step}" if step else ""
                yield (
                    f"case {case.id!r}{where}: must leave {tool!r} open for approval, which its trajectory "
                    "does not require; add the call"
                )


def _left_open(checks: Sequence[Check]) -> Iterator[tuple[str, Any]]:
    for check in checks:
        proposed = _of(check) if check.check == "confirmation" else getattr(check, "confirmation", None)
        if proposed is not None:
            yield proposed.tool, proposed.args


def _of(check: Check) -> Any:
    """The check, whose kind the caller knows."""
    return check


def _contradicted(check: Check) -> Iterator[str]:
    """A number in a check's description where its patterns look for another one of the same unit."""
    yield from _ungraded(check)
    said, sought = _figures(check.description), _figures(" ; ".join((*_patterns(check), *_limits(check))))
    for unit in said.keys() & sought.keys():
        if not said[unit].keys() & (sought[unit].keys() | sought.get("", {}).keys()):
            yield (
                f"check {check.id!r}: its description says {', '.join(said[unit].values())}, "
                f"its criterion looks for {', '.join(sought[unit].values())}; correct one of them"
            )


def _patterns(check: Any) -> Iterator[str]:
    for name in ("any_of", "all_of", "none_of", "phrases"):
        for one in getattr(check, name, ()) or ():
            yield from (one,) if isinstance(one, str) else one


def _limits(check: Any) -> Iterator[str]:
    """The numbers that a check holds an answer against."""
    for kind, name in (("number", "equals"), ("sections", "max_words"), ("tool_budget", "max")):
        if check.check == kind:
            yield f"{getattr(check, name):g}"


def _ungraded(check: Any) -> Iterator[str]:
    """A rubric, which says what grades mean, that does not name the ends of its scale or grades beyond, or has none."""
    if not isinstance(check, Judge):
        return
    hits = list(_GRADE.finditer(check.rubric))
    graded = {int(hit[2]) for hit in hits}
    own = list(dict.fromkeys(int(hit[2]) for hit in hits if not hit[1]))  # `step 10:` grades nothing
    odd = [grade for grade in own if not check.scale[0] <= grade <= check.scale[1]]
    ends = [end for end in check.scale if end not in graded]
    if check.mode == "pass_fail" and len(own) > 1:
        grades = f"its rubric grades with {', '.join(map(str, own))}"
        yield f"check {check.id!r}: it says pass or fail, and {grades}; say what passes, or take a scale"
    elif check.mode == "scale" and len(graded) > 1 and (odd or ends):
        said = f"grades {odd[0]}" if odd else f"says nothing of {ends[0]}"
        yield f"check {check.id!r}: its scale is {list(check.scale)}, and its rubric {said}; correct one"


def _figures(text: str) -> dict[str, dict[str, str]]:
    """Unit (none for a word that is no unit) to its numbers, and each as it stands; patterns are read as they match."""
    plain = re.sub(r"\\s[*+?]?|\{\d*,?\d*\}|(?<=[\d.]) ?[?*+]|(?<= )[?*+]", "", text.replace("\\.", "."))
    plain = re.sub(r"\\[A-Za-z]|[\\^$?()|\[\]*+]", " ", plain)
    found: dict[str, dict[str, str]] = {}
    for hit in _NUMBER.finditer(plain):
        unit = _UNITS.get((hit[2] or "").lower(), "")
        found.setdefault(unit, {})[f"{float(hit[1]):g}"] = hit[0] if unit else hit[1]
    return found


def _echoed(checks: Sequence[tuple[Case, Check]]) -> Iterator[str]:
    """Checks of wording that the question itself would pass."""
    hits: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for case, check in checks:
        if check.check in _WORDING and check.computable and _asks_for_text(check):
            question = "\n".join(step.ask for step in case.steps)
            (verdict,) = check([Sample("lint", case.id, 1, answer=question, exit_code=0)])
            if verdict.status == "scored" and verdict.passed:
                hits[check.id].append((case.id, verdict.reason))
    for name, (first, *others) in hits.items():
        more = f" (and {counted(len(others), 'more case')})" if others else ""
        passed = f"repeating the question would pass it: {first[1]}"
        yield f"check {name!r} of case {first[0]!r}{more}: {passed}; ask for what the question does not say"


def _asks_for_text(check: Any) -> bool:
    if check.check == "matches":
        return bool(check.any_of or check.all_of) and check.over == "answer"
    return bool(getattr(check, "all_of", True))


def _memorised(case: Case, prompts: Sequence[str]) -> Iterator[str]:
    """References whose words stand in the agent's own prompt: passing would be recall, not work."""
    seen = {run for prompt in prompts for run in _runs(prompt)}
    for number, step in enumerate(case.steps, 1):
        shared = next((run for run in _runs(step.reference) if run in seen), None)
        if shared:
            held = f"the agent's own prompt holds its reference answer: {shared!r}"
            yield f"case {case.id!r}, step {number}: {held}; ask something else"
    folded = [fold(prompt).text for prompt in prompts if prompt]
    for text in _telling(case):
        if any(whole(text).search(prompt) for prompt in folded):
            held = f"the agent's own prompt holds {text!r} of its answer key or reference"
            yield f"case {case.id!r}: {held}; ask something else"


def _telling(case: Case) -> Iterator[str]:
    """Texts of the key that are no ordinary words (ids, three words and more), and short references."""
    for text in _texts(case.key):
        if len(text.split()) > 2 or (len(text) > 4 and re.search(r"\d", text)):
            yield text
    for step in case.steps:
        if 0 < len(step.reference.split()) < _WORDS_IN_A_ROW:
            yield step.reference.strip(" .!\n")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _texts(inner)


def _unread_keys(suite: Suite) -> Iterator[str]:
    """Entries of answer keys that nothing in the suite reads."""
    written = [*suite.checks]
    written += [check for case in suite.cases for check in (*case.checks, *(c for s in case.steps for c in s.checks))]
    if any(isinstance(check, Judge) and "key" in check.inputs and not check.key_fields for check in written):
        return
    read = set(re.findall(r"key\.(\w+)", canonical_json([check.model_dump(mode="json") for check in written])))
    read |= {name for check in written if isinstance(check, Judge) for name in check.key_fields}
    for name in dict.fromkeys(name for case in suite.cases for name in case.key if name not in read):
        held = [case.id for case in suite.cases if name in case.key]
        have = f"{counted(len(held), 'case')} {'has' if len(held) == 1 else 'have'}"
        yield f"no check reads `{name}` of the answer key, which {have}, case {held[0]!r} first"


def _undeclared_tools(suite: Suite, checks: Sequence[tuple[Case, Check]]) -> Iterator[str]:
    """That checks speak of tools in a suite that declares none: a misspelt one would hardly be noticed."""
    named = {tool: check.id for _, check in checks if isinstance(check, ToolCheck) for tool in check.named_tools()}
    if named and not suite.tools:
        tool, check_id = next(iter(named.items()))
        more = f" (and {counted(len(named) - 1, 'more tool')} named)" if len(named) > 1 else ""
        yield f"check {check_id!r} names tool {tool!r}{more}; declare `tools`, or a slip in it is never noticed"


def _runs(text: str) -> list[str]:
    words = re.findall(r"[^\W_]+", fold(text).text)
    return [" ".join(words[at : at + _WORDS_IN_A_ROW]) for at in range(len(words) - _WORDS_IN_A_ROW + 1)]
