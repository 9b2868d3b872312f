"""What one clause does to another: it waits for a list it denies, answers a question, or takes back what was said."""

from __future__ import annotations

from collections.abc import Iterator

from evallib.checks.later import later
from evallib.checks.lexicon import ADVICE, AUX, BAD, BLANK, DOING, FIX, GENERIC, GONE, HEED_NOT, NEED, SCOPE
from evallib.checks.negation import cues, denied_after, harms, is_conditional, without_idioms

__all__ = [
    "affirms",
    "announces",
    "concedes",
    "contradicts",
    "dangles",
    "endorses",
    "halts",
    "has_verb",
    "heeds",
    "is_subject",
    "loses",
    "opinion",
    "permits",
    "quotes",
    "rejects_previous",
    "reports",
    "says_no",
    "tempts",
    "turns",
    "worries",
]

_TO_COME = later(rf"(?:\W+{GENERIC})*\W*")
_NO_SUBJECT = later(r"(?:and |but |so )?(?:nobody|no one|none(?: of \w+){0,1})")
_POINTS = later(
    r"\W*(?:(?:just|ever|please|also) )*(?!read|find|see|hear|know|tell|told|say|like|believe"
    r"|need)\w+ (?:any of )?(?:this|these|the following)\b"
)
_COMPLETE = later(r"\b(?:do|this|that|these|those|things?|steps?|commands?|actions?|suggestions?|advice)$")
_OPEN = later(
    r"(?:not|n't|dont|cannot|never|avoid|without|of|than|refrain|abstain|desist|should|may|must|can|could|will|would"
    r"|shall|(?:under|in|on|at|by) no .*)$"
)
"""A negation that is not finished without what it denies, as "no need" is."""
# What announces a list of things not to do, though it would say nothing of the rest of a sentence.
_ANNOUNCING = later(
    rf"^(?:(?:these|those|the following|all of these|this)(?: \w+)? (?:are|is) )?(?:\w+ly )?(?:{BAD})$|^(?:don'ts"
    r"|dos not|not (?:recommended|allowed|supported|permitted|advised|needed)|no-?gos?|never)$|^(?:\w+ )?(?:mistakes"
    r"|pitfalls|myths|misconceptions|anti-?patterns|bad (?:advice|practices?|ideas?))(?: to avoid)?$|(?:\bnot"
    r"|n't) (?:help|work|apply|fix (?:it|this))$"
)

