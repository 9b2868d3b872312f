"""Who answers judges: a script, the suite's judge model, or an endpoint named; never with a secret in the record."""

import json
from pathlib import Path

import pytest

from evallib.checks.judge import Judge
from evallib.cli import main
from evallib.endpoint import Endpoint
from evallib.errors import InputError
from evallib.judges import prompt_digest
from evallib.panel import EndpointPanel, named_panel, open_panel
from evallib.store import open_run
from evallib.store.calibrations import save_calibration
from evallib.suite import load_suite, parse_suite
from evallib.targets import open_target
from evallib.targets.base import TargetOptions
from tests.tiny_server import says, tiny_server

SUITE = """\
suite: small
pass: top
judge: {url: 'http://127.0.0.1:9/v1/', model: m-9}
checks: [{id: q, check: judge, rubric: Good?}]
cases: [{id: c, steps: [{ask: a}]}]
"""
SCRIPT = (
    "script: s\nreplies: [{when: {model: judge}, answers: [{text: '{\"score\": 5}'}]}]\ndefault: {text: yes it is}\n"
)
OWN = Judge(id="q", check="judge", rubric="Good?", model="m-2")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    return tmp_path


def panel_of(folder: Path, spec: str | None, target: str) -> EndpointPanel | None:
    suite = load_suite(folder)
    with open_target(target, suite, folder, TargetOptions()) as opened:
        panel = open_panel(spec, suite, folder, opened)
        if panel:
            panel.close()
    return panel


def test_the_suite_s_judge_answers_unless_the_target_is_a_script_or_another_is_named(folder: Path) -> None:
    chat = "chat:http://127.0.0.1:9#t"
    usual = panel_of(folder, None, chat)
    scripted = panel_of(folder, None, "scripted")
    named = panel_of(folder, "chat:http://127.0.0.1:8/v1#m-1", chat)
    assert usual is not None
    assert scripted is not None
    assert named is not None
    assert usual.identity() == {"kind": "chat", "url": "http://127.0.0.1:9/v1", "model": "m-9"}
    assert scripted.identity()["kind"] == "scripted"
    assert scripted.identity()["script_digest"]
    assert named.identity()["model"] == "m-1"


def test_a_check_s_own_model_is_asked_but_a_script_stands_in_for_any(folder: Path) -> None:
    chat, script = named_panel("chat:http://127.0.0.1:9/v1#m-1", folder), named_panel("scripted", folder)
    try:
        assert chat.identity(OWN)["model"] == "m-2"
        assert script.identity(OWN)["model"] == "judge"
        assert script.reply(OWN, [{"role": "user", "content": "x"}], seed=0, timeout_s=20).text == '{"score": 5}'
    finally:
        chat.close()
        script.close()


@pytest.mark.parametrize(
    "spec",
    [
        "chat:http://127.0.0.1:9",
        "chat:http://ann:secret@127.0.0.1:9/v1#m",
        "scripted:absent.yaml",
        "magic:x",
        "chat:http://ann:secret@127.0.0.1:9/v1",
    ],
)
def test_a_judge_that_cannot_be_is_refused_without_showing_a_secret(folder: Path, spec: str) -> None:
    with pytest.raises(InputError) as told:
        named_panel(spec, folder)
    assert "secret" not in str(told.value)


def test_a_suite_without_judges_opens_nobody(folder: Path) -> None:
    text = SUITE.replace("{id: q, check: judge, rubric: Good?}", "{id: q, check: not_empty}")
    (folder / "suite.yaml").write_text(text)
    assert panel_of(folder, "chat:http://127.0.0.1:9/v1#m", "chat:http://127.0.0.1:9#t") is None


def test_validate_asks_no_judge(folder: Path) -> None:
    with tiny_server(says('{"score": 5}')) as (url, seen):
        (folder / "suite.yaml").write_text(SUITE.replace("http://127.0.0.1:9/v1/", url))
        assert main(["validate", str(folder)]) == 0
        assert seen == []


