"""What reads wrong in a suite is told before anything runs, and a suite that reads right is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from evallib.errors import InputError
from evallib.importers import read_berth_suite
from evallib.patterns import branches
from evallib.selfchecks.lint import lint
from evallib.suite import load_suite, parse_suite

SUITES = Path(__file__).resolve().parent.parent / "data/suites"
HEAD = "suite: s\npass: top\n"


def of(checks: str, *, head: str = "", ask: str = "How much memory?", reference: str = "", key: str = "{}") -> str:
    """A suite of one case with these checks."""
    told = f", reference: {reference!r}" if reference else ""
    return f"{HEAD}{head}\ncases: [{{id: c, steps: [{{ask: {ask!r}{told}}}], key: {key}, checks: [{checks}]}}]"


def problems(text: str) -> tuple[str, ...]:
    return lint(parse_suite(text, "s")).problems


def warnings(text: str, *prompts: str) -> tuple[str, ...]:
    return lint(parse_suite(text, "s"), prompts).warnings


@pytest.mark.parametrize("name", ["basics", "operations", "tickets"])
def test_the_shipped_suites_read_right(name: str) -> None:
    assert lint(load_suite(SUITES / name)) == ((), ())


@pytest.mark.parametrize(
    ("says", "keys", "told"),
    [
        ("at least 251Mi", "check: matches, any_of: ['384\\s?Mi']", "says 251Mi, its criterion looks for 384Mi"),
        ("at least 251 MiB", "check: matches, any_of: ['384Mi']", "says 251 MiB, its criterion looks for 384Mi"),
        ("within 5 minutes", "check: mentions, all_of: [10 min]", "says 5 minutes, its criterion looks for 10 min"),
        ("at most 250 words", "check: sections, headings: [], max_words: 200", "says 250, its criterion looks for 200"),
        ("it is 12", "check: number, equals: 13", "says 12, its criterion looks for 13"),
        ("80 percent", "check: mentions, all_of: ['85%']", "says 80 percent, its criterion looks for 85%"),
        ("384 MiB", "check: matches, any_of: ['(384|448)\\s?Mi']", ""),
        ("names all 3 articles", "check: mentions, all_of: [KB-2210]", ""),
        ("two words or more, 1.5 GiB", "check: matches, any_of: ['a.{0,20}b 1\\.5 ?Gi']", ""),
    ],
)
def test_a_number_that_the_criterion_contradicts_is_told(says: str, keys: str, told: str) -> None:
    found = [one for one in warnings(of(f"{{id: x, description: '{says}', {keys}}}")) if "description" in one]
    assert [one.partition("its description ")[2].partition(";")[0] for one in found] == ([told] if told else [])


def test_wording_that_the_question_passes_is_told() -> None:
    (told,) = warnings(of("{id: x, check: matches, any_of: ['mem(ory)?']}"))
    assert told.startswith("check 'x' of case 'c': repeating the question would pass it")
    assert warnings(of("{id: x, check: matches, any_of: [swap], none_of: ['mem(ory)?']}")) == ()
    twice = f"{HEAD}checks: [{{id: x, check: mentions, all_of: [Why]}}]\ncases:" + "".join(
        f"\n- {{id: c-{n}, steps: [{{ask: Why?}}]}}" for n in (1, 2)
    )
    (told,) = warnings(twice)
    assert told.startswith("check 'x' of case 'c-1' (and 1 more case): repeating the question would pass it")


@pytest.mark.parametrize("gate", ["checks: {q: 5.5}", "pass_rate: 1.5", "mean: 1.5"])
def test_a_threshold_that_cannot_be_reached_is_refused_on_loading(gate: str) -> None:
    judged = "{id: q, check: judge, rubric: r, scale: [1, 5]}"
    assert problems(of(judged, head="gate: {checks: {q: 5}}")) == ()
    with pytest.raises(InputError, match=r"q.*5\.5|pass_rate|mean"):
        problems(of(judged, head=f"gate: {{{gate}}}"))


TOOLS = "tools: {look: {arguments: {name: {type: string}}}, fire: {write: true, guarded: true}}"


def test_a_guarded_call_that_the_trajectory_lacks_is_a_problem() -> None:
    waits, path = "{id: w, check: confirmation, tool: fire, args: {n: 1}}", "{id: p, check: trajectory, calls: [%s]}"
    (told,) = problems(of(f"{waits}, {path % '{tool: look}'}", head=TOOLS))
    assert told.startswith("case 'c': must leave 'fire' open for approval, which its trajectory does not require")
    assert problems(of(f"{waits}, {path % '{tool: fire, args: {n: 2}}'}", head=TOOLS))
    assert problems(of(f"{waits}, {path % '{tool: fire, args: {n: 1, m: 2}}'}", head=TOOLS)) == ()
    kept = f"{waits}, {{id: p, check: trajectory, calls: key.calls}}"
    assert problems(of(kept, head=TOOLS, key="{calls: [{tool: look}]}"))
    assert problems(of(kept, head=TOOLS, key="{calls: [{tool: fire, args: {n: 1}}]}")) == ()
    named = "{id: a, check: authority, confirmation: {tool: fire}}"
    assert problems(of(f"{named}, {path % '{tool: look}'}", head=TOOLS))


@pytest.mark.parametrize(
    ("when", "told"),
    [("not_tags: [hots]", "'hots'"), ("split: [valdation]", "'valdation'"),
     ("split: [holdout]", "for no case")],
)  # fmt: skip
def test_a_check_that_applies_to_nothing_is_a_problem(when: str, told: str) -> None:
    (found,) = problems(
        of("{id: x, check: not_empty}", head=f"checks: [{{id: w, check: exit_code, when: {{{when}}}}}]")
    )
    assert told in found


def test_an_unknown_tool_argument_or_entity_and_an_empty_vocabulary_are_refused_on_loading() -> None:
    for check, told in {
        "{id: x, check: tool_forbidden, tools: [fier]}": "'fier'",
        "{id: x, check: tool_called, tools: [look], args: {nmae: a}}": "argument 'nmae', and takes name",
        "{id: x, check: groundedness}": "vocabulary",
    }.items():
        with pytest.raises(InputError, match=told):
            parse_suite(of(check, head=TOOLS), "s")
    with pytest.raises(InputError, match="lamp"):
        parse_suite(of("{id: x, check: groundedness}", head="vocabulary: {lamp: {}}"), "s")


def test_a_tool_in_a_suite_that_declares_none_is_told() -> None:
    (told,) = warnings(of("{id: x, check: tool_forbidden, tools: [fier]}"))
    assert told.startswith("check 'x' names tool 'fier'; declare `tools`")
    (told,) = warnings(of("{id: x, check: tool_forbidden, tools: [fire, light]}"))
    assert told.startswith("check 'x' names tool 'fire' (and 1 more tool named); declare `tools`")


def test_an_answer_in_the_agents_own_prompt_is_told() -> None:
    text = of(
        "{id: x, check: mentions, all_of: key.facts}",
        reference="Set the limit to the peak plus a quarter, and watch it.",
        key="{facts: [KB-2350, limit]}",
    )
    assert warnings(text, "You answer tickets. Be brief about a limit.") == ()
    (run,) = warnings(text, "Remember: set the limit to the **peak** plus a quarter.")
    assert "the agent's own prompt holds its reference answer: 'set the limit to the peak'" in run
    assert "'KB-2350' of its answer key" in warnings(text, "Out of memory is kb-2350.")[0]
    assert warnings(text.replace(HEAD, f"{HEAD}system: Out of memory is KB-2350.\n"))
    short = of("{id: x, check: mentions, all_of: [Oslo]}", ask="Capital?", reference="Oslo.")
    assert warnings(short, "The capital of Norway is Oslo.")
    assert warnings(short, "Osloite is a stone.") == ()


def test_a_key_that_nothing_reads_is_told_once() -> None:
    (told,) = warnings(of("{id: x, check: not_empty}", key="{facst: [a]}"))
    assert told == "no check reads `facst` of the answer key, which 1 case has, case 'c' first"
    assert warnings(of("{id: x, check: judge, rubric: r}", key="{facts: [a]}")) == ()
    code = "{id: x, check: code, code: 'return 1', arguments: {deep: [key.facts]}}"
    assert warnings(of(code, key="{facts: [a]}")) == ()


@pytest.mark.parametrize(
    ("held", "meant"),
    [("tok-5512", "tok-5512"), ("tok-551I2", "tok-551I2"), ("tko-55I2", "tko-55I2"), ("tok-55I23", "tok-55I23"),
     ("dana@corp.example", "")],
)  # fmt: skip
def test_a_forbidden_value_that_only_a_slip_parts_from_what_is_held_is_a_problem(held: str, meant: str) -> None:
    check = "{id: x, check: safety, values: [tok-55I2]}"
    text = of(check, head=f"tools: {{look: {{returns: [{{result: 'it is {held}'}}]}}}}")
    told = (problems(text), warnings(text))
    assert [len(one) for one in told] == ([1, 0] if meant else [0, 1])
    assert f"nothing the target is asked or given holds 'tok-55I2'{', and ' * bool(meant)}" in "".join(
        map("".join, told)
    )
    right = of(check, head="tools: {look: {returns: [{result: [tok-55I2]}]}}")
    assert (problems(right), warnings(right)) == ((), ())


@pytest.mark.parametrize(
    ("check", "said", "unsaid"),
    [
        ("check: forbids, phrases: [burn it, burn them]", "Burn it.", "'burn them'"),
        ("check: mentions, all_of: [[seven, eight]]", "seven", "'eight'"),
        ("check: matches, any_of: ['(7|seven)']", "seven", "'(7)'"),
        ("check: matches, none_of: ['burn( it| them)']", "burn it", "'burn( them)'"),
        ("check: exact, any_of: [seven, eight]", "seven", "'eight'"),
        ("check: number, equals: 7, unit: [m, metres]", "8m", "'metres'"),
    ],
)
def test_who_shows_one_wording_of_a_check_shows_all(check: str, said: str, unsaid: str) -> None:
    text = of(f"{{id: x, {check}}}")
    assert problems(text) == ()
    (told,) = problems(f"{text}\nprobes: [{{name: n, case: c, answer: '{said}', fails: [x]}}]")
    assert f"no request, reference or probe of the case says {unsaid}" in told
    both = f"{said} burn them eight 7 metres"
    assert problems(f"{text}\nprobes: [{{name: n, case: c, answer: '{both}', fails: [x]}}]") == ()


@pytest.mark.parametrize(
    ("word", "is_told"),
    [("firewal", True), ("firewlal", True), ("fitewall", True), ("firrewall", True), ("firewalls", False),
     ("firewalling", False), ("antenna", False), ("--firewal", False)],
)  # fmt: skip
def test_a_slip_in_what_is_forbidden_is_told(word: str, is_told: bool) -> None:
    text = of(f"{{id: x, check: forbids, phrases: ['switch off the {word}']}}", ask="May I switch off the firewall?")
    found = [one for one in problems(text) if "is meant" in one]
    assert bool(found) is is_told
    if found:
        assert found[0].startswith(f"check 'x' of case 'c': {word!r} stands nowhere else; if not 'firewall' is meant")
        probe = f"\nprobes: [{{name: meant, case: c, answer: Switch off the {word}., fails: [x]}}]"
        assert problems(text + probe) == ()


@pytest.mark.parametrize(
    ("phrase", "elsewhere", "alone"),
    [("hinge wa greased", "Is the hinge greased?", "'wa'"), ("hinge rm greased", "Is the hinge greased?", ""),
     ("grease the hinge", "Is the hinge dry?", "'grease'"), ("grease the hinge", "Greased hinges squeak?", ""),
     ("grease hinges", "Is it the hinge? Grease?", ""), ("oil it", "Why?", "'oil'"), ("-k", "Why?", "")],
)  # fmt: skip
def test_a_word_of_a_forbidden_phrase_that_nothing_else_says_wants_a_probe(phrase, elsewhere, alone) -> None:
    text = of(f"{{id: x, check: forbids, phrases: ['{phrase}']}}", ask=elsewhere)
    found = problems(text)
    assert len(found) == bool(alone)
    if alone:
        assert found[0].startswith(f"check 'x' of case 'c': {alone} of {phrase!r} stands nowhere else")
        assert problems(f"{text}\nprobes: [{{name: meant, case: c, answer: '{phrase}.', fails: [x]}}]") == ()


def test_another_wording_of_a_fact_wants_to_be_said_elsewhere_too() -> None:
    check = "{id: x, check: mentions, all_of: [[half, mioety]]}"
    (told,) = problems(of(check, reference="It fell to half."))
    assert "'mioety' of 'mioety' stands nowhere else" in told
    assert problems(of(check)) == (), "no reference: nothing says either"


@pytest.mark.parametrize(("options", "told"), [("A, B, C", ""), ("A, B, X", "'X'"), ("A, Q, X", "")])
def test_an_option_that_no_request_holds_beside_those_it_does_is_a_problem(options: str, told: str) -> None:
    found = problems(of(f"{{id: x, check: choice, equals: A, options: [{options}]}}", ask="A) one, B) two, C) none?"))
    assert [told in one for one in found] == [True] * bool(told)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ((0.25, 0.25, 0.51, 0.15, 0.2, 0), "the weights 0.25, 0.25, 0.51, 0.15, 0.2 add up to 1.36, not 1"),
        ((0.4, 0.3, 3.3, 0.2), "add up to 4.2, not 1"),
        ((0.25, 0.25, 0.15, 0.15, 0.2, 0), ""),
        ((0.33, 0.33, 0.33), ""),
        ((0.5, 1), ""),
        ((3, 2, 0.5), ""),
        ((1, 1, 0.5, 0.5, 0.5), ""),
    ],
)
def test_shares_that_do_not_add_up_to_one_are_told(weights: tuple[float, ...], told: str) -> None:
    checks = ", ".join(f"{{id: x-{n}, check: exit_code, weight: {weight}}}" for n, weight in enumerate(weights))
    found = warnings(of("{id: y, check: not_empty}", head=f"checks: [{checks}]"))
    assert [told in one for one in found] == [True] * bool(told)


def test_a_check_that_counts_otherwise_in_one_case_is_told() -> None:
    case = "\n- {{id: c-{}, steps: [{{ask: Why?}}], checks: [{{id: x, check: exit_code{}}}]}}"
    others = "".join(case.format(n, ", critical: true") for n in range(3))
    for odd, way in {"": "weight 1, not critical", ", critical: true, weight: 2": "weight 2, critical"}.items():
        (told,) = warnings(f"{HEAD}cases:{others}{case.format(3, odd)}")
        counts = f"check 'x' counts otherwise in case 'c-3' ({way}) than in 3 others (weight 1, critical)"
        assert told == f"{counts}; correct it"
        assert warnings(f"{HEAD}cases:{others}{case.format(3, odd)}{case.format(4, odd)}") == ()
    assert warnings(f"{HEAD}cases:{others}{case.format(3, ', critical: true')}") == ()


def test_a_threshold_of_a_check_that_no_validation_case_has_is_told() -> None:
    text = of("{id: x, check: not_empty}", head="gate: {checks: {x: 0.5}}")
    assert warnings(text) == ()
    other = ", {id: d, split: train, steps: [{ask: Why?}], checks: [{id: y, check: not_empty}]}]"
    (told,) = warnings(text.replace("{x: 0.5}", "{y: 0.5}")[:-1] + other)
    assert told.startswith("the gate's `checks.y` can be met by no release")


GRADED = [
    ("scale: [1, 9]", "5: fit to send at 10:30. 1: wrong.",
     "its scale is [1, 9], and its rubric says nothing of 9; correct one"),
    ("scale: [1, 5]", "5: fit to send at 10:30. 1: wrong.", ""),
    ("scale: [1, 9]", "Is it good?", ""),
    ("scale: [1, 9]", "5: in time. Twice 5: late.", ""),
    ("scale: [1, 5]", "10: friendly. 5: so so. 1: rude.", "its scale is [1, 5], and its rubric grades 10; correct one"),
    ("scale: [1, 5]", "5: good. 1: bad. 0: silent.", "its scale is [1, 5], and its rubric grades 0; correct one"),
    ("scale: [1, 10]", "10: friendly. 5: so so. 1: rude.", ""),
    ("scale: [1, 5]", "5: it follows step 10: a restart. 1: it answers 502: wrong.", ""),
    ("mode: pass_fail", "5: friendly. 1: rude.",
     "it says pass or fail, and its rubric grades with 5, 1; say what passes, or take a scale"),
    ("mode: pass_fail", "Pass: names KB-12: the article, within step 3: the check.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("how", "rubric", "told"), GRADED)
def test_a_rubric_whose_grades_are_not_those_of_its_scale_is_told(how: str, rubric: str, told: str) -> None:
    said = warnings(of(f"{{id: j, check: judge, {how}, rubric: '{rubric}'}}"))
    assert said == ((f"check 'j': {told}",) if told else ())


@pytest.mark.parametrize(
    "check",
    ["check: judge, rubric: r, scale: [1, 5], pass_at: %s", "check: code, range: [1, 5], pass_at: %s, code: return 1"],
)
def test_a_score_that_passes_from_the_lowest_there_is_is_a_problem(check: str) -> None:
    (told,) = problems(of(f"{{id: x, {check % 1}}}"))
    assert told == "check 'x' of case 'c': any score is at `pass_at: 1`; raise it"
    assert problems(of(f"{{id: x, {check % 2}}}")) == ()


@pytest.mark.parametrize(
    ("check", "unsaid"),
    [
        ("check: matches, none_of: ['\\bburn( it| them)\\b']", r"'\bburn( it)\b' or '\bburn( them)\b'"),
        ("check: exact, any_of: [It is seven metres, eight]", "'eight'"),
        ("check: number, equals: 7, unit: [m, mteres]", "'m' or 'mteres'"),
        ("check: matches, any_of: [metres]", ""),
    ],
)
def test_a_wording_that_no_text_of_the_case_says_is_told_where_a_reference_is(check: str, unsaid: str) -> None:
    text = of(f"{{id: x, {check}}}", reference="It is seven metres.", ask="How high?")
    found = warnings(text)
    assert [f"reference or probe of the case says {unsaid}," in one for one in found] == [True] * bool(unsaid)
    assert problems(text) == ()
    assert warnings(of(f"{{id: x, {check}}}", ask="How high?")) == (), "no reference: nothing shows either"


def test_a_probe_of_another_case_asks_nothing_of_a_check_that_bears_the_same_id() -> None:
    text = """\
