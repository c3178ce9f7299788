"""Tests rows with one fitted value at a time replaced by a neutral value."""

from pathlib import Path

import nacre
import pytest
from nacre.cli import reproduce as command
from nacre.papers import work
from nacre.papers.judging.held_out import held_out
from nacre.papers.judging.judge import said
from nacre.papers.running.runs import Runs
from small_paper import CLAIMS, SCENARIO, Counting, running, written

FITTED = (
    'read = { value = "10 us", source = "gives 100,000 requests a second", confidence = "fitted" }'
)
HELD_OUT = """
[[held_out]]
path = "stack.read.latency"
fitted = "10 us"
neutral = "20 us"
why = "as a write"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = written(tmp_path / "papers", CLAIMS + HELD_OUT)
    (folder / "tiny" / "small.toml").write_text(SCENARIO.replace('read = "10 us"', FITTED))
    return folder


def test_rows_are_judged_without_one_fitted_value(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running() as runs:
        (held,) = held_out(work.targets(None, folder)[0], runs, None) or []
    assert (held["value"], held["neutral"], held["why"]) == (
        "stack.read.latency = 10 us", "20 us", "as a write",
    )  # fmt: skip
    rows = {row["id"]: row for row in held["rows"]}
    rate = rows["tiny/rate/rate"]
    assert (rate["fitted"], rate["held"], rate["without"], rate["holds"]) == (
        100_000, True, 50_000, False,
    )  # fmt: skip
    rises = rows["tiny/fig1/rises"]
    assert rises["fitted"] == pytest.approx(rises["without"])
    assert len(rows) == 2, "arithmetic and unclosed rows are not judged"
    command.carry_out_held_out(work.targets(None, folder), as_json=False)
    table = capsys.readouterr().out
    assert [line.split()[-1] for line in table.splitlines() if "requests a second" in line] == [
        "flips"
    ]
    assert "stack.read.latency = 10 us: 20 us in its place, as a write" in table


def test_a_rejected_neutral_value_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path, CLAIMS + HELD_OUT.replace('"20 us"', '"20 kHz"'))
    (folder / "tiny" / "small.toml").write_text(SCENARIO.replace('read = "10 us"', FITTED))
    command.carry_out_held_out(work.targets(None, folder), as_json=False)
    assert "refused" in capsys.readouterr().out


@pytest.mark.parametrize("paper", [target.paper.name for target in work.targets(None)])
def test_every_fitted_value_of_a_paper_can_be_held_out(paper: str) -> None:
    """Every fitted value in a run that a row needs has a neutral value. Runs that only figures need
    do not count."""
    (target,) = work.targets(paper)
    answering = [
        point.job
        for claim in target.paper.claims
        for selection in filter(None, (claim.of, claim.to))
        for point in target.paper.points(selection)
    ]
    fitted = {
        (origin["path"], said(origin["value"]))
        for job in {job for job in answering if not job.dilate}
        for origin in nacre.check(job.scenario, job.overrides()).origins
        if origin["confidence"] == "fitted"
    }
    assert {(held.path, held.fitted) for held in target.paper.held_out} >= fitted


def test_sensitivity_and_hold_out_exclude_each_other() -> None:
    with pytest.raises(
        nacre.errors.ConfigError, match="--sensitivity and --hold-out exclude each other"
    ):
        command._check_exclusive({"--sensitivity": True, "--hold-out": True})


def test_held_out_results_are_resumed(folder: Path, tmp_path: Path) -> None:
    targets, out = work.targets(None, folder), tmp_path / "out"
    command.carry_out_held_out(targets, out, as_json=True)
    with work.keeping(targets, out, resume=True) as kept, Counting() as engine:
        assert held_out(targets[0], Runs(engine, kept), None)
    assert engine.ran == []
