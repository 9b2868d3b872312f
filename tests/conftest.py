"""What several test files share: the checkout, the shared inputs beside it, a Chromium."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.browser import Lab, chromium_browser
from tests.commandline import SCRIPT
from tests.making import SUITE

# jsonschema's optional IRI grammar costs 1.3 s at every start of a process that draws a chart or reads a notebook
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
# Tests start many processes: let them keep compiled modules, whatever the machine's habit is
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A run of the tests in a shell's background inherits that Ctrl-C is ignored, and so would all that the tests start
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true")

# Timing never decides a test, and a failure must be found again.
settings.register_profile("evallib", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("evallib")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The articles' cases and other tools' published records, which lie beside the checkout where they are at hand."""
    if not (SHARED / "cases").is_dir():
        pytest.skip("needs ../shared (published records of other tools), which is not beside this checkout")
    return SHARED


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium; tests that ask for it are skipped, and say so, where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    pytest.skip("needs a Chromium on PATH (Debian: apt-get install chromium)")


@pytest.fixture(scope="module")
def lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab with a home of its own, for the tests of one file."""
    pytest.importorskip("playwright")
    pytest.importorskip("notebook")
    lab = Lab(tmp_path_factory.mktemp("lab"), tmp_path_factory.mktemp("home"))
    yield lab
    lab.stop()


@pytest.fixture(scope="module")
def browser(chromium: str, lab: Lab) -> Iterator[Any]:
    """A headless browser of this machine, for the tests of one file."""
    del lab  # is there before the browser, and after it
    with chromium_browser(chromium) as browser:
        yield browser


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("suite.yaml").write_text(SUITE)
    Path("script.yaml").write_text(SCRIPT)
    return tmp_path
