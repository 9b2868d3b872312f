"""What is stored stays as it was written, whole or not at all."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evallib.entries import Reading, Withdrawal
from evallib.errors import IncompleteError, InputError
from evallib.records import Sample, ToolCall, Turn, Usage, Verdict, samples_schema, turns_schema
from evallib.store import (
    Journal,
    append_entry,
    begin_run,
    finish_run,
    list_runs,
    open_run,
    part_of,
    read_log,
    share_suite,
    verify_log,
    verify_run,
)
from evallib.store.files import sha256_of, staging_folder, write_new
from evallib.store.journal import read_journal
from evallib.store.tables import (
    decode_sample,
    encode_sample,
    parquet_bytes,
    read_table,
    samples_from,
    samples_table,
    turns_table,
    verdicts_from,
    verdicts_table,
)
from evallib.suite import Suite
from tests.making import SUITE, stored_run

text = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), max_size=20)
turns = st.builds(
    Turn,
    step=st.just(1),
    request=text,
    text=text,
    tool_calls=st.lists(
        st.builds(ToolCall, text, st.dictionaries(text, text | st.integers(-9, 9)), st.none() | text, st.none() | text),
        max_size=2,
    ).map(tuple),
    partials=st.lists(text, max_size=2).map(tuple),
    usage=st.builds(
        Usage,
        st.none() | st.integers(0, 2**60),
        st.none() | st.integers(0, 9),
        st.integers(0, 9),
        st.none(),
        st.none() | st.integers(0, 2**60),
    ),
)
samples = st.builds(
    Sample,
    run_id=st.just("r"),
    case_id=st.just("c"),
    sample=st.integers(1, 99),
    answer=text,
    files=st.dictionaries(text, text, max_size=2),
    turns=st.lists(turns, max_size=1).map(tuple),
    exit_code=st.none() | st.integers(0, 255),
    seed=st.none() | st.integers(0, 2**63 - 1),
    recorded=st.lists(text, max_size=2).map(tuple),
    started=st.just("") | st.just("2026-11-30T10:00:00.000001+00:00"),
)


@settings(max_examples=30)
@given(samples)
def test_a_sample_comes_back_from_journal_and_table_as_it_was(sample: Sample) -> None:
    assert decode_sample(json.loads(json.dumps(encode_sample(sample)))) == sample
    assert samples_from(samples_table([sample]), [turns_table([sample])]) == [sample]


def test_samples_and_turns_of_before_cached_tokens_are_read_with_none(tmp_path: Path) -> None:
    sample = Sample("r", "c", 1, turns=(Turn(1, "q", "a", usage=Usage(3, 2, 1)),), answer="a", usage=Usage(3, 2, 1))
    found = []
    for make, schema in ((samples_table, samples_schema()), (turns_table, turns_schema())):
        old = make([sample]).drop_columns(["cached_tokens"])
        pq.write_table(old.replace_schema_metadata({"evallib_schema": "2"}), path := tmp_path / f"{len(found)}.parquet")
        found.append(read_table(path, schema, sha256_of(path)))
        assert found[-1].schema.names == schema.names
    assert samples_from(found[0], found[1:]) == [sample]
    earlier = {name: value for name, value in encode_sample(sample).items() if name != "cached_tokens"}
    assert decode_sample(earlier) == sample, "a journal line of before"


def test_a_verdict_comes_back_as_it_was() -> None:
    verdicts = [
        Verdict(
            "c", 1, "a", "scored", "why", 0.5, 3.0, False, (1, 4, 7, 9), (1, 2), True, 0.25, True, "carried", "d", "{}"
        ),
        Verdict("c", 1, "b", "not_scored", "no judge"),
    ]
    assert verdicts_from(verdicts_table("r", verdicts)) == verdicts


def test_a_row_that_stands_twice_or_lacks_a_value_is_refused() -> None:
    sample = Sample("r", "c", 1)
    with pytest.raises(InputError, match="stands twice"):
        samples_table([sample, sample])
    with pytest.raises(InputError, match="column 'answer'"):
        samples_table([replace(sample, answer=None)])  # type: ignore[arg-type]  # what a faulty target might do


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    write_new(tmp_path / "a", b"first")
    with pytest.raises(InputError, match="exists already"):
        write_new(tmp_path / "a", b"second")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_run_id_is_taken_once_and_nothing_is_left_of_the_second(tmp_path: Path) -> None:
    stored_run(tmp_path, {"c-1": ["four"]})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="'r-1' exists already"):
        stored_run(tmp_path, {"c-1": ["five"]})
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("run_id", ["", "../up", "a/b", ".hidden", "x" * 121, "a b"])
def test_a_run_id_that_is_no_folder_name_is_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(InputError, match="run id"):
        stored_run(tmp_path, {"c-1": ["four"]}, run_id=run_id)
    assert not (tmp_path / "runs").exists()


def test_an_unknown_run_is_named_with_those_there_are(tmp_path: Path) -> None:
    stored_run(tmp_path, {"c-1": ["four"]})
    with pytest.raises(InputError, match=r"no run 'r-2'.*runs there: r-1"):
        open_run("r-2", tmp_path)


def test_an_incomplete_run_is_no_run_to_read(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four"]})
    (run.folder / "run.json").unlink()
    with pytest.raises(IncompleteError, match="--resume"):
        _ = open_run("r-1", tmp_path).samples


@pytest.mark.parametrize("name", ["samples.parquet", "verdicts.parquet", "turns.parquet"])
def test_a_damaged_table_is_noticed_on_reading_and_by_verify(tmp_path: Path, name: str) -> None:
    run = stored_run(tmp_path, {"c-1": ["four"]})
    content = bytearray((run.folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (run.folder / name).write_bytes(content)
    again = open_run("r-1", tmp_path)
    with pytest.raises(InputError, match=rf"{name}: is damaged"):
        _ = (again.samples, again.verdicts)
    assert [name in p for p in verify_run(again, tmp_path / "log").problems] == [True]


def test_a_changed_suite_copy_or_plan_is_noticed(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four"]})
    with (run.folder / "suite.yaml").open("a") as file:
        file.write("# more\n")
    assert len(verify_run(open_run("r-1", tmp_path), tmp_path).problems) == 1
    with pytest.raises(InputError, match="was changed after"):
        _ = open_run("r-1", tmp_path).suite


def test_a_file_that_does_not_belong_is_named(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four"]})
    (run.folder / "notes.txt").write_text("hello")
    assert "notes.txt" in verify_run(run, tmp_path).problems[0]


def test_the_view_stands_in_the_file_itself(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four"]})
    metadata = pq.read_schema(run.folder / "verdicts.parquet").metadata
    assert (metadata[b"view"], metadata[b"post_hoc"]) == (b"strict", b"false")


def test_the_journal_loses_a_torn_line_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        for n in (1, 2, 3):
            journal.append(Sample("r", "c", n, answer=f"a{n}"), [])
    whole = path.read_bytes()
    for cut in range(whole.rfind(b"\n", 0, -1) + 2, len(whole)):
        path.write_bytes(whole[:cut])
        assert [s.sample for s in read_journal(path)[0]] == [1, 2]
    with Journal(path) as journal:
        journal.append(Sample("r", "c", 3, answer="again"), [])
    assert [s.answer for s in read_journal(path)[0]] == ["a1", "a2", "again"]


def test_one_run_has_one_writer(tmp_path: Path) -> None:
    with Journal(tmp_path / "j"), pytest.raises(InputError, match="another process"):
        Journal(tmp_path / "j")


def test_a_folder_without_the_right_to_write_is_one_sentence(tmp_path: Path) -> None:
    """Tried in a child process that gives up root, for whom no folder is closed."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from evallib.errors import InputError\n"
        "from evallib.store.files import staging_folder, write_new\n"
        "os.getuid() or os.setuid(65534)\n"
        "try: staging_folder(Path(sys.argv[1]) / 'runs' / 'r').__enter__()\n"
        "except InputError as error: print(error)\n"
        "try: write_new(Path(sys.argv[1]) / 'entry.yaml', b'')\n"
        "except InputError as error: print(error)\n"
    )
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents[:3]:
        if parent != Path("/tmp"):  # only the folders pytest made above this one
            parent.chmod(0o755)
    found = subprocess.run(
        [sys.executable, "-c", code, str(closed)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    made, written = found.stdout.splitlines()
    assert "may not write here" in made, found.stderr
    assert written == f"{closed}: may not write here; choose a folder you may write to"
    assert list(closed.iterdir()) == []


def reading(**more: object) -> Reading:
    return Reading.model_validate(
        {"author": "Ann Bee", "run": "r-1", "case": "c-1", "sample": 1, "reading": "pass", "reason": "ok", **more}
    )


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(
        st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\ufeff\ufffe\uffff"),
        min_size=1,
    )
)
def test_an_entry_is_read_back_as_it_was_written(tmp_path: Path, reason: str) -> None:
    logged = append_entry(tmp_path, reading(reason=reason))
    assert logged in read_log(tmp_path)
    assert verify_log(tmp_path).problems == []


def test_an_entry_lies_under_its_month_and_names_author_kind_and_content(tmp_path: Path) -> None:
    logged = append_entry(tmp_path, reading(time="2026-11-30T09:41:07.000000+00:00"))
    (path,) = (tmp_path / "entries" / "2026" / "11").iterdir()
    assert path.stem == logged.id
    assert path.name.startswith("20261130T094107Z-ann-bee-reading-")


def test_an_edited_entry_is_noticed(tmp_path: Path) -> None:
    logged = append_entry(tmp_path, reading())
    (path,) = (tmp_path / "entries").rglob(f"{logged.id}.yaml")
    path.write_text(path.read_text().replace("pass", "fail"))
    assert len(verify_log(tmp_path).problems) == 1


def test_the_log_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    first = append_entry(tmp_path, reading())
    second = append_entry(tmp_path, Withdrawal(author="Ann", withdraws=first.id, reason="slip"))
    assert [item.id for item in read_log(tmp_path)] == [first.id, second.id]


def test_an_entry_of_unknown_shape_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "entries" / "2026" / "11"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text("kind: reading\nauthor: a\nmood: fine\n")
    with pytest.raises(InputError, match=r"x\.yaml"):
        read_log(tmp_path)


def test_a_finished_run_is_never_finished_again(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four"]})
    with pytest.raises(InputError, match="is complete already"):
        finish_run(run, run.samples, run.verdicts, {})
    assert verify_run(run, tmp_path).problems == []


def test_runs_begun_and_finished_are_listed(tmp_path: Path) -> None:
    stored_run(tmp_path, {"c-1": ["four"]}, run_id="b")
    stored_run(tmp_path, {"c-1": ["four"]}, run_id="a")
    assert [run.id for run in list_runs(tmp_path)] == ["a", "b"]


def test_a_plan_and_its_suite_appear_together(tmp_path: Path) -> None:
    run = begin_run(tmp_path, {"run_id": "r", "suite_sha256": "x"}, SUITE.encode())
    assert sorted(p.name for p in run.folder.iterdir()) == ["plan.json", "suite.yaml"]
    assert not run.complete


def test_calls_keep_their_ids_and_results_that_answer_none_of_them() -> None:
    call = ToolCall("restart", {"name": "web"}, None, None, "c-1")
    turn = Turn(2, "q", "t", (call,), (ToolCall("restart", result='{"ok": true}', id="c-0"),), (call,))
    kept = decode_sample(encode_sample(Sample("r", "c", 1, turns=(turn,)))).turns[0]
    assert kept == turn


def test_a_run_read_in_batches_is_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallib.store.tables.BATCH", 3)
    run = stored_run(tmp_path, {"c-1": ["four", "five", "", "six"], "c-2": ["one"] * 7})
    batches = list(run.batches())
    assert [len(samples) for samples, _ in batches] == [3, 3, 3, 2]
    assert [sample for samples, _ in batches for sample in samples] == run.samples
    assert [verdict for _, verdicts in batches for verdict in verdicts] == run.verdicts


def test_tables_in_different_orders_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evallib.store.tables.BATCH", 2)
    run = stored_run(tmp_path, {"c-1": ["four", "five", "six"]})
    table = verdicts_table(run.id, list(reversed(run.verdicts)))
    path = run.folder / "verdicts.parquet"
    path.write_bytes(parquet_bytes(table, {}))
    run.manifest["files"]["verdicts.parquet"] = sha256_of(path)
    with pytest.raises(InputError, match="in another order"):
        list(run.batches())


def test_a_log_that_may_not_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    """Tried in a child process that gives up root, for whom no folder is closed."""
    home = Path(tempfile.mkdtemp(dir="/tmp"))
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from evallib.errors import InputError\n"
        "from evallib.store import read_log, verify_log\n"
        "from evallib.store.log import preview_stamps\n"
        "import os\n"
        "os.getuid() or os.setuid(65534)\n"
        "for read in (read_log, verify_log, preview_stamps):\n"
        "    try: print(read(Path(sys.argv[1])))\n"
        "    except InputError as error: print('refused:', error)\n"
    )
    try:
        home.chmod(0o755)
        append_entry(home, Withdrawal(author="a", withdraws="x", reason="r"))
        (year,) = (home / "entries").iterdir()
        for closed in (year, home / "previews"):
            closed.mkdir(exist_ok=True)
            closed.chmod(0)
        found = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True, check=True)
        first, second, third = found.stdout.splitlines()
        assert f"refused: {year}: cannot be read" in first
        assert f"refused: {year}: cannot be read" in second
        assert f"refused: {home / 'previews'}: cannot be read" in third
    finally:
        for closed in (year, home / "previews"):
            closed.chmod(0o755)
        shutil.rmtree(home)


