"""The log: read fast and the same, never changed by anything the package does, and held against itself."""

from __future__ import annotations

import errno
import os
import random
import re
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evallib.adjudication import make_difference, make_reading, make_resolution
from evallib.entries import Difference, Plan, Reading, Resolution, Rubric, Stratum, Withdrawal, read_flat
from evallib.errors import EvallibError, InfrastructureError, InputError
from evallib.rescoring.apply import rescore
from evallib.standing import own_reading, standing_readings
from evallib.store import append_entry, leftovers, read_log, verify_log
from evallib.store.log import entry_bytes, former_log_path, log_path
from evallib.strict_yaml import dump_yaml, parse_flat, parse_yaml
from tests.commandline import files
from tests.making import SUITE, stored_run

ROOT = Path(__file__).parent.parent
NOON = "2026-11-30T12:00:00.000000+00:00"
ITEM = {"run": "r-1", "case": "c-1", "sample": 1}
AWKWARD = ["", " ", "\n", "\n  ", "\n- ", "- ", ": ", " #", "'", '"', "|-", "---\n", "no", "1.5", "é—", "\t", "\x85"]


def read(**more: object) -> Reading:
    return Reading.model_validate(
        {"author": "Ann", "time": NOON, **ITEM, "reading": "pass", "strict": "fail: no", **more}
    )


