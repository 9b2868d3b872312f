"""Code checks in real processes: a score in range, or not_scored with the reason; nothing they do reaches further."""

import ctypes
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.checks import parse_check
from evallib.checks.code import Code, outputs_of
from evallib.cli import main
from evallib.errors import InputError
from evallib.records import Sample, ToolCall, Turn, Usage, Verdict
from evallib.scoring import probe_failures, score_samples
from evallib.store import Run, open_run
from evallib.strict_yaml import load_yaml
from evallib.suite import Deadlines, parse_suite
from tests.making import code_suite

SAMPLE = Sample("r", "c-1", 1, answer="four", exit_code=0)


def code(body: str, **keys: object) -> Code:
    return Code.model_validate_json(json.dumps({"id": "x", "check": "code", "code": body, **keys}))


def judged(body: str, sample: Sample = SAMPLE, **keys: object) -> Verdict:
    (verdict,) = code(body, **keys)([sample])
    return verdict


# what it returns


@pytest.mark.parametrize(
    ("body", "value", "passed", "reason"),
    [
        ("return 1.0, 'all there'", 1.0, True, "all there"),
        ("return 0.75, 'one gone'", 0.75, False, "one gone"),
        ("return {'score': 0.5, 'reason': 'half'}", 0.5, False, "half"),
        ("return {'score': True}", 1.0, True, "the code returned True, and no reason"),
        ("return outputs['answer'] == 'five'", 0.0, False, "the code returned False, and no reason"),
        ("return 1", 1.0, True, "the code returned 1.0, and no reason"),
        ("return True, ' '", 1.0, True, "the code returned True, and no reason"),
        ("return sum([0.1] * 10), 'ten tenths'", 1.0, True, "ten tenths"),
        ("return 1, 'a\\x00b\\ud800'", 1.0, True, "a\\u0000b\\ud800"),
    ],
)
def test_a_score_and_a_reason_are_a_verdict(body: str, value: float, passed: bool, reason: str) -> None:
    verdict = judged(body)
    assert (verdict.status, verdict.value, verdict.passed, verdict.reason) == ("scored", value, passed, reason)


@pytest.mark.parametrize(("returned", "value", "passed"), [("3", 0.5, False), ("4", 0.75, True), ("True", 1.0, True)])
def test_a_declared_range_is_the_scale_of_the_score(returned: str, value: float, passed: bool) -> None:
    verdict = judged(f"return {returned}, 'graded'", range=[1, 5], pass_at=4)
    assert (verdict.value, verdict.passed) == (value, passed)
    assert verdict.raw == (5 if returned == "True" else float(returned))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("x = 1", "returned None as the score"),
        ("return 'pass'", "returned 'pass' as the score"),
        ("return [1.0, 'ok']", "returned a list as the score"),
        ("return 1.0, 'ok', 'more'", "a tuple of 3"),
        ("return 1.0, None", "gave None as the reason"),
        ("return {'value': 1.0}", r"keys \['value'\]"),
        ("return float('nan')", "finite"),
        ("return float('inf'), 'much'", "finite"),
        ("return 7.0, 'seven'", "7.0, outside its range 0 to 1"),
        ("return -0.01, 'less'", "outside its range"),
        ("return 10 ** 400", "OverflowError"),
        ("yield 1.0", "a generator"),
        ("a = 1\nreturn outputs['nothing'] + a", r"KeyError: 'nothing' \(line 2 of the code: return outputs"),
        ("class E(Exception):\n  def __str__(self): return 1\nraise E", "raised E"),
        ("import sys\nsys.exit(0)", r"called sys.exit\(0\)"),
        ("raise KeyboardInterrupt", "raised KeyboardInterrupt"),
        ("import os\nos._exit(0)", r"ended without a verdict \(exit status 0\)"),
        ("import ctypes\nctypes.string_at(0)", "SIGSEGV"),
        ("return len(bytearray(1 << 40)) > 0", "more than its 512 MiB"),
        ("def f(): return f()\nreturn f()", "RecursionError"),
        ("while True: print('x' * 1000)", "printed more than 1,000,000 characters"),
        ("try:\n  print('x' * 2000000)\nexcept Exception: pass\nreturn 1", "printed more than"),
        ("import os\nos.fork()\nreturn 1", "PermissionError|BlockingIOError"),
        ("import threading\nthreading.Thread(target=id).start()\nreturn 1", "start new thread"),
        ("import os\nos.kill(os.getppid(), 9)\nreturn 1", "PermissionError|lost the worker"),
        ("open('f', 'w').write('x' * 4000000)\nreturn 1", "File too large"),
        (
            "import os\nfor d in range(3, 9):\n  try: os.write(d, b'[')\n  except OSError: pass\nreturn 1",
            "cannot be read",
        ),
    ],
)
def test_anything_else_is_not_scored_with_the_reason(body: str, reason: str) -> None:
    verdict = judged(body)
    assert (verdict.status, verdict.value, verdict.passed) == ("not_scored", None, None)
    assert re.search(reason, verdict.reason), verdict.reason


