"""How the program ends: exit status, threads that hold it, readers that have gone, encodings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evallib.cli import main
from tests.making import stored_run


def program(*arguments: str, **given: object) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    command = [sys.executable, "-m", "evallib.cli", *arguments]
    return subprocess.run(command, **{"text": True, "check": False, "env": env, "capture_output": True, **given})  # type: ignore[call-overload, no-any-return]


def test_the_program_leaves_before_threads_can_abort_or_hold_it(home: Path) -> None:
    """A thread that never ends stands for pyarrow's, which abort one exit in eight."""
    code = (
        "import sys, threading, evallib.commands as c\n"
        "def show(given):\n"
        "    threading.Thread(target=threading.Event().wait).start()\n"
        "    print('shown'); return 4\n"
        "c.show = show\n"
        "from evallib.cli import console; console()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code, "show", "r-1"], capture_output=True, text=True, check=False, env=env, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (4, "shown\n", "")


def test_the_parsers_own_exits_keep_their_status(home: Path) -> None:
    assert program("--version").stdout.startswith("evallib ")
    wrong = program("metrics", "r-1", "--verbose")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.count("\n") == 1


def test_a_reader_that_has_gone_is_no_trouble_and_a_full_disk_is(home: Path) -> None:
    stored_run(home / "data", {"c-1": ["four"]})
    end, gone = os.pipe()
    os.close(end)
    with os.fdopen(gone, "w") as pipe:
        done = program("show", "r-1", capture_output=False, stdout=pipe, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    with Path("/dev/full").open("w") as full:
        done = program("show", "r-1", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "cp437"])
def test_no_command_dies_of_what_the_output_cannot_spell(home: Path, encoding: str) -> None:
    stored_run(home / "data", {"c-1": ["four \N{SNOWMAN} – \U0001f600", "five 中"], "c-2": ["five", "six"]})
    main(["adjudicate", "r-1", "c-1", "1", "--by", "Zoë", "--reading", "fail", "--reason", "a – b ☃"])
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent), "PYTHONIOENCODING": encoding}
    for arguments in (
        ["metrics", "r-1", "--k", "1,2"],
        ["metrics", "r-1", "--view", "read"],
        ["show", "r-1", "--case", "c-1"],
        ["show", "r-1", "--readings"],
        ["adjudicate", "r-1", "--by", "b"],
        ["show", "r-☃"],
    ):
        done = program(*arguments, env=env, input="q\n", encoding=encoding)
        assert "Traceback" not in done.stderr, arguments
        assert done.returncode == (2 if "r-☃" in arguments else 0), done.stderr
    assert r"\u2603" in program("show", "r-1", "--case", "c-1", env=env, encoding=encoding).stdout
    printed = program("metrics", "r-1", "--view", "read", "--json", env=env, encoding=encoding).stdout
    assert json.loads(printed)["view"] == "read"


def test_json_is_ascii_where_the_output_is_not_utf_8(home: Path) -> None:
    code = "from evallib.stdout import print_json; print_json({'said': 'é ☃ \U0001f600'})"
    for encoding in ("latin-1", "utf-8"):
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent), "PYTHONIOENCODING": encoding}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=env)
        assert json.loads(done.stdout.decode(encoding)) == {"said": "é ☃ \U0001f600"}
        assert done.stdout.isascii() is (encoding == "latin-1")


def test_the_package_itself_can_be_run() -> None:
    done = subprocess.run([sys.executable, "-m", "evallib", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:8]) == (0, "evallib ")
