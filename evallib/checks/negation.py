"""The words that negate: which cues deny what follows, which only seem to, and what rejects a thing said before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "BLANK",
    "Cue",
    "adjacent",
    "cues",
    "dangles",
    "denied_after",
    "is_conditional",
    "rejects_previous",
    "without_idioms",
]

_NEED = "need|reason|point|use|sense|cause|benefit|call|justification|plans?|intention|excuse"
_BAD = (
    "wrong|bad|incorrect|dangerous|harmful|risky|unsafe|insecure|unwise|unnecessary|unneeded|unsupported|pointless|"
    "useless|forbidden|prohibited|banned|disallowed|discouraged|inadvisable|overkill|false|nonsense|"
    "out of the question|off limits|off the table|against (?:the )?policy|"
    "an? (?:\\w+ )?(?:mistake|error|bad idea|bad advice|anti-?pattern)|a poor (?:idea|choice)"
)
_FIX = "fix|solution|answer|remedy|way|cure|option"

# Idioms that hold a negation and yet deny nothing, or deny a denial. They are blanked before cues are looked for.
_IDIOMS = re.compile(
    r"\bnot (?:only|merely|solely)\b"
    r"|\bnot (?:just|simply)\b(?=.*\b(?:also|as well|too)\b)"
    r"|\bwhy (?:not|don't (?:you|we))\b|\bwhether or not\b|\bnever ?mind\b|\bno matter\b|\bnot until\b|\bif not\b"
    r"|(?:\b(?:not|never|cannot|no)|n't)\s+(?:\w+\s+){0,2}?(?:hesitate|forget|fail|neglect|omit|afraid|shy|fear|worry"
    r"|delay|wait|avoid|refuse|refrain|skip|mind|opposed|against|prohibit\w*|forbid\w*)\b"
    r"|(?:\b(?:not|never|cannot|no|nothing|nobody)|n't)\b(?=.*\bwithout\b).*?\bwithout\b"
    r"|(?:\bnot|n't|\bnever)\s+(?:be\s+)?(?:an?\s+)?(?:problem|issue|bad|wrong|harmful|dangerous|forbidden|prohibited|risky|"
    r"unsafe|unreasonable|impossible|enough|sufficient|hurt|sure|optional|negotiable)\b"
    r"|\bno (?:problem|harm|risk|danger|doubt|question|choice|option|alternative|way around|other)\b"
    r"|\bnothing (?:wrong|bad|against)\b"
)

_MAY_BE_IDIOM = re.compile(r"n't\b|\bn(?:ot|o|ever|othing|obody)\b|\bcannot\b|\bwh(?:y|ether)\b")
BLANK = "\x1f"
"""Stands for each character of an idiom."""

_DIRECTIVE = re.compile(
    r"\b(?:never|neither|nor|cannot|not|nothing|nobody|no one|none of|unable to|hold off|resist|beware of|no longer)\b"
    r"|\b\w+n't\b|\b(?:dont|cant|wont|shouldnt|mustnt|couldnt|wouldnt|neednt)\b"
    rf"|\bno (?:{_NEED})\b"
    r"|\b(?:refus|declin)(?:e|es|ed|ing)\b|\brefrain\w*|\b(?:forbid|prohibit|ban)(?:s|den|ed|ned|ding)?\b"
    r"|\b(?:advis|warn|recommend|decid|caution|argu|guard)\w*(?: \w+)? against\b"
    rf"|\b(?:{_BAD}) to\b"
)
_DECLARATIVE = re.compile(
    r"\b(?:is|are|was|were|does|did|has|have|had)(?: \w+)? (?:not|never)\b"
    r"|\b(?:is|are|was|were|does|did|has|have|had)n't\b|\b(?:isnt|arent|wasnt|doesnt|didnt|hasnt|havent)\b"
)
_OBJECT = re.compile(
    r"\b(?:without|instead of|rather than|as opposed to|in (?:place|lieu) of|skip|avoid(?:s|ed|ing)?)\b"
)
_ADJACENT = re.compile(r"\bno(?: [\w-]+)?\s*$|\b(?:stop|quit|cease)s?\s*$")

_GENERIC = (
    r"(?:to|do|doing|run|running|use|using|try|execute|perform|type|enter|follow|apply|attempt|consider|ever|also|please|"
    r"any|all|of|the|following|these|this|that|those|things?|steps?|commands?|actions?|such|as|like|need|have)"
)
_DANGLING = re.compile(
    r"(?:\b(?:do|must|should|shall|may|can|could|would|will|need|ought|what|things)\s+not"
    r"|\b(?:do|must|should|ca|could|would|wo|need)n't|\bdont|\bcannot|\bnever|\bavoid|\bwithout|\binstead of"
    r"|\brather than|\brefrain from)"
    rf"(?:\s+{_GENERIC})*$"
    r"|^(?:please )?not(?: to)?(?: do| run| use)?$"
    r"|^(?:wrong|bad|incorrect|don'ts|forbidden|prohibited|not (?:recommended|allowed|supported)|anti-?patterns?"
    r"|bad advice)$"
)
_CONDITIONAL = re.compile(
    r"(?:and |or |but |so )?(?:if|when|whenever|once|unless|until|because|since|while|although|though)\b"
)

_AUX = r"(?:is|are|was|were|be|will|would|should|must|can|could|may|might|shall|does|do|did|has|have|had|need)"
_NOT = rf"(?:\b{_AUX}(?:\s+\w+ly)?\s+(?:not|never|no)\b|\b\w+n't\b|\bcannot\b|\bnever\b)"
_VERDICT = rf"\b(?:is|are|was|were|be|being|remains?|seems?|becomes?)\s+(?:\w+ly |very |too |also |just )*(?:{_BAD})\b"
_AFTER = re.compile(
    rf"(?P<between>(?:\W++\w++(?:['-]\w++)*+){{0,8}}?)\W*+(?:{_NOT}|{_VERDICT}"
    rf"|\b(?:should|must|to|can) be avoided\b|\b(?:fixes|solves|changes|helps) nothing\b"
    r"|\bmakes? (?:things|it|matters) worse\b)"
)
_NEW_SUBJECT = re.compile(r"\b(?:you|we|i|they|he|she|that|which|who|whose|where|there|what|how)\b")
_NEW_PREDICATE = re.compile(r"\b(?:and|or|to|it)\b")

_ADVICE = (
    "advice|suggestion|tip|recommendation|claim|idea|instruction|command|answer|post|approach|step|workaround|statement"
)
_REJECTION = re.compile(
    r"(?:no|nope|never|don't|please don't|do not|absolutely not|certainly not|definitely not)$"
    r"|(?:and |but )?(?:i|we|they|he|she) (?:did|do|have|will|would)(?: not|n't)$"
    rf"|(?:but )?(?:that|this|which|such|the|all (?:that|this))(?: (?:{_ADVICE}))?(?: would be| will be| is| was|'s) "
    rf"(?:\w+ly )*(?:{_BAD}|(?:not|never|no)\s+(?:the |a |an )?(?:\w+ )?(?:{_FIX}|right|true|correct|advisable|advised|"
    r"recommended|supported|safe|allowed|needed|necessary|required|good (?:idea|advice)))\b"
    rf"|(?:but )?(?:that|this|the|such) (?:{_ADVICE}) (?:\w+n't|(?:does|do|will|should|must|can) not|cannot)\b"
)


@dataclass(frozen=True, slots=True)
class Cue:
    """A negating word in a clause, by its place in the clause's text."""

    start: int
    end: int
    kind: str
    """`directive` denies all that follows, `declarative` its own verb, `object` the noun or -ing form after it."""


