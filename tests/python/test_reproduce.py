"""Tests the reproduction of papers: runs, verdicts, saved results, and failures."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nacre
import polars as pl
import pytest
import typer
from nacre.cli import reproduce as command
from nacre.cli.app import app
from nacre.errors import ConfigError, Error
from nacre.papers import work
from nacre.papers.running import runs, tasks
from nacre.papers.spec.paper import papers, read
from nacre.papers.spec.plan import as_study
from nacre.results.record import Record
from nacre.studies.engines.local import Local
from nacre.studies.points.planner import sound
from small_paper import CLAIMS, PLAN, SCENARIO, Counting, reproduced, status, written
from typer.testing import CliRunner

ROW = {
    "id", "paper", "figure", "metric", "published", "simulated", "unit", "error", "kind", "class",
    "pass", "source",
}  # fmt: skip
ROWS = ["tiny/fig1/alone", "tiny/fig1/rises", "tiny/rate/rate", "tiny/rate/contradicted"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "papers")


def test_a_row_has_the_published_and_the_simulated_value(folder: Path) -> None:
    found = reproduced(folder)
    assert [row["id"] for row in found.listed] == ROWS
    assert all(row.keys() >= ROW for row in found.listed)
    alone, rises, rate, unclosed = found.listed
    assert alone["simulated"] == pytest.approx(10_000, rel=1e-9)
    assert alone["error"] == pytest.approx(0, abs=1e-9)
    assert (alone["pass"], alone["kind"], alone["tolerance"]) == (True, "exact", "within 2 %")
    # With one server, each request of a closed loop with depth four waits for three others.
    assert rises["simulated"] == pytest.approx(4, rel=0.02)
    assert (rises["published"], rises["error"], rises["tolerance"]) == (
        "rises with depth", None, "> 1",
    )  # fmt: skip
    assert rate["pass"] is True
    assert unclosed["pass"] is None
    assert unclosed["error"] == pytest.approx(1.0, rel=0.02)
    assert unclosed["note"] == "section 4 disagrees with section 3"
    assert found.passed


def test_the_rows_are_a_frame_and_the_records_have_names(folder: Path) -> None:
    found = reproduced(folder)
    rows = found.rows
    assert rows["published"].to_list() == [10_000, None, 100_000, 50_000]
    assert rows["stated"].to_list() == [None, "rises with depth", None, None]
    assert rows["pass"].to_list() == [True, True, True, None]
    assert set(found.records) == {
        "tiny/depths: 1", "tiny/depths: 2", "tiny/depths: 4", "tiny/alone",
    }  # fmt: skip
    assert rows["class"].to_list() == ["arithmetic", "trend", "prediction", "unclosed"]
    summary = "tiny: 1 of 1 predictions hold; arithmetic 1 of 1, trends 1 of 1, unclosed 1"
    assert repr(found) == f"<nacre.Reproduction {summary}>"
    for said in ("mean read latency", "arithmetic", summary, "0 fitted values for 1 prediction"):
        assert said in found._repr_html_()


def test_a_run_that_several_points_share_is_run_once(folder: Path) -> None:
    engine = Counting()
    found = work.conduct(work.targets(None, folder), engine=engine, watch=None)
    assert len(engine.ran) == 3
    assert found.records["tiny/alone"] == found.records["tiny/depths: 1"]


def test_a_figure_takes_only_the_points_it_needs(folder: Path) -> None:
    found = reproduced(folder, "tiny/rate")
    assert [row["id"] for row in found.listed] == ROWS[2:]
    assert list(found.records) == ["tiny/alone"]


def test_rows_do_not_depend_on_the_order_of_the_runs(folder: Path) -> None:
    targets = work.targets(None, folder)
    found = [work.conduct(targets, engine=Local(cores), watch=None).listed for cores in (1, 3)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("published = 10_000", "published = 9_000", "arithmetic 0 of 1"),
        ("above = 1\n", "above = 5\n", "trends 0 of 1"),
        ("published = 100_000", "published = 80_000", "0 of 1 predictions hold"),
    ],
)
def test_a_claim_that_is_missed_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    assert old in CLAIMS
    folder = written(tmp_path, CLAIMS.replace(old, new))
    assert status(work.targets(None, folder)) == 1
    table = capsys.readouterr().out
    assert table.count("FAIL") == 1
    assert says in table


def test_an_unclosed_claim_never_fails_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(work.targets(None, folder)) == 0
    table = capsys.readouterr().out
    assert "section 4 disagrees with section 3" in table
    assert len([line for line in table.splitlines() if line.endswith("unclosed")]) == 1


def test_json_is_one_list_of_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(work.targets(None, folder), as_json=True) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"] for row in rows] == ROWS
    assert all(row.keys() >= ROW for row in rows)


def test_a_run_that_fails_is_a_row_with_its_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = PLAN.replace('"workload.arrival.queue_depth" = 1', '"stack.read" = "fast"')
    folder = written(tmp_path, plan=plan)
    assert status(work.targets(None, folder), as_json=True) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["pass"] for row in rows] == [True, True, False, None]
    assert rows[2]["simulated"] is None
    assert rows[2]["note"].startswith("alone failed: stack.read")


def test_a_number_missing_from_the_record_fails_its_row(tmp_path: Path) -> None:
    folder = written(tmp_path, CLAIMS.replace("throughput.iops", "throughput.tps"))
    rows = reproduced(folder).listed
    assert [row["pass"] for row in rows] == [True, True, False, None]
    assert "the record has no throughput.tps" in rows[2]["note"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("evny", 'did you mean "envy"?'), ("envy/fig88", 'did you mean "fig8"?')],
)
def test_an_unknown_name_is_a_user_error(name: str, hint: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "reproduce", name],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr
    with pytest.raises(ConfigError, match="did you mean"):
        nacre.reproduce(name)


def test_saved_results_are_complete(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    targets = work.targets(None, folder)
    assert status(targets, out) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        ".lock", "points", "records", "rows.html", "rows.json", "rows.parquet", "runs.json",
        "study.json",
        "tiny-fig1.html", "tiny-fig1.png", "tiny-fig1.svg",
        "tiny-rate.html", "tiny-rate.png", "tiny-rate.svg",
    ]  # fmt: skip
    rows = json.loads((out / "rows.json").read_text())
    assert [row["id"] for row in rows] == ROWS
    assert pl.read_parquet(out / "rows.parquet")["id"].to_list() == ROWS
    page = (out / "rows.html").read_text()
    for said in ("1 of 1 predictions hold", "the time of a read is an input", "mean read latency"):
        assert said in page
    runs = json.loads((out / "runs.json").read_text())
    assert len({run["record"] for run in runs}) == 3
    for run in runs:
        assert Record.load(out / run["record"]).complete
    with pytest.raises(ConfigError, match="holds a reproduction already; give --resume"):
        status(targets, out)


def test_a_reproduction_continues_with_saved_results(folder: Path, tmp_path: Path) -> None:
    out, targets = tmp_path / "out", work.targets(None, folder)
    with work.keeping(targets, out, resume=False) as kept:
        first = work.conduct(targets, engine=Local(1), kept=kept, watch=lambda done, *_: done > 0)
    begun = Counting(1)
    with work.keeping(targets, out, resume=True) as kept:
        found = work.conduct(targets, engine=begun, kept=kept, watch=None)
    assert not first.complete
    assert len(begun.ran) == 3 - len(first.by_job)
    assert found.listed == reproduced(folder).listed
    for name, record in reproduced(folder).records.items():
        assert found.records[name] == record, "columns and all"
    with work.keeping(targets, out, resume=True) as kept:
        again = Counting()
        work.conduct(targets, engine=again, kept=kept, watch=None)
    assert again.ran == []
    small = folder / "tiny" / "small.toml"
    small.write_text(SCENARIO.replace('read = "10 us"', 'read = "11 us"'))
    with work.keeping(targets, out, resume=True) as kept:
        other = Counting()
        work.conduct(work.targets(None, folder), engine=other, kept=kept, watch=None)
    assert len(other.ran) == 3, "what is kept of another scenario answers nothing"


def test_figures_of_earlier_rows_are_removed(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    reproduced(folder).save(out)
    reproduced(folder, "tiny/rate").save(out, figures=False)
    assert not list(out.glob("*.svg"))
    assert [row["id"] for row in json.loads((out / "rows.json").read_text())] == ROWS[2:]


def test_an_unwritable_output_is_reported_before_any_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a run began")

    monkeypatch.setattr(Local, "outcomes", never)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        command.carry_out(work.targets(None, folder), tmp_path / "file", as_json=False)


def test_a_stopped_reproduction_keeps_finished_runs(folder: Path) -> None:
    """`watch` stops the reproduction after the first completed run. This run keeps its verdict, and
    the interrupted run has none."""
    long = folder / "tiny" / "small.toml"
    long.write_text(SCENARIO.replace("requests = 500", "requests = 100_000_000"))
    plan = PLAN.replace('"workload.arrival.queue_depth" = 1', '"workload.requests" = 500')
    written_plan = folder / "tiny" / "plan.toml"
    written_plan.write_text(plan.replace("seconds = 2", "seconds = 0.5"))
    found = work.conduct(work.targets(None, folder), watch=lambda done, _total, _share: done > 0)
    assert not found.complete
    assert not found.passed
    assert [row["pass"] for row in found.listed] == [None, None, True, None]
    assert found.listed[0]["note"] == "not run to its end: depths: 1"


def test_ctrl_c_keeps_finished_runs_and_judges_nothing(folder: Path, tmp_path: Path) -> None:
    long = folder / "tiny" / "small.toml"
    long.write_text(SCENARIO.replace("requests = 500", "requests = 1_000_000_000"))
    plan = folder / "tiny" / "plan.toml"
    short = PLAN.replace('"workload.arrival.queue_depth" = 1', '"workload.requests" = 500')
    plan.write_text(short.replace("seconds = 2", "seconds = 0.5"))
    out = tmp_path / "out"
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from nacre.cli.failure import guarded\n"
        "from nacre.cli.reproduce import carry_out\n"
        "from nacre.papers.work import targets\n"
        "@guarded\n"
        "def main():\n"
        "    carry_out(targets(None, Path(sys.argv[1])), Path(sys.argv[2]), as_json=True)\n"
        "try:\n    main()\nexcept BaseException as end:\n"
        "    sys.exit(getattr(end, 'exit_code', 99))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder), str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not list(out.glob("points/*.parquet")):
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert f"interrupted: {out} has the finished runs; continue with --resume" in said
    assert printed == ""
    assert sorted(path.name for path in out.iterdir()) == [".lock", "points", "study.json"]
    (part,) = (out / "points").iterdir()
    assert pl.read_parquet(part).height == 1


def test_an_interrupted_reproduction_of_all_papers_writes_only_finished_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After Ctrl-C, the reproduction stops preparing runs, and saves completed runs without reading
    results to compute verdicts."""
    planned = []
    task_of = tasks.task_of

    def planning(*of: Any) -> Any:
        planned.append(of)
        if len(planned) == 40:
            os.kill(os.getpid(), signal.SIGINT)
        return task_of(*of)

    def judged(*_: object) -> None:
        pytest.fail("what was finished is read")

    monkeypatch.setattr(runs, "task_of", planning)
    monkeypatch.setattr(runs, "result_of", judged)
    out = tmp_path / "out"
    with pytest.raises(typer.Exit) as ended:
        command.carry_out(work.targets(None), out, as_json=False)
    assert ended.value.exit_code == 130
    assert len(planned) < 40 + 2 * 16
    assert sorted(path.name for path in out.iterdir()) == [".lock", "points", "study.json"]
    printed, said = capsys.readouterr()
    assert printed == ""
    assert "continue with --resume" in said


