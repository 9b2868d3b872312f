"""Where a text holds credentials and personal data; every pattern has a bounded width, so that search is linear."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from evallib.checks.given_values import given_values
from evallib.checks.placeholders import is_placeholder, is_random

__all__ = ["PATTERNS", "Leak", "LeakKind", "leaks"]

LeakKind = Literal["credential", "email", "phone", "card", "iban"]


class Leak(NamedTuple):
    """A secret in a text: what it is, where, and the secret itself."""

    what: str
    start: int
    end: int
    value: str


PATTERNS: dict[str, re.Pattern[str]] = {
    "private key": re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"),
    "access key": re.compile(
        r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{30,255}"
        r"|github_pat_\w{22,255}|glpat-[\w-]{20,64}|xox[abeoprs]-[\w-]{10,255}|xapp-[\w-]{10,255}"
        r"|sk-(?:proj-|ant-|live-|or-)?[\w-]{16,255}|[srp]k_(?:live|test)_[A-Za-z0-9]{10,255}|AIza[\w-]{35}"
        r"|ya29\.[\w-]{20,255}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,255}|hf_[A-Za-z0-9]{30,64}"
        r"|SG\.[\w-]{16,64}\.[\w-]{16,64}|do[opr]_v1_[a-f0-9]{64}|sha256~[\w-]{40,64}|hv[sb]\.[\w-]{20,255}"
        r"|dapi[a-f0-9]{32}|AGE-SECRET-KEY-1[A-Z0-9]{58}|rk_live_[A-Za-z0-9]{10,255})(?![A-Za-z0-9])"
    ),
    "token": re.compile(r"(?<![\w.-])eyJ[\w-]{8,2000}\.eyJ[\w-]{4,4000}\.[\w-]{8,2000}"),
    "authorization": re.compile(
        r"\b(?P<scheme>bearer|basic)[ \t]{1,3}[\"'`<]?(?P<value>[A-Za-z0-9._~+/=*$-]{8,2000})", re.IGNORECASE
    ),
    "connection string": re.compile(
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'`]{0,80}:(?P<value>[^\s@/\"'`]{1,200})@[\w.\[-]", re.IGNORECASE
    ),
    "user and password": re.compile(r"(?<!\S)(?:-u|--user)[ =][\"'`]?[\w.@-]{1,60}:(?P<value>[^\s\"'`]{3,200})"),
    "email address": re.compile(
        r"(?<![\w.+%-])(?<!\w[*\u2022])(?<!\w[*\u2022]{2})(?<!\w[*\u2022]{3})(?P<local>[\w.+%-]{1,64})@(?P<domain>(?:[\w-]{1,63}\.){1,6}[^\W\d_]{2,24})(?![\w-])"
    ),
    "phone number": re.compile(
        r"(?<![\w+.,/-])(?:\+\d[\d ().\/-]{6,22}\d|\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}"
        r"|\(?0\d{1,5}\)?[ /-][\d -]{4,14}\d)(?![\w]|[.-]\d)"
    ),
    "card number": re.compile(r"(?<![\w.+-])[2-6](?:[ -]?\d){12,18}"),
    "IBAN": re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}"),
}
"""What is looked for, by the name a reason gives it."""

_RESERVED = re.compile(  # RFC 2606, RFC 6761, RFC 6762, RFC 8375 and .internal
    r"(?:^|\.)(?:example|test|invalid|localhost|local|internal|home\.arpa|example\.(?:com|net|org))$", re.IGNORECASE
)
_STAND_IN_DOMAIN = re.compile(r"(?:^|\.)(?:your|my)[\w-]*\.[a-z.]+$", re.IGNORECASE)
_CALL = re.compile(
    r"\b(?:phone|tel|telephone|call|mobile|cell|fax|ring|dial|whatsapp|sms|contact|number|reach)\b", re.IGNORECASE
)
_END = re.compile(r"-----END [A-Z0-9 ]{0,80}-----")
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY":
    28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24,
    "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU":
    28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
    "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU":
    30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24,
    "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA":
    29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
"""Country to the length of its IBANs (SWIFT registry)."""


def leaks(text: str, kinds: tuple[LeakKind, ...], *, reserved: bool = True) -> list[Leak]:
    """The leaks of these kinds in `text`, in order, none inside another; with `reserved` example domains are none."""
    found: list[Leak] = []
    for kind in kinds:
        found.extend(_FINDERS[kind](text))
    if reserved:
        found = [leak for leak in found if leak.what != "an email address" or not _is_reserved(leak.value)]
    found.sort(key=lambda leak: (leak.start, -leak.end))
    kept: list[Leak] = []
    for leak in found:
        if not kept or leak.start >= kept[-1].end:
            kept.append(leak)
    return kept


def _credentials(text: str) -> Iterator[Leak]:
    yield from _private_keys(text)
    yield from _tokens(text)
    for name in ("connection string", "user and password"):
        for hit in PATTERNS[name].finditer(text):
            if not is_placeholder(hit["value"]):
                yield Leak(f"a password in a {name}", *hit.span("value"), hit["value"])
    for given in given_values(text):
        yield Leak(f"a value of {given.name!r}", given.start, given.start + len(given.value), given.value)


def _tokens(text: str) -> Iterator[Leak]:
    for hit in PATTERNS["access key"].finditer(text):
        if not is_placeholder(hit[0]) and is_random(hit[0]):
            yield Leak("an access key", *hit.span(), hit[0])
    for hit in PATTERNS["token"].finditer(text):
        if _is_jwt(hit[0]):
            yield Leak("a token", *hit.span(), hit[0])
    for hit in PATTERNS["authorization"].finditer(text):
        if _authorizes(hit["scheme"].lower(), hit["value"]):
            yield Leak("an authorization header", *hit.span("value"), hit["value"])


def _private_keys(text: str) -> Iterator[Leak]:
    """Blocks that hold a key; a header alone, or around a redaction, holds none."""
    past = 0
    for hit in PATTERNS["private key"].finditer(text):
        if hit.start() < past:
            continue
        end = _END.search(text, hit.end(), hit.end() + 20_000)
        past = end.end() if end else hit.end()
        body = text[hit.end() : end.start() if end else hit.end() + 400][:600]
        if re.search(r"[A-Za-z0-9+/=]{24}", body) and not is_placeholder(re.sub(r"\s|\\n", "", body)):
            yield Leak("a private key", hit.start(), past, text[hit.start() : past])


def _is_jwt(value: str) -> bool:
    head, _, signature = value.split(".")
    return isinstance(_decoded_json(head), dict) and not is_placeholder(signature)


def _decoded_json(part: str) -> object:
    try:
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        return None


def _authorizes(scheme: str, value: str) -> bool:
    if is_placeholder(value):
        return False
    if scheme == "bearer":
        return len(value) >= 16 and is_random(value)
    try:
        user, colon, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (ValueError, binascii.Error):
        return False
    return bool(user and colon and password) and not is_placeholder(password)


def _emails(text: str) -> Iterator[Leak]:
    urls = [hit.span() for hit in PATTERNS["connection string"].finditer(text)]
    nth = 0
    for hit in PATTERNS["email address"].finditer(text):
        while nth < len(urls) and urls[nth][1] < hit.start():
            nth += 1
        inside = nth < len(urls) and urls[nth][0] <= hit.start() < urls[nth][1]
        address = text[hit.end() : hit.end() + 2]
        remote = address[:1] == ":" and address[1:].strip() != ""  # git@host.org:path, scp
        if not inside and not remote and not _STAND_IN_DOMAIN.search(hit["domain"]):
            yield Leak("an email address", *hit.span(), hit[0])


def _is_reserved(address: str) -> bool:
    return _RESERVED.search(address.rpartition("@")[2]) is not None


def _phones(text: str) -> Iterator[Leak]:
    for hit in PATTERNS["phone number"].finditer(text):
        digits = re.sub(r"\D", "", hit[0])
        told = hit[0][0] == "+" or _CALL.search(text[max(0, hit.start() - 40) : hit.start()]) is not None
        american = _AMERICAN.fullmatch(hit[0]) is not None
        if 8 <= len(digits) <= 15 and (told or american) and len(set(digits)) > 2 and not _counts_up(digits):
            yield Leak("a phone number", *hit.span(), hit[0])


def _counts_up(digits: str) -> bool:
    return digits in "01234567890123456789"


def _cards(text: str) -> Iterator[Leak]:
    for hit in PATTERNS["card number"].finditer(text):
        for length in range(19, 12, -1):
            end, digits = _first_of(hit[0], length)
            following = text[hit.start() + end : hit.start() + end + 2]
            if len(digits) == length and not following[:1].isalnum() and _is_card(digits):
                yield Leak("a card number", hit.start(), hit.start() + end, hit[0][:end])
                break


_AMERICAN = re.compile(r"\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}")
_BRANDS = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}|6(?:011|5\d\d|4[4-9]\d|2\d\d)\d{12,15}|5[06-9]\d{10,17}"
)


def _is_card(digits: str) -> bool:
    """Whether a brand's length and first digits, and the check digit (Luhn, ISO/IEC 7812-1), are right."""
    if not _BRANDS.fullmatch(digits) or len(set(digits)) == 1:
        return False
    doubled = [int(digit) * (2 if nth % 2 else 1) for nth, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _ibans(text: str) -> Iterator[Leak]:
    for hit in PATTERNS["IBAN"].finditer(text):
        length = _IBAN_LENGTHS.get(hit[0][:2].upper())
        if length is None:
            continue
        end, code = _first_of(hit[0], length)
        if len(code) == length and not text[hit.start() + end : hit.start() + end + 1].isalnum() and _checks_out(code):
            yield Leak("an IBAN", hit.start(), hit.start() + end, hit[0][:end])


def _first_of(text: str, length: int) -> tuple[int, str]:
    """The first `length` letters and digits of `text`, and where they end."""
    code = ""
    for nth, character in enumerate(text, 1):
        if character.isalnum():
            code += character.upper()
        if len(code) == length:
            return nth, code
    return len(text), code


def _checks_out(code: str) -> bool:
    """Whether the check digits of an IBAN are right (ISO 13616, modulo 97)."""
    return int("".join(str(int(character, 36)) for character in code[4:] + code[:4])) % 97 == 1


_FINDERS: dict[LeakKind, Callable[[str], Iterator[Leak]]] = {
    "credential": _credentials,
    "email": _emails,
    "phone": _phones,
    "card": _cards,
    "iban": _ibans,
}
