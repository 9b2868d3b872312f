"""The demonstration shows the whole loop, and clears only what it made."""

from pathlib import Path

import pytest

from evallib.cli import main
from evallib.demo import clear
from evallib.errors import InputError
from evallib.views.figures import load_views


def test_the_demo_runs_rescores_reads_gates_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "demo"
    assert main(["demo", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    views = load_views("demo-tickets", out / "data", out / "adjudications")
    assert [figures.view.partition(":")[0] for figures in views] == ["strict", "rescored", "read"]
    for figures in views:
        summary = figures.summary()
        passed = round(summary["pass_rate_micro"] * summary["planned"])
        assert f"{figures.view}" in said
        assert f"{passed}/{summary['planned']}" in said
    assert said.count("chosen after reading the answers") >= 2
    assert "basics-smollm2" in said
    assert "blocked: run demo-tickets, view strict" in said
    for page in (out / "report").glob("*.html"):
        assert str(page) in said
    assert len(list((out / "report").glob("*.html"))) == 2
    assert "make lab" in said


def test_the_recorded_run_varies_as_a_real_model_does(root: Path) -> None:
    (figures,) = load_views("basics-smollm2", root / "data", root / "adjudications", ["strict"])
    run = figures.views[0].run
    passes = figures.outcomes.groupby("case_id")["passed"].sum()
    texts: dict[str, set[str]] = {}
    for sample in run.samples:
        texts.setdefault(sample.case_id, set()).add(sample.answer)
    assert set(run.plan["cases"].values()) == {8}
    assert len(passes) >= 24
    assert sum(1 <= count <= 7 for count in passes) >= 8
    assert min(len(answers) for answers in texts.values()) > 1
    assert len({sample.seed for sample in run.samples}) == len(run.samples)
    assert all(sample.usage.input_tokens and sample.usage.output_tokens for sample in run.samples)
    assert len(run.plan["labels"]["weights_sha256"]) == 64


def test_a_demo_folder_is_emptied_and_any_other_is_not(tmp_path: Path) -> None:
    clear(tmp_path / "new")
    (tmp_path / "new" / "old").write_text("x")
    clear(tmp_path / "new")
    assert [p.name for p in (tmp_path / "new").iterdir()] == [".evallib-demo"]
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match="no demo folder"):
        clear(other)
    assert (other / "thesis.txt").exists()
