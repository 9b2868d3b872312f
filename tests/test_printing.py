"""What a terminal is shown."""

import json

from evallib.printing import sample_lines
from evallib.records import Outcome, Sample, ToolCall, Turn, Verdict


def test_votes_that_say_the_same_are_shown_in_one_line() -> None:
    votes = [{"score": None, "problem": p, "seed": 1, "input_tokens": 1, "output_tokens": 1} for p in "xyx"]
    verdict = Verdict("c-1", 1, "tone", "not_scored", "no vote", judge=json.dumps({"votes": votes}))
    lines = sample_lines(
        Sample("r", "c-1", 1, answer="A."), [verdict], Outcome("c-1", 1, "error", passed=None, score=None), None
    )
    assert [line for line in lines if line.startswith("-- vote")] == [
        "-- votes 1, 3 on tone: x",
        "-- vote 2 on tone: y",
    ]


def test_what_is_cut_says_so_and_a_call_stands_with_what_came_of_it() -> None:
    call = ToolCall("read", {"of": ["ä", 1]}, result="r" * 600)
    turn = Turn(1, "How?", "So.", (call,), results=(ToolCall("write", result="done"),), pending=(ToolCall("write"),))
    sample = Sample("r", "c-1", 1, turns=(turn,), answer="So.")
    lines = sample_lines(sample, [], Outcome("c-1", 1, "scored", passed=True, score=1.0), None)
    assert lines[1] == "-- asked: How?"
    assert lines[2].startswith('-- call read {"of": ["ä", 1]} -> rrr')
    assert lines[2].endswith("rrr ... (633 characters in all)")
    assert lines[3:6] == ["-- result of write -> done", "-- left open write {}", "So."]
