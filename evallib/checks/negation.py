"""The words that negate inside a clause: which cues deny what follows or precedes them, and which only seem to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evallib.checks.later import at_words, later
from evallib.checks.lexicon import (
    ADVICE,
    AUX,
    BAD,
    BE,
    BETTER,
    BLANK,
    COST,
    EASY,
    FIX,
    GONE,
    HARM,
    HEED_NOT,
    LEAVE_OUT,
    MILD,
    NEED,
    NEG,
    SAYS,
    UNTRUE,
    WHO,
)

__all__ = [
    "Cue",
    "adjacent",
    "asks_for",
    "cues",
    "denied_after",
    "denied_before",
    "denies_commands",
    "excepts",
    "harms",
    "is_conditional",
    "is_universal",
    "leaves_out",
    "without_idioms",
    "without_inversion",
]

_NO_HARM = at_words(
    r"\b(?:is|are|was|were)(?: not|n't) (?:just|simply|only|merely)\b|\b(?:is|are|was|were|be)(?: not|n't"
    rf"| never) (?:\w+ ){{0,2}}?(?:{EASY})\b(?!-)|(?:\b(?:not|never|cannot|no|nothing|nobody|none|without|hardly"
    rf"|rarely|avoids?|prevents?|stops?|than)\b|n't\b)(?:\s+(?!and\b|but\b|or\b|that\b)[\w']+){{0,3}}?\s+{COST}\b"
    rf"|\b{COST} (?:nothing|no\b|none|little)\b|\b(?:only|merely|just) (?:takes|needs|costs|requires)(?: you"
    r"| us)? (?:an?|one|some|few|\d+)\b|\brisk worth\b"
    # "lowers the risk of an outage", "keeps you from losing it", "the lost files come back", "the symptoms disappear"
    r"|\b(?:end(?:s|ed)?|low(?:ers?|ered)|reduc(?:es?|ed)|eliminat(?:es?|ed)|short(?:ens?|ened)|minimi[sz]es?"
    r"|recovers?|restores?|repairs?|little|less|least|small|out of|(?:removes|ends) the(?= risk)|(?<!what )(?:keeps?"
    r"|protects?|saves)(?: [\w']+){1,3}? from)\b(?:(?:\s+(?!(?:and|but|or|that|your|what|against|with"
    rf"|in)\b)[\w']+){{0,3}}?\s+{HARM}\b)+|\b(?:lost|broken|damaged|corrupt\w*)(?: [\w'-]+)? comes? back\b"
    rf"|\b(?:{HARM}|errors?|symptoms?)\b(?: [\w'-]+)?(?: will| would)? (?:ends?|ended|disappears?|vanish(?:es)?|(?:is"
    r"|are|be) (?:over|gone|rebuilt|restored))\b"
)
"""What speaks against nothing: "is not hard", "does not break anything", "costs nothing", "the outage ends"."""
_LAST = later(r"\band (?:also |then )?(?!is|was|has|its|this)\w+[^s\W]s (?:you|it|the|your|an?)\b")
_HARMS = at_words(rf"\b{HARM}\b")
_WORDS = r"(?:(?!\b(?:and|or|nor|but)\b)[^,;:\x1f])"  # no blanked phrase among them
_NO_VERB = (
    r"(?:(?:you|we|they|it|(?:the|your|our) \w+)(?: \w+)?(?: not|n't| never|not)|nobody|no one|nothing (?:will|can"
    r"|would))\b"
)
_MENDS = r"(?:solv|fix|address|resolv|cur|help|remov|repair|mend|tackl|needed)\w*"  # "won't solve the problem" denies
# Idioms that hold a negation and yet deny nothing: a denial of a denial, or of a word that itself holds back. They are
# blanked before cues are looked for. A coordinator between the two ("not restart and avoid") makes them two denials.
_IDIOMS = at_words(
    r"\bnot (?:only|merely|solely)\b|\bnot (?:just|simply)\b(?=.*\b(?:also|as well|too|but)\b)|\bwhy (?:not"
    r"|don't (?:you|we))\b|\bwhether or not\b|\bnever ?mind\b|\bno matter\b|\bnot until\b|\bif not\b|\bnot (?:take"
    r"|need|be) (?:\w+ )?(?:longer|more|later) than\b|\b(?:not?|never) (?:later|more|less|fewer) than\b"
    r"|\bnot to mention\b|\bas not\b"
    # "you cannot do it too often"
    r"|\b(?:cannot|can't|can never|can hardly|couldn't)\b(?=[^,;:]{1,90} too (?:often|soon|early|much|many|quickly"
    rf"|thoroughly|carefully|frequently)\W*$)|(?:{NEG}|\b(?:impossible|hard|difficult|tricky|unable|unlikely"
    rf"|few)\b){_WORDS}{{0,60}}?\bwithout\b|\bwithout (?:\w+ )?(?:doubt|delay|hesitation|question|exception|fail"
    rf"|further (?:ado|discussion)|fear|worry|worries|risk|trouble)\b|(?:{NEG}"
    rf"|\bfew\b){_WORDS}{{0,40}}?\b(?:(?:{BETTER}) (?:\w+ )?than|beats?|matches)\b|\bnot (?:the (?:first|only"
    r"|last) (?:one )?|alone\b)|\b(?:than|or|least) not\b|\bin no time\b"
    # "without that you will not get there" asks for it
    rf"|\bwithout\b[^,;:]{{0,60}}?\b{_NO_VERB}|\b(?:hardly|scarcely|never|not?) (?:\w+ ){{0,3}}?better (?:time|moment"
    rf"|occasion|chance|opportunity)\b|{NEG}{_WORDS}{{0,40}}?\b(?:reason|excuse|cause|grounds?|point|sense|need|why"
    rf"|harm)\b{_WORDS}{{0,30}}?(?:\bnot\b|n't\b|\bagainst\b|\bavoid\w*)|{NEG}\s+(?:(?!and\b"
    rf"|or\b|{_MENDS}|(?:for|with|in|on|at|by)\b)\w+\s+){{0,4}}?(?:{MILD}|(?:an? )?(?:{BAD}))\b"
    rf"|{NEG}\s+(?:be\s+)?too \w+"
    rf"|\bfew (?:\w+ ){{0,4}}?(?:{MILD})\b"
    # what something takes is denied, not the thing: "you don't need approval to", "it takes no skill to"
    rf"|{NEG}\s+(?:\w+ly |even |ever )?(?:need|require|take|cost)s? (?!(?:to|for|of|{WHO}|(?:(?:the|our|your|all"
    r"|any) )?(?:\w+ )?(?:team|staff|crew|people|users?|customers?|operators?|\w+(?:ers|ors"
    rf"|ists))(?= to))\b){_WORDS}{{1,40}}? to\b|\b(?:{COST}|took) (?:you |us )?(?:no(?! one\b)|nothing|little|zero"
    rf"|hardly any){_WORDS}{{0,40}}? to\b|\bno (?:[\w-]+ ){{1,5}}?(?:is|are|was|were)? ?(?:needed|required|necessary"
    r"|involved)(?= (?:to|for|in|before)\b)|\bnever been (?:easier|simpler|safer|cheaper|a better time)\b"
    r"|\bgo(?:es)? without saying\b|\b(?:lose|risk|cost|break|harm)s? nothing (?:by|in|from|if)\b"
    rf"|{NEG}{_WORDS}{{1,40}}? would (?:object|mind|disagree|complain|argue against|oppose)\b|\bno need (?:for"
    rf"|of) (?!(?:{WHO}|the|your|our)\b){_WORDS}{{1,40}}? to\b|(?:{NEG} (?:\w+ly |even |ever )?(?:need|have|got"
    r"|required) to|\bneed(?: not|n't)) (?!(?:try|go|consider|attempt|start|begin|choose|decide|agree|want|rush"
    r"|bother|plan|listen|resort|turn|come|be (?:forced|made|asked|required)|offer|proceed|continue"
    rf"|prepare)\b){_WORDS}{{2,50}}?(?<! as) to\b|(?:{NEG}|\b(?:hardly|scarcely)\b)\s+(?:(?!and\b"
    rf"|or\b)\w+\s+){{0,3}}?(?:{EASY})(?: for(?: \w+){{1,2}})? to\b|\b(?:{BAD}|an? (?:shame|pity)|rude|insane|folly"
    rf"|madness)(?: (?:of|for)(?: [\w']+){{1,3}}?)? (?:not to|never to|to (?:{LEAVE_OUT}))\b"
    rf"|{NEG}{_WORDS}{{0,30}}?\b(?:that|because|as if|as though|say|saying|claiming|mean|think"
    rf"|believe)\b{_WORDS}{{0,30}}?(?:{NEG}|\b(?:{BAD})(?= to\b))|{NEG}{_WORDS}{{0,30}}?\banything (?:but|except"
    rf"|besides|other than)\b|\b(?:{HEED_NOT}|forget|(?:{UNTRUE}|false|untrue|wrong|incorrect|mistaken) that"
    rf"|(?:{BAD}) to (?:say|claim|think|believe))\b{_WORDS}{{0,60}}?(?:{NEG}|\bagainst\b)"
    rf"|{NEG}{_WORDS}{{0,60}}? lightly\b"
    r"|\bno (?:problem|harm|risk|danger|doubt"
    r"|question|choice|option|alternative|way (?:around|out)|other|objections?|worr\w+|big deal|rule against"
    r"|law against|(?:extra |added )?(?:cost|charge)|need to worry)\b|\bnothing (?:wrong|bad|against|but"
    r"|other than)\b|\bnothing\b(?=.{0,40}\b(?:except|but|other than|unless)\b)"
)
_INVERTED = later(r"^\W*(?:and |so |but )?(?:\w+n't|why (?:\w+ ){0,2}?(?:not\b|\w+n't))")

_MAY_BE_IDIOM = at_words(
    r"n't\b|\bn(?:ot|o|ever|othing|obody|one|either)\b|\bcannot\b|\bwh(?:y|ether)\b|\b(?:hardly|rarely|seldom"
    r"|scarcely)\b|\b(?:do|ca|wo|should|would)nt\b|\b(?:without|against)\b|\b(?:impossible|hard|difficult|tricky|unable|unlikely"
    rf"|few)\b|\bto (?:{LEAVE_OUT})\b"
)

_DIRECTIVE = at_words(
    r"\b(?:never|neither|nor|cannot|not|nothing|nobody|nowhere|no one|none of|unable to|beware of|no longer)\b"
    r"|\b\w+n't\b|\b(?:dont|cant|wont|shouldnt|mustnt|couldnt|wouldnt|neednt)\b|\b(?:no|little|zero|scant"
    rf"|scarce)(?: [\w-]+){{0,2}} (?:{NEED})\b|\b(?:gain|achieve|win|accomplish|solve|improve)(?:s|es"
    r"|ed)? (?:very )?little\b|\b(?:i|we|they|many|most|experts?|engineers?) (?:\w+ ){0,2}?doubts?\b"
    r"|\bquestion (?:that|whether|if)\b|\b(?:doubtful|unlikely|questionable|dubious|unclear|uncertain|unsure"
    r"|unknown)(?: at best)? (?:that|whether|if)\b|\b(?:sceptical|skeptical|unconvinced|doubts|misgivings) (?:that"
    r"|whether|of|about|if)\b|\b(?:fail(?:s|ed)?|hard|difficult|impossible) to see (?:how|why|what)\b"
    r"|\bno (?:\w+ )?(?:proof|evidence|sign|indication|trace|record|confirmation|guarantee)s? (?:that|of|whether)\b"
    r"|\b(?:under|in|on|at|by|for) no (?:[\w-]+ )?\w+|\bno (?:[\w-]+ ){1,2}(?:(?:in|under|on|for) which|where)\b"
    # a subject that no one is part of: "no nurse on this ward may ..."
    r"|(?:^|\bthat |\bas )\W*no (?:[\w'-]+ ){1,6}?(?:should|may|must|can|could|will|would|shall|ought|needs?|is|are"
    rf"|has|have|ever)\b|(?:^|\bthat |\bas )\W*no (?:(?!(?:is|are|was|were|be|been)\b)[\w'-]+ ){{1,7}}?(?:{SAYS})\b"
    r"|(?:^|\bthat )\W*few (?:[\w'-]+ ){0,3}?(?:should|may|must|can|could|will|would)\b"
    r"|\btoo \w+(?: for(?: \w+){1,2})? to\b|\b(?:refus|declin)(?:e|es|ed|ing)\b|\b(?:object(?:s|ed|ing)?|averse"
    r"|opposed) to\b|\b(?:forbid|prohibit|ban|outlaw|veto|rul(?:e|es|ed|ing) out|dissuad|discourag|condemn)(?:s|den"
    r"|ed|ned|ding|e|es|ing)?\b|\b(?:advis|warn|recommend|decid|caution|argu|guard|counsel"
    r"|vot)\w*(?: \w+){0,2} against\b|\b(?:mistake|error|pitfall|trap|temptation)s? (?:is|are|was|would be) to\b"
    r"|\b(?:steer|stay|keep|shy) (?:well )?(?:clear|away) (?:of|from)\b|\bsay no to\b|\bcontrary to\b"
    rf"|\b{HEED_NOT}(?: [\w']+){{0,4}}? (?:(?:{ADVICE})s?|that|which|who|telling|saying|asking)\b|\b{UNTRUE} (?:that"
    rf"|to|about|of)\b|\b(?:false|untrue|wrong|incorrect) that\b|\b(?:{BAD})(?: (?:of|for)(?: [\w']+){{1,3}}?)? to\b"
    r"|\bthe (?:last|worst|wrong) (?:thing|step|option|move|idea)\b|\bbefore (?:(?:\w+ ){1,3}?(?:think|consider"
    r"|resort|contemplat)\w*|(?:i|we) (?:can|could|may))\b|^\W*(?:much less|still less|never mind|far from)\b"
    r"|\blet alone\b"
)
_DECLARATIVE = at_words(
    r"\b(?:is|are|was|were|does|did|has|have|had)(?: \w+)? (?:not|never)\b|\b(?:is|are|was|were|does|did|has|have"
    r"|had)n't\b|\b(?:isnt|arent|wasnt|doesnt|didnt|hasnt|havent)\b|\b(?:hardly|rarely|seldom|scarcely|barely)\b"
)
_OBJECT = at_words(
    r"\b(?:without|instead of|rather than|as opposed to|in (?:place|lieu) of|skip(?:s|ped|ping)?|resist(?:s|ed|ing)?"
    r"|avoid(?:s|ed|ing)?|prevent(?:s|ed|ing)?|stop(?:s|ped|ping)? short of|refrain\w*|abstain\w*|desist\w*|hold(?:s"
    r"|ing)? off|spar(?:e|es|ed|ing) (?:you|yourself|them|her|him|us|it|(?:the|your|our) \w+) (?:(?:the|all|this"
    r"|that) \w+ of )?|preferable to|preferred (?:to|over)|beats?|outweighs?|compared (?:to|with)|(?:talk"
    rf"|argu)\w* \w+ out of|(?:anything|everything|all) but)\b|\b(?:{BETTER})\b(?:(?! than\b)[^,;:]){{0,60}} than\b"
)
_ADJACENT = later(
    r"\bno(?: [\w-]+)?[\s*_`\"']*$|\b(?:stop(?:ped|s)?|quits?|ceased?s?|g[ai]ve(?:n|s)? up)[\s*_`\"']*$|\bnon-?\s*$"
)
_IF_NOT = later(r"\W*(?:and |but |so )?if (?:you|we) (?:do not|don't|never)(?: \w+ly)?\W*")
_FAILS = later(r"\b(?:will not|cannot|fails?)\b|\b(?:wo|ca)n't\b")
_WITHOUT = later(r"\W*(?:and |but |so )?without\b")
_NOT_THERE = later(_NO_VERB)
_PURPOSE = later(r"\W*(?:in order |so as )?to (?:avoid|prevent|skip)\b")
_MEANS = later(r"\b(?:by|via|through|after|before|with|for|then)\s*$")
_JOINED = later(r"\b(?:and|or|nor)\b")
_WITHIN_VERB = later(r"\w{3,}ing[\s*_`\"']*$|^ \w{3,}ing\b[\w\s'-]*\b(?:as|to|into|in|with)[\s*_`\"']*$")
_OTHER_VERB = later(r"\w{3,}ing\b(?!.*\bto\b)")
_RELATIVE = later(r"(?<!\bso )(?<=\w )(?:who|which|that|whose)(?: \w+){0,2} ?$")
_MAIN_VERB = later(r"\b(?:should|must|may|can|will|needs? to|has to|have to|could|would|ought)\b")

_NEW_CLAUSE = later(
    r"\b(?:you|we|i|they|one|it|please)\b (?:should|must|may|can|will|need|have|could|would|ought)\b|\b(?:is|was"
    r"|means?) (?:to|by)\b"
)
_HEED = later(HEED_NOT)
_COMMAND = later(r"\b(?:and|then) (?:then |also )?[\s*_`\"']*$")
_COMPLETE = later(r"\b(?:it|them|this|that|him|her|yet)[\s*_`\"']+(?:and|then)\b")
_CLOSED = later(r"\W*(?:(?!should|may|must|can|could|will|would)[\w']+ ){0,3}?(?:is|are|was|were|has|have)\b")
_NO_SUBJECT = later(r"(?:nobody|no one|nothing|none)\b")
_PURPOSE_NOT = later(r" to (?!do\b)\w+\b.*\b(?:is|was|are)\b")
_AUX_LAST = later(
    r"\b(?:is|are|was|were|be|will|would|should|must|can|could|may|might|shall|do|does|did|has|have|had|need)\W*$"
)
_NOT_ONE = later(r" (?:one|a|any|even|all|every\w*)\b")

_CONDITIONAL = later(
    r"(?:and |or |but |so )?(?:(?:had|should|were) (?:you|we|i|they|he|she|it|the|an?|your|any\w*|some\w*)|if|when"
    r"|whenever|once|unless|until|because|since|while|although|though|before|after)\b"
)
_EXCEPT = later(r"(?:except|other than|apart from|besides|short of)\b")
_UNIVERSAL = later(r"\b(?:anything|everything|all|anyone|any|whatever|every)\b")

_DENIES = (
    rf"(?:\b(?:hardly|rarely|seldom) {AUX}\b|\b{AUX}(?:\s+\w+ly)?\s+(?:not|never|no|neither|hardly|rarely|seldom)\b"
    rf"|\b\w+n't\b|\bcannot\b|\bnever\b)|\b{BE}\s+(?:\w+ly |very |too |also |just |simply |now )*(?:{BAD}|{GONE})\b"
    r"|\b(?:fixes|solves|changes|helps|achieves|does|gains|makes|has|serves|brings|adds|offers) (?:nothing|no\b"
    r"|little\b|none\b)|\b\w{3,20}s (?:(?:you|us|anyone|them|the \w+) )?(?:(?:nothing|nowhere)\b|(?:nobody"
    r"|no one)\b(?! \w+s\b))|\bwaste of\b|\basking for\b|\bto no avail\b|\bto avoid\W*$|\b(?:has|have) to wait\W*$"
    r"|\b\w{3,6}s (?:you|us|anyone) no (?:closer|nearer|further)\b|\bof no (?:use|help|benefit|value)\b"
    r"|\bmore (?:problems|trouble) than\b|\bmore than it (?:brings|saves|helps|gains|gives|yields|solves|is worth)\b"
    r"|\b(?:violates?|breach(?:es)?|contravenes?)\b|\b(?:(?:will|would|can|could) )?(?:makes?|leaves?"
    rf"|puts?) (?:[\w'-]+ ){{1,6}}?(?:worse|{BAD}|less(?! frequent| severe))\b|\bno longer (?:holds|applies|works"
    rf"|helps)\b|\bmore harm than good\b|\b(?:fails?|failed) to\b|\bbackfires?\b|\b{BE} (?:the (?:wrong|worst"
    rf"|last (?:thing|resort)(?! left))\b|nothing\b|no (?:\w+ )?(?:{FIX}|use|help|good|longer)\b)"
    # "is a last resort that we do not recommend", "was considered and rejected"
    rf"|\b{BE} (?:[\w-]+ ){{1,6}}?(?:(?:that|which) )?(?:we|i|one|you|they|people|nobody|no one)\b.{{0,20}}(?:{NEG}"
    r"|\b(?:declin|refus|reject)\w*)|\b(?:and|but|then) (?:\w+ ){0,2}?(?:declin|refus|ignor|reject|disregard)(?:ed|e"
    r"|es|s)?\b|\b(?:and|but|then) (?:\w+ ){0,2}?(?:decid|chos|choos|opt|agre)\w+ (?:not to|against)\b"
)
_AFTER = later(rf"(?P<between>(?:\W++\w++(?:['-]\w++)*+){{0,8}}?)\W*+(?:{_DENIES})")
_AT_ONCE = later(rf"\W*(?:{_DENIES})")
_NEW_SUBJECT = later(r"\b(?:you|we|i|they|he|she|that|which|who|whose|where|there|what|how|means?)\b")
_NEW_PREDICATE = later(r"\b(?:and|or|to|it|no)\b")
_LEFT_OUT = later(
    r"^\W*(?:and |but |so |that )?(?:(?:not|never)(?: to)?|to not|(?:avoid|skipp)ing|(?:fail|refus|neglect|forgett"
    rf"|omitt|declin)ing to|(?:failure|refusal) to)\W*$|\bthe (?:\w+ )?(?:{ADVICE}|rule|warning)s? (?:not to|never to"
    r"|against|that (?:\w+ ){1,3}?(?:not|never))\W*$"
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


def without_inversion(plain: str) -> str:
    """A question without the negation it opens with, which suggests what it asks ("Why don't you ...?")."""
    return _INVERTED.sub(lambda hit: BLANK * len(hit[0]), plain)


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


def asks_for(before: str, following: str) -> bool:
    """Whether the words before a phrase name it as what nothing goes without: "without" it, you will not get there."""
    if _IF_NOT.fullmatch(before):  # "if you do not do it, you lose data"; no such "you lose nothing"
        plain = without_idioms(following)
        return harms(following) or _FAILS.search(plain) is not None or not (BLANK in plain or cues(plain))
    return _WITHOUT.match(before) is not None and _NOT_THERE.match(following) is not None


def adjacent(before: str) -> bool:
    """Whether the text right before a phrase denies just that phrase: "no full" reinstall, "stop" reinstalling."""
    return _ADJACENT.search(before[-40:]) is not None


def denied_before(plain: str, phrase_at: int, *, nominal: bool) -> bool:
    """Whether a cue before `phrase_at` reaches the phrase that starts there; `plain` is a clause without idioms."""
    return any(_reaches(plain, cue, phrase_at, nominal=nominal) for cue in cues(plain) if cue.end <= phrase_at)


def _reaches(plain: str, cue: Cue, phrase_at: int, *, nominal: bool) -> bool:
    said, gap = plain[cue.start : cue.end], plain[cue.end : phrase_at]
    if _MAIN_VERB.search(gap) and _RELATIVE.search(plain[: cue.start]):
        return False  # "a pod that does not start must ...": the cue belongs to the relative clause
    if cue.kind == "directive" and said == "not" and _is_about_a_noun(plain[: cue.start], gap):
        return False
    if (
        not nominal
        and _COMMAND.search(gap)
        and (_COMPLETE.search(gap) or _HEED.match(said) or (_NO_SUBJECT.match(said) and _CLOSED.match(gap)))
    ):
        return False  # "do not touch it and ...", "see that no one is in and ...": a second command
    joined = _JOINED.search(gap)
    if cue.kind == "declarative":
        return not (joined or (is_conditional(plain.strip()) and re.search(r"\w", gap)))
    return cue.kind == "directive" or _is_object(plain, gap, joined, nominal=nominal)


def _is_object(plain: str, gap: str, joined: re.Match[str] | None, *, nominal: bool) -> bool:
    """Whether a phrase past `gap` is what "avoid" or "without" denies, and not a second command."""
    if _NEW_CLAUSE.search(gap) or (not nominal and _PURPOSE.match(plain)):
        return False
    if nominal:
        return _MEANS.search(gap) is None
    if joined:  # "avoid the reboot and ..."
        return joined[0] != "and"
    return _OTHER_VERB.search(gap) is None or _WITHIN_VERB.search(gap) is not None


def _is_about_a_noun(before: str, gap: str) -> bool:
    """Whether a "not" belongs to a subject or a purpose, as in "the way not to lose is to"."""
    if _PURPOSE_NOT.match(gap):
        return True
    return _MAIN_VERB.search(gap) is not None and not (_AUX_LAST.search(before) or _NOT_ONE.match(gap))


def denies_commands(text: str, words: str) -> bool:
    """Whether a clause holds a negation that can reach over a list of commands."""
    return any(cue.kind != "declarative" for cue in cues(without_idioms(text))) and not is_conditional(words)


def is_conditional(words: str) -> bool:
    """Whether a clause only states when or why something is to be done."""
    return _CONDITIONAL.match(words) is not None


def excepts(words: str) -> bool:
    """Whether a clause names an exception to the one before it."""
    return _EXCEPT.match(words) is not None


def is_universal(text: str) -> bool:
    """Whether a clause allows anything or everything, so that an exception to it is denied."""
    return _UNIVERSAL.search(text) is not None and not cues(without_idioms(text))


def harms(predicate: str) -> bool:
    """Whether a predicate tells of a harm, last of all if of several things; one that it denies is none."""
    plain = _NO_HARM.sub(BLANK, predicate)
    last = _LAST.search(plain)
    return _HARMS.search(plain, last.start() if last else 0) is not None


def leaves_out(before: str) -> bool:
    """Whether a clause has leaving the phrase out as its subject: "not deleting it" would be a mistake."""
    return _LEFT_OUT.match(before) is not None


def denied_after(after: str, *, nominal: bool, at_once: bool = False) -> bool:
    """Whether a phrase is denied by the rest of its clause: "disabling SELinux" is not the fix.

    A `nominal` phrase (an -ing form, a noun) can be the subject of what follows; a command hardly can, so that a
    second command or a new subject between it and the negation means that something else is denied. With `at_once`
    nothing may stand between.
    """
    after = _NO_HARM.sub(BLANK, after)
    hit = (_AT_ONCE if at_once else _AFTER).match(after)
    if not hit or at_once:
        return hit is not None
    between = hit["between"]
    return not _NEW_SUBJECT.search(between) and (nominal or not _NEW_PREDICATE.search(between))