def test_what_does_not_end_is_stopped_at_the_deadline_and_its_neighbours_are_scored() -> None:
    body = "while outputs['answer'] == 'loop': pass\nreturn 1.0, outputs['answer']"
    samples = [replace(SAMPLE, sample=n, answer="loop" if n == 2 else f"a{n}") for n in range(1, 6)]
    verdicts = code(body).within(0.5)(samples)
    assert [v.status for v in verdicts] == ["scored", "not_scored", "scored", "scored", "scored"]
    assert verdicts[1].reason == "the code did not end within 0.5 s"
    assert [v.reason for v in verdicts if v.passed] == ["a1", "a3", "a4", "a5"]


@settings(max_examples=15)
@given(st.lists(st.floats(0, 1) | st.just(float("nan")) | st.floats(2, 9), max_size=8), st.randoms())
def test_verdicts_are_the_same_in_any_order(scores: list[float], random: object) -> None:
    samples = [Sample("r", "c", n, answer=repr(score)) for n, score in enumerate(scores, 1)]
    mixed = list(samples)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    check = code("s = float(outputs['answer'])\nreturn s, f'{s}'")
    verdicts = check(samples)
    assert sorted(check(mixed), key=lambda v: v.sample) == verdicts
    assert [v.raw for v in verdicts] == [pytest.approx(s, abs=1e-9) if s <= 1 else None for s in scores]


# what it is given


def test_outputs_are_narrow() -> None:
    call = ToolCall("find", {"id": 7}, "seat 4", None, "c1")
    turns = (Turn(1, "where?", "there", (call,)), Turn(2, "sure?", "four"))
    sample = replace(SAMPLE, turns=turns, files={"notes.md": "n"}, usage=Usage(1, 2, 3), duration_s=1.5)
    assert outputs_of(sample) == {
        "files": {"answer.md": "four", "notes.md": "n"},
        "answer": "four",
        "exit_code": 0,
        "tool_calls": [{"name": "find", "arguments": {"id": 7}, "result": "seat 4", "error": None}],
        "turns": ["there", "four"],
        "duration_s": 1.5,
        "usage": {"input_tokens": 1, "output_tokens": 2, "calls": 3, "cost_usd": None, "cached_tokens": None},
    }
    verdict = judged("import json\nreturn 0, json.dumps(outputs)", sample)
    assert json.loads(verdict.reason) == outputs_of(sample)


def test_an_answer_file_of_the_target_is_not_replaced() -> None:
    assert list(outputs_of(replace(SAMPLE, files={"out/answer.md": "mine"}))["files"]) == ["out/answer.md"]


def test_the_key_reaches_the_code_through_arguments_alone() -> None:
    body = "return outputs['answer'] in arguments['all'][0]['facts'], repr((sorted(outputs), arguments))"
    suite = parse_suite(code_suite(body, "  arguments: {all: [{facts: key.facts}], n: key.n, text: keyed}"), "s")
    (verdict,) = score_samples(suite, [SAMPLE])
    assert verdict.passed
    assert "{'all': [{'facts': ['four']}], 'n': 4, 'text': 'keyed'}" in verdict.reason
    assert "key" not in judged("return 0, repr(outputs)").reason


