"""Promises of a concrete date: something will be delivered, and the answer says when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from evallib.checks.clauses import Reading

__all__ = ["dates", "is_promise"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
_SPAN = r"(?:day|week|sprint|month|quarter|year)s?\b"
_COUNT = r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|ten|twelve|a few|a couple of)"
_DATE = re.compile(
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?"
    rf"|\b(?:in|by|before|during|this|next|until|early|mid|late|end of) {_MONTH}(?: \d{{4}})?"
    rf"|\b(?:on|by|before|this|next|coming|until) (?:next |this |coming )?{_DAY}|\b{_DAY}"
    rf"|\b(?:this|next|coming) {_SPAN}|\b(?:the )?end of (?:the |this |next )?{_SPAN}"
    rf"|\b(?:in|within) (?:the next )?{_COUNT} (?:(?:working|business) )?(?:hour|day|week|sprint|month|quarter)s?\b"
    r"|\btomorrow\b|\btonight\b|\be[o]d\b|\beow\b|\beom\b|\bq[1-4](?: \d{4})?\b"
)
_DELIVERY = (
    r"(?:ship|releas|fix|resolv|deliver|land|arriv|available|publish|patch|hotfix|updat|correct|repair|restor|clos|"
    r"provid|roll(?:ed|ing|s)? out|come|coming|live|ready|done|out|back)\w*"
)
_AHEAD = re.compile(
    r"(?:\b(?:will|shall)\b|'ll\b|\bgoing to\b|\b(?:promis|guarante|commit|expect|schedul|plann|aim|target)\w*"
    r"|\bplans? to\b)"
    rf".*\b{_DELIVERY}|\b{_DELIVERY}\b.*\b(?:expected|scheduled|planned|promised|guaranteed|due)\b"
    rf"|\bby\b.*\b{_DELIVERY}|\b(?:ships|arrives|lands|releases|comes out|goes live|rolls out|is due|are due|eta)\b"
    rf"|\bbe {_DELIVERY}\b|\bgets? (?:fixed|released|resolved|patched)\b"
    r"|\b(?:will|shall)\b.*\b(?:fix|patch|release|update)\b"
)


def dates(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the dates and times from now in folded text."""
    return (hit.span() for hit in _DATE.finditer(text))


def is_promise(reading: Reading, start: int, end: int) -> bool:
    """Whether the clause around the date from `start` to `end` says that something will be delivered by then."""
    clause = reading.at(start)
    return _looks_ahead(reading.text[clause.start : max(clause.end, end)])


@lru_cache(maxsize=1024)
def _looks_ahead(clause: str) -> bool:
    return _AHEAD.search(clause.replace("\n", " ")) is not None
