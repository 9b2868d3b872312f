"""What CI reads of a run: a summary in Markdown, a test per case in JUnit XML, all figures in JSON."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

from evallib.cli import main
from evallib.records import POST_HOC_LABEL, Sample
from evallib.report.junit import junit_xml
from evallib.report.markdown import markdown_summary
from evallib.store import begin_run
from evallib.views.figures import load_figures, load_views
from tests.making import SUITE, stored_run
from tests.test_exhibits import _loop

HOSTILE = "</testcase>]]>\x00\x1b[2J\x85\ufffe\U000e0041 & <b onclick=x()>|`[x](javascript:y)` http://evil.example @all"
ORDER = {"testsuites": ["testsuite"], "testsuite": ["properties", "testcase", "system-out"], "testcase": ["failure"]}
NEEDED = {
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "property": {"name", "value"},
}


def opened(data, run="r-1", log=None):
    return load_views(run, data, log or data / "log")


def assert_is_junit(root):
    """The shape that Jenkins' and Ant's schemas ask for: attributes, their form, and the order of children."""
    assert root.tag == "testsuites"
    for node in root.iter():
        assert NEEDED.get(node.tag, set()) <= set(node.attrib), node.tag
        for name in {"tests", "failures", "errors", "skipped"} & set(node.attrib):
            assert node.attrib[name].isdecimal()
        if "time" in node.attrib:
            assert re.fullmatch(r"\d+\.\d{3}", node.attrib["time"])
    for suite in root:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        assert suite.attrib["hostname"] == "localhost", "what the schema asks for where no host is known"
        tags = [child.tag for child in suite]
        assert tags == sorted(tags, key=ORDER["testsuite"].index)
        tests = suite.findall("testcase")
        for kind, count in (("failure", "failures"), ("error", "errors")):
            assert sum(test.find(kind) is not None for test in tests) == int(suite.attrib[count])
        assert len(tests) == int(suite.attrib["tests"])
        assert all(len(test) <= 1 for test in tests)


def test_there_is_a_test_per_case_and_it_passes_when_every_sample_does(tmp_path):
    stored_run(tmp_path, {"c-1": ["four", "four"], "c-2": ["five", "six"]})
    root = ET.fromstring(junit_xml(opened(tmp_path)[0]))
    assert_is_junit(root)
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    first, second = suite.findall("testcase")
    assert (first.get("name"), len(first)) == ("c-1", 0)
    assert second[0].get("message") == "1 of 2 samples passed"
    assert "r-1 sample 2: " in second[0].text
    said = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert said["view"] == "strict"
    assert said["caption"].startswith("Suite small (digest ")


def test_a_case_without_a_scored_sample_is_an_error_and_no_failure(tmp_path):
    lost = Sample("r-1", "c-2", 1, status="provider_error", error="503")
    stored_run(tmp_path, {"c-1": ["four"]}, samples=[lost])
    root = ET.fromstring(junit_xml(opened(tmp_path)[0]))
    assert_is_junit(root)
    assert (root[0].get("failures"), root[0].get("errors")) == ("0", "1")


def test_hostile_texts_leave_the_xml_whole_and_the_markdown_tame(tmp_path):
    suite = SUITE.replace("mentions, all_of: key.facts", "forbids, phrases: ['evil.example']")
    stored_run(tmp_path, {"c-1": [HOSTILE], "c-2": [HOSTILE]}, suite_text=suite)
    figures = opened(tmp_path)
    frame = figures[0].outcomes
    frame["reason"] = HOSTILE
    root = ET.fromstring(junit_xml(figures[0]))
    assert_is_junit(root)
    said = root[0].findall("testcase")[0][0].text
    assert "</testcase>]]>⟨U+0000⟩⟨U+001B⟩[2J" in said
    assert "⟨U+FFFE⟩" in said
    text = markdown_summary(figures)
    assert "<b" not in text
    assert r"\[x\]\(javascript\:y\)" in text
    assert "http://" not in text
    assert r"\@all" in text


def test_the_summary_says_decision_figures_rules_and_caption(tmp_path):
    data, log = _loop(tmp_path)
    text = markdown_summary(opened(data, log=log))
    assert text.startswith(r"## r\-1: ")
    strict = load_figures(["r-1"], "strict", data, log)
    assert f"{strict.summary()['pass_rate']:.3f}" in text
    assert text.count(POST_HOC_LABEL) >= 2
    for rule in strict.decision().rules:
        assert f"| {'pass' if rule.passed else 'blocked'} | {rule.rule.replace('_', chr(92) + '_')} |" in text
    assert "Suite small \\(digest" in text


def test_a_run_that_is_not_all_there_says_so_on_top_everywhere(tmp_path):
    stored_run(tmp_path, {"c-1": ["four"]}, planned={"cases": {"c-1": 2, "c-2": 1}})
    figures = opened(tmp_path)
    text = markdown_summary(figures)
    assert "This run is incomplete\\: 1 of 3 planned samples are there" in text.splitlines()[2]
    root = ET.fromstring(junit_xml(figures[0]))
    assert_is_junit(root)
    assert (root[0].get("failures"), root[0].get("errors")) == ("1", "1")


def test_the_report_of_a_run_that_has_not_ended_holds_that_and_no_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = stored_run(tmp_path / "whole", {"c-1": ["four"], "c-2": ["five"]})
    begin_run(tmp_path / "data", {**run.plan, "run_id": "r-2"}, SUITE.encode())
    assert main(["report", "r-2", "--out", "out"]) == 4
    assert "0 of 2 planned samples are there" in capsys.readouterr().err
    said = "This run is incomplete"
    for end in ("html", "md", "junit.xml", "json"):
        assert said in (tmp_path / f"out/r-2.{end}").read_text(encoding="utf-8")
    assert '<p class="notice"' in (tmp_path / "out/r-2.html").read_text(encoding="utf-8")
    root = ET.parse(tmp_path / "out/r-2.junit.xml").getroot()
    assert_is_junit(root)
    assert root[0].get("errors") == "2"


def test_a_report_writes_all_of_them_and_their_numbers_are_metrics(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["six"]})
    prices = '{currency: EUR, source: made up, date: 2026-11-30, prices: [{models: ["*"], input: 1, output: 1}]}'
    (tmp_path / "mine.yaml").write_text(prices, encoding="utf-8")
    priced = ["--prices", "mine.yaml"]
    assert main(["report", "r-1", "--out", "out", "--notebook", "report", *priced]) == 0
    assert capsys.readouterr().out.split() == [f"out/r-1.{end}" for end in ("html", "md", "junit.xml", "json")]
    assert "cost in EUR" in (tmp_path / "out/r-1.html").read_text(encoding="utf-8")
    kept = json.loads((tmp_path / "out/r-1.json").read_text(encoding="utf-8"))
    for command in (["metrics", *priced], ["gate"]):
        assert main([*command, "r-1", "--json"]) == 0
        assert kept[command[0]] == json.loads(capsys.readouterr().out)
    assert kept["metrics"]["cost"]["currency"] == "EUR"
    assert kept["notices"] == kept["later_views"] == []
    assert_is_junit(ET.parse(tmp_path / "out/r-1.junit.xml").getroot())
