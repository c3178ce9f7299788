"""Tests studies: runs, results, and output."""

import itertools
from pathlib import Path
from typing import Any

import nacre
import numpy as np
import polars as pl
import pytest
from drawing import makers
from nacre.errors import ConfigError, Error
from nacre.studies.analysis import pareto
from nacre.studies.spec import metrics
from nacre.studies.spec.design import Objective
from nacre.words.studies import best, decisive, facts
from refusing import fails_with

READ, WRITE = "stack.read", "stack.write"
SCENARIO: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "footprint": "1 MiB",
        "requests": 40,
        "read_share": "50 %",
        "arrival": {"kind": "closed", "queue_depth": 1},
    },
    "stack": {
        "kind": "measured",
        "capacity": "1 GiB",
        "read": "10 us",
        "write": "20 us",
        "price": "1 /GiB",
    },
}
GRID: dict[str, Any] = {
    "name": "grid",
    "scenario": SCENARIO,
    "axis": [
        {"path": READ, "values": ["10 us", "20 us"]},
        {"path": WRITE, "values": ["20 us", "40 us", "80 us"]},
    ],
}


@pytest.fixture(scope="module")
def grid() -> nacre.studies.StudyResult:
    return nacre.study(GRID | {"objective": [{"of": "read_mean"}, {"of": "write_mean"}]}, workers=1)


def test_a_row_has_the_numbers_of_its_run(grid: nacre.studies.StudyResult) -> None:
    assert grid.complete
    assert repr(grid) == "<nacre.StudyResult grid: 6 points>"
    row = grid.table.row(4, named=True)
    assert (row["point"], row["read"], row["write"], row["write_s"]) == (4, "20 us", "40 us", 4e-5)
    assert row["settings"] == "stack.read=20 us\nstack.write=40 us"
    record = nacre.run(SCENARIO, {READ: "20 us", WRITE: "40 us"})
    for column, value in metrics.measured(record.to_dict(), {}).items():
        assert row[column] == value, column
    assert (row["read_mean_ns"], row["write_mean_ns"], row["p99_ns"]) == (20e3, 40e3, 40e3)
    reads = record.requests.reads
    assert row["mean_ns"] == pytest.approx((20e3 * reads + 40e3 * (40 - reads)) / 40)
    assert row["iops"] == pytest.approx(40 / row["simulated_s"])
    assert grid.record(4).latency == record.latency
    with pytest.raises(Error, match="no record of a point 6"):
        grid.record(6)


def test_a_column_may_be_any_path_of_a_record() -> None:
    paths = {"busy": 'components["stack"].busy.read', "kind": "components[0].kind", "no": "cost.x"}
    study = GRID | {"columns": {name: path for name, path in paths.items() if name == "busy"}}
    table = nacre.study(study, workers=1).table
    reads = nacre.run(SCENARIO).requests.reads
    assert table["busy"].to_list() == pytest.approx([reads * 1e-5] * 3 + [reads * 2e-5] * 3)
    record = nacre.run(SCENARIO).to_dict()
    assert metrics.at(record, paths["kind"]) == "measured"
    assert metrics.at(record, paths["no"]) is None


def test_the_pareto_front_has_the_undominated_designs(grid: nacre.studies.StudyResult) -> None:
    assert grid.pareto()["point"].to_list() == [0]
    numbers = np.random.default_rng(1).integers(0, 12, (200, 3)).astype(float)
    frame = pl.DataFrame(numbers, schema=["a", "b", "c"]).with_columns(
        pl.int_range(200).alias("row"), feasible=pl.Series([i % 10 > 0 for i in range(200)])
    )
    wanted = [Objective("a", "min"), Objective("b", "max"), Objective("c", "min")]
    costs = numbers * [1, -1, 1]
    able = [i for i in range(200) if i % 10]
    expected = {
        i
        for i in able
        if not any((costs[j] <= costs[i]).all() and (costs[j] < costs[i]).any() for j in able)
    }
    assert 3 < len(expected) < 100
    assert set(pareto.pareto(frame, wanted)["row"]) == expected


