"""The command that holds runs, or views of one run, side by side."""

from __future__ import annotations

import argparse

from evallib.errors import InputError
from evallib.stdout import print_json, print_lines

__all__ = ["compare"]


def compare(given: argparse.Namespace) -> int:
    """Two runs on their shared cases; of one run its views side by side, with no test of significance."""
    if len(given.run) > 2 or (len(given.run) == 2 and given.views) or (len(given.run) == 1 and _of_two(given)):
        raise InputError("name two runs to compare (A B, with --view for another view), or one for its --views")
    return _compare_views(given) if len(given.run) == 1 else _compare_runs(given)


def _of_two(given: argparse.Namespace) -> bool:
    """Whether something is asked for that only two runs have."""
    return bool(given.view or given.prices)


def _compare_runs(given: argparse.Namespace) -> int:
    from evallib.commands.comparison_lines import comparison_lines
    from evallib.comparison.compare import compare_runs
    from evallib.comparison.contexts import locked_words
    from evallib.store.calibrations import read_calibrations
    from evallib.views.figures import load_figures

    view = given.view or "strict"
    a, b = (load_figures([one], view, given.data, given.adjudications, prices=given.prices) for one in given.run)
    lock = locked_words(a.views[0].run, b.views[0].run, given.adjudications)
    found = compare_runs(a, b, calibrations=read_calibrations(given.data), lock=lock)
    if given.json:
        print_json(found.as_json())
    else:
        print_lines(comparison_lines(found))
    return 0


def _compare_views(given: argparse.Namespace) -> int:
    from evallib.printing import views_table
    from evallib.views.figures import load_views

    names = given.views.split(",") if given.views else []
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"--views {given.views!r}: name each view once, with commas, as in strict,read")
    views = load_views(given.run[0], given.data, given.adjudications, names)
    summaries = [figures.summary() for figures in views]
    if given.json:
        print_json({"run": views[0].views[0].run.id, "views": summaries})
    else:
        print_lines([*views_table(summaries), *(summary["caption"] for summary in summaries)])
    return 0