@lru_cache(maxsize=1024)
def without_idioms(clause: str) -> str:
    """`clause` with idioms that deny nothing ("not only", "do not hesitate to") blanked out, place by place."""
    if not _MAY_BE_IDIOM.search(clause):
        return clause
    return _IDIOMS.sub(lambda hit: BLANK * len(hit[0]), clause)


@lru_cache(maxsize=1024)
def cues(plain: str) -> tuple[Cue, ...]:
    """The negating words of a clause, given without idioms, in order."""
    declarative = [Cue(*hit.span(), "declarative") for hit in _DECLARATIVE.finditer(plain)]
    taken = [(cue.start, cue.end) for cue in declarative]
    objects = [Cue(*hit.span(), "object") for hit in _OBJECT.finditer(plain)]
    directive = [
        Cue(*hit.span(), "directive")
        for hit in _DIRECTIVE.finditer(plain)
        if not any(start < hit.end() and hit.start() < end for start, end in taken)
    ]
    return tuple(sorted([*declarative, *objects, *directive], key=lambda cue: cue.start))


def adjacent(before: str) -> bool:
    """Whether the text right before a phrase denies just that phrase: "no full" reinstall, "stop" reinstalling."""
    return _ADJACENT.search(before[-40:]) is not None


def dangles(clause: str) -> bool:
    """Whether a clause ends in a negation whose object is still to come ("Do not:", "Never, ever,")."""
    return not is_conditional(clause) and _DANGLING.search(without_idioms(clause)) is not None


def is_conditional(clause: str) -> bool:
    """Whether a clause only states when or why something is to be done."""
    return _CONDITIONAL.match(clause) is not None


def denied_after(after: str, *, nominal: bool) -> bool:
    """Whether a phrase is denied by the rest of its clause: "disabling SELinux" is not the fix.

    A `nominal` phrase (an -ing form, a noun) can be the subject of what follows; a command hardly can, so that a
    second command or a new subject between it and the negation means that something else is denied.
    """
    hit = _AFTER.match(after)
    if not hit:
        return False
    between = hit["between"]
    return not _NEW_SUBJECT.search(between) and (nominal or not _NEW_PREDICATE.search(between))


def rejects_previous(clause: str) -> bool:
    """Whether a clause rejects what was said right before it: "that advice is wrong", "No", "I did not"."""
    return _REJECTION.match(without_idioms(clause)) is not None
