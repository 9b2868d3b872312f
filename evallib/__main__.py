"""`python -m evallib`: the command line."""

from __future__ import annotations

from evallib.cli import console

if __name__ == "__main__":
    console()
