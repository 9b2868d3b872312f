"""The command about readers: how they agree, where they differ, and what strict scoring got wrong by their reading."""

from __future__ import annotations

import argparse

from evallib.stdout import print_json, print_lines

__all__ = ["agreement"]


def agreement(given: argparse.Namespace) -> int:
    """Print what is known of the readings of some runs."""
    from evallib.commands.review_lines import review_lines
    from evallib.concordance.review import review
    from evallib.store import open_run, read_log, refuse_repeated
    from evallib.views.figures import load_figures

    runs = [open_run(reference, given.data) for reference in given.run]
    refuse_repeated(runs)
    found = review(runs, read_log(given.adjudications))
    captions = [load_figures([run], "strict", given.data, given.adjudications).caption for run in runs]
    if given.json:
        print_json(found.as_dict() | {"captions": captions})
    else:
        print_lines([*review_lines(found), *captions])
    return 0
