"""The release gate: rules over one view of one run, one row per rule with its reason.

`thresholds` is what a suite writes; `frames` reads rows out of the two frames; `coverage` says whether enough was
scored, `rules` holds each threshold against its figure, and `decision` puts the rows together.
"""

from evallib.gate.decision import Decision, decide, without_answers
from evallib.gate.frames import Rule
from evallib.gate.thresholds import TOLERANCE, Gate

__all__ = ["TOLERANCE", "Decision", "Gate", "Rule", "decide", "without_answers"]