def test_designs_on_the_front_meet_the_constraints_and_unknown_values_violate_them() -> None:
    objectives = [{"of": "write_mean", "goal": "max"}, {"of": "cost"}]
    study = GRID | {"objective": objectives, "constraint": [{"of": "p99", "at_most": "50 us"}]}
    result = nacre.study(study, workers=1)
    assert result.designs["feasible"].to_list() == [True, True, False] * 2
    assert result.pareto()["point"].to_list() == [1, 4]
    assert facts(result)[0].startswith("2 of 4 designs that meet all constraints")
    lives = GRID | {"constraint": [{"of": "lifetime", "at_least": "1 d"}]}
    assert not nacre.study(lives, workers=1).designs["feasible"].any()


def test_variance_is_divided_among_the_axes(grid: nacre.studies.StudyResult) -> None:
    # Latencies are constant. Each axis explains all variance of one objective, and none of the
    # other.
    shares = {(o, a): s for o, a, s, _ in grid.sensitivity().iter_rows()}
    for objective, axis in itertools.product(("read_mean_ns", "write_mean_ns"), ("read", "write")):
        own = objective.startswith(axis)
        assert shares[objective, axis] == pytest.approx(1.0 if own else 0.0, abs=1e-12)
    assert set(grid.sensitivity()["method"]) == {"variance"}


def test_interactions_belong_to_no_single_axis() -> None:
    # The function is x + y + 2xy over {0,1} x {0,1}, with the values 0, 1, 1, 4. The effects are 2,
    # 2, and 1, and the total variance is 9/4. The main shares are 4/9 = (2/2)^2 / (9/4) each. The
    # rest, 1/9, is due to interaction.
    points = pl.DataFrame({"x": [0, 0, 1, 1], "y": [0, 1, 0, 1], "z": [0.0, 1.0, 1.0, 4.0]})
    axes = [{"name": n, "path": READ, "values": [0, 1]} for n in "xy"]
    from nacre.studies.spec import document

    questions = document.read({"scenario": SCENARIO, "axis": axes}).questions
    shares = dict(pareto._shares(questions, points, Objective("z", "max")))
    assert shares == {"x": pytest.approx(4 / 9), "y": pytest.approx(4 / 9),
                      pareto.INTERACTIONS: pytest.approx(1 / 9)}  # fmt: skip


def test_an_incomplete_grid_has_no_shares() -> None:
    # Without one corner, x and y are correlated. Their shares would be 2/3 and 2/3 of the variance.
    points = pl.DataFrame({"x": [0, 0, 1], "y": [0, 1, 0], "z": [1.0, 0.0, 0.0]})
    axes = [{"name": n, "path": READ, "values": [0, 1]} for n in "xy"]
    from nacre.studies.spec import document

    questions = document.read({"scenario": SCENARIO, "axis": axes}).questions
    assert pareto._shares(questions, points, Objective("z", "max")) == []


def test_costs_in_different_currencies_are_not_compared() -> None:
    axis = {"path": "stack.price_basis", "values": ["USD 2009", "USD 2023"]}
    study = {"scenario": SCENARIO, "axis": [axis], "objective": [{"of": "iops_per_cost"}]}
    result = nacre.study(study, workers=1)
    assert result.table["cost"].null_count() == 0
    assert result.table["cost_basis"].to_list() == ["USD 2009", "USD 2023"]
    assert result.designs["cost"].null_count() == 2
    assert result.pareto().height == 0
    said = "note: costs are in different currencies and are not compared: USD 2009; USD 2023"
    assert any(line.startswith(said) for line in facts(result))
    assert "note: no Pareto front; designs are sorted by IOPS per cost" in facts(result)
    assert [row[1] for row in best(result).rows] == ["USD 2009", "USD 2023"]
    assert "on the front" not in best(result).columns


def test_a_saturated_design_is_reported() -> None:
    poisson = {"arrival": {"kind": "poisson", "rate": "100 Hz"}, "requests": 2000}
    scenario = SCENARIO | {"workload": SCENARIO["workload"] | poisson}
    axis = {"path": "stack.read", "values": ["1 us", "40 ms"]}
    result = nacre.study({"scenario": scenario, "axis": [axis]}, workers=1)
    assert result.designs["findings"].to_list() == [None, "saturated"]
    assert any(line.startswith("note: 1 design: requests arrived faster") for line in facts(result))


