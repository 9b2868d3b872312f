"""Promises of a concrete date: something will be delivered or done, and the answer says when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from evallib.checks.blocks import Clause
from evallib.checks.clauses import Reading
from evallib.checks.later import later
from evallib.checks.lexicon import BLANK

__all__ = ["dates", "is_promise"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
_SPAN = r"(?:day|week|weekend|fortnight|sprint|month|quarter|year)s?\b"
_NUMBER = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fourteen|thirty|forty-eight)"
_COUNT = (
    rf"(?:(?:another |one more )?{_NUMBER}(?: more)?(?: ?(?:-|to|or) ?{_NUMBER})?|another|a few|a couple of"
    r"|a matter of|few|couple of|some)"
)
_UNIT = r"(?:(?:working|business|calendar) )?(?:hour|hr|day|week|fortnight|sprint|month|quarter)s?\b"
_ABOUT = "(?:about |around |roughly |at most |up to )?"
_DOERS = r"(?:us|me|our \w{1,30}|the (?:team|crew|vendor|developers?|engineers?|technicians?))"
_NTH = r"(?:first|second|third|fourth|last|1st|2nd|3rd|4th)"
_CLOCK = r"(?:noon|midnight|\d{1,2}:\d{2}\b|\d{1,2} ?(?:am|pm|o'clock)\b)"
_FEAST = r"(?:christmas|xmas|easter|new year(?:'s)?|thanksgiving|the holidays)\b"
_AFTER_ETA = later(rf"(?: is| of|:)? {_COUNT} {_UNIT}")
_DATE = later(
    r"\d{4}-\d{2}-\d{2}\b|\d{4}/\d{2}/\d{2}\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}\b"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?"
    rf"|(?:in|by|before|during|this|next|until|early|late|end of|(?:the )?(?:start|middle) of) {_MONTH}(?: \d{{4}})?"
    rf"|mid[- ]{_MONTH}|(?:on|by|before|this|next|coming|until) (?:next |this |coming )?{_DAY}|{_DAY}"
    r"|(?:by|on|around|about|before|until|for) the \d{1,2}(?:st|nd|rd|th)\b"
    rf"(?: of {_MONTH})?"
    rf"|(?:this|next|coming|by the|over the|within the|inside the|before the|early next|later this|mid next) {_SPAN}"
    rf"|(?:the )?(?:end|close|start|middle) of (?:the |this |next |play |business )?(?:{_SPAN}|business|play)?"
    r"|(?:year|month|quarter|week)[- ]end\b"
    rf"|(?:in|over|within|during) the (?:next|coming|following)(?: {_COUNT})? (?:{_UNIT}|weekend\b)"
    rf"|(?:in|within|under|less than|after) (?:about |around |roughly |at most |the next )?{_COUNT} {_UNIT}"
    rf"|{_COUNT} {_UNIT} from (?:now|today)\b|\d{{1,3}} ?h\b"
    rf"|{_NTH} (?:quarter|half|week)(?: of (?:the )?(?:year|\d{{4}}|next year|{_MONTH}))?"
    r"|(?:q[1-4]|h[12])\b(?:[ /]\d{2,4})?|(?:by|before|after|around|over) "
    rf"{_FEAST}|(?:by|before|at|for|around|until) {_CLOCK}|half an hour\b"
    # how long it takes those who do it: "it takes our team 3 days to repair it"
    rf"|(?:(?<=\btakes )|(?<=\btake )){_DOERS} {_ABOUT}{_COUNT} {_UNIT}"
    rf"|(?:(?<=\bus longer than )|(?<=\bus more than )|(?<=\bneed )|(?<=\ballow )|(?<=\bgive us )"
    rf"|(?<=\ballow us )){_ABOUT}{_COUNT} {_UNIT}"
    r"|today\b|tomorrow\b|tonight\b|overnight\b|e[o]d\b|cob\b|eow\b|eom\b|eoq\b|eoy\b"
)
_WORD = re.compile(r"\w+")
_OPENING = frozenset(
    _WORD.findall(
        "a about after an another apr april around at aug august before business by close cob coming couple dec "
        "december during early eight end eod eom eoq eow eoy eta feb february few first five for forty four fourteen "
        "fourth friday half in inside jan january jul july jun june last late later less mar march may me mid middle "
        "monday month next nine nov november oct october on one our over overnight q1 q2 q3 q4 h1 h2 quarter roughly "
        "saturday second sep sept september seven six some start sunday ten the third thirty this three thursday "
        "today tomorrow tonight tuesday twelve two under until up us wednesday week within year"
    )
)
"""Words that a date may begin with, beside digits: to ask the pattern at every word took half of all reading."""
_DELIVERY = (
    r"(?:ship|releas|fix|resolv|deliver|land|arriv|available|publish|patch|hotfix|updat|correct|repair|restor|clos|"
    r"provid|deploy|merg|launch|refund|replac|sent|send|solv|complet|finish|roll(?:ed|ing|s)? out|come|coming"
    r"|live|ready|done|gone|work|up|out|back|land|reach|turn up"
    r"|be (?:with|there)|get (?:to|through)|sort|install|deal|operational|resum|restart|visit)\w*"
)
_THING = (
    r"(?:fix|patch|release|update|version|hotfix|repair|replacement|refund|delivery|parcel|package|shipment"
    r"|order|answer|reply|solution|feature|build|upgrade|part|technician|engineer|correction|errata|image|workaround)s?"
)
_AHEAD = later(
    r"(?:\b(?:will|shall)\b|'ll\b|\bgoing to\b|\b(?:promis|guarante|commit|expect|schedul|plann|aim|target|anticipat|"
    r"estimat|slat)\w*|\bplans? (?:to|for)\b|\bshould\b)"
    rf".*\b{_DELIVERY}|\b{_DELIVERY}\b.*\b(?:expected|scheduled|planned|promised|guaranteed|due|slated|targeted"
    rf"|booked)\b|\bby\b.*\b(?:be|is|will|'ll)\b.*\b{_DELIVERY}"
    r"|\b(?:ships|arrives|lands|releases|comes out|goes live|rolls out|launches|goes out|resumes)\b"
    rf"|\b(?:have|has|'ve) (?:\w+ )?(?:scheduled|planned|booked|set|arranged|slated|promised)\b.*\b(?:{_THING}"
    rf"|deployment|visit|work)\b"
    rf"|^(?!.*\bof {BLANK}).*\b(?:has|have|contains?|brings?|includes?|carries|delivers?|comes? with) (?:the|a|an"
    rf"|your|our) {_THING}\b|\b{_THING} (?:is|are|comes?|goes) (?:in|into|with|part of)\b"
    rf"|\b(?:look out|watch|look) for (?:the|a|an|our) {_THING}\b"
    r"|\b(?:bug|defect|issue|problem|fault|outage|error)s? (?:will|'ll)\b"
    rf"|^\W*(?:give|allow) (?:{_DOERS} {BLANK}|(?:it|them|that) .*\b(?:will|'ll)\b)"
    # who comes at an appointed time: "a technician comes on ..."
    r"|\b(?:a|an|our|the|your) (?:\w+ )?(?!customer|user|visitor|owner|winter|summer)(?:mechanic|\w+(?:er|or|ist"
    r"|ian)) (?:comes|visits|calls|delivers|brings)\b"
    rf"[^{BLANK}]{{0,40}}{BLANK}"
    rf"|\btakes? us (?:longer|more) than {BLANK}|(?:\bwill|'ll) take {BLANK}|\btakes? {BLANK}.*\b(?:to"
    rf"|for) .*\b{_DELIVERY}|\b{_DELIVERY}.*\btakes? {BLANK}"
    rf"|\b(?:we|i|{_DOERS}|engineers?|developers?)(?: will|'ll)? need {BLANK} (?:to|for)\b.*\b{_DELIVERY}"
    rf"|\bbe {_DELIVERY}\b|\bgets? (?:fixed|released|resolved|patched|shipped)\b|\b{_THING} (?:is|are) (?:due"
    rf"|available|ready|out|live)\b"
    rf"|\b(?:will|shall)\b.*\b{_THING}\b|\b{_THING}\b.*\b(?:will|shall|'ll)\b|\bexpect (?:it|the|a|an|to|your|our"
    rf"|that|this)\b"
    r"|\b(?:is|are|am|'re|'m) (?:shipping|releasing|delivering|fixing|rolling|publishing|patching|deploying|sending|"
    r"launching|coming|arriving|landing)\b"
    r"|\beta\b|\b(?:release|delivery|fix|ship|launch|arrival|target|estimated|expected)(?: \w+)? (?:date|time"
    r"|arrival)\b"
    rf"|\b(?:it|this|that)(?: is|'s) (?:scheduled|planned|slated|due|expected"
    rf"|set) for (?:the \w+(?: \w+)? )?(?:of )?{BLANK}"
    r"|\b(?:is|are) due (?:out|back|in)\b|\b(?:count|rely|bank) on (?:it|a|an|the)\b|^\W*(?:expected|available"
    r"|due|planned|scheduled|estimated|coming)\b"
)
_LABEL = later(rf"(?:the |a |next )?{_THING}")
_OURS = later(
    r"\b(?:we|i|our \w+|the \w+ team|the (?:team|developers?|engineers?|vendor)|engineering|development"
    r"|support|someone|"
    r"a colleague|an engineer|a technician)(?:(?: will|'ll| shall| (?:are|am|is) going to|'(?:re|m) going to|"
    r" (?:plan|expect|aim|intend|hope|promise|guarantee|commit)\w*)\b)"
    r"(?! (?:be (?:closed|away|out|off|unavailable|on)|need|require|ask|close|have to|want))"
)
_YOURS = later(
    rf"\ballow {BLANK} for (?:(?:the |your )?(?:delivery|shipping|shipment|repair|replacement|refund)"
    rf"|(?:it|this|that|them) to \w+)\b|\b(?:bear with us|be patient|hang on|hold on|sit tight) {BLANK}|"
    rf"{BLANK},? you (?:get|receive)\b|\byou (?:can|may|should) (?:expect|look forward to) (?:(?:the|a|an|your|our"
    rf"|this) (?:\w+ )?{_THING}\b|to have\b|it\b)"
    r"|\byou(?: can| may|'ll be able to) (?:count|rely|bank) on\b|\byou(?:'ll| will| shall| can expect to| "
    r"should)(?: \w+ly)? (?:have|get|receive|see|hear|find|be able)\b"
)
_CUSTOMER = later(
    rf"\bplease\b|\byou(?:r (?!{_THING}\b)\w+)?(?: will|'ll)? (?:must|should|need|have(?! been\b)|can|may|ought"
    rf"|could|want|do)\b"
    r"|\b(?:we|i)(?: will|'ll)? "
    r"(?:need|require|ask|want|expect) (?:you|your)\b|\b(?:expir\w+|deadline|invoice|payment|end of (?:life"
    r"|support)|retir\w+|"
    r"deprecat\w+|subscription|contract|licen[cs]e)\b|\b(?:if|unless|whether|asked|asks|wonder\w*)\b|\bclose "
    r"(?:the|this|your)\b"
)
_PAST = later(r"\b(?:was|were|had|has been|have been|did|last|ago|yesterday|since)\b")
_FUTURE = later(r"\b(?:will|shall)\b|'ll\b|\bgoing to\b|\b(?:is|are) (?:\w+ )?(?:due|expected|scheduled|planned)\b")
_HEDGED = later(r"\b(?:may|might|could)\b(?! \d)")
_FILLER = later(
    r"\b(?:by|before|until|on|in|at|the|of|about|around|probably|likely|latest|hopefully|currently|is|are|it|and|or"
    r"|a|for|from|now|as|no later than|early|late|ideally|possibly|then|again|already|later)\b|\W"
)
_LONGEST = 1200


def dates(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the dates and times from now in folded text."""
    plain, end = text.replace("\n", " "), 0
    for word in _WORD.finditer(plain):
        said = word[0]
        if word.start() >= end and (said in _OPENING or said[0].isdigit()):
            hit = _AFTER_ETA.match(plain, word.end()) if said == "eta" else _DATE.match(plain, word.start())
            if hit:
                end = hit.end()
                yield hit.span()


