"""Whatever a target gives or raises, the run goes on, and what cannot be stored never reaches the journal."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evallib.case import Step
from evallib.endpoint import Endpoint
from evallib.errors import InfrastructureError, InputError
from evallib.records import Sample, ToolCall, Turn, Usage, json_problem
from evallib.runner import RunOptions, run_suite
from evallib.store import Run
from evallib.suite import Deadlines
from evallib.targets.base import Setting, Target, TargetOutput
from evallib.targets.chat import ChatTarget
from evallib.targets.edge import run_target
from evallib.targets.opening import open_custom
from tests.tiny_server import calls, says, tiny_server

SUITE = """\
suite: s
pass: critical
checks:
- {id: says, check: matches, any_of: [hello], critical: true}
cases:
- {id: c-1, steps: [{ask: q1}]}
- {id: c-2, steps: [{ask: q2}]}
"""


class Odd(Target):
    """A target whose first case gives `gives`, or raises it; the other says hello."""

    def __init__(self, gives: object = None, *, identity: object = None, ready: BaseException | None = None) -> None:
        self.gives, self.said, self.ready = gives, identity or {"kind": "odd"}, ready

    def identity(self) -> dict[str, Any]:
        return self.said  # type: ignore[return-value]  # what a careless author may do

    def preflight(self) -> None:
        if self.ready:
            raise self.ready

    def run(self, steps: tuple[Step, ...], *, seed: int, deadlines: Deadlines) -> TargetOutput:
        if steps[0].ask == "q2":
            return TargetOutput(answer="hello", exit_code=0)
        if isinstance(self.gives, BaseException):
            raise self.gives
        return self.gives  # type: ignore[return-value]  # as above

    def close(self) -> None:
        pass


def stored(tmp_path: Path, target: Target) -> Run:
    (tmp_path / "suite.yaml").write_text(SUITE)
    return run_suite(tmp_path / "suite.yaml", target, RunOptions("r"), tmp_path / "data")


def made(tmp_path: Path, gives: object) -> Sample:
    """The stored sample of a target that gives this, of a run whose other sample passed."""
    run = stored(tmp_path, Odd(gives))
    first, second = run.samples
    assert (second.status, second.answer) == ("completed", "hello")
    return first


CALL = ToolCall("f", {"a": 1})
TURN = Turn(1, "q1", "hello", (CALL,))
GOOD = TargetOutput(turns=(TURN,), answer="hello", exit_code=0)


def in_call(**more: object) -> TargetOutput:
    return replace(GOOD, turns=(replace(TURN, tool_calls=(replace(CALL, **more),)),))  # type: ignore[arg-type]


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (None, "the target's output must be TargetOutput, and is NoneType"),
        ("hello", "must be TargetOutput, and is str"),
        (ValueError("boo \ud800\0\nline"), r"ValueError: boo \ud800\u0000 line"),
        (SystemExit(3), "SystemExit: 3"),
        (replace(GOOD, status="weird"), "status 'weird' is unknown; known: completed"),
        (replace(GOOD, status=["completed"]), "is unknown"),
        (replace(GOOD, answer=5), "`answer` must be str, and is int"),
        (replace(GOOD, answer=None), "`answer` must be str, and is NoneType"),
        (replace(GOOD, exit_code=10**30), "`exit_code` must be a whole number"),
        (replace(GOOD, exit_code=True), "`exit_code` must be a whole number"),
        (replace(GOOD, exit_code=1.0), "`exit_code` must be int, and is float"),
        (replace(GOOD, files={"a": b"x"}), "file 'a' must be str, and is bytes"),
        (replace(GOOD, files={1: "x"}), "a file's name must be str, and is int"),
        (replace(GOOD, files=["a"]), "`files` must be Mapping, and is list"),
        (replace(GOOD, flags="escaped"), "`flags` must be a tuple, and is str"),
        (replace(GOOD, recorded=(1,)), "a text in `recorded` must be str"),
        (replace(GOOD, usage=None), "`usage` must be Usage"),
        (replace(GOOD, usage=Usage(10**30, 1)), "a count of tokens must be a whole number"),
        (replace(GOOD, usage=Usage(-1, 1)), "a count of tokens must be a whole number"),
        (replace(GOOD, usage=Usage(cost_usd=float("nan"))), "`cost_usd` must be a finite number"),
        (replace(GOOD, usage=Usage(cost_usd=10**400)), "`cost_usd` must be a finite number"),
        (replace(GOOD, turns=(TURN, TURN)), "two turns have the same `step`"),
        (replace(GOOD, turns=(replace(TURN, step=2**31),)), "a turn's `step` must be a whole number"),
        (replace(GOOD, turns=(replace(TURN, duration_s=float("inf")),)), "`duration_s` must be a finite number"),
        (replace(GOOD, turns=("hello",)), "a turn must be Turn, and is str"),
        (in_call(arguments={"a": float("nan")}), "the arguments of tool 'f': the value holds nan"),
        (in_call(arguments={"a": [float("-inf")]}), "holds -inf"),
        (in_call(arguments={"a": 10**5000}), "holds an integer of more than 300 digits"),
        (in_call(arguments={"a": {1: 2}}), "holds a key that is no text"),
        (in_call(arguments={"a": {1, 2}}), "holds a set"),
        (in_call(arguments={"a": nested(5000)}), "is nested more than 100 deep"),
        (in_call(result={"a": 1}), "a tool's result must be str, and is dict"),
    ],
)
def test_what_cannot_be_stored_is_a_harness_error_of_its_sample(tmp_path: Path, gives: object, said: str) -> None:
    sample = made(tmp_path, gives)
    assert (sample.status, sample.answer) == ("harness_error", "")
    assert said in sample.error


def test_texts_that_no_table_holds_are_escaped_and_flagged(tmp_path: Path) -> None:
    turn = replace(TURN, text="hello \ud800", tool_calls=(ToolCall("f\0", {"a\ud800": ["\0"]}, "\ud800"),))
    sample = made(tmp_path, TargetOutput(turns=(turn,), answer="hello \0", files={"a": "\udfff"}, flags=("mine",)))
    assert (sample.status, sample.answer, sample.files) == ("completed", r"hello \u0000", {"a": r"\udfff"})
    assert sample.tool_calls == (ToolCall(r"f\u0000", {r"a\ud800": [r"\u0000"]}, r"\ud800"),)
    assert sample.flags == ("escaped", "mine")


def test_a_good_output_stays_as_it_is() -> None:
    given = replace(
        GOOD, turns=(replace(TURN, tool_calls=(ToolCall("f", {"a": (1, {"b": None})}),)),), files={"a": "b"}
    )
    output = run_target(Odd(given), (Step(ask="q1"),), seed=0, deadlines=Deadlines())
    assert output.flags == ()
    assert output.turns[0].tool_calls[0].arguments == {"a": [1, {"b": None}]}
    assert replace(output, turns=given.turns) == given


def test_a_target_that_cannot_be_made_ready_is_trouble_of_the_infrastructure(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="could not be made ready: RuntimeError: no licence"):
        stored(tmp_path, Odd(ready=RuntimeError("no licence")))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("identity", [{"x": object()}, {"x": float("nan")}, {"x": "\ud800"}, "odd", {1: 2}])
def test_an_identity_that_is_no_json_is_refused(tmp_path: Path, identity: object) -> None:
    with pytest.raises(InputError, match="identity"):
        stored(tmp_path, Odd(identity=identity))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("arguments", ['{"a": NaN}', '{"a": 1e999}', '{"a": -Infinity}', f'{{"a": {"9" * 400}}}'])
@pytest.mark.parametrize("decoded", [False, True])
def test_numbers_json_lacks_in_a_models_call_are_kept_as_text_and_the_run_goes_on(
    tmp_path: Path, arguments: str, decoded: bool
) -> None:
    given = {"a": float(arguments[6:-1]) if len(arguments) < 50 else 10**400} if decoded else arguments
    with tiny_server(calls("f", given), says("hello")) as (url, _):
        run = stored(tmp_path, ChatTarget(Endpoint(url, "m", backoff_s=0), Setting()))
    assert [(sample.status, sample.answer) for sample in run.samples] == [("completed", "hello")] * 2
    call = next(call for sample in run.samples for call in sample.tool_calls)
    assert list(call.arguments) == ["unparsed"]
    assert call.error == "the arguments are not a JSON object"


@pytest.mark.parametrize("count", [10**30, 2**63 - 1])
def test_a_count_that_nobody_counted_is_unknown_and_the_run_ends(tmp_path: Path, count: int) -> None:
    with tiny_server(says("hello", usage={"prompt_tokens": count, "completion_tokens": 3})) as (url, _):
        run = stored(tmp_path, ChatTarget(Endpoint(url, "m", backoff_s=0), Setting()))
    assert [(s.usage.input_tokens, s.usage.output_tokens) for s in run.samples] == [(None, 3)] * 2


def test_deep_arguments_of_a_model_are_kept_as_text(tmp_path: Path) -> None:
    deep = '{"a": ' + "[" * 400 + "]" * 400 + "}"
    with tiny_server(calls("f", deep), says("hello")) as (url, _):
        run = stored(tmp_path, ChatTarget(Endpoint(url, "m", backoff_s=0), Setting()))
    assert next(call for sample in run.samples for call in sample.tool_calls).arguments == {"unparsed": deep}


@pytest.mark.parametrize("value", [1, 1.5, None, "", True, [1, {"a": (2,)}], 10**299])
def test_what_json_can_hold_is_storable(value: object) -> None:
    assert json_problem(value) == ""


def no_target(address: str, setting: Setting) -> object:
    """Opens nothing, or raises what its address names."""
    if address:
        raise ZeroDivisionError(address)
    return object()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (".a:b", "cannot be imported"),
        ("a..b:c", "cannot be imported"),
        ("tests.test_targets_edge:no_target", "gave an object without 'identity'"),
        ("tests.test_targets_edge:no_target#boo", "cannot be opened: ZeroDivisionError: boo"),
    ],
)
def test_a_custom_target_that_cannot_be_opened_is_one_sentence(address: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        open_custom(address, Setting())
