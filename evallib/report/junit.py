"""The cases of one view as JUnit XML: a test per case, which CI servers show without knowing what an evaluation is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from evallib.stdout import counted, visible
from evallib.store import Run
from evallib.views.figures import Figures

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["junit_xml", "when_and_where"]

_MOST = 2000
"""Characters of a message; the run holds the rest."""


def junit_xml(figures: Figures, failed: str = "") -> str:
    """One `testsuite` with one `testcase` per case; a case passes when all of its samples do.

    A case without a single scored sample is an error, not a failure. Texts are escaped, and what XML cannot hold is
    spelled out. `failed` says why there is no page, where there is none: a test of its own, which is an error.
    """
    cases = figures.outcomes.sort_values(["case_id", "run_id", "sample"]).groupby("case_id", sort=True)
    took = {key: one.duration_s for view in figures.views for key, one in _timed(view)}
    tests = [_test(figures, str(case), group, took) for case, group in cases]
    if failed:
        tests.append(_no_page(figures, failed))
    failures, errors = (sum(test.find(kind) is not None for test in tests) for kind in ("failure", "error"))
    seconds = f"{sum(took.values()):.3f}"
    totals = {"tests": str(len(tests)), "failures": str(failures), "errors": str(errors), "time": seconds}
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(
        root,
        "testsuite",
        {"name": _clean(_name(figures)), **totals, "skipped": "0", **when_and_where(figures.views[0].run)},
    )
    decision = figures.decision()
    said = {
        "view": figures.view, "label": figures.label, "gate": decision.decision, "caption": figures.caption,
        "release_decision": decision.release_decision or f"none: {decision.why_no_release}",
    }  # fmt: skip
    properties = ET.SubElement(suite, "properties")
    for name, value in said.items():
        ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})
    suite.extend(tests)
    ET.SubElement(suite, "system-out").text = _clean("\n".join(decision.lines()))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _no_page(figures: Figures, failed: str) -> ET.Element:
    test = ET.Element("testcase", {"name": "the report", "classname": _clean(figures.suite.suite), "time": "0.000"})
    ET.SubElement(test, "error", {"message": _clean(failed)[:_MOST], "type": "report"})
    return test


def _timed(view: Any) -> Any:
    return (((view.run.id, one.case_id, one.sample), one) for one in view.run.samples)


def _name(figures: Figures) -> str:
    return f"{figures.suite.suite} {' '.join(view.run.id for view in figures.views)} {figures.view}"


def when_and_where(run: Run) -> dict[str, str]:
    """When and where, as the usual schema wants them: no offset (it is UTC), and `localhost` for a host not known.

    Plans name the machine, not the host; the caption among the properties has it.
    """
    plan = run.plan
    try:
        when = datetime.fromisoformat(str(plan.get("created"))).astimezone(UTC)
    except ValueError:
        when = datetime.fromtimestamp(0, UTC)
    return {"timestamp": when.strftime("%Y-%m-%dT%H:%M:%S"), "hostname": "localhost"}


def _test(figures: Figures, case: str, group: pd.DataFrame, took: dict[Any, float]) -> ET.Element:
    rows = group.to_dict("records")
    seconds = sum(took.get((row["run_id"], row["case_id"], row["sample"]), 0.0) for row in rows)
    named = {"name": _clean(case), "classname": _clean(figures.suite.suite), "time": f"{seconds:.3f}"}
    test = ET.Element("testcase", named)
    passed = sum(row["status"] == "scored" and row["passed"] is True for row in rows)
    if passed == len(rows):
        return test
    kind = "failure" if any(row["status"] == "scored" for row in rows) else "error"
    message = f"{passed} of {counted(len(rows), 'sample')} passed"
    said = [f"{row['run_id']} sample {row['sample']}: {row['reason']}" for row in rows if row["passed"] is not True]
    detail = ET.SubElement(test, kind, {"message": message, "type": "samples" if kind == "failure" else "not scored"})
    detail.text = _clean("\n".join(said))
    return test


def _clean(text: str) -> str:
    """What XML 1.0 can hold: control characters and the two that are no characters are spelled out."""
    shown = "\n".join(visible(line) for line in text[:_MOST].split("\n"))
    return "".join(one if one not in "\ufffe\uffff" else f"⟨U+{ord(one):04X}⟩" for one in shown)
