"""What `verify` does: everything stored is hashed again, and the log is held against itself and against git."""

from __future__ import annotations

import argparse
from pathlib import Path

from evallib.errors import IncompleteError, InputError
from evallib.stdout import counted, print_lines

__all__ = ["verify"]


def verify(given: argparse.Namespace) -> int:
    """Hash the runs and the log that are named, or a log alone; what is not as it was written is status 2."""
    from evallib.publishing.proof import is_bundle
    from evallib.rescoring.upholding import Upheld, doubts, upheld
    from evallib.sealing import unseen_use
    from evallib.store import dated_back, leftovers, list_runs, open_run, read_log, verify_log, verify_run

    folder = Path(given.run)
    if is_bundle(folder):
        return _verify_bundle(folder)
    only_log = (folder / "entries").is_dir() or (folder / "previews").is_dir()
    adjudications = folder if only_log else given.adjudications
    one_run = not only_log and not (folder / "runs").is_dir()
    runs = [open_run(given.run, given.data)] if one_run else list_runs(folder)
    whole, open_ = [r for r in runs if r.complete], [r for r in runs if not r.complete]
    log = verify_log(adjudications, since=given.since)
    checks = [*(verify_run(found, adjudications) for found in whole), log]
    problems = [problem for check in checks for problem in check.problems]
    entries = read_log(adjudications) if whole and not problems else []
    anew = Upheld([])
    for found in whole if not problems else ():  # what is not as it was written proves nothing of what was made of it
        anew = anew.with_more(Upheld(unseen_use(found, entries))).with_more(upheld(found, entries))
    problems += anew.problems
    print_lines(problems)
    notes = [
        *leftovers(runs[0].folder if one_run else folder, adjudications),
        *_inside_locks(adjudications, log.problems),
    ]
    notes += [f"{id_} {said}" for found in whole if entries for id_, said in doubts(found, entries, adjudications)]
    notes += dated_back(adjudications, given.since) if given.since else []
    print_lines(f"note: {one}" for one in notes)
    count = sum(check.checked for check in checks)
    if problems:
        raise InputError(
            f"problems: {len(problems)}, in {counted(count, 'stored file')}; restore what was changed from a copy"
        )
    stored = f"{counted(count - log.checked, 'file')} of {counted(len(whole), 'run')}"
    compared = f"{stored} and {counted(log.checked, 'entry', 'entries')} in"
    unseen = "an entry that was deleted leaves no trace here: name a git revision that has it (--since REVISION)"
    seen = f"no entry was edited, deleted or renamed since {given.since}"
    print_lines(
        [f"{compared} {adjudications / 'entries'} are as they were written", *_anew(anew.computed, anew.verdicts)]
    )
    print_lines([seen if given.since else unseen])
    if open_:
        raise IncompleteError(
            f"not verified, because incomplete: {', '.join(r.folder.name for r in open_)}; resume them first"
        )
    return 0


def _inside_locks(adjudications: Path, unread: list[str]) -> list[str]:
    """A sentence for each rescoring that was made while a lock held its runs; none where the log cannot be read."""
    from evallib.entries import Rescoring
    from evallib.locks import made_inside
    from evallib.store import read_log

    log = [] if unread else read_log(adjudications)
    made = [(id_, entry) for id_, entry in log if isinstance(entry, Rescoring)]
    return [
        f"{id_} was made while lock {lock} held its runs" for id_, entry in made for lock in made_inside(entry, log)
    ]


def _verify_bundle(folder: Path) -> int:
    from evallib.publishing.proof import bundle_digest, prove

    proof = prove(folder)
    print_lines(proof.problems)
    if proof.problems:
        raise InputError(f"problems: {len(proof.problems)}; this is not the bundle that was published: fetch it again")
    files = counted(proof.checked, "file")
    print_lines([f"{files} in {folder} are as published, and the figures follow from them"])
    print_lines([*_anew(proof.computed, proof.verdicts), f"digest {bundle_digest(folder)}"])
    return 0


def _anew(computed: int, verdicts: int) -> list[str]:
    """How many verdicts were computed again, and what the others are."""
    left = "the others are recorded, or of judges, code, or a kind that has come to judge otherwise since"
    told = f"{computed} of {counted(verdicts, 'verdict')} were computed again from answers and criteria"
    return [f"{told}; {left}" if computed < verdicts else told] * bool(verdicts)