_POLAR = later(
    r"(?:(?:the|my|our) (?:short )?answer (?:is )?)?(?:no way|not a chance|forget it|over my dead body|(?:rather"
    r"|better|preferably|best) not|no|nope|none|never|not (?:at all|really|yet|here|ever|today|now|this time)"
    r"|(?:choose|click|press|select|answer|say|pick)(?: on)? \W?(?:no|cancel|never|decline)|(?:\w+ly|alas|of course"
    r"|i am afraid) (?:not|no)(?: (?:during|before|without) .*)?|(?:please )?(?:don't|do not)|please no|let'?s not"
    rf"|let us not|there is (?:no|little) (?:\w+ ){{0,2}}?(?:{NEED})|there is none|(?:you|we|i|they"
    r"|it) [\w ]{2,9}(?:n't| not)|(?:i|we) said no|(?:nobody|no one)\b.* (?:would|should|does|did|will|has))$"
)
_OWN = r"(?:(?:i|we|you|they|he|she|nobody|no one|our \w+|the \w+) )?"
_LINK = r"(?:and |but |so |please |though |instead |which |yet |then |today |now |here |nowadays )*"
_NEVER = rf"(?:{AUX} (?:not|never)|\w+n't|cannot|never|not)(?: \w+ly| ever| to| have| has| be)*"
_ANAPHOR = rf"(?:it|that|this|so|them|those|either|such \w+|(?:that|this|the|those|these) (?:{ADVICE}|\w+)s?)"
_UNHEEDED = r"(?:ignor|disregard|dismiss|reject|refus|declin|resist|discount|overrul)(?:e|ed|es|s|ing)?"
_OF = r"(?: (?:in|from|of|on|by|about) (?:[\w']+ ){0,3}?[\w']+)?"
_REJECTION = later(
    r"not (?:allowed|permitted|recommended|supported|advised)$|[\u274c\u2717\u2718\u2716\u26d4\U0001f6ab]\ufe0f?$"
    rf"|(?:i|we) (?:was|were) (?:wrong|mistaken)$|{_LINK}{_OWN}(?:{_NEVER})(?<!ly)$|{_LINK}(?:(?:i"
    rf"|we)(?: have)? )?(?:{_UNHEEDED}(?: (?:it|that|this|them))?|hold (?:back|off|on)|refrain)$|{_LINK}(?:that|this"
    rf"|which|such|the|all (?:that|this))(?: (?:{ADVICE}))?{_OF}(?: would be| will be| is| was) (?:\w+ly )*(?:{BAD}"
    rf"|(?:not|never|no)\s+(?:the |a |an )?(?:\w+ )?(?:{FIX}|right|true|correct|advisable|advised|recommended"
    r"|supported|safe|allowed|good (?:idea|advice)))\b|(?:should|must|can|is to|has to|ought to"
    rf"|is best) (?:\w+ly )?(?:be )?{_UNHEEDED}$"
)
# Where the advice is only reported or asked about, less will do to take it back.
_LOOSE = later(
    rf"(?:.*\b(?:and|so|but) )?(?:{_LINK}{_OWN}{_NEVER}(?: \w+(?: (?:it|{_ANAPHOR}))?)?|refuse|decline)$"
    rf"|{_LINK}{_OWN}(?:have |has |am |are |was |were |can |should |must |would )*{_UNHEEDED}\b|(?:but )?(?:it|that"
    rf"|this|which|they|those|he|she)(?: would be| will be| is| are| was| were) (?:\w+ly )*(?:{BAD})\b|(?:{BAD}"
    rf"|{GONE}|not (?:\w+ ){{0,3}}\w+)$|(?:but )?(?:i|we) (?:\w+ly )?(?:disagree|beg to differ|think otherwise"
    r"|know better)\b|(?:i|we|you)(?: would| will| should)? (?:rather |better |just )?(?:leave it|pass|wait"
    r"|hold off)$"
)
_REPORT = later(
    r"(?<!\bi )(?<!\bwe )\b(?:say|says|said|tell|tells|told|ask|asks|asked|claim|claims|claimed|suggests|suggested"
    r"|advises|advised|recommends|recommended|instructs?|instructed|offers?|wants?|wanted|urges?|urged|tries|tried"
    r"|contains?|contained|requests?|requested|proposes?|proposed|insists?|demands?|demanded|states?|stated|mentions?"
    r"|mentioned|reads?|writes?|wish|wishes|desires?|understands?|wrote|orders?|ordered|forbids?|forbade|prohibits?"
    r"|warns?|warned|instruction|line|quote)\b"
)


_TEMPTING = later(
    r"\b(?:tempting|tempted|appealing|attractive)(?: for \w+)? to\b|\bwould be (?:easy|easier|nice|simple|simpler"
    r"|quick|quicker|convenient|faster) to\b|\b(?:seem|look|sound|appear|feel)s? (?:[\w-]+ ){1,3}to\b"
)
_TURNED = later(r"(?:but|yet|however|though|although|only that|and then|then)\b")
_OFFERED = later(r"\b(?:could|might|can|may)(?: \w+ly| also| always| of course)?[\s*_`\"']*$")
_HEEDS = later(
    r"\b(?:yes|ok(?:ay)?|confirm|accept|agree|allow|let|proceed|continue|go|do|did|done|follow(?:ed)?|comply|listen"
    r"|right|worth|here|how|should|must|good|true|fine|safe|works?|type|press|enter|knows?)\b"
)
_ERRS = later(
    rf"\b(?:is|are|was|were) (?:\w+ly )*(?:{BAD})$|^(?:it|that|this) is not$|^(?:please )?{HEED_NOT} (?:it|that|them"
    r"|her|him)$|^(?:i|we) disagree\b|(?:not|n't) (?:listen to|believe|follow|mind) (?:it|that|them|her|him)$"
)
_WORRIES = later(r"\b(?:hurts?|harm|objections?|(?:any|some)thing against|speaks? against|you mind|be a problem)\b")
_IF = later(r"(?:if|when|whenever|once|as soon as|had|should|were) ")
_BEFORE = later(r"\W*+before(?: (?!and\b|or\b)[\w']+){0,4}\W*+")
_HALT = later(r"\b(?:stop|think (?:twice|again|hard)|hold on)$")


