"""What a result says of a look-up: that it failed, or that nothing is there of the name asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from evallib.checks.later import later

__all__ = ["ASKED", "Sign", "is_absent", "is_failure", "plain_key", "sign_of_failure"]

Sign = Literal["", "error", "absent"]

ASKED = "\x02"
"""Stands in a text for each entity that was asked for."""

_NO = r"(?:no|zero|0|not an?|not any|n't an?|n't any|without(?: any)?|neither|nor|lack of|none of)"
_HEALTH = r"(?:errors?|failures?|problems?|issues?|warnings?|downtime|alarms?|alerts?|impact|traffic|load|longer)"
_FOUND = r"(?:results?|match(?:es)?|records?|entr(?:y|ies)|hits?|rows?|items?|documents?|data|information|details?)"
_NEVER = r"(?:not|n't|never|cannot|nothing|nobody|none|no one|unable|fail(?:s|ed)?)"
_SEEKS = (
    r"(?:f[io]u?nds?|match\w*|know\w*|recogni[sz]\w+|locat\w+|resolv\w+|look\w*|get|see|saw|retriev\w+|fetch\w*|load|read|"
    r"have|has|holds?|contain\w*|includ\w*|list\w*|on|about|for|of|like|called|named|identif\w+)"
)
_KNOWN = (
    r"(?:found|exists?|existed|match\w*|known|recogni[sz]ed|located|present|registered|listed|defined|a valid|valid)"
)
_GAP = rf"[^\w{ASKED}]++"
_WORDS = rf"(?:\w[\w'-]*+{_GAP})"
_END = r"(?=\W*(?:\Z|[.;,)\n]))"

_ABSENT = later(
    rf"\b{_NO}{_GAP}(?!{_HEALTH}\b)(?:(?!{_HEALTH}\b)\w[\w'-]*+{_GAP}){{0,4}}?{ASKED}"  # no such incident: INC-7
    rf"|(?:\b|(?<=n't)){_NEVER}{_GAP}{_WORDS}{{0,3}}?{_SEEKS}{_GAP}{_WORDS}{{0,3}}?{ASKED}"  # nothing matches INC-7
    rf"|(?:n't|\bnot){_GAP}{_SEEKS}{_GAP}{_WORDS}{{0,3}}?{ASKED}"
    rf"|{ASKED}{_GAP}{_WORDS}{{0,4}}?(?:(?:not|never|cannot)\b|\w+n't\b){_GAP}{_WORDS}{{0,3}}?{_KNOWN}\b"
    rf"|{ASKED}{_GAP}{_WORDS}{{0,4}}?(?:(?:not|never)\b|\w+n't\b)"
    rf"{_GAP}(?:in|on|among|part of){_GAP}(?:the|our|this|that|any|file|record)\b"
    rf"|{ASKED}\W*(?:{_WORDS}{{0,2}}?(?:is|was|be|seems|appears|looks|came back|returned){_GAP})?(?:{_WORDS})?"
    rf"(?:missing|absent|non-?existent|unknown|unrecogni[sz]ed|invalid|404|null|nothing|none|empty|fictitious){_END}"
    rf"|{ASKED}{_GAP}{_WORDS}{{0,4}}?(?:return|yield|match|give|gave|produc|find|found|got|has|have|had)\w*{_GAP}(?:0|zero|no|nothing|none)\b"
    rf"(?:{_GAP}(?:\w+{_GAP}){{0,2}}{_FOUND}\b|{_END})"
    rf"|\b(?:unknown|invalid|unrecogni[sz]ed|non-?existent|missing|bad){_GAP}(?:\w+{_GAP}){{0,2}}?{ASKED}"
)
_NOTHING = later(
    rf"\b(?:no|zero|0|not any|n't any){_GAP}(?:\w+{_GAP}){{0,2}}?{_FOUND}\b|\bfound{_GAP}(?:nothing|none|0|zero)\b"
    rf"|\b(?:{_FOUND}|total|count)\W*[:=]\W*(?:0|none|zero|nothing)\b"
    r"|\b(?:not found|not exist|no such|nothing (?:was |is |were )?(?:found|match\w*|there|returned|came))\b"
    r"|\bno \w+ (?:found|named|called|with|match\w*|exists?)\b|\bunknown \w+|n't exist\b"
    r"|\bcame (?:up|back) empty\b|(?:\bnot|n't) match(?:ed)? any\w*|\A\W*(?:none|nothing|null|empty|n/a|nil)\W*\Z"
)
_FAILURE = later(
    r"\W*(?:traceback|exception|not found|unknown|invalid|no such|cannot|could not|couldn't|can't|unable|failed to"
    r"|failure (?:to|while|in)|errors? ?(?:[:!\u2014-]|\d|while|when|on|code|fetching|reading|loading|looking|during)"
    r"|(?:internal |server |lookup |request )+(?:error|failed|failure))"
)

_ABSENT_STATUS = later(r"(?:not[ _-]?found|missing|no[ _-]?such.*|40[04])\Z")
_ERROR_STATUS = later(r"(?:error|fail(?:ed|ure)?|unknown|invalid|rejected|[45]\d\d)\Z")


def is_absent(text: str) -> bool:
    """Whether folded `text`, in which `ASKED` stands for what was asked for, says that it, or all, is not there."""
    return _ABSENT.search(text) is not None or _NOTHING.search(text) is not None


def is_failure(text: str) -> bool:
    """Whether folded `text` opens as the message of a failed look-up; a line of a log ("ERROR api ...") is none."""
    return _FAILURE.match(text) is not None


def sign_of_failure(value: Mapping[str, Any]) -> Sign:
    """`absent` where an object says that what was asked for is not there, `error` where it tells of an error."""
    named = {plain_key(str(key)): one for key, one in value.items()}
    status = [str(named[key]).lower() for key in ("status", "code") if key in named]
    if any(named.get(key, True) in (False, "false") for key in ("ok", "success", "found", "exists")):
        return "absent"
    if named.get("iserror") is True or named.get("notfound") or any(map(_ABSENT_STATUS.match, status)):
        return "absent"
    if any(named.get(key) for key in ("error", "errors", "exception", "errormessage")) or any(
        map(_ERROR_STATUS.match, status)
    ):
        return "error"
    return ""


def plain_key(key: str) -> str:
    """A key of an object as it is compared: in lower case, without blanks, underscores and hyphens."""
    return re.sub(r"[\s_-]", "", key.lower())