def test_a_missing_key_is_named_when_the_suite_is_loaded() -> None:
    with pytest.raises(InputError, match="needs key 'gone'"):
        parse_suite(code_suite("return 1", "  arguments: {all: [key.gone]}"), "s.yaml")


def test_a_changed_input_changes_nothing_for_the_next() -> None:
    body = (
        "import builtins, os, json\n"
        "seen = repr((len(outputs), arguments, os.listdir('.'), hasattr(builtins, 'left')))\n"
        "outputs.clear(); arguments['a'].append(2); open('left', 'w').close(); builtins.left = json.loads = 1\n"
        "return 0, seen"
    )
    verdicts = code(body, arguments={"a": [1]})([replace(SAMPLE, sample=n) for n in range(1, 8)])
    assert {v.reason for v in verdicts} == {"(7, {'a': [1]}, [], False)"}


def test_no_child_holds_another_record_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0")
    body = (
        "import gc, os, sys\nown = outputs['answer']\n"
        "dicts, frame = [o for o in gc.get_objects() if isinstance(o, dict)], sys._getframe()\n"
        "while frame: dicts.append(frame.f_locals); frame = frame.f_back\n"
        "held = [v for d in dicts for v in d.values() if isinstance(v, (str, bytes, bytearray))]\n"
        "names = [n for n in ('evallib', 'pydantic') if n in sys.modules]\n"
        "others = [o for o in held if ('mar' + 'ker') in str(o) and own not in str(o)]\n"
        "pipes = [d for d in os.listdir('/proc/self/fd') if 'pipe' in (os.readlink(f'/proc/self/fd/{d}') "
        "if os.path.lexists(f'/proc/self/fd/{d}') else '')]\n"
        "assert any(own in str(v) for v in held)\n"
        "return 0, repr((names, others, len(pipes), 'OPENAI_API_KEY' in os.environ, sorted(os.environ)))"
    )
    verdicts = code(body)([replace(SAMPLE, sample=n, answer=f"marker {n}") for n in range(1, 30)])
    (reason,) = {v.reason for v in verdicts}
    assert reason.startswith("([], [], 1, False, ['HOME', 'LANG'")


PEEKS = """\
import glob, os
taken = []
for process in (os.getppid(), arguments["evallib"]):
    for path in (f"/proc/{process}/mem", f"/proc/{process}/environ", *glob.glob(f"/proc/{process}/fd/*")):
        try:
            name = os.readlink(path) if "/fd/" in path else path
            if "/fd/" in path and ("socket" in name or "pipe" in name):
                os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
                taken.append(name)
            elif "/fd/" not in path and arguments["locked"]:
                os.close(os.open(path, os.O_RDONLY))
                taken.append(name)
        except OSError:
            pass
return not taken, repr(taken)
"""


def test_no_frame_can_be_read_or_forged_through_the_worker_s_descriptors() -> None:
    """A socket cannot be opened anew; where the kernel has Landlock, other processes' memory is closed as well."""
    locked = ctypes.CDLL(None).syscall(444, None, 0, 1) > 0
    arguments = {"evallib": os.getpid(), "locked": locked}
    samples = [replace(SAMPLE, sample=n) for n in range(1, 5)]
    assert {v.reason for v in code(PEEKS, arguments=arguments)(samples)} == {"[]"}


