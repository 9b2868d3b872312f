"""What `lock` and `close` do: while runs are compared, nobody changes their criteria."""

from __future__ import annotations

import argparse

from evallib.stdout import print_lines

__all__ = ["close", "lock"]


def lock(given: argparse.Namespace) -> int:
    """Write a lock over the runs that are named, and print its id."""
    from evallib.locks import make_lock
    from evallib.store import append_entry, open_run, read_log

    runs = [open_run(reference, given.data) for reference in given.run]
    entry = make_lock(runs, author=given.by, reason=given.reason)
    read_log(given.adjudications)  # a log that cannot be read is told before anything is added to it
    print_lines([append_entry(given.adjudications, entry).id])
    return 0


def close(given: argparse.Namespace) -> int:
    """Write the end of a lock, and print its id."""
    from evallib.locks import make_close
    from evallib.rule import load_rule
    from evallib.store import append_entry, read_log

    rule = load_rule(given.adjudications).rule
    entry = make_close(read_log(given.adjudications), given.lock, author=given.by, reason=given.reason, rule=rule)
    print_lines([append_entry(given.adjudications, entry).id])
    return 0
