"""Where a run was made and with what: the machine, the versions, the state of the code."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["build", "host", "versions"]


_PACKAGE = Path(__file__).resolve().parent
_CODE = ("evallib", "pyproject.toml", "constraints.txt")


def host() -> dict[str, Any]:
    """Processor, cores, memory (GiB) and operating system."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "os": platform.platform(),
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def versions() -> dict[str, str]:
    """Of Python and of the packages that can change a verdict or a stored byte."""
    found = {"python": sys.version.split()[0]}
    for name in ("evallib", "pyarrow", "pydantic"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def build() -> dict[str, Any]:
    """Revision of the checkout whose code runs, and whether that code differs from it; empty outside a git checkout.

    `dirty` speaks of what can change a run: the package, its metadata and the lock. Data, documents and an untracked
    file elsewhere say nothing about the code and leave it clean.
    """
    checkout = _PACKAGE.parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(checkout), *words]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
        return found.stdout.strip() if found.returncode == 0 else ""

    try:
        if not git("ls-files", "--", str(_PACKAGE / "__init__.py")):
            return {}  # installed below somebody else's checkout, whose revision says nothing of this code
        return {"revision": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain", "--", *_CODE))}
    except (OSError, subprocess.TimeoutExpired):
        return {}
