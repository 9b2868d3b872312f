"""What stands in for a secret (placeholders, redactions, references), and what looks like a real one."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

__all__ = ["is_common", "is_mixed", "is_passphrase", "is_placeholder", "is_random", "is_strong", "masked"]

_STAND_INS = frozenset(
    [
        "your",
        "my",
        "our",
        "the",
        "a",
        "an",
        "some",
        "any",
        "this",
        "that",
        "known",
        "new",
        "old",
        "example",
        "sample",
        "dummy",
        "fake",
        "test",
        "testing",
        "demo",
        "placeholder",
        "password",
        "passwd",
        "passphrase",
        "pass",
        "pwd",
        "pw",
        "secret",
        "token",
        "key",
        "apikey",
        "api",
        "access",
        "private",
        "client",
        "credential",
        "credentials",
        "value",
        "string",
        "text",
        "here",
        "changeme",
        "change",
        "me",
        "redacted",
        "masked",
        "hidden",
        "removed",
        "omitted",
        "censored",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "yes",
        "no",
        "required",
        "optional",
        "undefined",
        "empty",
        "unset",
        "todo",
        "tbd",
        "foo",
        "bar",
        "baz",
        "foobar",
        "insert",
        "replace",
        "enter",
        "user",
        "username",
        "name",
        "login",
        "admin",
        "host",
        "hostname",
        "var",
        "variable",
        "env",
        "environment",
        "generated",
        "random",
        "from",
        "see",
        "vault",
        "above",
        "below",
        "is",
        "disabled",
        "enabled",
        "expired",
        "wrong",
        "invalid",
        "incorrect",
        "missing",
        "present",
        "absent",
        "set",
        "unset",
        "rotated",
        "reset",
        "stored",
        "unknown",
        "string1",
        "supersecret",
        "topsecret",
        "mysecret",
        "mypassword",
        "mytoken",
        "yourpassword",
        "yoursecret",
        "yourtoken",
        "yourkey",
    ]
)
_COMMON = frozenset(
    ["letmein", "qwerty", "qwertz", "azerty", "qwertyuiop", "asdfgh", "asdfghjkl", "zxcvbn", "zxcvbnm",
     "iloveyou", "sunshine", "princess", "football", "baseball", "superman", "batman", "monkey", "dragon",
     "welcome", "starwars", "pokemon", "swordfish", "opensesame", "shadow",
     "liverpool", "arsenal", "freedom", "whatever", "trustno", "cookie", "pepper", "ginger"]
)  # fmt: skip
"""Words that the yearly lists of the passwords most often found in breaches name again and again."""
_JOINING = frozenset(
    ["and", "are", "been", "before", "but", "can", "chosen", "could", "does", "during", "every", "for", "had",
     "has", "have", "her", "his", "how", "into", "its", "least", "long", "longer", "make", "many", "may",
     "more", "most", "must", "need", "needs", "never", "nobody", "not", "often", "once", "one", "only", "other",
     "over", "per", "same", "should", "than", "their", "them", "then", "there", "these", "they", "those", "too",
     "two", "use", "used", "uses", "was", "were", "what", "when", "where", "which", "while", "who", "why",
     "will", "with", "without", "words", "word", "would", "you", "ask", "asked", "between", "contact", "kept",
     "managed", "policy", "protected", "manager"]
)  # fmt: skip
"""Words that hold a sentence together, or speak about a passphrase: so many words in a row are one without them."""
_REFERENCE = re.compile(
    r"[$%{<\[(]|@|&[a-z]|\.{3}|\u2026|!vault|!secret|/[\w.-]|~/|\w{1,40}://"
    r"|(?:os|process|env|secrets?|vars?|config|settings|local|data|ref|vault|getenv|environ)[.(\[:]"
)
_ELLIPSIS = re.compile(r"\.{3}|\u2026")
_MASK = re.compile(r"\*{3,}|\u2022{2,}|\u25cf{2,}|#{4,}|\?{4,}|_{5,}|\u2588{2,}|-{5,}")
_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
_DOCUMENTED = re.compile(r"EXAMPLE(?:KEY|TOKEN|SECRET)?$")
_PARTS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z][a-z])")
_LADDER = "0123456789abcdefghijklmnopqrstuvwxyz"


def is_placeholder(value: str) -> bool:
    """Whether `value` stands in for a secret: a reference, a redaction, or nothing but words such as "your-password".

    A stand-in word inside a random text does not make it a placeholder.
    """
    if _REFERENCE.match(value) or _MASK.search(value) or _ELLIPSIS.search(value) or _DOCUMENTED.search(value):
        return True
    if sum(len(run[0]) for run in _RUN.finditer(value)) * 3 >= len(value):  # xxxxxxxx, 00000000
        return True
    if len(value) >= 8 and (value.lower() in _LADDER or _counts(value.lower())):
        return True
    words = [part.lower() for part in _PARTS.split(value) if part]
    plain = [word for word in words if (word.isdigit() and len(word) <= 4) or word.rstrip("0123456789").isalpha()]
    if not words or len(plain) < len(words):
        return not words
    stems = [word.rstrip("0123456789") for word in words if not word.isdigit()]
    steady = all(len(word) - len(word.rstrip("0123456789")) <= 4 and len(word) <= 16 for word in words)
    return steady and any(stem in _STAND_INS for stem in stems)


def _counts(value: str) -> bool:
    """Whether characters only count up, as in 1234567890 or abcdefgh1234."""
    steps = sum(ord(after) - ord(before) == 1 for before, after in pairwise(value))
    return steps >= len(value) * 3 // 4


def is_random(value: str) -> bool:
    """Whether `value` looks drawn by chance: characters mixed inside its parts, and hardly any repeated."""
    parts = [part for part in re.split(r"[-_./:+=]+", value) if part]
    mixed = any(is_mixed(part) for part in parts)
    return len(value) >= 12 and mixed and _entropy(value) >= 2.8


def is_mixed(part: str) -> bool:
    """Whether `part` mixes letters and digits, or many capitals into small letters."""
    digits = sum(character.isdigit() for character in part)
    if digits and digits < len(part):
        return len(part) >= 6
    turns = sum(before.islower() != after.islower() for before, after in pairwise(part))
    return part.isalpha() and len(part) >= 16 and turns >= 6


def is_strong(value: str) -> bool:
    """Whether `value` could hardly be a word of a sentence: eight characters of three classes, or random."""
    classes = (str.islower, str.isupper, str.isdigit, lambda character: not character.isalnum())
    kinds = sum(any(of(character) for character in value) for of in classes)
    return (len(value) >= 8 and kinds >= 3 and not re.fullmatch(r"[A-Za-z]+[-/.][\w.-]+", value)) or is_random(value)


def is_common(value: str) -> bool:
    """Whether `value` is a word that people take for a password more than for anything else."""
    return value.lower() in _COMMON


def is_passphrase(value: str) -> bool:
    """Whether words are drawn by chance: three and more that differ, and none that holds a sentence together."""
    words = re.split(r"[ -]", value.lower())
    return len(set(words)) == len(words) and len(value) >= 15 and not _STAND_INS.union(_JOINING).intersection(words)


def _entropy(value: str) -> float:
    """Bits for each character of `value`, by its own frequencies (Shannon)."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def masked(value: str) -> str:
    """`value` as a reason may show it: at most its first four characters, never more than a quarter."""
    return f"{value[: min(4, len(value) // 4)]}... ({len(value)} characters)"