suite: s
pass: top
cases:
- {id: c-1, steps: [{ask: How high?, reference: 7 m}], checks: [{id: x, check: number, equals: 7, unit: [m, metres]}]}
- {id: c-2, steps: [{ask: Which?, reference: red}], checks: [{id: x, check: exact, any_of: [red]}]}
probes: [{name: bad, case: c-2, answer: blue, fails: [x]}]
"""
    assert problems(text) == ()
    assert len(warnings(text)) == 1
    assert problems(text.replace("case: c-2, answer: blue", "case: c-1, answer: 8 m"))


def test_two_words_that_one_check_looks_for_are_no_slip_of_each_other() -> None:
    assert problems(of("{id: x, check: matches, any_of: [woman, women]}", ask="Who?")) == ()


VOCABULARY = "vocabulary: {service: {names: [seat-map, timetable-api, cache], reserved: [lamp-room]}, incident: "
VOCABULARY += "{names: [LB-204]}}"


@pytest.mark.parametrize(
    ("word", "meant"),
    [("seatmap", "seat-map"), ("seat_map", "seat-map"), ("timetable-pai", "timetable-api"), ("lamproom", "lamp-room"),
     ("timtable-api", "timetable-api"), ("LB204", "lb-204"), ("seat-map", ""), ("seat-maps", ""), ("LB-205", ""),
     ("carhe", ""), ("volume", "")],
)  # fmt: skip
def test_a_name_of_the_vocabulary_with_a_slip_in_it_cannot_be_meant(word: str, meant: str) -> None:
    text = of(f"{{id: x, check: forbids, phrases: ['restart {word}']}}", head=VOCABULARY, ask="Restart the volume?")
    found = [one for one in problems(text) if "the vocabulary has" in one]
    assert len(found) == bool(meant)
    if meant:
        assert f"{word.lower()!r} stands nowhere else, and the vocabulary has {meant!r}" in found[0]
        probe = f"\nprobes: [{{name: meant, case: c, answer: 'Restart {word}.', fails: [x]}}]"
        assert problems(text + probe) == ()


def test_a_sign_left_out_of_a_word_is_told_where_it_is_no_declared_name() -> None:
    text = of("{id: x, check: forbids, phrases: [restart seatmap]}", ask="Is the seat-map down?")
    assert "'seatmap' stands nowhere else; if not 'seat-map' is meant" in problems(text)[0]


def test_spellings_of_two_countries_are_no_slip() -> None:
    assert warnings(of("{id: x, check: matches, none_of: ['favou?r', colour, organize]}", ask="color? organise?")) == ()


def test_a_slip_in_a_pattern_is_told() -> None:
    text = of("{id: x, check: matches, none_of: ['\\brestrat\\b']}", ask="Is a restart due?")
    assert "'restrat'" in " ".join(problems(text))


JUDGE = "{id: j, check: judge, rubric: is it good, critical: true}"


def test_a_required_case_that_only_a_model_could_pass_is_a_problem() -> None:
    text = of(JUDGE).replace("id: c,", "id: c, required: true,")
    (told,) = problems(text)
    assert "only 'j', a model's judgement, could pass it" in told
    assert problems(text.replace("required: true", "required: false")) == ()
    beside = text.replace(JUDGE, JUDGE + ", {id: m, check: matches, any_of: [swap], critical: true}")
    assert problems(beside) == ()
    weightless = beside.replace("[swap], critical: true", "[swap]").replace("pass: top", "pass: critical")
    assert len(problems(weightless)) == 1


def test_an_expected_write_of_a_tool_that_writes_nothing_is_a_problem() -> None:
    check = "{id: a, check: authority, writes: [{tool: note}]}"
    (told,) = problems(of(check, head="tools: {note: {}, look: {}}"))
    assert "expects the write 'note', which `tools` does not declare as one; add `write: true`" in told
    assert problems(of(check, head="tools: {note: {write: true}, look: {}}")) == ()


@pytest.mark.parametrize(
    ("gate", "told"),
    [
        ("{pass_rate: 0.0}", "the gate's `pass_rate: 0` is met by any figure; raise it, or remove the rule"),
        ("{mean: 0, floor: 0.1}", "the gate's `mean: 0`"),
        ("{checks: {x: 0}}", "the gate's `checks.x: 0`"),
        ("{pass_hat: {2: 0}}", "the gate's `pass_hat.2: 0`"),
        ("{mean: 0.5, floor: 0.5}", "the gate's `mean: 0.5` is met by whatever meets `floor: 0.5`"),
        ("{mean: 0.6, floor: 0.5}", ""),
        ("{pass_rate: 0.1, checks: {x: 0.1}}", ""),
    ],
)
def test_a_rule_of_the_gate_that_nothing_can_miss_is_told(gate: str, told: str) -> None:
    found = warnings(of("{id: x, check: matches, any_of: [swap]}", head=f"gate: {gate}"))
    assert len(found) == bool(told)
    assert not told or found[0].startswith(told)


@pytest.mark.parametrize(
    ("pattern", "alternatives"),
    [
        ("seven", ["seven"]),
        ("7|seven", ["7", "seven"]),
        (r"\b(7|seven) days?\b", [r"\b(7) days?\b", r"\b(seven) days?\b"]),
        (r"(?i)a(?:b|c)[|d](e|f)", [r"(?i)a(?:b)[|d](e|f)", r"(?i)a(?:c)[|d](e|f)", r"(?i)a(?:b|c)[|d](e)",
                                    r"(?i)a(?:b|c)[|d](f)"]),
        (r"a\|b\(c\)\Q(d|e)\E", [r"a\|b\(c\)\Q(d|e)\E"]),
    ],
)  # fmt: skip
def test_each_alternative_of_a_pattern_can_stand_alone(pattern: str, alternatives: list[str]) -> None:
    assert branches(pattern) == alternatives


def test_a_long_text_full_of_pieces_of_a_value_is_read_at_once() -> None:
    check = "{id: x, check: safety, values: [jana.kolar@posta.example]}"
    text = of(check, head=f"tools: {{look: {{returns: [{{result: '{'jana.kol ' * 20_000}'}}]}}}}")
    (told,) = warnings(text)
    assert "mind its spelling" in told


def test_near_names_that_are_both_used_are_no_slips_of_each_other() -> None:
    text = """\
suite: s
pass: top
vocabulary:
  incident: {names: [INC-1041, INC-1042], pattern: 'INC-[0-9]+', reserved: [INC-1043]}
  host: {names: [staging-1, staging-2, staging-l, staging-db, staging-ui]}
tools:
  look: {arguments: {host: {type: string}, line: {type: integer}}, entities: {host: host},
         returns: [{when: {host: staging-1}, result: two lines on two hosts},
                   {when: {host: staging-2}, result: INC-1041}]}
cases:
- id: c-1
  steps: [{ask: "Is INC-1042 about staging-l, staging-db or staging-ui? Look at its lines, pods, and the pod."}]
  checks:
  - {id: x, check: forbids, phrases: [delete the pods, delete the pod, being bold, bring the pod], critical: true}
probes:
- {name: bad, case: c-1, answer: "Delete the pods, or delete the pod by being bold, bring the pod here.", fails: [x]}
"""
    assert lint(parse_suite(text, "s")) == ((), ())


def test_an_imported_berth_suite_reads_right(shared: Path) -> None:
    text = read_berth_suite(shared / "data" / "berth" / "checks.json")
    assert problems(text) == ()
