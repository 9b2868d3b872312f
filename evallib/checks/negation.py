"""The words that negate inside a clause: which cues deny what follows or precedes them, and which only seem to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from evallib.checks.later import at_words, later

__all__ = [
    "BAD",
    "BLANK",
    "GONE",
    "NEED",
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
    "is_never_too_much",
    "is_universal",
    "leaves_out",
    "without_idioms",
    "without_inversion",
]

NEED = (
    "need|reason|point|use|sense|cause|benefit|call|justification|plans?|intention|excuse|good|advantage|grounds?|"
    "circumstances?|necessity|value|merit|way(?! (?:around|out))"
)
BAD = (
    "wrong|bad|incorrect|dangerous|harmful|risky|insecure|pointless|useless|futile|forbidden|prohibited|banned|"
    "careless|senseless|needless|fruitless|worthless|hopeless|rash|hasty|cruel|absurd|ridiculous|wasteful|out of date|"
    "overdoing (?:it|things)|going too far|over the top|"
    "disallowed|discouraged|inadvisable|overkill|false|nonsense|foolish|reckless|silly|stupid|crazy|irresponsible|"
    "negligent|inappropriate|improper|illegal|illegitimate|irrelevant|outdated|obsolete|deprecated|misguided|"
    "mistaken|misleading|counter-?productive|destructive|disastrous|fatal|hazardous|malicious|fraudulent|bogus|"
    "\\w+-advised|futile|premature|excessive|inadequate|ineffective|"
    "un(?!der|i[tvq]|til)\\w{2,20}(?:able|ed|ful|ing|ary|wise|safe|sound|fair|ethical)|unwise|unsafe|"
    "out of (?:the question|bounds)|off[ -]limits|off the (?:table|list|agenda|menu)|"
    "against (?:the |our )?(?:policy|rules|law)|"
    "an? (?:\\w+ )?(?:mistake|error|anti-?pattern|myth|scam|fraud|hoax|trap|trick|lie|fake|forgery)|"
    "(?:a )?(?:bad|terrible|poor|awful|horrible) (?:idea|advice|choice|practice|plan|move)|too (?:risky|dangerous)"
)
_STAFF = (
    r"(?:(?:the|our|your|all|any) )?(?:\w+ )?"
    r"(?:team|staff|crew|people|users?|customers?|operators?|\w+(?:ers|ors|ists))(?= to)"
)
_EASY = (
    "hard|difficult|complicated|tricky|tough|complex|expensive|costly|painful|scary|rude|unusual|uncommon|rare|slow"
    "|laborious|challenging|tedious|rocket science|brain surgery|too \\w+"
)
_WHO = (
    "you|we|us|me|him|her|them|it|this|that|anyone|anybody"
    "|someone|somebody|everyone|one|no one|nobody|(?!\\w+thing\\b)\\w+ing"
)
_HARM = (
    r"(?:los(?:es?|ing|t)|throw\w* (?:\w+ ){0,2}away|orphan\w*|outages?|symptoms?|risk(?:s|ing|y)?(?! (?:is|are)\b)"
    r"|endanger\w*|damag\w+|destroy\w*|corrupt\w*|br(?:eak(?:s|ing)?|oke)(?! the (?:\w*lock(?! file)|loop|cycle|tie"
    r"|chain))|worse\w*|bypass\w*|hid(?:es?|ing)|mask(?:s|ing)?|conceal\w*|disguis\w+|papers? over|expos\w+|leaks?"
    r"|revert\w*|undo(?:es|ne)?|confus\w+|(?:disrupt|interrupt|injur)\w*|violat\w+|breach\w*|contraven\w+|void(?:s|ed)?|(?:is|are"
    r"|be|gets?) (?:gone|wiped|erased)|regret\w*|defeats?|wast\w+"
    r"|cost(?:s|ing)? (?:you|us|them)|hurts?|harm(?:s|ful|ing)?|vulnerab\w+|weaken\w*|undermin\w+|cripples?|ruin\w*"
    r"|wreck\w*|spoil\w*|cracks?|compromis\w+|(?:only|merely|just) (?!takes|needs|costs|affects|requires|works"
    r"|helps)\w{2,20}s|merely|dead end|last resort"
    r"|attacks?|funds|invites|skips|disconnect\w*|(?:lock|log|throw|kick)s? (?:\w+ ){1,3}?out|cuts? (?:\w+ ){1,3}?off"
    r"|(?:takes?|brings?) (?!(?:the|this|that|your|all) (?:error|warning|problem|symptom|noise|pain|load)s?\b)"
    r"(?:[\w'-]+ ){1,4}?(?:down|offline|away|along|with it)|invalidat\w+|strips|burns?|triggers"
    r"|drops? (?:the|your|all|every) (?:\w+ )?(?:connection|session|console|link|call|traffic|data)s?"
    r"|leaves? (?:[\w'-]+ ){1,5}?(?:open|without|behind|stuck|stranded|unprotected|exposed|dangling)"
    r"|opens? (?:[\w'-]+ ){1,4}?to (?:everyone|everybody|anyone|anybody|the world|all)|(?:will|would|can"
    r"|could) (?:\w+ly |only |just |also |even )?(?:delete|wipe|erase|kill|skip))"
)
"""What nobody advises who says that something would do it."""
_COST = (
    rf"(?:{_HARM}|(?:(?:cost|tak|affect|caus|delet|remov|touch|block)(?:e?s|e|ing)?|(?:need|requir)(?:e?s|e)?"
    rf"(?! to\b| (?:{_WHO})\b)))"
)
_NO_HARM = at_words(
    r"(?:\b(?:not|never|cannot|no|nothing|nobody|none|without|hardly|rarely|avoids?|prevents?|stops?|than)\b|n't\b)"
    rf"(?:\s+(?!and\b|but\b|or\b|that\b)[\w']+){{0,3}}?\s+{_COST}\b|\b{_COST} (?:nothing|no\b|none|little)\b"
    r"|\b(?:only|merely|just) (?:takes|needs|costs|requires)(?: you| us)? (?:an?|one|some|few|\d+)\b|\brisk worth\b"
    r"|\b(?:undo(?:es)?|reverts?) (?:the |your )?(?:bad|faulty|broken|wrong|failed)\b"
    # "lowers the risk of an outage", "keeps you from losing it", "the lost files come back", "the symptoms disappear"
    r"|\b(?:end(?:s|ed)?|low(?:ers?|ered)|reduc(?:es?|ed)|eliminat(?:es?|ed)|short(?:ens?|ened)|minimi[sz]es?|recovers?"
    r"|restores?|repairs?|little|less|out of|(?:removes|ends) the(?= risk)|(?<!what )(?:keeps?|protects?"
    rf"|saves)(?: [\w']+){{1,3}}? from)\b(?:(?:\s+(?!(?:and|but|or|that|your|what|against|with|in)\b)[\w']+){{0,3}}?\s+"
    rf"{_HARM}\b)+|\b(?:lost|broken|damaged|corrupt\w*)(?: [\w'-]+)? comes? back\b|\b(?:{_HARM}|errors?)\b(?: [\w'-]+)?"
    r"(?: will| would)? (?:ends?|ended|disappears?|vanish(?:es)?|(?:is|are|be) (?:over|gone|rebuilt|restored))\b"
)
"""Harm that is denied or ended, as in "does not break anything", "costs nothing" and "the outage ends"."""
_HARMS = at_words(rf"\b{_HARM}\b")
_LEAVE_OUT = "not|never|avoid|skip|refuse|neglect|forget|fail|omit|leave out|postpone|delay|put off|hold off"
FIX = "fix|solution|answer|remedy|way|cure|option|approach|workaround"
_NEG = (
    r"(?:\b(?:not|never|cannot|no|nothing|nobody|no one|none|neither|hardly|rarely|seldom|scarcely)\b|n't\b"
    r"|\b(?:dont|cant|wont|shouldnt|wouldnt)\b)"
)
_WORDS = r"(?:(?!\b(?:and|or|nor|but)\b)[^,;:\x1f])"  # no blanked phrase among them
_NO_VERB = (
    r"(?:(?:you|we|they|it|(?:the|your|our) \w+)(?: \w+)?(?: not|n't| never|not)|nobody|no one"
    r"|nothing (?:will|can|would))\b"
)
_MILD = (
    "hesitate|forget|fail|neglect|omit|afraid|shy|fear|worry|delay|wait|avoid\\w*|refus\\w+|refrain|skip|mind"
    "|oppos\\w+|"
    "against|prohibit\\w*|forbid\\w*|object|resist|regret|hurts?|harms?|reluctant|scared|disagree|deny|deter\\w*|"
    "discourage\\w*|damage|problem|issue|concern|insufficient|impossible|enough|sufficient|sure|optional|negotiable|"
    "unreasonable|opposed|think twice|go wrong|be wrong|stop you|prevent you|prevents|stops you|los(?:e|es|t"
    "|ing)|suffer\\w*|complain\\w*|notice|died?|ashamed|embarrassed|nervous|"
    "anxious|worried|big deal|talk\\w* \\w+ out of|hassle|keeps? (?:you|us|them|anyone) from|hinders?|crime|sin"
    "|offence|violation|disaster|doubt\\w*|trouble|difficulty"
)
_BETTER = (
    "better|safer|wiser|easier|faster|quicker|simpler|cheaper|cleaner|smarter|sooner|rather|kinder|healthier|sounder|"
    rf"(?:more|less) (?!(?:{BAD})\b)\w+|less (?:{BAD})"
)
# Idioms that hold a negation and yet deny nothing: a denial of a denial, or of a word that itself holds back. They are
# blanked before cues are looked for. A coordinator between the two ("not restart and avoid") makes them two denials.
_IDIOMS = at_words(
    r"\bnot (?:only|merely|solely)\b|\bnot (?:just|simply)\b(?=.*\b(?:also|as well|too|but)\b)"
    r"|\bwhy (?:not|don't (?:you|we))\b|\bwhether or not\b|\bnever ?mind\b|\bno matter\b|\bnot until\b|\bif not\b"
    r"|\bnot (?:take|need|be) (?:\w+ )?(?:longer|more|later) than\b"
    r"|\b(?:not?|never) (?:later|more|less|fewer) than\b|\bnot to mention\b|\bas not\b"
    rf"|(?:{_NEG}|\b(?:impossible|hard|difficult|tricky|unable|unlikely|few)\b){_WORDS}{{0,60}}?\bwithout\b"
    r"|\bwithout (?:\w+ )?(?:doubt|delay|hesitation|question|exception|fail|further ado|fear|worry|worries"
    r"|risk|trouble)\b"
    rf"|(?:{_NEG}|\bfew\b){_WORDS}{{0,40}}?\b(?:(?:{_BETTER}) (?:\w+ )?than|beats?|matches)\b"
    r"|\bnot (?:the (?:first|only|last) (?:one )?|alone\b)|\b(?:than|or|least) not\b|\bin no time\b"
    # "without that you will not get there" asks for it
    rf"|\bwithout\b[^,;:]{{0,60}}?\b{_NO_VERB}"
    r"|\b(?:hardly|scarcely|never|not?) (?:\w+ ){0,3}?better (?:time|moment|occasion|chance|opportunity)\b"
    rf"|{_NEG}{_WORDS}{{0,40}}?\b(?:reason|excuse|cause|grounds?|point|sense|need|why|harm)\b{_WORDS}{{0,30}}?"
    r"(?:\bnot\b|n't\b|\bagainst\b|\bavoid\w*)"
    rf"|{_NEG}\s+(?:(?!and\b|or\b)\w+\s+){{0,3}}?(?:{_MILD}|(?:an? )?(?:{BAD}))\b|{_NEG}\s+(?:be\s+)?too \w+"
    rf"|\bfew (?:\w+ ){{0,4}}?(?:{_MILD})\b"
    # what something takes is denied, not the thing: "you don't need approval to", "it takes no skill to"
    rf"|{_NEG}\s+(?:\w+ly |even |ever )?(?:need|require|take|cost)s? (?!(?:to|for|of|{_WHO}"
    rf"|{_STAFF})\b){_WORDS}{{1,40}}? to\b|\b(?:{_COST}|took) (?:you |us )?(?:no(?! one\b)|nothing|little|zero"
    rf"|hardly any){_WORDS}{{0,40}}?"
    r" to\b"
    rf"|\bno (?:[\w-]+ ){{1,5}}?(?:is|are|was|were)? ?(?:needed|required|necessary|involved)(?= (?:to|for|in|before)\b)"
    r"|\bnever been (?:easier|simpler|safer|cheaper|a better time)\b|\bgo(?:es)? without saying\b"
    r"|\b(?:lose|risk|cost|break|harm)s? nothing (?:by|in|from|if)\b"
    rf"|{_NEG}{_WORDS}{{1,40}}? would (?:object|mind|disagree|complain|argue against|oppose)\b"
    rf"|\bno need (?:for|of) (?!(?:{_WHO}|the|your|our)\b){_WORDS}{{1,40}}? to\b"
    rf"|(?:{_NEG} (?:\w+ly |even |ever )?(?:need|have|got|required) to|\bneed(?: not|n't))"
    r" (?!(?:try|go|consider|attempt|start|begin|choose|decide|agree|want|rush|bother|plan|listen|resort|turn|come"
    rf"|be (?:forced|made|asked|required)|offer|proceed|continue|prepare)\b){_WORDS}{{2,50}}?(?<! as) to\b"
    rf"|(?:{_NEG}|\b(?:hardly|scarcely)\b)\s+(?:(?!and\b|or\b)\w+\s+){{0,3}}?(?:{_EASY})(?: for(?: \w+){{1,2}})? to\b"
    rf"|\b(?:{BAD}|an? (?:shame|pity)|rude|insane|folly|madness)(?: (?:of|for)(?: [\w']+){{1,3}}?)? "
    rf"(?:not to|never to|to (?:{_LEAVE_OUT}))\b"
    rf"|{_NEG}{_WORDS}{{0,30}}?\b(?:that|because|as if|as though|say|saying|claiming|mean|think|believe)\b"
    rf"{_WORDS}{{0,30}}?{_NEG}|{_NEG}{_WORDS}{{0,30}}?\banything (?:but|except|besides|other than)\b"
    r"|\bno (?:problem|harm|risk|danger|doubt|question|choice|option|alternative|way (?:around|out)|other"
    r"|objections?|worr\w+|big deal|rule against|law against|(?:extra |added )?(?:cost|charge)|need to worry)\b"
    r"|\bnothing (?:wrong|bad|against|but|other than)\b|\bnothing\b(?=.{0,40}\b(?:except|but|other than|unless)\b)"
)
_INVERTED = later(r"^\W*(?:and |so |but )?(?:\w+n't|why (?:\w+ ){0,2}?(?:not\b|\w+n't))")

_MAY_BE_IDIOM = at_words(
    r"n't\b|\bn(?:ot|o|ever|othing|obody|one|either)\b|\bcannot\b|\bwh(?:y|ether)\b|\b(?:hardly|rarely|seldom"
    r"|scarcely)\b"
    r"|\b(?:do|ca|wo|should|would)nt\b|\bwithout\b|\b(?:impossible|hard|difficult|tricky|unable|unlikely|few)\b"
    rf"|\bto (?:{_LEAVE_OUT})\b"
)
BLANK = "\x1f"
"""Stands for each character of an idiom."""

ADVICE = (
    "advice|suggestion|tip|recommendation|claim|idea|instruction|command|answer|post|approach|step|workaround"
    "|statement|"
    "guide|guidance|request|order|proposal|rumou?r|hint|prompt|message|note|text|page|urge|temptation|impulse"
    "|comment|line"
)
_SAYS = (
    "(?:involv|requir|includ|advis|propos|endors|justif|suggest|recommend|mention|prescrib|instruct|contain|support"
    "|permit|allow|demand|entail|warrant|foresee|envisag)(?:s|es|ies|e|y)?|tells?|told|asks?|says?|calls? for"
    "|called for|means?"
)
_HEED_NOT = r"(?:ignor|disregard|dismiss|reject|resist|discount|overrul|declin|refus|distrust)\w*"
_DIRECTIVE = at_words(
    r"\b(?:never|neither|nor|cannot|not|nothing|nobody|nowhere|no one|none of|unable to|beware of|no longer)\b"
    r"|\b\w+n't\b|\b(?:dont|cant|wont|shouldnt|mustnt|couldnt|wouldnt|neednt)\b"
    rf"|\b(?:no|little|zero|scant|scarce)(?: [\w-]+){{0,2}} (?:{NEED})\b"
    r"|\b(?:gain|achieve|win|accomplish|solve|improve)(?:s|es|ed)? (?:very )?little\b"
    r"|\b(?:i|we|they|many|most|experts?|engineers?) (?:\w+ ){0,2}?doubts?\b|\bquestion (?:that|whether"
    r"|if)\b|\b(?:doubtful|unlikely|questionable|dubious|unclear|uncertain|unsure|unknown)"
    r"(?: at best)? (?:that|whether|if)\b|\b(?:sceptical|skeptical|unconvinced|doubts|misgivings) (?:that|whether|of"
    r"|about|if)\b|\b(?:fail(?:s|ed)?|hard|difficult|impossible) to see (?:how|why|what)\b"
    r"|\bno (?:\w+ )?(?:proof|evidence|sign|indication|trace|record|confirmation|guarantee)s? (?:that|of|whether)\b"
    r"|\b(?:under|in|on|at|by|for) no (?:[\w-]+ )?\w+|\bno (?:[\w-]+ ){1,2}(?:(?:in|under|on|for) which|where)\b"
    # a subject that no one is part of: "no nurse on this ward may ..."
    r"|(?:^|\bthat |\bas )\W*no (?:[\w'-]+ ){1,6}?(?:should|may|must|can|could|will|would|shall|ought|needs?"
    r"|is|are|has|have|ever)\b"
    rf"|(?:^|\bthat |\bas )\W*no (?:(?!(?:is|are|was|were|be|been)\b)[\w'-]+ ){{1,7}}?(?:{_SAYS})\b"
    r"|(?:^|\bthat )\W*few (?:[\w'-]+ ){0,3}?(?:should|may|must|can|could|will|would)\b|\btoo \w+(?: for(?: "
    r"\w+){1,2})? to\b|\b(?:refus|declin)(?:e|es|ed|ing)\b|\b(?:object(?:s|ed|ing)?|averse|opposed) to\b"
    r"|\b(?:forbid|prohibit|ban|outlaw|veto|rul(?:e|es|ed|ing) out|dissuad|discourag|condemn)(?:s|den|ed|ned"
    r"|ding|e|es|ing)?\b|\b(?:advis|warn|recommend|decid|caution|argu|guard|counsel|vot)\w*(?: \w+){0,2} against\b"
    r"|\b(?:mistake|error|pitfall|trap|temptation)s? (?:is|are|was|would be) to\b"
    r"|\b(?:steer|stay|keep|shy) (?:well )?(?:clear|away) (?:of|from)\b|\bsay no to\b|\bcontrary to\b"
    rf"|\b{_HEED_NOT}(?: [\w']+){{0,4}}? (?:(?:{ADVICE})s?|that|which|who|telling|saying|asking)\b"
    r"|\b(?:myth|misconception|fallacy|lie|rumou?r|fiction|hoax|superstition|falsehood)s? (?:that|to|about|of)\b"
    rf"|\b(?:{BAD})(?: (?:of|for)(?: [\w']+){{1,3}}?)? to\b"
    r"|\bthe (?:last|worst|wrong) (?:thing|step|option|move|idea)\b"
    r"|^\W*(?:let alone|much less|still less|never mind|far from)\b|\blet alone\b"
)
_DECLARATIVE = at_words(
    r"\b(?:is|are|was|were|does|did|has|have|had)(?: \w+)? (?:not|never)\b"
    r"|\b(?:is|are|was|were|does|did|has|have|had)n't\b|\b(?:isnt|arent|wasnt|doesnt|didnt|hasnt|havent)\b"
    r"|\b(?:hardly|rarely|seldom|scarcely|barely)\b"
)
_OBJECT = at_words(
    r"\b(?:without|instead of|rather than|as opposed to|in (?:place|lieu) of|skip(?:s|ped|ping)?|resist(?:s|ed"
    r"|ing)?|avoid(?:s|ed|ing)?"
    r"|prevent(?:s|ed|ing)?|stop(?:s|ped|ping)? short of|refrain\w*|abstain\w*|desist\w*|hold(?:s|ing)? off"
    r"|spar(?:e|es|ed|ing) (?:you|yourself|them|her|him|us|it|(?:the|your|our) \w+) (?:(?:the|all|this|that) \w+ of )?"
    r"|preferable to|preferred (?:to|over)|beats?|outweighs?"
    r"|compared (?:to|with)|(?:talk|argu)\w* \w+ out of|(?:anything|everything|all) but)\b"
    rf"|\b(?:{_BETTER})\b(?:(?! than\b)[^,;:]){{0,60}} than\b"
    r"|\b(?:ruled?|ruling) (?:\w+ )?out\b"
)
_ADJACENT = later(
    r"\bno(?: [\w-]+)?[\s*_`\"']*$|\b(?:stop(?:ped|s)?|quits?|ceased?s?|g[ai]ve(?:n|s)? up)[\s*_`\"']*$|\bnon-?\s*$"
)
_IF_NOT = later(r"\W*(?:and |but |so )?if (?:you|we) (?:do not|don't|never)\b")
_WITHOUT = later(r"\W*(?:and |but |so )?without\b")
_NOT_THERE = later(_NO_VERB)
_PURPOSE = later(r"\W*(?:in order |so as )?to (?:avoid|prevent|skip)\b")
_MEANS = later(r"\b(?:by|via|through|after|before|with|for|then)\s*$")
_GERUND_LAST = later(r"\w{3,}ing[\s*_`\"']*$")
_OTHER_VERB = later(r"\w{3,}ing\b(?!.*\bto\b)")
_DETERMINED = later(r"\b(?:the|a|an|this|that|these|those|your|our|any|all|it|\w{3,}ing)\b")
_RELATIVE = later(r"(?<!\bso )(?<=\w )(?:who|which|that|whose)(?: \w+){0,2} ?$")
_MAIN_VERB = later(r"\b(?:should|must|may|can|will|needs? to|has to|have to|could|would|ought)\b")

_NEW_CLAUSE = later(
    r"\b(?:you|we|i|they|one|it|please)\b (?:should|must|may|can|will|need|have|could|would|ought)\b|\b(?:is"
    r"|was|means?) (?:to|by)\b"
)
_HEED = later(_HEED_NOT)
_COMMAND = later(r"\b(?:and|then) (?:then |also )?[\s*_`\"']*$")
_COMPLETE = later(r"\b(?:it|them|this|that|him|her|yet)[\s*_`\"']+(?:and|then)\b")
_CLOSED = later(r"\W*(?:(?!should|may|must|can|could|will|would)[\w']+ ){0,3}?(?:is|are|was|were|has|have)\b")
_NO_SUBJECT = later(r"(?:nobody|no one|nothing|none)\b")
_WHERE = later(r"\b(?:where|in which|when)\b")
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

_AUX = r"(?:is|are|was|were|be|will|would|should|must|can|could|may|might|shall|does|do|did|has|have|had|need)"
_SELDOM = "hardly|rarely|seldom"
_NOT = (
    rf"(?:\b(?:{_SELDOM}) {_AUX}\b|\b{_AUX}(?:\s+\w+ly)?\s+(?:not|never|no|neither|{_SELDOM})\b|\b\w+n't\b"
    r"|\bcannot\b|\bnever\b)"
)
_BE = r"(?:is|are|was|were|be|been|being|remains?|stays?|seems?|becomes?|looks?)"
GONE = "ruled out|rejected|declined|dismissed|refused|excluded|abandoned|discarded|avoided|vetoed|withdrawn"
_VERDICT = rf"\b{_BE}\s+(?:\w+ly |very |too |also |just |simply |now )*(?:{BAD}|{GONE})\b"
_DENIES = (
    rf"{_NOT}|{_VERDICT}"
    r"|\b(?:fixes|solves|changes|helps|achieves|does|gains|makes|has|serves|brings|adds|offers)"
    r" (?:nothing|no\b|little\b|none\b)"
    r"|\b\w{3,20}s (?:(?:you|us|anyone|them|the \w+) )?(?:(?:nothing|nowhere)\b|(?:nobody|no one)\b(?! \w+s\b))"
    r"|\bwaste of\b|\basking for\b|\bto no avail\b|\b(?:has|have|needs?|must|can) (?:to )?wait\b"
    r"|\b\w{3,6}s (?:you|us|anyone) no (?:closer|nearer|further)\b|\bof no (?:use|help|benefit|value)\b"
    r"|\bmore (?:problems|trouble) than\b|\bmore than it (?:brings|saves|helps|gains|gives|yields|solves|is worth)\b"
    r"|\b(?:violates?|breach(?:es)?|contravenes?)\b"
    rf"|\b(?:(?:will|would|can|could) )?(?:makes?|leaves?|puts?) (?:[\w'-]+ ){{1,6}}?(?:worse|{BAD}|less"
    r"(?! frequent| severe))\b"
    rf"|\bmore harm than good\b|\b(?:fails?|failed) to\b|\bbackfires?\b"
    rf"|\b{_BE} (?:the (?:last|wrong|worst)\b|nothing\b|no (?:\w+ )?(?:{FIX}|use|help|good|longer)\b)"
    # "is a last resort that we do not recommend", "was considered and rejected"
    rf"|\b{_BE} (?:[\w-]+ ){{1,6}}?(?:(?:that|which) )?(?:we|i|one|you|they|people|nobody"
    rf"|no one)\b.{{0,20}}(?:{_NEG}|\b(?:declin|refus|reject)\w*)"
    rf"|\b(?:and|but|then) (?:\w+ ){{0,2}}?(?:declin|refus|ignor|reject|disregard)(?:ed|e|es|s)?\b"
    r"|\b(?:and|but|then) (?:\w+ ){0,2}?(?:decid|chos|choos|opt|agre)\w+ (?:not to|against)\b"
)
_AFTER = later(rf"(?P<between>(?:\W++\w++(?:['-]\w++)*+){{0,8}}?)\W*+(?:{_DENIES})")
_AT_ONCE = later(rf"\W*(?:{_DENIES})")
_NEW_SUBJECT = later(r"\b(?:you|we|i|they|he|she|that|which|who|whose|where|there|what|how|means?)\b")
_NEW_PREDICATE = later(r"\b(?:and|or|to|it|no)\b")
# What denies nothing of a subject before it: "is not just", "does not take long", "won't need a reboot".
_HARMLESS = later(
    r"\b(?:is|are|was|were)(?: not|n't) (?:just|simply|only|merely)\b"
    rf"|\b(?:is|are|was|were|be)(?: not|n't| never) (?:\w+ ){{0,2}}?(?:{_EASY})\b(?!-)"
)
_CANNOT = later(r"\b(?:cannot|can't|can never|can hardly|couldn't)\W*$")
_TOO_MUCH = later(r"\W*too (?:often|soon|early|much|many|quickly|thoroughly|carefully|frequently)\b")
_LEFT_OUT = later(
    r"^\W*(?:and |but |so |that )?(?:(?:not|never)(?: to)?|to not|(?:avoid|skipp)ing|(?:fail|refus|neglect|forgett"
    r"|omitt|declin)ing to|(?:failure|refusal) to)\W*$"
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


def asks_for(clause: str, following: str) -> bool:
    """Whether a clause names what nothing goes without: "without doing it, you will not get there"."""
    if _IF_NOT.match(clause):
        return harms(following)  # "if you do not do it, you lose data"
    return _WITHOUT.match(clause) is not None and _NOT_THERE.match(following) is not None


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
    joined = re.search(r"\b(?:and|or|nor)\b", gap)
    if cue.kind == "declarative":
        return not (joined or (is_conditional(plain.strip()) and re.search(r"\w", gap)))
    if cue.kind == "object" and _NEW_CLAUSE.search(gap):
        return False
    if cue.kind == "object" and not nominal:
        if _PURPOSE.match(plain) or (joined and _DETERMINED.search(gap[: joined.start()])):
            return False  # "avoid the reboot and ...": a second command, no second object
        return bool(joined) or not _OTHER_VERB.search(gap) or _GERUND_LAST.search(gap) is not None
    return not (cue.kind == "object" and _MEANS.search(gap))


def _is_about_a_noun(before: str, gap: str) -> bool:
    """Whether a "not" belongs to a subject or a purpose, as in "the way not to lose is to"."""
    if _PURPOSE_NOT.match(gap):
        return True
    if _WHERE.search(gap):
        return False  # "not the kind of message where you may ...": what holds there is denied
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


def is_never_too_much(before: str, after: str) -> bool:
    """Whether a phrase between "cannot" and "too often" is recommended without end."""
    return _CANNOT.search(before) is not None and _TOO_MUCH.match(after) is not None


def harms(predicate: str) -> bool:
    """Whether a predicate tells of a harm; one that it denies ("does not break anything") is none."""
    return _HARMS.search(_NO_HARM.sub(BLANK, predicate)) is not None


def leaves_out(before: str) -> bool:
    """Whether a clause has leaving the phrase out as its subject: "not deleting it" would be a mistake."""
    return _LEFT_OUT.match(before) is not None


def denied_after(after: str, *, nominal: bool, at_once: bool = False) -> bool:
    """Whether a phrase is denied by the rest of its clause: "disabling SELinux" is not the fix.

    A `nominal` phrase (an -ing form, a noun) can be the subject of what follows; a command hardly can, so that a
    second command or a new subject between it and the negation means that something else is denied. With `at_once`
    nothing may stand between.
    """
    after = _HARMLESS.sub(BLANK, _NO_HARM.sub(BLANK, after))
    hit = (_AT_ONCE if at_once else _AFTER).match(after)
    if not hit or at_once:
        return hit is not None
    between = hit["between"]
    return not _NEW_SUBJECT.search(between) and (nominal or not _NEW_PREDICATE.search(between))