# what a suite may say


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "a = 1\nreturn a +\n",
            r"s\.yaml, line 9 \(checks\.0\.code\): line 2 of the code is not Python: invalid syntax",
        ),
        ("a = 1\n\nawait a", r"line 10 .*line 3 of the code is not Python: 'await' outside async function"),
        ("from os import *", r"line 8 .*import \* only allowed"),
        ("# nothing\n", r"line 7 \(checks\.0\.code\): the code does nothing; end it with a score"),
        ("'a text'\npass", "the code does nothing"),
        (" " * 3, "the code does nothing"),
    ],
)
def test_code_that_is_no_body_is_refused_with_its_line(body: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_suite(code_suite(body), "s.yaml")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("  range: [1, 1]", "must rise"),
        ("  range: [0, .inf]", "range"),
        ("  pass_at: 2", "outside the range"),
        ("  memory_mb: 1", "1 must be at least 64"),
        ("  limit: 1", "unknown key 'limit'"),
    ],
)
def test_a_wrong_key_is_refused(keys: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_suite(code_suite("return 1", keys), "s.yaml")


def test_a_long_string_of_the_code_keeps_its_own_indentation() -> None:
    body = 'text = """a\n  b\nc"""\nreturn text == "a\\n  b\\nc"'
    (verdict,) = score_samples(parse_suite(code_suite(body), "s"), [SAMPLE])
    assert verdict.passed


def test_the_deadline_of_the_suite_reaches_the_check_and_decides_nothing() -> None:
    text = code_suite("while True: pass", "deadlines: {check_s: 0.4}")
    suite = parse_suite(text, "s")
    (verdict,) = score_samples(suite, [SAMPLE])
    assert verdict.reason == "the code did not end within 0.4 s"
    (again,) = score_samples(suite.under(Deadlines(check_s=0.3)), [SAMPLE])
    assert again.reason == "the code did not end within 0.3 s"
    assert again.decides == verdict.decides != ""
    assert code("return True").within(1e300)([SAMPLE])[0].passed


def test_the_deadline_of_the_command_line_stands_in_for_the_suite(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(code_suite("while True: pass"))
    (tmp_path / "script.yaml").write_text("script: s\nreplies:\n- {when: {}, answers: [{text: four}]}\n")
    command = ["run", str(tmp_path), "--target", "scripted", "--run-id", "r", "--data", str(tmp_path)]
    assert main([*command, "--check-timeout", "0.3"]) == 0
    (verdict,) = open_run("r", tmp_path).verdicts
    assert (verdict.status, verdict.reason) == ("not_scored", "the code did not end within 0.3 s")


def test_a_probe_without_a_verdict_is_a_problem_of_the_suite() -> None:
    suite = parse_suite(code_suite("return outputs['no']", "probes: [{name: p, case: c-1, answer: four}]"), "s")
    assert "probe 'p': check 'x' has no verdict on it: the code raised KeyError" in probe_failures(suite)[0]


def test_a_step_may_be_asked_by_code() -> None:
    text = code_suite("return 1.0, 'ok'").replace(
        "{ask: two and two}", '{ask: a, checks: [{id: s, check: code, code: \'return outputs["answer"] == "b"\'}]}'
    )
    sample = replace(SAMPLE, turns=(Turn(1, "a", "b"), Turn(2, "c", "four")))
    assert [v.passed for v in score_samples(parse_suite(text, "s"), [sample])] == [True, True]


# processes


def ended(pid: int) -> bool:
    """Waits until the process `pid` is gone."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)


TELLS = (
    "import os, time\n"
    "if outputs['answer'] != 'tells': return 1.0, 'fine'\n"
    "with open(arguments['fifo'], 'w') as fifo: fifo.write(f'{os.getppid()} {os.getpid()}')\n"
    "time.sleep(600)"
)


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


def test_a_killed_worker_costs_only_the_sample_that_it_died_over(fifo: Path) -> None:
    def kill() -> None:
        for _ in range(2):  # in the batch, and when it is tried alone
            os.kill(int(fifo.read_text().split()[0]), signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    samples = [replace(SAMPLE, sample=n, answer="tells" if n == 3 else "quiet") for n in range(1, 9)]
    verdicts = code(TELLS, arguments={"fifo": str(fifo)}).within(60)(samples)
    killer.join()
    assert [v.status for v in verdicts] == ["scored"] * 2 + ["not_scored"] + ["scored"] * 5
    assert verdicts[2].reason == "the code lost the worker process that ran it"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_no_process_outlives_evallib(fifo: Path, number: signal.Signals) -> None:
    folder = fifo.parent
    (folder / "suite.yaml").write_text(code_suite(TELLS, f"  arguments: {{fifo: {fifo}}}", "deadlines: {check_s: 300}"))
    (folder / "script.yaml").write_text("script: s\nreplies:\n- {when: {}, answers: [{text: tells}]}\n")
    command = [sys.executable, "-m", "evallib.cli", "run", str(folder), "--target", "scripted", "--run-id", "r"]
    with subprocess.Popen([*command, "--data", str(folder)], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as run:
        worker, child = map(int, fifo.read_text().split())
        run.send_signal(number)
        assert ended(child)
        assert ended(worker)
        assert run.wait(30) == (-9 if number == signal.SIGKILL else 130)


# article 1

OURS = """\
import re
text = outputs["files"].get("answer.md", "")
gone = [n for n in ("summary", "steps", "next") if not re.search(rf"^#{{1,3}}\\s*{n}\\b", text, re.I | re.M)]
long = [] if 0 < len(text.split()) <= 250 else [f"{len(text.split())} words"]
notes = [f"no '{n}' section" for n in gone] + long
return (4 - len(notes)) / 4, ", ".join(notes) or "ok"
"""


def printed(shared: Path) -> str:
    """The format judge as article 1 prints it."""
    text = (shared / "articles" / "1-release-gate.txt").read_text(encoding="utf-8")
    return text.partition("This is the whole format judge:\n")[2].partition("\nIt returns a score")[0].strip() + "\n"


def answers() -> list[str]:
    words = ["# Summary\n# Steps\n# Next\n" + " w" * n for n in (0, 243, 244, 245, 900)]
    found = ["", " \n", "# summary", "####Steps", "## Next steps\n# Summary", "**Steps**", *words]
    root = Path(__file__).resolve().parent.parent / "data"
    for path in (root / "suites" / "tickets").glob("*.yaml"):
        found += [text for text in _texts(load_yaml(path).value) if len(text) > 60]
    return found + [sample.answer for sample in Run(root / "runs" / "basics-smollm2").samples[::8]]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from _texts(one)


def agrees_with_sections(body: str) -> None:
    samples = [Sample("r", "c", n, answer=text) for n, text in enumerate(answers(), 1)]
    sections = parse_check({"id": "x", "check": "sections", "headings": ["summary", "steps", "next"], "max_words": 250})
    ours, theirs = code(body)(samples), sections(samples)
    assert len({v.raw for v in ours}) == 5
    assert [(v.raw, v.passed, v.reason) for v in ours] == [(v.raw, v.passed, v.reason) for v in theirs]


def test_lines_of_python_agree_with_the_kind_that_does_the_same() -> None:
    agrees_with_sections(OURS)


def test_the_printed_format_judge_agrees_with_sections_on_real_answers(shared: Path) -> None:
    agrees_with_sections(printed(shared))


def test_the_printed_format_judge_gives_the_article_values(shared: Path) -> None:
    judge = json.loads((shared / "cases" / "articles.json").read_text(encoding="utf-8"))["article_000"]["format_judge"]
    for case in judge["cases"]:
        text = case["answer"]
        if text is None:
            recipe = case["answer_recipe"]
            missing = recipe["total_words"] - len(recipe["head"].split())
            text = recipe["head"] + " ".join([recipe["filler_word"]] * missing)
        verdict = judged(printed(shared), replace(SAMPLE, answer=text))
        assert (verdict.raw, verdict.reason) == (case["expect_value"], case["expect_rationale"]), case["id"]


def test_the_printed_format_judge_reads_the_file_the_article_says(shared: Path) -> None:
    good = "# Summary\n# Steps\n# Next\n"
    for files, value in (
        ({"out/answer.md": good}, 1.0),
        ({"notes.md": good}, 0.0),
        ({"old-answer.md": "bad", "out/answer.md": good}, 0.25),
    ):
        assert judged(printed(shared), replace(SAMPLE, answer="", files=files)).raw == value