def put(log: Path, entry, path: Path | None = None) -> str:  # any entry
    content = entry_bytes(entry)
    path = path or log_path(log, entry, content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path.stem


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """YAML as it is written here, and with pieces put in and taken out."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    pieces = [*AWKWARD, "word ", "a long text of many words that is folded when it is written ", "x"]
    values = ["".join(chance.choices(pieces, k=chance.randrange(12))), chance.choice([1, 2.5, True, None, ["a b", 2]])]
    text = dump_yaml({key: chance.choice(values) for key in ("kind", "reason", "a_b")[: chance.randrange(1, 4)]})
    for _ in range(chance.choice([0, 0, 1, 3])):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(pieces) + text[at + chance.randrange(3) :]
    return text


@settings(max_examples=400)
@given(mutated())
def test_the_fast_reader_knows_less_and_never_otherwise(text: str) -> None:
    if (value := parse_flat(text)) is not None:
        assert repr(value) == repr(parse_yaml(text, "x").value)


@pytest.mark.parametrize(
    "entry",
    [
        read(blind=True, seconds=12.25, reason="it says 'do not',\nthen: the rest", span=(3, 40)),
        Difference(author="Ünal", time=NOON, **ITEM, about="x", cause="other", reason="words " * 60),
        Withdrawal(author="Ann", time=NOON, withdraws="x", reason="taken back: it was 3 — not '4'"),
        Resolution(author="Cy", time=NOON, **ITEM, cites=("a-1", "b-2"), reading="fail", reason="so\n\nit is\n"),
        Rubric(author="Ann", time=NOON, suite="s", text="accept\n- what is so\n  # and not", reason="asked"),
    ],
)
def test_what_the_tool_writes_takes_the_fast_way(entry) -> None:  # any entry
    assert read_flat(entry_bytes(entry).decode()) == entry


def test_an_entry_written_by_hand_in_another_style_is_read_as_before(tmp_path: Path) -> None:
    folder = tmp_path / "entries/2026/11"
    folder.mkdir(parents=True)
    text = '# mine\nkind: withdrawal\nauthor: "Ann"\ntime: \'' + NOON + "'\nwithdraws: x\nreason: >\n  folded\n  text\n"
    (folder / "old.yaml").write_text(text)
    ((id_, entry),) = read_log(tmp_path)
    assert (id_, read_flat(text), entry.reason) == ("old", None, "folded text\n")


def problems(log: Path, **more: object) -> str:
    return "\n".join(verify_log(log, now=datetime.fromisoformat(NOON), **more).problems)


def test_a_log_that_is_right_has_no_problem(tmp_path: Path) -> None:
    plan = Plan(author="Ann", time=NOON, runs=("r-1",), seed=1, strata=(Stratum(run="r-1", strict="fail", of=1),))
    first = put(tmp_path, read(plan=put(tmp_path, plan)))
    second = put(tmp_path, read(reading="fail", supersedes=first))
    other = put(tmp_path, read(author="Bo"))
    put(tmp_path, Difference(author="Ann", time=NOON, **ITEM, about=second, agrees=True, reason="agrees"))
    check = put(tmp_path, read(author="Bo", check="says"))
    cites = (second, other, check)
    held = put(tmp_path, Resolution(author="Cy", time=NOON, **ITEM, cites=cites, reading="fail", reason="so"))
    put(tmp_path, Resolution(author="Di", time=NOON, **ITEM, cites=(*cites, held), reading="pass", reason="so"))
    gone = put(tmp_path, Withdrawal(author="Ann", time=NOON, withdraws=second, reason="slip"))
    put(tmp_path, Withdrawal(author="Ann", time=NOON, withdraws=gone, reason="no slip"))
    assert problems(tmp_path) == ""


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (read(supersedes="gone"), "supersedes names 'gone', which is not in the log"),
        (Withdrawal(author="Bo", time=NOON, withdraws="MINE", reason="r"), "by 'Ann': nobody but its author may"),
        (read(author="Bo", supersedes="MINE"), "by 'Ann': nobody but its author may"),
        (Difference(author="Bo", time=NOON, **ITEM, about="MINE", reason="r"), "nobody but its author may"),
        (Difference(author="Ann", time=NOON, **ITEM, about="MINE", agrees=True, reason="r"), "and agrees is true"),
        (Difference(author="Ann", time=NOON, **{**ITEM, "sample": 2}, about="MINE", reason="r"), "of another item"),
        (read(sample=2, supersedes="MINE"), "of another item"),
        (Difference(author="Ann", time=NOON, **ITEM, about="MINE", reason="r", supersedes="MINE"), "no difference"),
        (
            Resolution(author="Cy", time=NOON, **ITEM, cites=("MINE", "gone"), reading="fail", reason="r"),
            "cites names 'gone', which is not in the log",
        ),
        (read(plan="MINE"), "which is no plan"),
        (read(supersedes="MINE", also_supersedes=("gone",)), "supersedes names 'gone', which is not in the log"),
        (read(time="2026-12-02T12:00:00.000000+00:00"), "more than 24 hours from now"),
        (read(time="2026-11-30T12:00:00.000000"), "is no UTC time"),
        (read(time="20261130T000000+00:00"), "is no UTC time"),
        (read(time="2026-11-30 11:00:00+00:00"), "is no UTC time"),
        (read(time="2026-11-30T11:00:00Z"), "is no UTC time"),
    ],
)
def test_what_does_not_hold_is_named(tmp_path: Path, entry, said: str) -> None:  # any entry
    mine = put(tmp_path, read())
    named = {key: mine for key in ("supersedes", "withdraws", "about", "plan") if getattr(entry, key, "") == "MINE"}
    if isinstance(entry, Resolution):
        named["cites"] = tuple(mine if name == "MINE" else name for name in entry.cites)
    put(tmp_path, entry.model_copy(update=named))
    assert said in problems(tmp_path)
    assert len(problems(tmp_path).splitlines()) == 1


def test_a_plan_that_was_drawn_after_its_reading_is_named(tmp_path: Path) -> None:
    late = "2026-11-30T12:00:01.000000+00:00"
    plan = Plan(author="Ann", time=late, runs=("r-1",), seed=1, strata=(Stratum(run="r-1", strict="fail", of=1),))
    put(tmp_path, read(plan=put(tmp_path, plan)))
    assert "drawn after the reading that claims it" in problems(tmp_path)


@pytest.mark.parametrize("sample", [2**31, 2**70])
def test_a_sample_that_no_table_holds_is_no_entry(tmp_path: Path, sample: int) -> None:
    put(tmp_path, read().model_copy(update={"sample": sample}))
    with pytest.raises(InputError, match="sample"):
        read_log(tmp_path)
    assert "sample" in problems(tmp_path)


def test_names_that_go_in_a_circle_are_named(tmp_path: Path) -> None:
    """Names hold hashes, so a circle takes a forged name: both are told."""
    folder = tmp_path / "entries/2026/11"
    for mine, other in (("a-1", "b-2"), ("b-2", "a-1")):
        put(tmp_path, Withdrawal(author="Ann", time=NOON, withdraws=other, reason="r"), folder / f"{mine}.yaml")
    assert "in a circle: " in problems(tmp_path)
    assert problems(tmp_path).count("its hash does not fit its name") == 2
    assert len(read_log(tmp_path)) == 2


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("2026/10/{name}.yaml", "belongs in"),
        ("2026/11/20261130T120001Z-ann-reading-{hash}.yaml", "belongs in"),
        ("2026/11/20261130T120000Z-bo-reading-{hash}.yaml", "belongs in"),
        ("2026/11/20261130T120000Z-ann-reading-0123456789ab.yaml", "its hash does not fit its name"),
        ("2026/11/{name}.yaml.orig", "is no entry and read by nobody"),
        ("2026/11/.{name}.yaml", "is no entry and read by nobody"),
    ],
)
def test_a_file_in_another_place_or_under_another_name_is_named(tmp_path: Path, place: str, said: str) -> None:
    name = log_path(tmp_path, read(), entry_bytes(read())).stem
    put(tmp_path, read(), tmp_path / "entries" / place.format(name=name, hash=name[-12:]))
    assert said in problems(tmp_path)


def link(log: Path, path: Path) -> None:
    path.rename(log / "elsewhere.yaml")
    path.symlink_to(log / "elsewhere.yaml")


def link_folder(log: Path, path: Path) -> None:
    path.parent.rename(log / "elsewhere")
    path.parent.symlink_to(log / "elsewhere")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (link, "is a link: an entry stands in the log itself"),
        (link_folder, "is no entry and read by nobody"),
        (lambda _, path: path.chmod(0o755), "may be executed"),
        (lambda _, path: os.mkfifo(path.with_name("x.yaml")), "is a pipe, a socket or a device"),
        (lambda _, path: os.mkfifo(path.with_name("x")), "is no entry and read by nobody"),
    ],
)
def test_what_is_no_plain_file_is_named(tmp_path: Path, harm, said: str) -> None:  # any harm
    put(tmp_path, read())
    (path,) = (tmp_path / "entries").rglob("*.yaml")
    harm(tmp_path, path)
    assert said in problems(tmp_path)
    assert len(problems(tmp_path).splitlines()) == 1


def test_a_pipe_in_the_log_holds_no_reader_up(tmp_path: Path) -> None:
    (tmp_path / "entries").mkdir()
    os.mkfifo(tmp_path / "entries/x.yaml")
    with pytest.raises(InputError, match="is a pipe, a socket"):
        read_log(tmp_path)


def test_a_file_that_is_no_entry_is_told_and_the_others_are_still_checked(tmp_path: Path) -> None:
    put(tmp_path, read(supersedes="gone"))
    (tmp_path / "entries/2026/11/x.yaml").write_text("kind: reading\nmood: fine\n")
    assert "x.yaml" in problems(tmp_path)
    assert "which is not in the log" in problems(tmp_path)


# --- what writes never changes or removes

WORDS = st.lists(st.tuples(st.sampled_from("rdwsxyt"), st.integers(0, 9)), max_size=12)


def act(run, log: Path, what: str, number: int) -> None:  # a stored run
    """One thing that a reviewer or a rescoring does; what is refused says so and leaves the log alone."""
    author = ("Ann", "Bo", "Cy")[number % 3]
    case, sample, _ = item = [("c-1", 1, ""), ("c-1", 2, ""), ("c-2", 1, "")][number // 3 % 3]
    entries = read_log(log)
    mine = [e for e in entries if e.entry.author == author]
    readings = [e for e in mine if isinstance(e.entry, Reading)]
    if what == "r":
        before = own_reading(run, entries, author, item)
        word = ("pass", "fail")[number % 2]
        made = make_reading(
            run, case, sample, reading=word, author=author, reason="why", log=entries, supersedes=before
        )
        append_entry(log, made)
    elif what == "d" and readings:
        append_entry(log, make_difference(run, readings[-1], author=author, cause="other", reason="it says so"))
    elif what == "w" and mine:
        append_entry(log, Withdrawal(author=author, withdraws=mine[number % len(mine)].id, reason="slip"))
    elif what == "s":
        readings = standing_readings(run, entries)
        append_entry(log, make_resolution(run, item, readings, author=author, reading="fail", reason="both read"))
    elif what == "t" and entries:
        append_entry(log, entries[number % len(entries)].entry)
    elif what in "xy":  # the second of the same day and slug is refused, and so is one of a suite that is not there
        entry = log.parent / "entry.yaml"
        entry.write_text(f"kind: rescoring\nslug: s-{number % 2}\nauthor: {author}\nreason: r\nchanges:\n"
                         "- {check: short, fix: widen, reason: longer}\n")  # fmt: skip
        suite = log.parent / "suite.yaml"
        suite.write_text(SUITE.replace("max_words: 5", "max_words: 9"))
        rescore([run], suite if what == "x" else log.parent / "absent.yaml", entry, log)


@settings(max_examples=25, deadline=None)
@given(WORDS)
def test_no_operation_changes_or_removes_an_entry(tmp_path_factory: pytest.TempPathFactory, words: list) -> None:
    home = tmp_path_factory.mktemp("home")
    run = stored_run(home, {"c-1": ["four", "five"], "c-2": ["five"]})
    log = home / "log"
    before: dict[str, bytes] = {}
    for what, number in words:
        try:
            act(run, log, what, number)
        except (EvallibError, KeyError):
            assert files(log / "entries") == before
        after = files(log / "entries")
        assert before.items() <= after.items()
        before = after
    assert verify_log(log).problems == []
    assert leftovers(log) == []


def test_the_same_entry_twice_is_one_file_and_the_second_is_refused_in_a_sentence(tmp_path: Path) -> None:
    append_entry(tmp_path, read())
    before = files(tmp_path)
    with pytest.raises(InputError, match="exists already and is never overwritten"):
        append_entry(tmp_path, read())
    assert files(tmp_path) == before


APPEND = """
import os, sys
from pathlib import Path
from evallib.entries import Reading
from evallib.store import append_entry
log, author, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(count):
    one = Reading(author=author, run="r", case="c", sample=number + 1, reading="pass", reason="x" * 5000)
    made = append_entry(log, one)
    print(made.id, flush=True)
    if number == count - 1 and author == "killed":
        os.link = lambda *_: os.kill(os.getpid(), 9)
        append_entry(log, Reading(author=author, run="r", case="c", sample=9, reading="pass"))
"""


def start(log: Path, author: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", APPEND, str(log), author, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


def test_an_entry_whose_folder_cannot_be_synced_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saying that it was not saved would have it saved again by the next key."""
    put(tmp_path, read(author="Bo"))  # the folder is there
    real = os.fsync

    def fails_on_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EIO, "Input/output error")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fails_on_folders)
    with pytest.raises(InfrastructureError, match="cannot be written"):
        append_entry(tmp_path, read())
    assert [e.entry.author for e in read_log(tmp_path)] == ["Bo"]
    monkeypatch.undo()
    append_entry(tmp_path, read())
    assert [e.entry.author for e in read_log(tmp_path)] == ["Ann", "Bo"]
    assert problems(tmp_path) == ""


