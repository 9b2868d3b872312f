"""Agreement, disputes and audits as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from evallib.concordance.audit import Audit, Rate
from evallib.concordance.concord import Concord
from evallib.concordance.disputes import Dispute
from evallib.concordance.review import Review
from evallib.entries import Resolution
from evallib.printing import interval, number, table
from evallib.statistics.agreement import Coefficient
from evallib.stdout import visible

__all__ = ["review_lines"]


def review_lines(found: Review) -> list[str]:
    """Agreement, disputes, strata and corrected rates as tables, then a sentence for each number."""
    lines = [f"readings of {', '.join(found.runs)} by {', '.join(map(visible, found.readers)) or 'nobody'}"]
    if found.agreement:
        header = ["agreement on", "readers", "n", "cases", "agreement", "kappa", "alpha", "AC1", "labels given"]
        lines += ["", *table(header, map(_agreement_row, found.agreement))]
        lines += [f"  {why}" for why in _reasons(found.agreement)]
    if found.disputes:
        header = ["disputed", "case", "sample", "check", "stands", "reader", "says", "cause", "reason"]
        lines += ["", *table(header, (row for one in found.disputes for row in _dispute_rows(one)))]
    header = [
        "audit of",
        "run",
        "strict",
        "n",
        "false",
        "share",
        "blind",
        "infra",
        "unsettled",
        "picked",
        "of them false",
    ]
    lines += ["", *table(header, (row for one in found.audits for row in _stratum_rows(one)))]
    header = ["pass rate of", "run", "strict", "corrected", "n", ""]
    lines += ["", *table(header, map(_rate_row, found.audits)), ""]
    return [*lines, *(visible(sentence) for sentence in found.sentences())]


def _about(check: str) -> str:
    return check or "whole answers"


def _agreement_row(one: Concord) -> list[str]:
    shares = ", ".join(f"{label} {share:.2f}" for label, share in one.prevalence.items())
    return [
        f"{_about(one.check)}: {one.what}",
        visible(", ".join(one.readers)),
        str(one.items),
        str(one.cases),
        *(_figure(one.coefficients[name]) for name in ("agreement", "kappa", "alpha", "ac1")),
        shares,
    ]


def _figure(one: Coefficient | Rate) -> str:
    return number(one.value) + interval(one.interval)


def _reasons(rows: Iterable[Concord]) -> list[str]:
    """Why a coefficient is undefined or has no interval, each reason once with the coefficients it is of."""
    names: dict[str, list[str]] = {}
    for row in rows:
        for name, one in row.coefficients.items():
            if one.why and name not in names.setdefault(one.why, []):
                names[one.why].append(name)
    return [f"{' and '.join(of)} without value or interval: {why}" for why, of in names.items()]


def _dispute_rows(one: Dispute) -> list[list[str]]:
    held = one.resolution.entry if one.resolution else None
    stands = "open"
    if isinstance(held, Resolution):
        own = ", by one of the readers" if held.self_resolved else ""
        stands = f"{held.reading} by {held.author}{own}: {held.reason}"
    place = [one.item.run, one.item.case, str(one.item.sample)]
    rows = []
    for said in one.said:
        fork = " (says two things)" if said.reader in one.forked else ""
        cells = [*place, said.check or "(answer)", stands, said.reader + fork, said.reading, said.cause, said.reason]
        rows.append([visible(cell)[:90].replace("\n", " ") for cell in cells])
        place, stands = ["", "", ""], ""
    return rows


def _stratum_rows(one: Audit) -> list[list[str]]:
    return [
        [
            _about(one.check),
            one.run,
            f"{s.strict} ({s.of})",
            str(s.read),
            str(s.false) if s.read else "—",
            number(s.share) + interval(s.interval),
            str(s.blind),
            str(s.infra),
            str(s.lost),
            str(s.picked),
            str(s.picked_false) if s.picked else "",
        ]
        for s in one.strata
        if s.of
    ]


def _rate_row(one: Audit) -> list[str]:
    corrected = one.corrected
    return [_about(one.check), one.run, _figure(one.strict), _figure(corrected), str(one.n), corrected.why]
