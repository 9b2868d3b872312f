import json
import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evallib.case import Step
from evallib.endpoint import Endpoint
from evallib.errors import InfrastructureError, InputError
from evallib.suite import Deadlines, parse_suite
from evallib.targets import open_target
from evallib.targets.base import Setting
from evallib.targets.scripted import ScriptedTarget, ScriptProcess

SUITE = """
suite: s
pass: top
knowledge: kb
checks: []
cases:
  - {id: first, steps: [{ask: what is red}]}
  - {id: second, steps: [{ask: what is blue}]}
"""
SCRIPT = """
script: tiny
replies:
  - when: {contains: [red]}
    answers: [{tool_calls: [{name: read_article, arguments: {id: KB-1}}]}]
  - when: {contains: [red], after_tool: read_article}
    answers: [{text: red zero}, {text: red one}]
  - when: {contains: [hang up]}
    answers: [{drop: true}]
  - when: {model: judge}
    answers: [{text: '{"score": 4}'}]
default: {text: no idea}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "KB-1.md").write_text("# Red\n")
    (tmp_path / "script.yaml").write_text(SCRIPT)
    return tmp_path


def run(target, text, seed=0):
    return target.run((Step(ask=text),), seed=seed, deadlines=Deadlines())


def test_the_script_beside_the_suite_answers_over_a_real_socket(folder):
    with open_target("scripted", parse_suite(SUITE, "s"), folder) as target:
        target.preflight()
        output = run(target, "what is red", seed=1)
        assert run(target, "hang up").status == "provider_error"
    assert (output.status, output.answer) == ("completed", "red one")
    assert [(call.name, call.result) for call in output.turns[0].tool_calls] == [("read_article", "# Red\n")]


def test_a_seed_repeats_its_answer_also_with_eight_at_once(folder):
    with open_target("scripted", parse_suite(SUITE, "s"), folder) as target, ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda seed: run(target, "what is red", seed).answer, range(32)))
    assert said == ["red zero", "red one"] * 16


def test_swapping_two_case_ids_changes_nothing(folder):
    swapped = SUITE.replace("first", "x").replace("second", "first").replace("id: x", "id: second")

    def outputs(text):
        suite = parse_suite(text, "s")
        with open_target("scripted", suite, folder) as target:
            return [target.run(case.steps, seed=5, deadlines=suite.deadlines).answer for case in suite.cases]

    assert outputs(SUITE) == outputs(swapped) == ["red one", "no idea"]


def test_a_judge_can_ask_the_same_server(folder):
    with open_target("scripted", parse_suite(SUITE, "s"), folder) as target:
        reply = Endpoint(target.url, "judge").ask([{"role": "user", "content": "what is red"}])
    assert reply.text == '{"score": 4}'


def test_the_identity_holds_the_scripts_digest_and_no_port(folder):
    suite = parse_suite(SUITE, "s")
    with open_target("scripted", suite, folder) as target:
        before = target.identity()
        target.preflight()
        assert target.identity() == before
        assert target.url.split(":")[2].split("/")[0] not in json.dumps(before)
    (folder / "script.yaml").write_text(SCRIPT.replace("no idea", "none"))
    assert open_target("scripted", suite, folder).identity() != before


def test_a_named_script_is_found_beside_the_suite_or_here(folder, monkeypatch):
    (folder / "other.yaml").write_text("script: other")
    suite = parse_suite(SUITE, "s")
    assert open_target("scripted:other.yaml", suite, folder).identity()["script"] == "other"
    assert open_target(f"scripted:{folder / 'other.yaml'}", suite, folder).identity()["script"] == "other"
    with pytest.raises(InputError, match=r"'none\.yaml' is neither here nor beside the suite"):
        open_target("scripted:none.yaml", suite, folder)


def test_a_suite_without_a_script_is_told(folder):
    (folder / "script.yaml").unlink()
    with pytest.raises(InputError, match=r"script\.yaml: no such file"):
        open_target("scripted", parse_suite(SUITE, "s"), folder)


def alive(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def test_closing_stops_the_server_and_may_be_done_twice(folder):
    target = ScriptedTarget(folder / "script.yaml", Setting())
    target.preflight()
    pid = target._process.pid
    target.close()
    target.close()
    assert not alive(pid)


def test_a_server_that_cannot_start_says_why(folder):
    (folder / "bad.yaml").write_text("script: s\nwrong: 1")
    with pytest.raises(InfrastructureError, match="unknown key 'wrong'"):
        ScriptProcess(folder / "bad.yaml")


PARENT = """
import sys, time; from pathlib import Path
from evallib.targets.base import Setting
from evallib.targets.scripted import ScriptedTarget
target = ScriptedTarget(Path(sys.argv[1]), Setting())
target.preflight()
print(target._process.pid, flush=True)
time.sleep(600)
"""


def test_the_server_dies_with_its_parent_even_by_sigkill(folder):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    command = [sys.executable, "-c", PARENT, str(folder / "script.yaml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        pid = int(parent.stdout.readline())
        watched = os.pidfd_open(pid)
        assert alive(pid)
        parent.send_signal(signal.SIGKILL)
    ended, _, _ = select.select([watched], [], [], 30)
    os.close(watched)
    assert ended