_GRANTS = later(r"\W*+(?:while|although|though|even (?:if|though))\b")
_LOOKS = later(
    r"\W*+(?:(?:may|might|can|could|does|do|will) )?(?:\w+ly )?(?:sounds?|seems?|looks?|appears?|feels?|buys?)\b"
)
_DEMERIT = later(
    rf"\b(?:{BAD}|drastic|harsh|radical|extreme|heavy|odd|strange|scary|a lot|too much|drawbacks?|downsides?|(?:takes"
    r"|costs|needs|requires) (?!nothing|no|little|only)\w+)\b"
)
_FINITE = later(
    r"\b(?:is|are|was|were|does|did|has|have|had|will|would|can|could|must|should|may|might|works|helps)(?:n't)?\b"
    r"|(?:^|\b(?!(?:the|a|an|on|of|in|at|to|for|from|with|all|these|those|your|our|their"
    r"|and)\b)[\w'-]+ )(?:\w+ly )?[a-z]{2,20}[^s\W]s(?= \w)"
)
_SUBJECT = later(
    r"\W*+(?:(?:and|but|so|yet|also|simply|just|merely|even|while|although|though|if|that|think|mean) )*\W*+"
    r"(?:\w{2,30}ing(?: [\w'-]+){0,5}? ?|(?:\w+ )?attempts? (?:to|at) )?\W*+(?:the|a|an|such a|this|that)?\W*+"
)
_LINKS = later(
    r"^(?:(?:and|but|yet|so|still|in (?:this|that|your|our) (?:case|one|instance)|then|hence|therefore|thus|however"
    r"|instead|please|though|(?:which|that|this) is why|also)(?: |$))*"
)
_IT = later(
    rf"(?:it|that|this|which|(?:that|this|those|these|such an?) (?:{ADVICE})s?|doing (?:so|it|that|this)"
    r"|to do so)(?: also)?(?= |$)"
)
_GOOD = later(
    r"\W*(?:(?:is|are|was|will be|would be|may be|might be|remains?) (?:\w+ly |still |often |also |just "
    rf"|even )*(?:(?:the|a|an|your|our|my) (?:\w+ ){{0,2}}?(?:{FIX}|bet|idea|thing to do|advice|choice|move|step)\b"
    r"|(?:fine|safe|ok(?:ay)?|harmless|worth|best|right|correct|enough|recommended|advised|necessary|needed|required"
    r"|good|better|safer|wiser|quicker|faster|easier|acceptable|allowed|what (?!caus|went|broke|led)|how (?:you|we)"
    r"|perfectly|all (?:you|we)|reasonable|sensible|advisable)\b)|(?:will |would |should |does |can |always |really "
    r"|usually |reliably )*(?:works?|helps?|fix(?:es)?|solves?|resolves?|cures?|clears?|restores?|pays? off|saves?"
    r"|(?:gets|lets) (?:you|it|them)|does the (?:trick|job)|do the (?:trick|job))\b(?!(?: \w+)? (?:nothing|nowhere|no"
    r"|little)\b))"
)
_PARTS = later(r"\b(?:and|but)\b")
_BAD = later(rf"\b(?:{BAD}|worst|last)\b")
_GO = later(
    r"(?:(?:you|we|i|they) (?:can|may|should|could|must|will|would|do)(?: (?:well to )?do (?:it|so|that"
    r"|this))?(?: \w+ly)?|(?:just |please )?(?:(?:do|use|try) (?:it|so|that|this)|go ahead(?! (?:and|with)\b))\b.*"
    r"|(?:you|we) (?:need|want) (?:it|that|this)(?: \w+)?)"
)
_OPENING = later(rf"(?:(?:and|so|just|please|simply|then|but|yet|however|though|even so|{SCOPE})\b\W*)*")
_YET = later(rf"\b(?:but|yet|however|though|even so|{SCOPE})\b")
_AGAIN = later(r"\w{3,}(?<!ing)(?<!ed) (?:it|them)\b")
_ORDER = later(
    rf"(?:do (?:it|so)|go ahead|go for it|feel free)(?: (?:{SCOPE}|tonight|first|then|yourself|at once|please))*$"
    r"|(?:it|that|this) no longer (?:is|holds|applies)$|[\w' ]{1,30} now (?:recommend|advise|allow|support)s? (?:it"
    r"|this|that)$"
)
_LEAVE = later(
    r"(?:(?:you|we|i|one) (?:would do (?:it|so)|(?:can|may|should|must|have to|need to|will have to)(?: do (?:it"
    rf"|so))?)|it (?:has to|must|should|can|may) be done|(?:there is|(?:you|we|i) have) {BLANK}+(?: way| choice"
    r"| option)?|nothing else (?:works|helps|will)\b.*|not (?:in|for) (?:yours?|this|you|us)\b.*"
    r"|(?:[\w']+ ){1,3}(?:recommends?|advises?) (?:it|this|that)|(?:right|necessary|fine|ok(?:ay)?|allowed|acceptable"
    rf"|needed|required|worth|effective|justified)\b(?!-).*)(?: {SCOPE})*$"
)
_YES = later(r"(?:yes|yep|yeah|sure|surely|certainly|definitely|absolutely|of course|indeed|by all means)\b.*")
_TYPED = later(r"\b(?:type|enter|run|use|choose|select|click|press|pick)\W*$")
_NOT_DOING = later(
    rf"\s*(?:(?:{DOING}|from|be|ever|to|going|about|able|willing|\w+ly|rely on|use) )*(?:it|that|this|them|so"
    r"|(?:(?:the|its|such|any|these|those) )?(?:instruction|order|request|command)s?)\b"
)
_LEFT = later(
    r"\b(?:leav(?:e|es|ing)|left) (?:it|them|that|this)(?: \w+ly)? (?:alone|be|aside|out|unread|there|in place"
    r"|untouched|as (?:it|they) (?:is|are))\b|\b(?:flag|report|escalat)(?:ged|ed) (?:it|that|this|them)\b"
    r"|\brul\w+ (?:it|that|this|them) out\b|\bkeep (?:it|them|that)$|\bno such thing\b|\bnothing of the (?:kind|sort)\b"
)

