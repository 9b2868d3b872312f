"""One turn held against its evidence: a small vocabulary, and the verdict of a groundedness check."""

from __future__ import annotations

import json
from typing import Any

from evallib.checks import parse_check
from evallib.domain import Domain, EntityKind
from evallib.records import Sample, ToolCall, Turn, Verdict

KINDS = {
    "incident": EntityKind(pattern="INC-[0-9]+", reserved=("INC-900",)),
    "severity": EntityKind(pattern="SEV[0-9]"),
    "service": EntityKind(
        names=("mailer", "mailer-archive", "invoice desk", "index", "queue"), ambiguous=("index", "queue")
    ),
    "person": EntityKind(names=("dana", "will"), ambiguous=("will",)),
}
DOMAIN = Domain(vocabulary=KINDS, pairs=(("incident", "severity"),))


def verdict(
    answer: str, *results: Any, question: str = "q", domain: Domain = DOMAIN, calls: tuple[ToolCall, ...] = ()
) -> Verdict:
    """One turn whose tools gave `results` (objects are sent as JSON)."""
    given = tuple(
        ToolCall("look", {}, one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)) for one in results
    )
    turn = Turn(1, question, answer, tool_calls=(*calls, *given))
    check = parse_check({"id": "g", "check": "groundedness"}).in_domain(domain)
    (found,) = check([Sample("r", "c", 1, turns=(turn,), answer=answer)])
    return found


def looked_up(result: Any = None, error: str | None = None, **arguments: Any) -> ToolCall:
    return ToolCall("look", arguments, None if result is None else json.dumps(result), error)


ROWS = {"rows": [{"id": "INC-7", "sev": "SEV3"}, {"id": "INC-8", "sev": "SEV1"}]}