def test_seeds_are_averaged_and_their_effect_is_reported() -> None:
    random = SCENARIO["stack"] | {"read": {"kind": "exponential", "mean": "10 us"}}
    axis = {"path": "stack.read.mean", "values": ["10 us", "30 us"]}
    study = {"scenario": SCENARIO | {"stack": random}, "axis": [axis], "seeds": [1, 2, 3]}
    result = nacre.study(study | {"objective": [{"of": "read_mean"}]}, workers=1)
    assert result.table["design"].to_list() == [0, 0, 0, 1, 1, 1]
    assert result.table["seed"].to_list() == [1, 2, 3] * 2
    means = result.table["read_mean_ns"].to_numpy().reshape(2, 3)
    assert result.designs["read_mean_ns"].to_list() == pytest.approx(means.mean(axis=1))
    within = ((means - means.mean(axis=1, keepdims=True)) ** 2).sum()
    total = ((means - means.mean()) ** 2).sum()
    shares = dict(result.sensitivity().select("axis", "share").iter_rows())
    assert shares == {"mean": pytest.approx(1 - within / total),
                      pareto.SEEDS: pytest.approx(within / total)}  # fmt: skip


SEARCH: dict[str, Any] = {
    "name": "search",
    "scenario": SCENARIO,
    "axis": [
        {"path": READ, "log": {"from": "1 us", "to": "100 us"}},
        {"name": "depth", "path": "workload.arrival.queue_depth", "range": {"from": 1, "to": 8}},
        {"path": WRITE, "values": ["20 us", "80 us"]},
        {
            "name": "channels",
            "path": "stack.parallelism",
            "values": [2, 4],
            "when": {"write": "80 us"},
        },
    ],
    "search": {"batch": 8},
    "budget": {"points": 32},
    "objective": [{"of": "iops"}, {"of": "mean"}],
    "constraint": [{"of": "read_mean", "at_least": "2 us"}],
}


@pytest.mark.parametrize("method", ["nsga2", "tpe", "random"])
def test_a_search_gives_the_same_result_with_every_engine(method: str) -> None:
    study = SEARCH | {"search": {"method": method, "batch": 8}}
    one, two = (nacre.study(study, workers=workers) for workers in (1, 2))
    assert one.table.height == 32
    assert one.table.equals(two.table)
    assert one.table["read_s"].is_between(1e-6, 1e-4).all()
    assert one.table["depth"].is_between(1, 8).all()
    conditional = one.table["channels"].is_null() == (one.table["write"] == "20 us")
    assert conditional.all()
    shares = one.sensitivity()
    assert set(shares["method"]) == {"PED-ANOVA"}
    assert set(shares["axis"]) == {"read", "depth", "write"}
    sums = shares.group_by("objective").agg(pl.col("share").sum())["share"]
    assert sums.to_list() == pytest.approx([1.0, 1.0])
    assert (one.pareto()["read_mean_ns"] >= 2000).all()


def test_a_search_is_better_than_random_choice() -> None:
    def found(method: str) -> float:
        study = SEARCH | {"search": {"method": method, "batch": 8}, "objective": [{"of": "iops"}]}
        table = nacre.study(study, workers=1).designs.filter("feasible")
        return float(table["iops"].to_numpy()[-16:].mean())

    assert found("tpe") > 1.2 * found("random")


def test_a_point_that_cannot_be_built_is_a_row_with_its_error() -> None:
    axes = [
        {"name": "data", "path": "workload.footprint", "values": ["1 MiB", "2 GiB"]},
        {"name": "device", "path": "stack.capacity", "values": ["4 GiB", "1 GiB"]},
    ]
    result = nacre.study({"scenario": SCENARIO, "axis": axes}, workers=1)
    assert result.complete
    assert result.table["error"].is_null().to_list() == [True, True, True, False]
    assert result.failed["error"][0].startswith("workload: it reaches to")
    assert result.failed["error_code"].to_list() == ["past-the-end"]
    assert result.table["error_code"].null_count() == 3
    assert result.failed["iops"].null_count() == 1
    assert repr(result) == "<nacre.StudyResult study: 4 points, 1 failed>"
    assert facts(result)[0].startswith("1 failed, such as point 3: workload: it reaches to")


def test_a_value_that_does_not_fit_the_stack_is_reported_before_any_point() -> None:
    data = {"name": "data", "path": "workload.footprint", "values": ["1 MiB", "2 GiB", "3 GiB"]}
    with pytest.raises(ConfigError) as refused:
        nacre.study({"scenario": SCENARIO, "axis": [data]}, workers=1)
    assert [problem["where"] for problem in refused.value.problems] == [
        "where data is 2 GiB", "where data is 3 GiB",
    ]  # fmt: skip
    assert "the stack ends at byte 1073741824; use a larger device" in str(refused.value)


