"""Questions of one's own: nobody wrote an answer key, so they are judged by what of a suite needs none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from evallib.checks.base import Check
from evallib.checks.judge import Judge
from evallib.errors import InputError
from evallib.records import digest
from evallib.stdout import visible
from evallib.strict_yaml import dump_yaml
from evallib.suite import Suite

__all__ = ["Asked", "asked_of"]

_SPLIT = "validation"
"""Of a case that names none."""
_JOINER = re.compile("[\u200c\u200d]")
"""Shows nothing of its own; Persian and the scripts of India spell words with it."""


class Asked(NamedTuple):
    """A suite made of questions, and which of the checks it was made from judge them."""

    text: str
    """As YAML."""
    judged_by: tuple[str, ...]
    left_out: tuple[str, ...]
    """Suite-wide checks that need the key or the reference answer, or hold for cases of some tag or split alone."""

    @property
    def words(self) -> str:
        """What such a measurement is worth, in one sentence."""
        less = f"; left out: {', '.join(self.left_out)}" if self.left_out else ""
        return (
            f"questions without an answer key, judged by {', '.join(self.judged_by)}{less}: a weaker measurement than "
            "the suite's own cases, and no gate"
        )


def asked_of(suite: Suite, questions: Sequence[str]) -> Asked:
    """The suite that asks `questions`, one case each, and judges them by the suite-wide checks that need no answer key.

    A case is named by its question, so that whoever asks the same again can compare. Checks that stand at a case or a
    step are that case's alone, and probes, gate and reference answers are of the suite's own cases. InputError when a
    question is empty, unprintable or given twice, or no check is left to judge it.
    """
    asked = [question.replace("\r\n", "\n").strip() for question in questions]
    if not all(asked):
        raise InputError("--ask: a question is empty; write one, or leave it out")
    if unseen := next((one for one in asked if visible(bare := _JOINER.sub("", one)) != bare), None):
        raise InputError(f"--ask: {unseen!r} holds a character that shows nothing; leave it out")
    if twice := next((one for n, one in enumerate(asked) if one in asked[:n]), None):
        raise InputError(f"--ask: {twice!r} stands twice; use --samples to ask again")
    kept = [check for check in suite.checks if _needs_no_key(check)]
    if not any(check.weight or check.critical for check in kept):
        raise InputError(
            f"--ask: every check of suite {suite.suite!r} needs an answer key or belongs to a case; add one for the "
            "whole suite that needs none, such as `sections`, or a `judge` with a rubric"
        )
    written = suite.model_dump(
        mode="json", by_alias=True, exclude_unset=True, exclude={"cases", "checks", "probes", "gate", "changelog"}
    )
    online = {
        **written,
        "suite": f"{suite.suite[:100]}-online",
        "description": f"Questions asked without an answer key, under checks of suite {suite.suite}",
        "pass": suite.pass_rule if any(check.critical for check in kept) else "top",
        "checks": [
            check.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"when"}) for check in kept
        ],
        "cases": [{"id": f"q-{digest(ask, 8)}", "steps": [{"ask": ask}]} for ask in asked],
    }
    names = tuple(check.id for check in kept)
    return Asked(dump_yaml(online), names, tuple(check.id for check in suite.checks if check.id not in names))


def _needs_no_key(check: Check) -> bool:
    if check.when is not None and not check.when.applies((), _SPLIT):
        return False
    if isinstance(check, Judge) and ("reference" in check.inputs or check.key_fields):
        return False
    try:
        return check.bind({}) is check
    except (KeyError, ValidationError):
        return False