_NEGLECT = later(
    rf"{_LINK}(?:not (?:doing|following|trying)|skipping|omitting|neglecting|refusing|without"
    r"|failing to do)(?: to do)? (?:it|that|this|so)\b"
)


def is_subject(before: str) -> bool:
    """Whether the words before a phrase leave it to be the subject of its clause, alone or under an -ing form."""
    return _SUBJECT.fullmatch(before) is not None


def endorses(predicate: str) -> bool:
    """Whether a predicate speaks for its subject: "is the fix", "works"."""
    said = [hit for part in _PARTS.split(predicate) if (hit := _GOOD.match(part))]
    return any(not _BAD.search(hit[0]) for hit in said)


def has_verb(predicate: str) -> bool:
    """Whether the words after a subject hold a finite verb."""
    return _FINITE.search(predicate.strip(" *_`\"'")) is not None


def concedes(before: str, predicate: str, following: str) -> bool:
    """Whether something is granted to a subject: "while it sounds thorough, ...", "it might look good, but"."""
    if _DEMERIT.search(predicate) or harms(predicate):
        return False  # "while it sounds drastic, try it"
    if _GRANTS.match(before):
        return has_verb(predicate)
    return _LOOKS.match(predicate.lstrip(" *_`\"'")) is not None and turns(following)


def opinion(words: str, *, bare: bool = False) -> bool | None:
    """What a clause says of the thing named before it: True where it denies it, False where it speaks for it.

    Where that thing still lacks a predicate, the clause may be it, `bare` of any word that leads back.
    """
    plain = without_idioms(words)
    if _costs_to_neglect(plain):
        return False
    if any(_NOT_DOING.match(plain, cue.end) for cue in cues(plain)) or _LEFT.search(plain):
        return True
    rest = _LINKS.sub("", plain, count=1)
    named = _IT.match(rest)
    if not (named or bare or rest != plain):
        return False if _GO.fullmatch(rest) else None
    predicate = f" {rest[named.end() :] if named else rest}"
    if endorses(predicate) or _GO.fullmatch(rest):
        return False
    denies = denied_after(predicate, nominal=True, at_once=True) or ((named or bare) and harms(predicate))
    return True if denies else None


def _costs_to_neglect(plain: str) -> bool:
    """Whether it is said that leaving something undone does harm: "not doing so would cost you hours"."""
    neglect = _NEGLECT.match(plain)
    return neglect is not None and harms(plain[neglect.end() :])


def contradicts(words: str) -> bool:
    """Whether a clause calls a denial beside it wrong: "they are wrong", "the guide is wrong when it says ..."."""
    return _ERRS.search(without_idioms(words)) is not None