def test_runs_have_the_axes_of_a_study(tmp_path: Path) -> None:
    """As in `nacre study`, an axis can consist of a range or of settings that change together, and
    it can depend on a condition."""
    other = """
[[runs]]
name = "times"
scenario = "small.toml"
[[runs.axis]]
path = "stack.read"
log = { from = "1 us", to = "100 us", points = 3 }
[[runs.axis]]
name = "both"
zip = { "stack.write" = ["1 us", "2 us"], "workload.requests" = [10, 20] }
when = { read = ["1 us", "10 us"] }
[[runs.axis]]
name = "depth"
path = "workload.arrival.queue_depth"
range = { from = 1, to = 3, step = 2 }
"""
    paper = read(written(tmp_path, plan=PLAN + other) / "tiny")
    group = paper.plan["times"]
    points = list(group.points({}))
    assert len(points) == (2 * 2 + 1) * 2
    assert [point.name for point in group.points({"read": ["100 us"]})] == [
        "times: 100 us, 1",
        "times: 100 us, 3",
    ]
    assert points[2].job.overrides() == {
        "stack.read": "1 us",
        "stack.write": "2 us",
        "workload.requests": "20",
        "workload.arrival.queue_depth": "1",
    }
    assert [group.number("depth", label) for label in ("1", "3")] == [1.0, 3.0]
    _, planned = sound(as_study(group))
    found = [dict(point.settings) for point in planned.ask()]
    assert found == [point.job.overrides() for point in points]


