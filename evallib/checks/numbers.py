"""Numbers as people write them: separators, percentages, scales, units, and what stays ambiguous."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evallib.checks.folding import LETTER

__all__ = ["CURRENCY_SIGNS", "Figure", "figures"]


class Figure(NamedTuple):
    """One number in a folded text."""

    text: str
    value: float
    other: float | None
    """The other way to read it (4.183 is 4183 where dots part thousands); None when there is one way only."""
    percent: bool
    unit: str
    """The word or sign right after it, in lower case, or the sign before it; empty where there is none."""
    start: int
    end: int
    unit_at: tuple[int, int] = (0, 0)
    """Where the unit stands, and where a word stands that may be a currency before it (EUR 5); empty where none is."""
    before: tuple[int, int] = (0, 0)


_GROUPED = r"[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\.\d{3}){2,}|(?:\.\d{3})+(?=,\d)|(?: \d{3})+|(?:_\d{3})+|(?:'\d{3})+)"
_NO_QUANTITY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[t ]?\d{1,2}:\d\d[\d:.]*z?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"
    r"|\d{1,2}/\d{1,2}/\d\d|\d+(?::\d+)+|24/7"
)
"""Dates, times of the day, ratios."""
CURRENCY_SIGNS = "$\u20ac\u00a3\u00a5\u20b9"
_CODES = "usd|eur|gbp|jpy|chf|cny|inr|aud|cad|nzd|sek|nok|dkk|pln|czk|huf|brl|mxn|krw|zar|sgd|hkd"
"""Currencies that may stand right before a number, without a blank."""
_NUMBER = re.compile(
    rf"(?<!{LETTER})(?<![_.])(?<![^\W\d_]-)(?:(?P<other>(?:{_NO_QUANTITY})(?![\w]))"
    # no minus of a difference or a range
    r"|(?:(?<![\d)\]%])(?P<sign>[-+]|(?<!\d )(?<!\b\w )(?<![)%] )(?:minus|negative) ))?"
    rf"(?:(?:(?:us|au?|ca?|nz|hk|s)(?=\$))?(?P<lead>[{CURRENCY_SIGNS}] ?|(?:{_CODES})(?=[-+]?\d))(?P<minus>-)?)?"
    rf"(?:(?P<whole>(?:{_GROUPED})(?!\d)|\d+)(?P<part>[.,]\d+)?(?![.,]\d)(?P<power>e[-+]?\d+)?"
    r"|(?P<run>\d+(?:[.,]\d+)+)))"
)
_CODE_BEFORE = re.compile(r"(?<!\w)[^\W\d_]{3}[*_`]* ?[*_`]*\Z")
_PERCENT = re.compile(r"[*_`]*\s?(?:\\?%|percent\b|per cent\b)")
_UNIT = re.compile(r"[*_`]*[ \t-]?[*_`]*(?P<unit>[^\W\d_]+(?:/[^\W\d_]+)?|[\u00b0][^\W\d_]?|"
                   rf"[{CURRENCY_SIGNS}])")  # fmt: skip
_SCALES = {"k": 3, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""The power of ten that each stands for."""


def figures(text: str) -> Iterator[Figure]:
    """The numbers in folded `text`, in order.

    Thousands may be parted by commas, blanks, `_`, or apostrophes, decimals by a dot or (where no thousands fit) a
    comma; `4.183` and `4,183` can be read both ways and say so. `4 thousand` and `4k` are 4000. Dates, times of
    the day, `24/7` and the digits of an id (KB-42) are no numbers.
    """
    for hit in _NUMBER.finditer(text):
        if hit["other"]:
            continue
        if hit["run"]:
            yield from _listed(hit["run"], hit.start("run"))
        else:
            yield _figure(text, hit)


def _listed(run: str, start: int) -> Iterator[Figure]:
    """The numbers of a list without blanks (1,2,3); a version such as 4.15.2 is no number."""
    for hit in re.finditer(r"\d+", "" if "." in run else run):
        yield Figure(hit[0], float(hit[0][:300]), None, False, "", start + hit.start(), start + hit.end())


def _figure(text: str, hit: re.Match[str]) -> Figure:
    sign = "-" if hit["minus"] or hit["sign"] not in {None, "+"} else ""
    power = _power(hit["power"])
    percent = _PERCENT.match(text, hit.end()) is not None
    following, end = None if percent else _UNIT.match(text, hit.end()), hit.end()
    if following and following["unit"] in _SCALES and (following["unit"] != "k" or following.start("unit") == end):
        power += _SCALES[following["unit"]]
        end = following.end()
        following = _UNIT.match(text, end)
    unit_at = following.span("unit") if following else hit.span("lead") if hit["lead"] else (0, 0)
    code = _CODE_BEFORE.search(text[max(hit.start() - 10, 0) : hit.start()])
    before = (max(hit.start() - 10, 0) + code.start(), hit.start()) if code else (0, 0)
    # Read at once, sign and power too: 57 * 0.01 and 3 * 10 ** -1 are not what 0.57 and 0.3 are.
    plain, otherwise = _readings(hit["whole"], hit["part"] or "")
    value, other = float(f"{sign}{plain}e{power}"), float(f"{sign}{otherwise}e{power}") if otherwise else None
    unit = text[slice(*unit_at)].strip()
    return Figure(text[hit.start() : end], value, other, percent, unit, hit.start(), end, unit_at, before)


def _power(written: str | None) -> int:
    """The power of ten; one beyond what a float holds is cut, so that it overflows to no error."""
    return max(min(int(written[1:][:6]), 300), -300) if written else 0


def _readings(whole: str, part: str) -> tuple[str, str]:
    """The digits of a number with their decimal point, and those of its other reading; empty where there is none."""
    plain = re.sub(r"[,._' ]", "", whole)[:300]
    if part:
        # 4.183 may be 4183, but 0.183, 1234.567 and 1,234.567 may not.
        both = len(part) == 4 and whole.isdigit() and len(whole) <= 3 and not whole.startswith("0")
        return f"{plain}.{part[1:][:300]}", whole + part[1:] if both else ""
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", whole):
        return plain, whole.replace(",", ".")
    return plain, ""