def test_two_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    told = [one.communicate()[0].split() for one in [start(tmp_path, "Ann", 40), start(tmp_path, "Bo", 40)]]
    assert {e.id for e in read_log(tmp_path)} == {id_ for ids in told for id_ in ids}
    assert [len(ids) for ids in told] == [40, 40]
    assert verify_log(tmp_path).problems == []


@pytest.mark.parametrize("after", [1, 7, 20])
def test_a_kill_while_appending_leaves_a_whole_entry_or_none(tmp_path: Path, after: int) -> None:
    child = start(tmp_path, "Ann", 100_000)
    assert child.stdout is not None
    told = [child.stdout.readline().strip() for _ in range(after)]
    child.send_signal(signal.SIGKILL)
    told += child.communicate()[0].split()
    assert set(told) <= {e.id for e in read_log(tmp_path)}  # what was said to be saved is
    assert verify_log(tmp_path).problems == []


def test_what_a_kill_left_is_no_entry_and_is_named(tmp_path: Path) -> None:
    killed = start(tmp_path, "killed", 1)
    told = killed.communicate()[0].split()
    assert (killed.returncode, [e.id for e in read_log(tmp_path)]) == (-signal.SIGKILL, told)
    found = verify_log(tmp_path)
    assert (found.checked, found.problems) == (1, [])
    assert ["was left by a write that did not end" in note for note in leftovers(tmp_path)] == [True]
    append_entry(tmp_path, read(time=datetime.now(UTC).isoformat(timespec="microseconds")))
    assert len(read_log(tmp_path)) == 2