@pytest.mark.parametrize(
    ("claims", "plan", "says"),
    [
        (CLAIMS.replace('id = "rate"', 'id = "rate"\nwihtin = 0.1'), PLAN, 'did you mean "within"'),
        (CLAIMS.replace("depth = 4", "depth = 5"), PLAN, 'axis "depth" has no "5"'),
        (CLAIMS.replace('runs = "alone"', 'runs = "aloen"'), PLAN, "is of runs 'aloen'"),
        (CLAIMS.replace("above = 1\n", ""), PLAN, "nothing decides whether it passes"),
        (CLAIMS.replace('class = "trend"', 'class = "fact"'), PLAN, "prediction, calibration"),
        (CLAIMS.replace('class = "trend"\n', ""), PLAN, "class: it is missing"),
        (
            CLAIMS.replace('class = "trend"', 'class = "prediction"'),
            PLAN,
            "only a published number",
        ),
        (CLAIMS.replace('class = "prediction"', 'class = "trend"'), PLAN, "close is not a trend"),
        (
            CLAIMS.replace('class = "prediction"', 'class = "calibration"'),
            PLAN,
            'add the reason as "because"',
        ),
        (CLAIMS.replace('class = "prediction"', 'class = "unclosed"'), PLAN, "exclude each other"),
        (CLAIMS.replace("note =", 'misses = "m"\nnote ='), PLAN, "it cannot miss"),
        (CLAIMS.replace("published = 100_000\n", ""), PLAN, 'give a "law" where'),
        (CLAIMS.replace("published = 100_000", "published = 1\nlaw = 1"), PLAN, "give one"),
        (CLAIMS.replace('kind = "exact"', 'kind = "sure"'), PLAN, "exact, close, trend, unclosed"),
        (CLAIMS.replace('note = "section 4', 'unit = "section 4'), PLAN, "claims.toml"),
        (CLAIMS.replace("[figure.rate]", "[figure.rat]"), PLAN, 'the figure "rat"'),
        (CLAIMS, PLAN.replace("values = [1, 2, 4]", "values = [1, 2, 2]"), "the same label"),
        (CLAIMS, PLAN.replace("seconds = 2", "second = 2"), "second: there is no such key"),
    ],
)
def test_an_error_in_a_paper_is_named(tmp_path: Path, claims: str, plan: str, says: str) -> None:
    folder = written(tmp_path, claims, plan)
    with pytest.raises(Error, match="tiny") as error:
        read(folder / "tiny")
    assert says in str(error.value)


@pytest.mark.parametrize("name", [None, "drives"])
def test_reproducing_all_papers_prints_a_note(
    name: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        "nacre.cli.reproduce.carry_out", lambda chosen, *_, **__: asked.append(len(chosen))
    )
    done = CliRunner().invoke(app, ["reproduce", *filter(None, [name])])
    assert done.exit_code == 0
    if name:
        assert (asked, done.stderr) == ([1], "")
        return
    assert asked == [len(papers())]
    assert done.stderr.startswith("note: all papers are reproduced, 1,")
    assert all(each in done.stderr for each in papers())
