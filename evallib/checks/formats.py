"""The formats of texts that a JSON Schema may ask for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address

__all__ = ["FORMATS", "fits_format"]

_DAY = r"\d{4}-\d\d-\d\d"
_TIME = r"(?P<clock>\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"


def _is_date(text: str) -> bool:
    return re.fullmatch(_DAY, text, re.ASCII) is not None and date.fromisoformat(text) is not None


def _is_time(text: str) -> bool:
    return _is_moment(f"2000-01-01T{text}")


def _is_moment(text: str) -> bool:
    hit = re.fullmatch(rf"(?P<day>{_DAY})[Tt]{_TIME}", text, re.ASCII)
    return hit is not None and datetime.fromisoformat(f"{hit['day']}T{hit['clock']}") is not None


def _is_email(text: str) -> bool:
    return re.fullmatch(r"[^\s@\"(),:;<>\[\\\]]{1,64}@(?:[\w-]{1,63}\.){1,9}[\w-]{2,63}", text) is not None


def _is_uuid(text: str) -> bool:
    return re.fullmatch(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", text) is not None


FORMATS: Mapping[str, Callable[[str], object]] = {
    "date": _is_date,
    "date-time": _is_moment,
    "email": _is_email,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "time": _is_time,
    "uuid": _is_uuid,
}
"""Name of a format to what is false, or raises ValueError, for a text that has not got it (RFC 3339, 4122, 4291)."""


def fits_format(name: str, text: str) -> bool:
    """Whether `text` has the format of this name."""
    with suppress(ValueError):
        return bool(FORMATS[name](text))
    return False