def test_a_run_tells_what_judges_take_warns_of_its_own_model_and_counts_their_tokens(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = says('{"score": 5, "reason": "r"}', usage={"prompt_tokens": 10, "completion_tokens": 2})
    with tiny_server(reply) as (url, seen):
        (folder / "suite.yaml").write_text(SUITE.replace("http://127.0.0.1:9/v1/", url).replace("m-9", "same"))
        arguments = ["--run-id", "r", "--samples", "2", "--judge-jobs", "3", "--data", str(folder / "data")]
        assert main(["run", str(folder), "--target", f"chat:{url}#same", *arguments]) == 0
    told = capsys.readouterr().err
    assert "judges: 6 calls of same, about " in told
    assert "warning: judge 'q' is the target's own model 'same'" in told
    assert len(seen) == 2 + 6
    run = open_run("r", folder / "data")
    assert run.manifest["judge_usage"] == {"input_tokens": 60, "output_tokens": 12, "calls": 6}
    assert run.manifest["usage"]["calls"] == 2
    capsys.readouterr()
    assert main(["show", "r", "--case", "c", "--data", str(folder / "data")]) == 0
    assert capsys.readouterr().out.count("votes 1, 2, 3 on q: 5: r") == 2


def test_a_run_finds_the_calibration_of_its_judge(folder: Path) -> None:
    with tiny_server(says('{"score": 5, "reason": "r"}')) as (url, _):
        (folder / "suite.yaml").write_text(SUITE.replace("http://127.0.0.1:9/v1/", url))
        by = {
            "model": "m-9",
            "url": Endpoint(url, "m-9").url,
            "prompt": prompt_digest(Judge(id="q", check="judge", rubric="Good?")),
        }
        save_calibration(folder / "data", {"id": "calibration-1", "n": 12, "by": by})
        arguments = ["--target", f"chat:{url}#t", "--run-id", "r", "--data", str(folder / "data")]
        assert main(["run", str(folder), *arguments]) == 0
    (verdict,) = open_run("r", folder / "data").verdicts
    assert json.loads(verdict.judge)["calibration"] == "calibration-1"
    assert "judge calibrated in calibration-1" in verdict.reason


def test_a_required_case_is_not_failed_by_its_judge(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = SUITE.replace("pass: top", "pass: critical").replace("cases: [{id: c,", "cases: [{id: c, required: true,")
    checks = "[{id: q, check: judge, rubric: Good?, critical: true}, {id: e, check: not_empty, critical: true}]"
    (folder / "suite.yaml").write_text(text.replace("[{id: q, check: judge, rubric: Good?}]", checks))
    (folder / "script.yaml").write_text(SCRIPT.replace('"score": 5', '"score": 1'))
    data = ["--data", str(folder / "data")]
    assert main(["run", str(folder), "--target", "scripted", "--run-id", "r", *data]) == 0
    capsys.readouterr()
    assert main(["metrics", "r", "--summary", *data]) == 0
    told = capsys.readouterr().out
    assert '"pass_rate": 0.0' in told
    assert '"required_cases_passed": true' in told


def test_a_judge_beside_the_suite_is_parsed_like_any_key() -> None:
    with pytest.raises(InputError, match="unknown key 'api_key'"):
        parse_suite(SUITE.replace("model: m-9", "model: m-9, api_key: x"), "suite.yaml")


def test_a_judge_that_nobody_answers_is_refused_before_the_first_call(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "suite.yaml").write_text(SUITE.replace("judge: {url: 'http://127.0.0.1:9/v1/', model: m-9}\n", ""))
    with tiny_server(says("yes it is")) as (url, seen):
        given = ["run", str(folder), "--target", f"chat:{url}#m", "--data", str(tmp_path / "data"), "--run-id"]
        assert main([*given, "r"]) == 2
        said = capsys.readouterr().err
        assert said == (
            "evallib: check 'q' is a model judge and nobody answers it; name one with --judge T, "
            "or leave judges out with --no-judges\n"
        )
        assert not (tmp_path / "data/runs").exists()
        assert seen == []
        assert main([*given, "without", "--no-judges"]) == 0