def is_promise(reading: Reading, start: int, end: int) -> bool:
    """Whether what is said around the date from `start` to `end` is that something will be done by then.

    Past dates, questions, conditions, possibilities and what the reader has to do by a date promise nothing.
    """
    clause = reading.at(start)
    if clause.asked or clause.text.lstrip().startswith(("if ", "unless ", "whether ")):
        return False
    text = reading.text
    around = f"{text[clause.start : start]}{BLANK}{text[end : max(clause.end, end)]}"[:_LONGEST]
    if clause.words.startswith("by the time ") and not clause.words.startswith("by the time you "):
        return any(_looks_ahead(f"{one.words} by {BLANK}") for one in reading.around(clause)[1:] if one)
    if len(_FILLER.sub("", around)) < 3:
        return any(
            _LABEL.fullmatch(one.words) or _looks_ahead(f"{one.words} {around}") for one in _beside(reading, clause)
        )
    return _looks_ahead(around)


def _beside(reading: Reading, clause: Clause) -> Iterator[Clause]:
    """The clauses that a bare date can belong to: the one before it, and the next of its sentence."""
    first, stop = reading.around(clause)
    if first is not None and (first.block == clause.block or first.asked or reading.kinds[clause.block] == "cell"):
        yield first
    if stop is not None and stop.lead != "sentence":
        yield stop


@lru_cache(maxsize=1024)
def _looks_ahead(clause: str) -> bool:
    text = clause.replace("\n", " ")
    if _YOURS.search(text):
        return True
    if _CUSTOMER.search(text) or _HEDGED.search(text) or (_PAST.search(text) and not _FUTURE.search(text)):
        return False
    return _AHEAD.search(text) is not None or _OURS.search(text) is not None
