"""Tests the output and the exit status of `nacre study`."""

import json
from pathlib import Path
from typing import Any

import pytest
from nacre.base import toml
from nacre.cli.app import app
from typer.testing import CliRunner, Result

STUDY: dict[str, Any] = {
    "name": "small",
    "scenario": {
        "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 50},
        "stack": {"kind": "measured", "capacity": "1 GiB", "read": "10 us", "write": "20 us"},
    },
    "axis": [{"path": "stack.read", "values": ["10 us", "20 us"]}],
    "objective": [{"of": "read_mean"}],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nacre(study: dict[str, Any], *arguments: str) -> Result:
    Path("small.toml").write_text(toml.document(study))
    return CliRunner().invoke(app, ["study", "small.toml", *arguments])


def test_a_study_prints_its_best_designs_and_the_influence_of_axes(folder: Path) -> None:
    done = nacre(STUDY)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "small: 2 points",
        "  1 of 2 designs are on the Pareto front of low read mean latency",
        "  note: each design ran once, so small differences may be noise: give [study] confidence"
        ' = "2 %", or seeds',
        "",
        "point  read   read mean latency",
        "    0  10 us            10.0 us",
        "",
        "point  read   read mean latency  left out",
        "    1  20 us            20.0 us  dominated",
        "",
        "share of variance by axis  read mean latency",
        "read                                 100.0 %",
        "",
        "results are in small.study",
    ]
    assert (folder / "small.study" / "sensitivity.svg").exists()
    again = nacre(STUDY)
    assert again.exit_code == 2
    assert "small.study holds a study already" in again.stderr


def test_the_error_for_a_scenario_as_a_study_suggests_a_study() -> None:
    Path("mine.toml").write_text(toml.document(STUDY["scenario"]))
    for given in ("ssd", "mine.toml"):
        done = CliRunner().invoke(app, ["study", given])
        assert done.exit_code == 2
        assert f'write one that begins with: scenario = "{given}"' in done.stderr
    Path("study.toml").write_text(
        'scenario = "ssd"\n\n[[axis]]\npath = "stack.blocks"\nvalues = [8]\n'
    )
    done = CliRunner().invoke(app, ["run", "study.toml"])
    assert done.exit_code == 2
    assert "it is a study; run it with: nacre study study.toml" in done.stderr


def test_axes_that_apply_only_to_some_points_have_no_shares() -> None:
    read = {"name": "read", **STUDY["axis"][0]}
    write = {"path": "stack.write", "values": ["20 us", "40 us"], "when": {"read": "20 us"}}
    done = nacre(STUDY | {"axis": [read, write]})
    assert done.exit_code == 0, done.stderr
    assert "note: no variance shares: combinations are missing" in done.stdout


def test_json_is_one_document_and_a_failed_point_is_status_1() -> None:
    axes = [
        {"name": "data", "path": "workload.footprint", "values": ["1 MiB", "2 GiB"]},
        {"name": "device", "path": "stack.capacity", "values": ["4 GiB", "1 GiB"]},
    ]
    done = nacre(STUDY | {"axis": axes}, "--json")
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert answer["points"] == {"all": 4, "done": 4, "failed": 1, "reused": 0}
    assert answer["complete"]
    assert answer["ended"] == "done"
    assert answer["pareto"] == [0, 1, 2]
    assert answer["rows"][0]["read_mean_ns"] == 10_000
    assert answer["rows"][3]["read_mean_ns"] is None
    assert answer["rows"][3]["error_code"] == "past-the-end"


def test_an_exhausted_budget_is_not_a_failure() -> None:
    seeds = list(range(100))
    done = nacre(STUDY | {"seeds": seeds, "budget": {"time": "1 ns"}}, "--json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["ended"] == "budget spent"
    assert not answer["complete"]
    more = nacre(STUDY | {"seeds": seeds}, "--out", "small.study", "--resume", "--json")
    assert json.loads(more.stdout)["points"]["done"] == 200


def test_a_changed_study_counts_only_its_current_points() -> None:
    axis = STUDY["axis"][0]
    first = nacre(STUDY | {"axis": [axis | {"values": ["10 us", "20 us", "30 us"]}]}, "--json")
    assert json.loads(first.stdout)["points"]["done"] == 3
    changed = STUDY | {"axis": [axis | {"values": ["20 us", "40 us"]}]}
    resumed = ["--out", "small.study", "--resume"]
    told = nacre(changed, *resumed)
    assert told.exit_code == 0, told.stderr
    assert "small: 2 points, 1 of them already stored\n" in told.stdout
    note = "note: small.study also holds 2 points that are not in this form of the study"
    assert note in told.stdout
    counted = json.loads(nacre(changed, *resumed, "--json").stdout)["points"]
    assert counted == {"all": 2, "done": 2, "failed": 0, "reused": 2}


def test_figures_of_an_earlier_form_of_a_study_are_removed(folder: Path) -> None:
    both = {"objective": [{"of": "read_mean"}, {"of": "iops"}]}
    assert nacre(STUDY | both).exit_code == 0
    assert (folder / "small.study" / "pareto.svg").exists()
    assert nacre(STUDY, "--resume").exit_code == 0
    assert (folder / "small.study" / "sensitivity.svg").exists()
    assert not list((folder / "small.study").glob("pareto.*"))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engine", "dusk"], "'dusk' is not one of"),
        (["--address", "tcp://x:1"], "only the engine dask has an address"),
        (["--out", ""], "it is empty"),
    ],
)
def test_an_error_has_exit_status_2(arguments: list[str], told: str) -> None:
    done = nacre(STUDY, *arguments)
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_missing_or_invalid_study_has_exit_status_2(folder: Path) -> None:
    missing = CliRunner().invoke(app, ["study", "no.toml"])
    assert (missing.exit_code, missing.stderr) == (2, "error: no.toml: No such file or directory\n")
    (folder / "broken.toml").write_text("scenario =\n")
    broken = CliRunner().invoke(app, ["study", "broken.toml", "--json"])
    assert broken.exit_code == 2
    assert "broken.toml: it is not TOML: Invalid value (at line 1, column 11)" in broken.stderr
    assert json.loads(broken.stdout)["problems"][0]["path"] == "broken.toml"