def test_the_tables_and_figures_show_the_results(grid: nacre.studies.StudyResult) -> None:
    table = best(grid)
    assert table.columns == ["point", "read", "write", "read mean latency", "write mean latency"]
    assert table.rows == [["0", "10 us", "20 us", "10.0 us", "20.0 us"]]
    assert decisive(grid).rows[0] == ["read", "100.0 %", "0.0 %"]
    drawn = makers(grid)
    assert list(drawn) == ["by_axis", "pareto", "sensitivity"]
    front = drawn["pareto"]().to_dict()
    (dots,) = (layer for layer in front["layer"] if layer["mark"]["type"] == "circle")
    kinds = [row["kind"] for row in front["datasets"][dots["data"]["name"]]]
    assert sorted(kinds) == ["dominated"] * 5 + ["on the front"]
    lines = drawn["by_axis"]().to_dict()
    rows = lines["datasets"][lines["layer"][0]["data"]["name"] if "data" in lines["layer"][0]
                             else lines["data"]["name"]]  # fmt: skip
    assert [(row["label"], row["y"]) for row in rows][:2] == [("10 us", 10_000.0)] * 2
    assert {row["series"] for row in rows} == {"20 us", "40 us", "80 us"}
    with pytest.raises(
        nacre.errors.ConfigError, match='no axis called "wirte"; did you mean "write"'
    ):
        grid.plot.by_axis(axis="wirte")
    assert "<table" in grid._repr_html_()
    with fails_with("no-data"):
        nacre.study(GRID, workers=1).plot.pareto()


def test_progress_is_reported_and_can_stop_a_study(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []

    def watch(done: int, total: int) -> bool:
        told.append((done, total))
        return done >= 2

    # The study has more points than an engine sends at once, even if points are short.
    study = GRID | {"seeds": list(range(300))}
    result = nacre.study(study, out=tmp_path / "out", progress=watch, workers=1)
    assert not result.complete
    assert result.total == 1800
    assert 2 <= result.table.height < 1800
    assert told[0] == (0, 1800)
    again = nacre.study(study, out=tmp_path / "out", resume=True, workers=1)
    assert again.table.equals(nacre.study(study, workers=2).table)


def test_an_invalid_argument_is_reported() -> None:
    with pytest.raises(ConfigError, match='did you mean "dask"'):
        nacre.study(GRID, engine="dusk")  # type: ignore[arg-type]
    with fails_with("conflicting-settings", ConfigError):
        nacre.study(GRID, address="tcp://x:1")
    with fails_with("missing-setting", ConfigError):
        nacre.study(GRID, resume=True)
    with pytest.raises(TypeError, match="a study is the path"):
        nacre.study(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "wrong", "told"),
    [
        ("run.warm_up", 40, "the run has 40 requests, all of them warm-up"),
        ("stack.capacity", "0 B", "the smallest allowed is 1 B"),
    ],
)
def test_a_setting_that_is_invalid_in_one_point_is_reported_before_any_run(
    path: str, wrong: str | int, told: str, tmp_path: Path
) -> None:
    legal = 0 if path == "run.warm_up" else "1 GiB"
    study = GRID | {"axis": [{"name": "it", "path": path, "values": [legal, wrong]}]}
    with pytest.raises(ConfigError, match=told):
        nacre.study(study, workers=1, out=tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.parquet"))


@pytest.mark.parametrize("method", ["nsga2", "tpe", "random"])
def test_a_search_runs_each_design_once_and_ends_when_none_is_left(method: str) -> None:
    axes = [
        {"name": "read", "path": "stack.read", "values": ["1 us", "2 us", "3 us"]},
        {"name": "depth", "path": "workload.arrival.queue_depth", "values": [1, 2, 4, 8]},
    ]
    study = SEARCH | {
        "axis": axes, "constraint": [], "budget": {"points": 40},
        "search": {"method": method, "batch": 4},
    }  # fmt: skip
    result = nacre.study(study, workers=1)
    chosen = result.table.select("read", "depth")
    assert 8 <= chosen.height == chosen.unique().height <= 12
    assert result.complete


def test_a_search_spends_its_budget_on_different_designs() -> None:
    study = SEARCH | {"search": {"method": "nsga2", "batch": 8}, "budget": {"points": 64}}
    table = nacre.study(study, workers=1).table
    assert table.height == table.select("read", "depth", "write", "channels").unique().height == 64