def test_what_a_killed_import_left_is_removed_by_the_next_and_what_lives_is_not(tmp_path: Path) -> None:
    final = tmp_path / "runs" / "r"
    code = "import sys; from pathlib import Path; from evallib.store.files import staging_folder as s; import os\n"
    code += "held = s(Path(sys.argv[1])); held.__enter__(); os._exit(9)"
    subprocess.run([sys.executable, "-c", code, str(final)], check=False)
    (left,) = final.parent.iterdir()
    with staging_folder(final) as living, staging_folder(final) as second:
        assert {living, second} == set(final.parent.iterdir())
        assert left not in {living, second}
    assert list(final.parent.iterdir()) == []


def test_runs_that_hold_copies_of_one_suite_share_it_and_a_changed_copy_is_still_noticed(tmp_path: Path) -> None:
    runs = [stored_run(tmp_path, {"c-1": ["four"]}, run_id=name) for name in ("r-1", "r-2", "r-3")]
    other = stored_run(
        tmp_path, {"c-1": ["four"]}, run_id="r-4", suite_text=SUITE.replace("max_words: 5", "max_words: 6")
    )
    known: dict[str, Suite] = {}
    fresh = [open_run(run.id, tmp_path) for run in (*runs, other)]
    for run in (fresh[0], fresh[1], fresh[3]):
        share_suite(run, known)
    assert fresh[0].suite is fresh[1].suite
    assert fresh[3].suite is not fresh[0].suite
    (fresh[2].folder / "suite.yaml").write_text(SUITE + "\n")
    with pytest.raises(InputError, match="was changed after the run began"):
        share_suite(fresh[2], known)


def test_a_run_that_holds_some_samples_knows_no_others_and_leaves_the_run_as_it_was(tmp_path: Path) -> None:
    run = stored_run(tmp_path, {"c-1": ["four", "five"]})
    suite = run.suite
    held = part_of(run, run.samples[:1], run.verdicts[:2])
    assert (list(held.by_key), list(held.verdicts_of)) == ([("c-1", 1)], [("c-1", 1)])
    assert held.suite is suite
    assert len(run.samples) == 2


def test_spans_and_calls_of_verdicts_come_back_as_they_were(tmp_path: Path) -> None:
    given = [
        Verdict("c", n, "x", "scored", "r", 1.0, 1.0, True, spans=spans, calls=calls)
        for n, (spans, calls) in enumerate([((), ()), ((1, 3, 5, 9), ()), ((), (1, 2)), ((0, 1), (1, 1, 2, 1))], 1)
    ]
    table = verdicts_table("r", given)
    assert verdicts_from(table) == given
    assert verdicts_from(table.slice(1, 2)) == given[1:3]
