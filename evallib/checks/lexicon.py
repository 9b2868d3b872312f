"""The words of denial, as parts of patterns: what the rules of `negation` and `rejection` read, apart from them."""

from __future__ import annotations

__all__ = [
    "ADVICE", "AUX", "BAD", "BE", "BETTER", "BLANK", "COST", "DOING", "EASY", "FIX", "GENERIC", "GONE",
    "HARM", "HEED_NOT", "LEAVE_OUT", "MILD", "NEED", "NEG", "SAYS", "SCOPE", "UNTRUE", "WHO"
]  # fmt: skip


def _joined(lines: str) -> str:
    """The lines of a list as one pattern."""
    return "".join(line.strip() for line in lines.splitlines())


# The negations themselves.
NEG = _joined(r"""
    (?:\b(?:not|never|cannot|no|nothing|nobody|no one|none|neither|hardly|rarely|seldom|scarcely)\b|n't\b|
    \b(?:dont|cant|wont|shouldnt|wouldnt)\b)
""")
AUX = "(?:is|are|was|were|be|will|would|should|must|can|could|may|might|shall|does|do|did|has|have|had|need|am|ought)"
BE = "(?:is|are|was|were|be|been|being|remains?|stays?|seems?|becomes?|looks?)"
# What there is none of, where something need not be done.
NEED = _joined(r"""
    need|rush|hurry|reason|point|use|sense|cause|benefit|call|justification|plans?|intention|excuse|good|advantage|
    grounds?|circumstances?|necessity|value|merit|way(?! (?:around|out))
""")
# What is said of a thing that is not to be done.
BAD = _joined(r"""
    wrong|bad|incorrect|dangerous|harmful|risky|insecure|pointless|useless|futile|forbidden|prohibited|banned|careless|
    senseless|needless|fruitless|worthless|hopeless|rash|hasty|cruel|absurd|ridiculous|wasteful|out of date|
    overdoing (?:it|things)|going too far|over the top|disallowed|discouraged|inadvisable|overkill|false|nonsense|
    foolish|reckless|silly|stupid|crazy|irresponsible|negligent|inappropriate|improper|illegal|illegitimate|irrelevant|
    outdated|obsolete|deprecated|misguided|mistaken|misleading|counter-?productive|destructive|disastrous|fatal|
    hazardous|malicious|fraudulent|bogus|unwise|unsafe|\w+-advised|premature|excessive|inadequate|ineffective|
    un(?!der|i[tvq]|til|touched|changed|affected|harmed|avoid|beat|deni|question)
    \w{2,20}(?:able|ed|ful|ing|ary|wise|safe|sound|fair|ethical)|
    out of (?:the question|bounds)|off[ -]limits|off the (?:table|list|agenda|menu)|
    against (?:the |our )?(?:policy|rules|law)|an? (?:\w+ )?(?:mistake|error|anti-?pattern|myth|scam|fraud|hoax|trap|
    trick|lie|fake|forgery)|(?:a )?(?:bad|terrible|poor|awful|horrible) (?:idea|advice|choice|practice|plan|move)|
    too (?:risky|dangerous)
""")
GONE = "ruled out|rejected|declined|dismissed|refused|excluded|abandoned|discarded|avoided|vetoed|withdrawn"
# What nobody advises who says that something would do it.
HARM = _joined(r"""
    (?:los(?:es?|ing|t)|throw\w* (?:\w+ ){0,2}away|orphan\w*|outages?|treat\w* (?:the|a) symptoms?|symptoms? come|
    risk(?:s|ing|y)?(?! (?:is|are)\b)|endanger\w*|damag\w+|destroy\w*|corrupt\w*|worse\w*|bypass\w*|hid(?:es?|ing)|
    br(?:eak(?:s|ing)?|oke)(?! the (?:\w*lock(?! file)|loop|cycle|tie|chain))|mask(?:s|ing)?|conceal\w*|papers? over|
    expos\w+|leaks?|disrupt\w*|injur\w*|violat\w+|breach\w*|regret\w*|hurts?|harm(?:s|ful|ing)?|vulnerab\w+|wast\w+|
    weaken\w*|undermin\w+|cripples?|ruin\w*|wreck\w*|spoil\w*|cracks?|compromis\w+|dead end|last resort|
    (?:is|are|be|gets?) (?:wiped|erased)|would (?:erase|delete|wipe)|(?:data|files?|everything) (?:is|are|will be) gone|
    cost(?:s|ing)? (?:you|us|them)(?! (?:an?|one|two|three|five|ten|some|\d+)\b)|
    leaves? (?:[\w'-]+ ){1,5}?(?:without|stuck|stranded|unprotected|exposed|dangling)|
    (?:only|merely|just) (?!takes|needs|costs|affects|requires|works|helps)\w{2,20}s|
    would (?:only|merely|just)(?! (?:take|need|cost|affect|require|help)\b)|
    (?:takes?|brings?) (?:[\w'-]+ ){1,4}?(?:down with it|offline|to (?:its|their) knees)|
    opens? (?:[\w'-]+ ){1,4}?to (?:everyone|everybody|anyone|anybody|the world|all))
""")
# What a claim is called that does not hold.
UNTRUE = "(?:myth|misconception|fallacy|lie|rumou?r|fiction|hoax|superstition|falsehood)s?"
# What is denied of a thing that may well be done: "no harm", "do not hesitate".
MILD = _joined(r"""
    hesitate|forget|fail|neglect|omit|afraid|shy|fear|worry|delay|wait|avoid\w*|refus\w+|refrain|skip|mind|oppos\w+|
    against|prohibit\w*|forbid\w*|object|resist|regret|hurts?|harms?|reluctant|scared|disagree|deny|deter\w*|
    discourage\w*|damage|problem|issue|concern|insufficient|impossible|enough|sufficient|sure|optional|negotiable|
    unreasonable|opposed|think twice|go wrong|be wrong|stop you|prevent you|prevents|stops you|los(?:e|es|t|ing)|
    suffer\w*|complain\w*|notice|died?|ashamed|embarrassed|nervous|anxious|worried|big deal|talk\w* \w+ out of|hassle|
    keeps? (?:you|us|them|anyone) from|hinders?|crime|sin|offence|violation|disaster|doubt\w*|trouble|difficulty|
    put off|postpone|look (?:any )?further
""")
EASY = _joined(r"""
    hard|difficult|complicated|tricky|tough|complex|expensive|costly|painful|scary|rude|unusual|uncommon|rare|slow|
    laborious|challenging|tedious|rocket science|brain surgery|too \w+
""")
BETTER = (
    "better|safer|wiser|easier|faster|quicker|simpler|cheaper|cleaner|smarter|sooner|rather|kinder|healthier|sounder"
    rf"|(?:more|less) (?!(?:{BAD})\b)\w+|less (?:{BAD})"
)
FIX = "fix|solution|answer|remedy|way|cure|option|approach|workaround"
# How a thing is left undone.
LEAVE_OUT = "not|never|avoid|skip|refuse|neglect|forget|fail|omit|leave out|postpone|delay|put off|hold off"
HEED_NOT = r"(?:ignor|disregard|dismiss|reject|resist|discount|overrul|declin|refus|distrust)\w*"
SAYS = _joined(r"""
    (?:involv|requir|includ|advis|propos|endors|justif|suggest|recommend|mention|prescrib|instruct|contain|support|
    permit|allow|demand|entail|warrant|foresee|envisag)(?:s|es|ies|e|y)?|tells?|told|asks?|says?|calls? for|called for|
    means?
""")
# What carries advice.
ADVICE = _joined(r"""
    advice|suggestion|tip|recommendation|claim|idea|instruction|command|answer|post|approach|step|workaround|statement|
    guide|guidance|request|order|proposal|rumou?r|hint|prompt|message|note|text|page|urge|temptation|impulse|comment|
    line
""")
WHO = _joined(r"""
    you|we|us|me|him|her|them|it|this|that|anyone|anybody|someone|somebody|everyone|one|no one|nobody|
    (?!\w+thing\b)\w+ing
""")
# How advice is followed.
DOING = _joined(r"""
    do|doing|done|did|follow|followed|following|obey|comply|complied|heed|believe|listen(?: to)?|act(?:ed)?(?: on)?|
    fall(?: for)?|agree(?: to)?|recommend|advise|try|tried|consider|give in(?: to)?|go along(?: with)?|do so
""")
# What stands for actions that are still to be named.
GENERIC = _joined(r"""
    (?:to|do|doing|run|running|use|using|try|execute|perform|type|enter|follow|apply|attempt|consider|ever|also|please|
    any|all|of|the|following|these|this|that|those|things?|steps?|commands?|actions?|such|as|like|need|have|under|
    circumstances?|conditions?|even|once|below|above|next|suggestions?|advice)
""")
# The case at hand, where a denial was general.
SCOPE = _joined(r"""
    (?:here|now|today|anyway|still|none?theless|nevertheless|regardless|all the same|this (?:once|time)|
    (?:in|for) (?:your|this|our) (?:\w+ )?(?:case|situation|instance))
""")
COST = (
    rf"(?:{HARM}|(?:(?:cost|tak|affect|caus|delet|remov|touch|block)(?:e?s|e|ing)?|(?:need|requir)(?:e?s|e)?"
    rf"(?! to\b| (?:{WHO})\b)))"
)
BLANK = "\x1f"
"""Stands for each character of an idiom."""