def test_an_entry_of_tomorrow_is_within_what_clocks_are_off(tmp_path: Path) -> None:
    soon = datetime.fromisoformat(NOON) + timedelta(hours=23)
    put(tmp_path, read(time=soon.isoformat(timespec="microseconds")))
    assert problems(tmp_path) == ""


@pytest.mark.parametrize(
    ("author", "shown"),
    [
        ("Ann Lee", "ann-lee"),
        ("é", "e"),
        ("Ünal Şahin", "unal-sahin"),
        ("Zoë", "zoe"),
        ("Ærø", "r-[0-9a-f]{6}"),
        ("李雷", "[0-9a-f]{6}"),
        ("Жан", "[0-9a-f]{6}"),
        ("李 Ann", "ann-[0-9a-f]{6}"),
        ("…", "[0-9a-f]{6}"),
    ],
)
def test_a_file_is_named_by_its_author_in_ascii(tmp_path, author, shown):
    id_ = append_entry(tmp_path, read(author=author)).id
    assert re.fullmatch(rf"20261130T120000Z-{shown}-reading-[0-9a-f]{{12}}", id_)
    assert verify_log(tmp_path).problems == []


def test_readers_whose_names_have_no_ascii_letters_are_told_apart(tmp_path):
    ids = {append_entry(tmp_path, read(author=author)).id.split("-")[1] for author in ("李雷", "韩梅", "Жан", "Зан")}
    assert len(ids) == 4


@given(st.text(min_size=1))
def test_every_name_makes_a_name_of_a_file(author):
    path = log_path(Path("log"), read(author=author), b"")
    assert re.fullmatch(r"20261130T120000Z-[a-z0-9]+(-[a-z0-9]+)*-reading-[0-9a-f]{12}\.yaml", path.name)


def test_an_entry_that_was_named_before_accents_were_left_out_stays_sound(tmp_path):
    content = entry_bytes(entry := read(author="Ünal"))
    put(tmp_path, entry, former_log_path(tmp_path, entry, content))
    (path,) = tmp_path.rglob("*.yaml")
    assert "-nal-reading-" in path.name
    assert verify_log(tmp_path).problems == []