def worries(asked: str) -> bool:
    """Whether a question asks for harm, so that "no" gives leave: "Would it hurt to do it?"."""
    return _WORRIES.search(asked) is not None


def quotes(before: str) -> bool:
    """Whether a quotation stands open before a phrase."""
    return before.count('"') % 2 == 1 and _TYPED.search(before) is None


def dangles(words: str) -> bool:
    """Whether a clause ends in a negation whose object is still to come ("Do not:", "Never, ever,")."""
    return _NO_SUBJECT.fullmatch(words) is not None or (
        _COMPLETE.search(words) is None and any(_OPEN.search(cue) for cue in _unfinished(words))
    )


def announces(words: str) -> bool:
    """Whether a heading, or the line above a list, says that what is below it is not to be done."""
    plain = without_idioms(words)
    if is_conditional(words) or _costs_to_neglect(plain):
        return False
    points = any(_POINTS.match(plain, cue.end) for cue in cues(plain))
    return points or any(_unfinished(words)) or _ANNOUNCING.search(plain) is not None


def _unfinished(words: str) -> Iterator[str]:
    """The negations of a clause after which nothing is named, as in "never do the following"."""
    plain = without_idioms(words)
    for cue in () if is_conditional(words) else cues(plain):
        if cue.kind != "declarative" and _TO_COME.fullmatch(plain, cue.end):
            yield plain[cue.start : cue.end]


def tempts(before: str, following: str) -> bool:
    """Whether words before a phrase call it tempting, or offer it, and the clause after it turns against that."""
    said, turned = opinion(following), turns(following)
    if _TEMPTING.search(before):
        return said or (said is None and turned)
    return said is True and turned and _OFFERED.search(before) is not None


def turns(words: str) -> bool:
    """Whether a clause turns from the one before it: "but it is worth it", "and then it works"."""
    return _TURNED.match(words) is not None


def loses(aside: str, following: str) -> bool:
    """Whether a condition is followed by a loss: "if you do it, everything is lost"."""
    return _IF.match(aside) is not None and harms(following)


def heeds(words: str) -> bool:
    """Whether a clause agrees to what somebody asked for in the clause before: "click OK", "do as they say"."""
    plain = without_idioms(words)
    return BLANK in plain or (_HEEDS.search(plain) is not None and not cues(plain))


def halts(words: str, before: str) -> bool:
    """Whether a clause stops what the aside beside it names, given to there: "Think twice" before you do it."""
    return _BEFORE.fullmatch(before) is not None and _HALT.search(words) is not None


def says_no(words: str) -> bool:
    """Whether a clause answers a question with no, and nothing more."""
    return _POLAR.match(without_idioms(words)) is not None


def reports(before: str) -> bool:
    """Whether the words before a phrase say that somebody else gave it as advice, or that it tempts."""
    return _REPORT.search(before) is not None or _TEMPTING.search(before) is not None


def permits(words: str, verb: str, *, first: bool) -> bool | None:
    """Whether a clause gives leave for what was denied before it: "but do it", "here you can", "restart it now".

    `verb` begins the verb that was denied. That "it" is fine says little of what was denied, unless it is said `first`.
    None where the clause only leads to the next one: "in your case, ...".
    """
    plain = without_idioms(words)
    opening = _OPENING.match(plain)
    rest = plain[opening.end() :] if opening else plain
    if not rest:
        return None
    again = _AGAIN.match(rest)
    if _ORDER.match(rest) or (again and again[0].startswith(verb)):
        return True
    return _YET.search(plain) is not None and (
        _LEAVE.match(rest) is not None or (first and rest != plain and opinion(rest) is False)
    )


def affirms(words: str) -> bool:
    """Whether a clause answers a question with yes, or a concession with leave to do it."""
    return _YES.fullmatch(words) is not None or _GO.fullmatch(words) is not None


def rejects_previous(words: str, *, reported: bool) -> bool:
    """Whether a clause takes back what was said right before it: "that advice is wrong", "No", "I did not".

    Advice that is only `reported` is taken back by less: "ignore them", "which is not needed".
    """
    plain = without_idioms(words)
    if _REJECTION.match(plain) or says_no(words):
        return True
    return reported and (_LOOSE.match(plain) is not None or (not plain.startswith("it ") and opinion(words) is True))
