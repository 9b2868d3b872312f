"""Proves a bundle: everything is hashed, runs and log are verified, and what is derived is made again and compared."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evallib.charts.drawing import spec_of
from evallib.errors import EvallibError, InputError
from evallib.publishing.parts import FACTS, MANIFEST, bundled_files, derived, facts_of
from evallib.publishing.quoted import drawings, figure_rows
from evallib.rescoring.upholding import Upheld, upheld
from evallib.store import Verification, open_run, read_log, verify_log, verify_run
from evallib.store.files import sha256_of

__all__ = ["bundle_digest", "is_bundle", "prove"]


def is_bundle(folder: Path) -> bool:
    """Whether `folder` claims to be a bundle."""
    return (folder / FACTS).is_file() or (folder / MANIFEST).is_file()


def bundle_digest(root: Path) -> str:
    """SHA-256 of the manifest, which stands for the whole bundle."""
    return sha256_of(root / MANIFEST)


def prove(root: Path, *, redraw: bool = True) -> Verification:
    """How many files were compared, and one sentence for each thing that is not as it was published.

    `redraw` draws the charts again, which takes most of the time, and compares their rows; else they are hashed only.
    """
    try:
        listed = dict(_listed(root / MANIFEST))
        facts = _facts(root / FACTS)
    except InputError as error:
        return Verification(0, [str(error)])
    anew, problems = Upheld([]), [*_hashes(root, listed)]
    for one in _runs(root, facts):
        anew = anew.with_more(one)
    problems += anew.problems
    try:
        problems += _derived(root, facts)
        problems += [one for run in facts["runs"] if redraw for one in _charts(root, run)]
    except EvallibError as error:
        problems.append(f"{root}: its figures cannot be made again: {error}")
    return Verification(len(listed), list(dict.fromkeys(problems)), anew.computed, anew.verdicts)


def _listed(path: Path) -> Iterator[tuple[str, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is missing or cannot be read; this is no whole bundle") from error
    for line in lines:
        sha256, gap, place = line.partition("  ")
        if not gap or len(sha256) != 64 or Path(place).is_absolute() or ".." in Path(place).parts:
            raise InputError(f"{path}: holds {line!r}, which is no hash of a file here; restore it")
        yield place, sha256


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads(path.read_bytes())
        texts = [facts["evallib"], facts["made"], *facts["runs"], *facts["entries"], *facts["left_out"]]
        told = bool(facts["runs"]) and all(isinstance(text, str) for text in texts)
        told = told and isinstance(facts.get("locks"), dict) and isinstance(facts.get("held_against"), dict)
    except (OSError, ValueError, KeyError, TypeError):
        told = False
    if not told:
        raise InputError(f"{path}: is missing or does not say what the bundle holds; restore it")
    return facts


def _hashes(root: Path, listed: Mapping[str, str]) -> Iterator[str]:
    there = {path.relative_to(root).as_posix(): path for path in bundled_files(root)}
    yield from (f"{root / place}: is missing" for place in listed if place not in there)
    for place, path in there.items():
        if path.is_symlink():
            yield f"{path}: is a link; a bundle holds files"
        elif place not in listed:
            yield f"{path}: stands in the bundle but is not in its manifest"
        elif sha256_of(path) != listed[place]:
            yield f"{path}: differs from what was published"


def _runs(root: Path, facts: Mapping[str, Any]) -> Iterator[Upheld]:
    """The runs are those it names, each as its own manifest has it and as its criteria say; the entries are whole."""
    folder, log = root / "data" / "runs", root / "adjudications"
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    yield Upheld([f"{folder / name}: is not among the runs of {FACTS}" for name in sorted(there - set(facts["runs"]))])
    for name in facts["runs"]:
        if name not in there:
            yield Upheld([f"{folder / name}: run {name!r} of {FACTS} is missing"])
            continue
        run = open_run(name, root / "data")
        problems = verify_run(run, log).problems
        yield Upheld(problems) if problems else upheld(run, read_log(log))
    yield Upheld(verify_log(log).problems)


def _derived(root: Path, facts: Mapping[str, Any]) -> Iterator[str]:
    for name, found in facts_of(root, facts["runs"]).items():
        said = facts.get(name)
        if said != found:
            yield f"{root / FACTS}: says of {name!r} what the bundle does not hold: {_differing(said, found)}"
    for place, content in derived(root, facts).items():
        path = root / place
        if not path.is_file() or path.read_bytes() != content:
            yield f"{path}: is not what the runs and entries here give, by evallib {facts['evallib']}"
    yield from _uncited(root, facts)
    for run in facts["runs"]:
        yield from _page(root, run)


def _differing(said: Any, found: Any) -> str:
    if isinstance(said, list) and isinstance(found, list):
        return ", ".join(map(repr, [one for one in (*said, *found) if (one in said) != (one in found)][:3])) or "order"
    return f"{said!r} instead of {found!r}"


def _uncited(root: Path, facts: Mapping[str, Any]) -> Iterator[str]:
    """Entries that a published figure names and that are not here."""
    path = root / "figures" / "figures.json"
    try:
        figures = json.loads(path.read_bytes())["figures"]
        cited = {id_: f"{one['run']}, {one['view']}" for one in figures for id_ in one["cites"]}
    except (OSError, ValueError, KeyError, TypeError):
        yield f"{path}: holds no figures; restore it"
        return
    there = {path.stem for path in (root / "adjudications" / "entries").rglob("*.yaml")}
    for id_, by in cited.items():
        if id_ not in there or id_ not in facts["entries"]:
            yield f"entry {id_}, on which the figures of {by} rest, is missing from {root / 'adjudications'}"


def _page(root: Path, run: str) -> Iterator[str]:
    """The table of all figures on the page of a run, where the bundle has pages; pictures and sentences are hashed."""
    path = root / "report" / f"{run}.html"
    if not path.is_file():
        return
    page = re.sub(r">\s+<", "><", path.read_text(encoding="utf-8", errors="replace"))
    page = re.sub(r'<td data-of="[^"]*"( class="long")?>', "<td>", page)  # what a narrow screen says of a cell
    for row in figure_rows(run, root / "data", root / "adjudications"):
        if "".join(f"<td>{html.escape(cell)}</td>" for cell in row) not in page:
            yield f"{path}: its {row[0]!r} is not what the run and the entries here give"
            return


def _charts(root: Path, run: str) -> Iterator[str]:
    folder = root / "figures" / run
    drawn = {name: spec_of(chart) for name, chart in drawings(run, root / "data", root / "adjudications")}
    there = {path.stem for path in folder.glob("*.json")} if folder.is_dir() else set()
    yield from (
        f"{folder / name}.json: is missing, or is no chart of run {run!r}" for name in sorted(there ^ set(drawn))
    )
    for name in sorted(there & set(drawn)):
        try:
            same = _said_by(json.loads((folder / f"{name}.json").read_bytes())) == _said_by(drawn[name])
        except (ValueError, KeyError, TypeError):
            same = False
        if not same or not (folder / f"{name}.svg").is_file():
            yield f"{folder / name}.json: does not show what the run and the entries here give"


def _said_by(spec: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """What a chart says of itself, and its rows: colours and sizes are the drawing library's business."""
    return spec["usermeta"], list(_rows({name: part for name, part in spec.items() if name != "usermeta"}))


def _rows(part: Any) -> Iterator[Any]:
    """Every list of rows in a specification: beside a mark, or under `datasets`, whose names say nothing."""
    inner = part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
    if isinstance(part, list) and part and all(isinstance(row, Mapping) for row in part) and not _draws(part[0]):
        yield part
        return
    for one in inner:
        yield from _rows(one)


def _draws(part: Mapping[str, Any]) -> bool:
    return bool({"mark", "layer", "transform", "encoding", "filter", "hconcat", "vconcat", "field"} & set(part))
