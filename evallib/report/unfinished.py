"""The report of a run that has not ended: what is there of it, and no figure."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

from evallib.report.junit import when_and_where
from evallib.report.markdown import escaped
from evallib.report.page import html_page
from evallib.store import Run
from evallib.store.journal import read_journal

__all__ = ["unfinished_files", "unfinished_words"]


def unfinished_words(run: Run) -> str:
    """How much of the run is there, and how it is gone on with."""
    samples, _ = read_journal(run.folder / "journal.jsonl")
    there = f"{len(samples)} of {len(run.planned)} planned samples are there"
    more = f"go on with `evallib run … --run-id {run.id} --resume`"
    return f"This run is incomplete: {there}; {more}. It has no figures yet."


def unfinished_files(run: Run) -> tuple[str, str, str, str]:
    """Page, summary, tests and figures, each saying on top that there are none; every planned case is an error."""
    said = unfinished_words(run)
    cases = list(run.plan["cases"])
    totals = {"tests": str(len(cases)), "failures": "0", "errors": str(len(cases)), "time": "0.000"}
    root = ET.Element("testsuites", totals)
    name = f"{run.suite.suite} {run.id}"
    suite = ET.SubElement(root, "testsuite", {"name": name, **totals, "skipped": "0", **when_and_where(run)})
    for case in cases:
        test = ET.SubElement(suite, "testcase", {"name": case, "classname": run.suite.suite, "time": "0.000"})
        ET.SubElement(test, "error", {"message": "the run is incomplete", "type": "incomplete"})
    ET.SubElement(suite, "system-out").text = said
    ET.indent(root)
    return (
        html_page(run.id, [], [], notices=[said]),
        f"## {escaped(run.id)}: incomplete\n\n> **{escaped(said)}**\n",
        f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n',
        json.dumps({"run": run.id, "notices": [said]}, indent=1, ensure_ascii=False) + "\n",
    )
