"""The parts of a bundle that follow from the runs and the log it holds: facts, texts, and the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evallib.locks import lock_words
from evallib.publishing.contents import elsewhere
from evallib.publishing.criteria import criteria_changelog
from evallib.publishing.quoted import figures_csv, figures_json, quoted_figures
from evallib.publishing.readme import readme
from evallib.rescoring.ledger import caveats, dated_rescorings
from evallib.rescoring.upholding import doubts
from evallib.rule import load_rule
from evallib.store import LoggedEntry, open_run, read_log
from evallib.store.files import sha256_of
from evallib.store.log import MANIFEST
from evallib.views.load import READ, view_names

__all__ = ["FACTS", "MANIFEST", "bundled_files", "derived", "facts_of", "manifest_text"]

FACTS = "bundle.json"


def facts_of(root: Path, runs: Sequence[str]) -> dict[str, Any]:
    """What can be told of a bundle from the runs and the log it holds."""
    log = read_log(root / "adjudications")
    rule = load_rule(root / "adjudications").rule
    opened = [open_run(run, root / "data") for run in runs]
    return {
        "runs": list(runs),
        "entries": [logged.id for logged in log],
        "without_readings": [run.id for run in opened if READ not in view_names(run, log)],
        "elsewhere": elsewhere(opened, log),
        "locks": {run.id: lock_words(run, log, rule) for run in opened},
        "held_against": _held_against(root, runs, log),
    }


def _held_against(root: Path, runs: Sequence[str], log: Sequence[LoggedEntry]) -> dict[str, list[str]]:
    """Entry id to what is to be held against that rescoring; the rule is that of the bundle."""
    rule = load_rule(root / "adjudications").rule.digest
    found = {one["entry"]: caveats(one, rule) for one in dated_rescorings(log, runs)}
    for run in runs:
        for id_, said in doubts(open_run(run, root / "data"), log, root / "adjudications"):
            found[id_] = list(dict.fromkeys([*found[id_], said]))
    return {id_: told for id_, told in found.items() if told}


def derived(root: Path, facts: Mapping[str, Any]) -> dict[str, bytes]:
    """The texts of a bundle that follow from the rest of it, by their place in it."""
    log = read_log(root / "adjudications")
    opened = [open_run(run, root / "data") for run in facts["runs"]]
    quoted = [one for run in facts["runs"] for one in quoted_figures(run, root / "data", root / "adjudications", log)]
    return {
        "figures/figures.json": figures_json(quoted),
        "figures/figures.csv": figures_csv(quoted),
        "criteria.md": criteria_changelog(opened, log, facts["held_against"]).encode(),
        "README.md": readme(facts, quoted).encode(),
    }


def bundled_files(root: Path) -> Iterator[Path]:
    """Every file of a bundle but its manifest and what git keeps of it, sorted by place; links too."""
    found = (path for path in root.rglob("*") if path.is_symlink() or not path.is_dir())
    yield from sorted(p for p in found if p != root / MANIFEST and p.relative_to(root).parts[0] != ".git")


def manifest_text(root: Path) -> str:
    """`<sha256>  <place>`, a line per file, as `sha256sum -c` reads it."""
    return "".join(f"{sha256_of(path)}  {path.relative_to(root).as_posix()}\n" for path in bundled_files(root))
