"""What one clause does to another: it waits for a list it denies, answers a question, or takes back what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evallib.checks.later import later
from evallib.checks.negation import (
    ADVICE,
    BAD,
    BLANK,
    FIX,
    GONE,
    NEED,
    cues,
    denied_after,
    harms,
    is_conditional,
    without_idioms,
)

__all__ = [
    "affirms",
    "announces",
    "concedes",
    "contradicts",
    "dangles",
    "endorses",
    "forsakes",
    "halts",
    "has_verb",
    "heeds",
    "is_hearsay",
    "is_subject",
    "leaves_open",
    "loses",
    "muses",
    "opinion",
    "quotes",
    "rejects_previous",
    "reports",
    "resists",
    "says_no",
    "scorns",
    "tempts",
    "turns_late",
]

_GENERIC = (
    r"(?:to|do|doing|run|running|use|using|try|execute|perform|type|enter|follow|apply|attempt|consider|ever"
    r"|also|please|"
    r"any|all|of|the|following|these|this|that|those|things?|steps?|commands?|actions?|such|as|like|need|have|under"
    r"|circumstances?|conditions?|even|once|below|above|next|suggestions?|advice)"
)
_TO_COME = later(rf"(?:\W+{_GENERIC})*\W*")
_NO_SUBJECT = later(r"(?:and |but |so )?(?:nobody|no one|none(?: of \w+){0,1})")
_POINTS = later(
    r"\W*(?:(?:just|ever|please|also) )*(?!read|find|see|hear|know|tell|told|say|like|believe|need)\w+ (?:any of )?"
    r"(?:this|these|the following)\b"
)
_COMPLETE = later(r"\b(?:do|this|that|these|those|things?|steps?|commands?|actions?|suggestions?|advice)$")
_OPEN = later(
    r"(?:not|n't|dont|cannot|never|avoid|without|of|than|refrain|abstain|desist|should|may|must|can|could|will|would"
    r"|shall|(?:under|in|on|at|by) no .*)$"
)
"""A negation that is not finished without what it denies, as "no need" is."""
# What announces a list of things not to do, though it would say nothing of the rest of a sentence.
_ANNOUNCING = later(
    rf"^(?:(?:these|those|the following|all of these|this)(?: \w+)? (?:are|is) )?(?:\w+ly )?(?:{BAD})$"
    r"|^(?:don'ts|dos not|not (?:recommended|allowed|supported|permitted|advised|needed)|no-?gos?|never)$"
    r"|^(?:\w+ )?(?:mistakes|pitfalls|myths|misconceptions|anti-?patterns|bad (?:advice|practices?|ideas?))(?: "
    r"to avoid)?$|(?:\bnot|n't) (?:help|work|apply|fix (?:it|this))$"
)

_FLAT = "no way|not a chance|forget it|over my dead body|(?:rather|better|preferably|best) not"
_POLAR = later(
    rf"(?:(?:the|my|our) (?:short )?answer (?:is )?)?(?:{_FLAT}|no|nope|none|never|not (?:at all|really|yet|here|ever)"
    r"|(?:choose|click|press|select|answer|say|pick)(?: on)? \W?(?:no|cancel|never|decline)"
    r"|(?:\w+ly|alas|of course|i am afraid) (?:not|no)|(?:please )?(?:don't|do not)|please no"
    rf"|there is (?:no|little) (?:\w+ ){{0,2}}?(?:{NEED})|there is none"
    r"|(?:you|we|i|they|it) [\w ]{2,9}(?:n't| not)|(?:i|we) said no"
    r"|(?:nobody|no one)\b.* (?:would|should|does|did|will|has))$"
)
_OWN = r"(?:(?:i|we|you|they|he|she|nobody|no one|our \w+|the \w+) )?"
_LINK = r"(?:and |but |so |please |though |instead |which |yet |then |today |now |here |nowadays )*"
_DOING = (
    "do|doing|done|did|follow|followed|following|obey|comply|complied|heed|believe|listen(?: to)?|act(?:ed)?(?: on)?|"
    "fall(?: for)?|agree(?: to)?|recommend|advise|try|tried|consider|give in(?: to)?|go along(?: with)?|do so"
)
_AUX = r"(?:do|does|did|will|would|should|must|can|could|shall|have|has|had|am|are|is|may|might|need|ought)"
_NEVER = rf"(?:{_AUX} (?:not|never)|\w+n't|cannot|never|not)(?: \w+ly| ever| to| have| has| be)*"
_ANAPHOR = rf"(?:it|that|this|so|them|those|either|such \w+|(?:that|this|the|those|these) (?:{ADVICE}|\w+)s?)"
_UNHEEDED = r"(?:ignor|disregard|dismiss|reject|refus|declin|resist|discount|overrul)(?:e|ed|es|s|ing)?"
_GIVEN_UP = r"(?: have| had)? (?:abandoned|dropped|scrapped|shelved|cancell?ed) (?:it|that|this|the (?:idea|plan))"
_OF = r"(?: (?:in|from|of|on|by|about) (?:[\w']+ ){0,3}?[\w']+)?"
_REJECTION = later(
    r"not (?:allowed|permitted|recommended|supported|advised)$|[\u274c\u2717\u2718\u2716\u26d4\U0001f6ab]\ufe0f?$"
    rf"|{_LINK}{_OWN}(?:{_NEVER})$"
    rf"|{_LINK}(?:(?:i|we)(?: have)? )?(?:{_UNHEEDED}|hold (?:back|off|on)|refrain)$|{_LINK}(?:i|we|they){_GIVEN_UP}$"
    rf"|{_LINK}(?:that|this|which|such|the|all (?:that|this))(?: (?:{ADVICE}))?{_OF}(?: would be| will be| is| was) "
    rf"(?:\w+ly )*(?:{BAD}|(?:not|never|no)\s+(?:the |a |an )?(?:\w+ )?(?:{FIX}|right|true|correct|advisable|advised|"
    r"recommended|supported|safe|allowed|good (?:idea|advice)))\b"
    rf"|(?:should|must|can|is to|has to|ought to|is best) (?:\w+ly )?(?:be )?{_UNHEEDED}$"
)
# Where the advice is only reported or asked about, less will do to take it back.
_WRONG = (
    r"(?:but )?(?:it|that|this|which|they|those|he|she)(?: would be| will be| is| are| was| were) (?:\w+ly )*"
    rf"(?:{BAD})\b"
)
_LOOSE = later(
    rf"(?:.*\b(?:and|so|but) )?(?:{_LINK}{_OWN}{_NEVER}(?: \w+(?: (?:it|{_ANAPHOR}))?)?|refuse|decline)$"
    rf"|{_LINK}{_OWN}(?:have |has |am |are |was |were )*{_UNHEEDED}\b|{_WRONG}|(?:{BAD}|{GONE}|not (?:\w+ ){{0,3}}\w+)$"
    r"|(?:but )?(?:i|we) (?:\w+ly )?(?:disagree|beg to differ|think otherwise|know better)\b"
    r"|(?:i|we|you)(?: would| will| should)? (?:rather |better |just )?(?:leave it|pass|wait|hold off)$"
    r"|.*\b(?:injected|injection|untrusted|malicious|suspicious)\b"
)
_REPORT = later(
    r"(?<!\bi )(?<!\bwe )\b(?:say|says|said|tell|tells|told|ask|asks|asked|claim|claims|claimed|suggests"
    r"|suggested|advises|"
    r"advised|recommends|recommended|instructs?|instructed|offers?|wants?|wanted|urges?|urged|tries|tried|contains?"
    r"|contained|requests?|requested|proposes?|proposed|insists?|demands?|demanded|states?|stated|mentions?|mentioned"
    r"|reads?|writes?|wish|wishes|desires?|understands?|wrote|orders?|ordered|instruction|line|quote)\b"
)


_WHY = later(r"\W*+(?:so |but |and )?why(?: (?:would|should) (?:you|we|i|anyone|anybody|one)(?: ever)?)?[\s*_`\"']*$")
_BECAUSE = later(r"(?:because|since|so|to|well|it|that|this|as)\b")
_TEMPTING = later(
    r"\b(?:tempting|tempted|appealing|attractive)(?: for \w+)? to\b"
    r"|\bwould be (?:easy|easier|nice|simple|simpler|quick|quicker|convenient|faster) to\b|\b(?:seem|look|sound"
    r"|appear|feel)s? (?:[\w-]+ ){1,3}to\b"
)
_TURNED = later(r"(?:but|yet|however|though|although|only that)\b")
_OFFERED = later(r"\b(?:could|might|can|may)(?: \w+ly| also| always| of course)?[\s*_`\"']*$")
_HEEDS = later(
    r"\b(?:yes|ok(?:ay)?|confirm|accept|agree|allow|let|proceed|continue|go|do|did|done|follow(?:ed)?|comply|listen"
    r"|right|worth|here|how|should|must|good|true|fine|safe|works?)\b"
)
_HEARSAY = later(
    r"\b(?:logs?|comments?|e?-?mails?|letters?|notes?|banners?|pop-?ups?|attachments?|files?|outputs?|results?"
    r"|hits?|forums?|blogs?|posts?|threads?|callers?|strangers?|scammers?)\b"
)
_RESISTS = later(
    rf"\b(?:{BAD}|{_UNHEEDED}|opposite|otherwise|fake|phishing|spam|injected|untrusted|suspicious|closed?|deleted?"
    rf"|flag(?:ged)?|report(?:ed)?)\b"
)
_IF = later(r"(?:if|when|whenever|once|as soon as|had|should|were) ")
_BEFORE = later(r"\W*+before(?: (?!and\b|or\b)[\w']+){0,4}\W*+")
_HALT = later(r"\b(?:stop|think (?:twice|again|hard)|hold on)$")
_MUSED = later(
    r"\W*+before(?:(?: \w+){0,3}? (?:think|consider|resort|contemplat|reach|go as far)\w*\b.*| (?:i|we) (?:can|could"
    r"|may)\W*+)"
)
_WARNED_IF = later(rf"\b(?:{BAD}|disservice)$")


_GONE = later(rf"\W*+(?:{GONE})\b")
_GRANTS = later(r"\W*+(?:while|although|though|even (?:if|though))\b")
_LOOKS = later(
    r"\W*+(?:(?:may|might|can|could|does|do|will) )?(?:\w+ly )?(?:sounds?|seems?|looks?|appears?|feels?|buys?)\b"
)
_DEMERIT = later(
    rf"\b(?:{BAD}|drastic|harsh|radical|extreme|heavy|odd|strange|scary|a lot|too much|drawbacks?|downsides?"
    r"|(?:takes|costs|needs|requires) (?!nothing|no|little|only)\w+)\b"
)
_FINITE = later(
    r"\b(?:is|are|was|were|does|did|has|have|had|will|would|can|could|must|should|may|might|works|helps)(?:n't)?\b"
    r"|(?:^|\b(?!(?:the|a|an|on|of|in|at|to|for|from|with|all|these|those|your|our|their|and)\b)[\w'-]+ )"
    r"(?:\w+ly )?[a-z]{2,20}[^s\W]s(?= \w)"
)
_SUBJECT = later(
    r"\W*+(?:(?:and|but|so|yet|also|simply|just|merely|even|while|although|though|if|that|think|mean) )*\W*+"
    r"(?:\w{2,30}ing(?: [\w'-]+){0,5}? ?|(?:\w+ )?attempts? (?:to|at) )?\W*+(?:the|a|an|such a|this|that)?\W*+"
)
_LINKS = later(
    r"(?:(?:and|but|yet|so|still|in (?:this|that|your|our) (?:case|one|instance)|then|hence|therefore|thus|however"
    r"|instead|please|though|(?:which|that|this) is why|also)(?: |$))*"
)
_IT = later(
    rf"(?:it|that|this|which|(?:that|this|those|these|such an?) (?:{ADVICE})s?|doing (?:so|it|that|this)"
    rf"|to do so)(?: also)?(?= |$)"
)
_GOOD = later(
    rf"\W*(?:(?:is|are|was|will be|would be|may be|might be|remains?) (?:\w+ly |still |often |also |just |even )*"
    rf"(?:(?:the|a|an|your|our|my) (?:\w+ ){{0,2}}?(?:{FIX}|bet|idea|thing to do|advice|choice|move|step)\b"
    r"|(?:fine|safe|ok(?:ay)?|harmless|worth|best|right|correct|enough|recommended|advised|necessary|needed|required"
    r"|good|better|safer|wiser|quicker|faster|easier|acceptable|allowed|what|how (?:you|we)|perfectly|all (?:you|we)"
    r"|reasonable|sensible|advisable)\b)"
    r"|(?:will |would |should |does |can |always |really |usually |reliably )*(?:works?|helps?|fix(?:es)?|solves?"
    r"|resolves?|cures?|clears?|restores?|pays? off|saves?|gets?|lets?|does the (?:trick|job)|do the (?:trick|job))\b"
    r"(?!(?: \w+)? (?:nothing|nowhere|no|little)\b))"
)
_PARTS = later(r"\b(?:and|but)\b")
_BAD = later(rf"\b(?:{BAD}|worst|last)\b")
_GO = later(
    r"(?:(?:you|we|i|they) (?:can|may|should|could|must|will|would|do)(?: (?:well to )?do (?:it|so|that|this))?"
    r"(?: \w+ly)?|(?:just |please )?(?:do (?:it|so|that|this)|go ahead)\b.*)"
)
_YES = later(r"(?:yes|yep|yeah|sure|surely|certainly|definitely|absolutely|of course|indeed|by all means)\b.*")
_TYPED = later(r"\b(?:type|enter|run|use|choose|select|click|press|pick)\W*$")
_CONTRAST = later(r"^(?:but|yet|however|still|even so)\b|\b(?:though|however)$")
_WHETHER = later(r"\W*(?:but |and )?whether\b")
_OPEN_YET = later(r"[^,;:]*\b(?:(?:is|are) (?:for|up to|not|still|another|a matter|open|yours)|depends|remains)\b")
_NOT_DOING = later(
    rf"\s*(?:(?:{_DOING}|from|be|ever|to|going|about|able|willing|\w+ly|rely on|use) )*(?:it|that|this|them|so)\b"
)
_LEFT = later(
    r"\b(?:leav(?:e|es|ing)|left) (?:it|them|that|this)(?: \w+ly)? (?:alone|be|aside|out|unread|there|in place"
    r"|untouched|as (?:it|they) (?:is|are))\b"
    r"|\b(?:flag|report|escalat)(?:ged|ed) (?:it|that|this|them)\b|\b(?:gone|went|go) no further\b"
    r"|\brul\w+ (?:it|that|this|them) out\b|\bno such thing\b|\bnothing of the (?:kind|sort)\b"
)

_NEGLECT = later(
    rf"{_LINK}(?:not (?:doing|following|trying)|skipping|omitting|neglecting|refusing|without|failing to do)"
    r"(?: to do)? (?:it|that|this|so)\b"
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
    return _LOOKS.match(predicate.lstrip(" *_`\"'")) is not None and _TURNED.match(following) is not None


def turns_late(predicate: str, following: str) -> bool:
    """Whether a merit is granted, and the next sentence turns: "It looks tempting. It holds unpaid orders, though"."""
    return _LOOKS.match(predicate.lstrip(" *_`\"'")) is not None and _CONTRAST.search(following) is not None


def opinion(words: str, *, bare: bool = False, within: bool = False) -> bool | None:
    """What a clause says of the thing named before it: True where it denies it, False where it speaks for it.

    Where that thing still lacks a predicate, the clause may be it, `bare` of any word that leads back, or hold it
    `within` an aside.
    """
    plain = without_idioms(words)
    if _costs_to_neglect(plain):
        return False
    if any(_NOT_DOING.match(plain, cue.end) for cue in cues(plain)) or _LEFT.search(plain):
        return True
    links = _LINKS.match(plain)
    rest = plain[links.end() :] if links else plain
    named = _IT.match(rest)
    if not (named or bare or (links and links.end())):
        return False if _GO.fullmatch(rest) else None
    predicate = f" {rest[named.end() :] if named else rest}"
    if endorses(predicate) or _GO.fullmatch(rest):
        return False
    denies = (
        denied_after(predicate, nominal=True, at_once=not (bare and within))
        or _GONE.match(predicate)
        or ((named or bare) and harms(predicate))
    )
    return True if denies else None


def _costs_to_neglect(plain: str) -> bool:
    """Whether it is said that leaving something undone does harm: "not doing so would cost you hours"."""
    neglect = _NEGLECT.match(plain)
    return neglect is not None and harms(plain[neglect.end() :])


def contradicts(words: str) -> bool:
    """Whether a clause calls what was said right before it wrong."""
    return re.match(_WRONG, without_idioms(words)) is not None


def forsakes(words: str) -> bool:
    """Whether a clause, to its end, asks to let alone what was named before it: "so please refrain from that"."""
    plain = without_idioms(words)
    ends = [hit for cue in cues(plain) if (hit := _NOT_DOING.match(plain, cue.end))] + list(_LEFT.finditer(plain))
    return any(hit.end() == len(plain) for hit in ends)


def leaves_open(before: str, predicate: str) -> bool:
    """Whether a clause only says who decides about a phrase, or on what: "whether to do it is up to you"."""
    return _WHETHER.match(before) is not None and _OPEN_YET.match(predicate) is not None


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
    said, turned = opinion(following), _TURNED.match(following) is not None
    if _TEMPTING.search(before):
        return said or (said is None and turned)
    return said is True and turned and _OFFERED.search(before) is not None


def muses(before: str) -> bool:
    """Whether words before a phrase put something else first: "before you think about" it."""
    return _MUSED.fullmatch(before) is not None


def loses(aside: str, following: str) -> bool:
    """Whether a condition is followed by a loss: "if you do it, everything is lost"."""
    return _IF.match(aside) is not None and harms(following)


def heeds(words: str) -> bool:
    """Whether a clause agrees to what somebody asked for in the clause before: "click OK", "do as they say"."""
    plain = without_idioms(words)
    return BLANK in plain or (_HEEDS.search(plain) is not None and not cues(plain))


def resists(words: str) -> bool:
    """Whether a clause after hearsay says anything against it, in whatever words."""
    return any(cues(without_idioms(words))) or _RESISTS.search(words) is not None


def halts(words: str, before: str) -> bool:
    """Whether a clause stops what the aside beside it names, given to there: "Think twice" before you do it."""
    if before.lstrip().startswith("if "):
        return _WARNED_IF.search(without_idioms(words)) is not None
    return _BEFORE.fullmatch(before) is not None and _HALT.search(words) is not None


def says_no(words: str) -> bool:
    """Whether a clause answers a question with no, and nothing more."""
    return _POLAR.match(without_idioms(words)) is not None


def is_hearsay(before: str) -> bool:
    """Whether the words before a phrase give it as what some text or a stranger wants, not as what anybody advises."""
    return reports(before) and _HEARSAY.search(before) is not None


def reports(before: str) -> bool:
    """Whether the words before a phrase say that somebody else gave it as advice, or that it tempts."""
    return _REPORT.search(before) is not None or _TEMPTING.search(before) is not None


def scorns(before: str, following: str) -> bool:
    """Whether a question asks why anybody would, and nobody says why: "why do it when the knot opens by hand?"."""
    return _WHY.match(before) is not None and _BECAUSE.match(following) is None


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
