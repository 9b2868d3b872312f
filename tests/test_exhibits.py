"""What the notebooks show: frames and texts that name their view, from one stored run."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

from evallib.adjudication import make_reading
from evallib.display import set_display, table_html
from evallib.errors import InputError
from evallib.exhibits.rows import flat_figures
from evallib.exhibits.run import open_exhibits
from evallib.printing import views_table
from evallib.records import POST_HOC_LABEL
from evallib.rescoring.apply import rescore
from evallib.store import append_entry
from evallib.views.figures import load_figures
from tests.browser import small_run
from tests.licensing import citing
from tests.making import SUITE, stored_run

ENTRY = """\
kind: rescoring
slug: wider
author: r1
reason: the number may be written as a digit
changes: [{check: says, cases: [c-1], fix: key, reason: a digit says the same}]
expects: [{run: r-1, case: c-1, sample: 2, to: pass}, {run: r-1, case: c-2, sample: 1, to: pass}]
"""


def _loop(tmp_path):
    """A run of four samples, rescored once and read once."""
    data, log = tmp_path / "data", tmp_path / "adjudications"
    run = stored_run(data, {"c-1": ["four", "it is 4"], "c-2": ["six", "five"]})
    (tmp_path / "new.yaml").write_text(SUITE.replace("[four]", "[[four, '4']]"))
    reading = {"reading": "pass", "cause": "too-narrow", "reason": "4 is four", "author": "r1", "check": ""}
    read = append_entry(log, make_reading(run, "c-1", 2, chosen="all failures", **reading))
    (tmp_path / "entry.yaml").write_text(citing(ENTRY, [read.id]))
    rescore([run], tmp_path / "new.yaml", tmp_path / "entry.yaml", log)
    return data, log


@pytest.fixture
def exhibits(tmp_path):
    data, log = _loop(tmp_path)
    return open_exhibits("r-1", data=data, adjudications=log)


def test_each_view_stands_under_its_name_and_label(exhibits):
    names = list(exhibits.overview()["view"])
    assert names[0] == "strict"
    assert [POST_HOC_LABEL in name for name in names] == [False, True, True]
    for frame in (exhibits.figures(), exhibits.samples(), exhibits.checks()):
        assert set(names) <= set(frame.columns)


def test_the_read_row_says_what_reading_corrects_or_why_it_cannot(exhibits):
    corrected = list(exhibits.overview()["corrected by reading"])
    assert corrected == ["", "", "not estimable (0 strict passes read)"]
    assert "corrected for reading: not estimable (0 strict passes read)" in exhibits.captions()["caption"].iloc[-1]


def test_every_rate_of_the_views_has_its_interval(exhibits):
    ends = r"[01]\.\d{3} \[[01]\.\d{3}, [01]\.\d{3}\]"
    rates = ["pass rate", "of those scored", "pass@2", "pass^2", "mean score"]
    assert exhibits.overview()[rates].map(lambda cell: bool(re.fullmatch(ends, cell))).all(axis=None)
    strict = views_table([figures.summary() for figures in exhibits.views])[1]
    assert len(re.findall(ends, strict)) == 4


def test_one_caption_says_what_all_views_share_once(exhibits):
    caption = exhibits.reliability().chart.usermeta["evallib"]["caption"]
    assert caption.count("A sample passes when") == 1
    assert all(f"view {figures.view}:" in caption for figures in exhibits.views)
    assert len(caption.splitlines()) == len(exhibits.views) + 2  # what the marks mean, and what all share


def test_the_figures_are_those_of_metrics_in_full(exhibits, tmp_path):
    summary = load_figures(["r-1"], "strict", tmp_path / "data", tmp_path / "adjudications").summary()
    shown = exhibits.figures().set_index("figure")["strict"]
    assert json.loads(shown["pass_rate"]) == summary["pass_rate"] == 0.5
    assert {name: shown[name] for name, _ in flat_figures(summary)} == dict(flat_figures(summary))


def test_shown_frames_carry_the_label_in_words(exhibits):
    assert POST_HOC_LABEL in exhibits.curves()["view"].iloc[-1]
    assert set(exhibits.changes()["label"]) == set(exhibits.flips()["label"]) == {POST_HOC_LABEL}
    assert "post_hoc" not in exhibits.cases("rescored")


def test_shown_times_have_no_fractions_of_a_second(exhibits):
    assert "." not in exhibits.entries()["time"].iloc[0]
    assert exhibits.plan().set_index("of the run").loc["begun", "is"] == "2026-11-30T10:00:00+00:00"


def test_what_a_run_is_says_its_labels_and_no_word_of_python(tmp_path):
    planned = {
        "labels": {"weights_sha256": "b179"}, "build": {"revision": "abc", "dirty": False},
        "self_check": {"shown": 3, "unproven": []}, "target": {"kind": "chat", "tools": ["a", "b"]},
    }  # fmt: skip
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]}, planned=planned)
    shown = open_exhibits("r-1", data=tmp_path / "data", adjudications=tmp_path / "log").plan()
    rows = dict(shown.itertuples(index=False))
    assert rows["labels"] == "weights sha256 b179"
    assert rows["build"] == "revision abc, dirty no"
    assert (rows["self-check"], rows["target"]) == ("shown 3", "kind chat, tools a, b")


def test_an_imported_run_has_no_beginning_and_no_end(tmp_path):
    small_run(tmp_path)
    rows = open_exhibits("small", data=tmp_path, adjudications=tmp_path / "log").plan()["of the run"].tolist()
    assert {"imported", "source", "samples in the source"} <= set(rows)
    assert not {"begun", "ended", "planned samples"} & set(rows)


def test_every_table_of_rates_carries_its_caption(exhibits):
    for frame in (exhibits.overview(), exhibits.checks(), exhibits.curves(), exhibits.cases(), exhibits.rules()):
        assert "Suite small (digest" in frame.attrs["caption"]
    frame = exhibits.overview()
    (short, full) = re.findall(
        "<caption><details><summary>(.*?)</summary>(.*?)</details></caption>", table_html(frame)
    )[0]
    assert "all scored<br>strict: small@" in short
    assert "criteria " in short
    assert POST_HOC_LABEL in short
    assert full.startswith("Suite small (digest")


def test_the_story_goes_from_the_gate_to_what_to_read_next(exhibits):
    told = dict(exhibits.story().itertuples(index=False))
    assert list(told)[:3] == ["Gate", "Pass rate", "Over repeats"]
    assert told["Pass rate"].startswith("0.500 [")
    assert told["Over repeats"] == "pass@2 1.000, pass^2 0.000; of 2 cases 0 always pass, 2 sometimes, 0 never."
    assert "Weakest check" in told
    assert POST_HOC_LABEL in told["View read"]
    assert told["Read next"] == "c-1 (1 of 2), c-2 (1 of 2)."


def test_bars_and_latency_are_drawn_of_the_same_run(exhibits):
    counts = exhibits.check_bars("strict").chart.to_dict()["datasets"]
    drawn = {row["check_id"]: row["passed"] for rows in counts.values() for row in rows}
    assert drawn == {"says": 2, "short": 4}
    assert "4 samples" in exhibits.usage().chart.to_dict()["description"]


def test_flips_are_named_expected_or_missed(exhibits):
    flips = exhibits.flips()[["case", "sample", "strict", "flip"]]
    assert flips.values.tolist() == [["c-1", 2, "fail", "expected"], ["c-2", 1, "", "MISSED, expected pass"]]


def test_samples_differ_between_views_where_they_were_rescored_or_read(exhibits):
    row = exhibits.samples().set_index(["case_id", "sample"]).loc[("c-1", 2)]
    words = [row[name] for name in exhibits.overview()["view"]]
    assert words == ["fail", "pass", "pass (read: pass)"]


def test_failing_answers_are_shown_at_most_as_many_as_asked(exhibits):
    assert "it is 4" in exhibits.failing()
    assert exhibits.failing(1).startswith("1 of 2 answers")
    assert "six" not in exhibits.failing(1)


def test_control_characters_of_an_answer_are_spelled_out(tmp_path):
    stored_run(tmp_path, {"c-1": ["\x1b[2Jgone"], "c-2": ["five"]})
    exhibits = open_exhibits("r-1", data=tmp_path, adjudications=tmp_path / "log")
    assert "⟨U+001B⟩[2Jgone" in exhibits.failing()


def test_the_gate_gives_one_row_per_rule(exhibits):
    rules = exhibits.rules()
    assert list(rules["rule"])[:2] == ["mean", "checks"]
    assert list(exhibits.rules("rescored").columns)[1].endswith(f"({POST_HOC_LABEL})")


def test_an_unknown_view_is_refused_with_those_there_are(exhibits):
    with pytest.raises(InputError, match="no view 'nope'; its views: strict, rescored:"):
        exhibits.rules("nope")


def test_a_run_that_was_never_rescored_has_no_flips(tmp_path):
    stored_run(tmp_path, {"c-1": ["four"], "c-2": ["five"]})
    with pytest.raises(InputError, match="was never rescored"):
        open_exhibits("r-1", data=tmp_path, adjudications=tmp_path / "log").flips()


@pytest.mark.parametrize("k", ["0", "1,x", ",", "1.5"])
def test_k_is_whole_numbers_from_one(exhibits, k):
    with pytest.raises(InputError, match="expected whole numbers from 1"):
        exhibits.curves(k)


def test_relative_folders_are_found_from_a_folder_below(tmp_path, monkeypatch):
    stored_run(tmp_path / "data", {"c-1": ["four"], "c-2": ["five"]})
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert open_exhibits("r-1", data="data", adjudications="adjudications").run.id == "r-1"


def test_a_notebook_shows_a_frame_escaped_flush_left_and_without_row_numbers():
    shown = table_html(pd.DataFrame({"<b>a</b>": ["<script>x()</script>"], "b": [7]}))
    assert "&lt;script&gt;x()" in shown
    assert "&lt;b&gt;a" in shown
    assert "text-align: left" in shown
    assert not re.search(r"<script|<b>|<th>0</th>", shown)
    assert "<th>x-1</th>" in table_html(pd.DataFrame({"b": [7]}, index=["x-1"]))


@pytest.fixture
def notebook_display():
    """Set as a notebook does it, in a shell of IPython; put back afterwards."""
    names = ("max_colwidth", "max_columns", "max_rows", "html.use_mathjax", "float_format")
    before = {f"display.{name}": pd.get_option(f"display.{name}") for name in names}
    shell = InteractiveShell.instance()
    set_display(interactive=False)
    yield shell
    InteractiveShell.clear_instance()
    for name, value in before.items():
        pd.set_option(name, value)


def test_frames_show_whole_texts_and_no_mathematics(notebook_display):
    shown = pd.DataFrame({"answer": ["<script>" + "long " * 40 + "end $x$"]})._repr_html_()
    assert "end $x$" in shown
    assert "&lt;script&gt;" in shown
    assert "tex2jax_ignore" in shown


def test_a_notebook_shows_an_error_of_ours_as_its_sentence(notebook_display, capsys):
    done = notebook_display.run_cell("from evallib.errors import InputError; raise InputError('no run of that name')")
    assert isinstance(done.error_in_exec, InputError)
    assert capsys.readouterr().out == "InputError: no run of that name\n"


def test_long_heads_may_be_broken_at_their_underscores():
    shown = table_html(pd.DataFrame({"score_min": ["a_b"]}))
    assert "<th>score_<wbr>min</th>" in shown
    assert "<td>a_b</td>" in shown


def test_a_frame_without_rows_says_so():
    assert '<th colspan="2">nothing to show</th>' in table_html(pd.DataFrame(columns=["case", "reading"]))
