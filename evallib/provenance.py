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
    """Revision of the working folder and whether it differs from it; empty outside a git checkout."""

    def git(*words: str) -> str:
        found = subprocess.run(["git", *words], capture_output=True, text=True, check=False, timeout=20)
        return found.stdout.strip() if found.returncode == 0 else ""

    try:
        revision = git("rev-parse", "HEAD")
        return {"revision": revision, "dirty": bool(git("status", "--porcelain"))} if revision else {}
    except (OSError, subprocess.TimeoutExpired):
        return {}
