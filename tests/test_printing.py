"""What a terminal is shown."""

import json

from evallib.printing import sample_lines
from evallib.records import Outcome, Sample, Verdict


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
