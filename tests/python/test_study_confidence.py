"""Tests studies that repeat designs until results are precise, and notes about chance."""

from pathlib import Path
from typing import Any

import nacre
import numpy as np
import polars as pl
import pytest
from nacre.errors import ConfigError
from nacre.studies.analysis import interval, noise
from nacre.studies.points.repeats import runs_wanted
from nacre.studies.spec.design import Objective
from nacre.words.studies import best, facts
from refusing import fails_with

SERVICE_US = 100
QUEUE: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "footprint": "1 GiB",
        "requests": 3000,
        "arrival": {"kind": "poisson", "rate": "5 kHz"},
    },
    "stack": {"kind": "measured", "read": f"{SERVICE_US} us", "write": "100 us"},
}


def mean_us(load: float) -> float:
    """Returns the mean response time of an M/D/1 queue in microseconds by the Pollaczek-Khinchine
    formula."""
    return SERVICE_US * (1 + load / (2 * (1 - load)))


@pytest.fixture(scope="module")
def loads() -> nacre.studies.StudyResult:
    study = {
        "name": "loads",
        "scenario": QUEUE,
        "study": {"confidence": "2 %"},
        "axis": [{"path": "workload.arrival.rate", "values": ["3 kHz", "5 kHz", "7 kHz"]}],
        "objective": [{"of": "read_mean"}],
    }
    return nacre.study(study, workers=1)


def test_designs_repeat_until_their_intervals_are_narrow_and_contain_the_closed_form(
    loads: nacre.studies.StudyResult,
) -> None:
    assert loads.complete
    runs = loads.designs["runs"].to_list()
    assert runs[0] == 5 < runs[2] < 50, "the fuller the queue, the more seeds it takes"
    for row, load in zip(loads.designs.iter_rows(named=True), (0.3, 0.5, 0.7), strict=True):
        within = row["read_mean_ns_ci95"]
        assert within <= 0.02 * row["read_mean_ns"]
        # Omit the start, because the first requests find an empty queue.
        assert abs(row["read_mean_ns"] / 1e3 - mean_us(load)) <= 1.5 * within / 1e3, load


def test_all_designs_have_the_same_seeds_in_the_same_order(
    loads: nacre.studies.StudyResult,
) -> None:
    for design in range(3):
        seeds = loads.table.filter(pl.col("design") == design)["seed"].to_list()
        assert seeds == list(range(1, 1 + len(seeds)))


def test_variance_shares_use_the_seeds_common_to_all_designs(
    loads: nacre.studies.StudyResult,
) -> None:
    shares = dict(loads.sensitivity().select("axis", "share").iter_rows())
    assert set(shares) == {"rate", "(seed)"}
    assert sum(shares.values()) == pytest.approx(1)


def test_sequentially_stopped_intervals_have_the_stated_coverage() -> None:
    # There are 1,500 sequences, so the standard error of the coverage is 0.6 %.
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(1500):
        values: list[float] = []
        wanted = 5
        while len(values) < wanted:
            values += random.normal(1.0, 0.05, wanted - len(values)).tolist()
            wanted = runs_wanted(values, 0.02)
        within = interval.half_width(values)
        assert within is not None
        assert within <= 0.02 * np.mean(values)
        covered += bool(abs(np.mean(values) - 1) <= within)
    assert 0.91 <= covered / 1500 <= 0.97


def test_equal_seeds_distinguish_designs_within_noise() -> None:
    # One design is faster by 0.1 % of a service time. The spread between seeds is a hundred times
    # as large.
    study = {
        "scenario": QUEUE,
        "seeds": [1, 2, 3, 4],
        "axis": [{"path": "stack.read", "values": ["100 us", "99.9 us"]}],
        "objective": [{"of": "read_mean"}],
    }
    result = nacre.study(study, workers=1)
    first, second = result.designs["read_mean_ns"]
    assert result.designs["read_mean_ns_ci95"][0] > 5 * (first - second) > 0
    assert result.pareto().select("design", "certain").rows() == [(1, True)]
    assert not result.contenders().height
    assert best(result).columns[-2:] == ["runs", "on the front"]


def test_differences_within_chance_are_named() -> None:
    # After the warm-up, the queue is in the steady state.
    study = {
        "scenario": QUEUE,
        "seeds": [1, 2, 3, 4],
        "axis": [{"path": "run.warm_up", "values": [0, 500]}],
        "objective": [{"of": "mean"}],
    }
    result = nacre.study(study, workers=1)
    front, others = result.pareto(), result.contenders()
    assert front.height == others.height == 1
    assert front["certain"].to_list() == [False]
    assert any("2 designs may or may not be on the front" in line for line in facts(result))
    assert [row[-1] for row in best(result).rows] == ["perhaps", "perhaps"]


def test_the_front_is_as_certain_as_its_comparisons() -> None:
    # Computed by hand: 1 is better than 0 by 1 +- 0 with every seed, and 2 differs from 1 by 0 on
    # average.
    values = {0: [5.0, 6.0, 7.0], 1: [4.0, 5.0, 6.0], 2: [4.1, 4.9, 6.2], 3: [4.0, 5.0, 6.0]}
    points = pl.DataFrame(
        [(d, s, v) for d, row in values.items() for s, v in enumerate(row)],
        schema=["design", "seed", "x"],
        orient="row",
    )
    designs = pl.DataFrame(
        {
            "design": [0, 1, 2, 3],
            "runs": [3] * 4,
            "feasible": [True] * 4,
            "x": [6.0, 5.0, 5.07, 5.0],
        }
    )
    found = noise.front(points, designs, [1, 3], [Objective("x", "min")])
    assert found == noise.Front(certain=frozenset(), contenders=frozenset({2}))
    without = designs.filter(pl.col("design") != 2)
    found = noise.front(points, without, [1, 3], [Objective("x", "min")])
    assert found == noise.Front(certain=frozenset({1, 3}), contenders=frozenset())


def test_student_t_agrees_with_tables() -> None:
    known = {1: 12.706, 2: 4.303, 4: 2.776, 7: 2.365, 10: 2.228, 30: 2.042, 120: 1.980}
    for freedom, value in known.items():
        assert interval.student_t(freedom) == pytest.approx(value, abs=1.1e-3)


def test_errors_of_the_confidence_settings_are_reported() -> None:
    axis = [{"path": "stack.read", "values": ["1 us", "2 us"]}]
    with pytest.raises(ConfigError) as raised:
        nacre.study(
            {"scenario": QUEUE, "axis": axis, "study": {"confidence": "2", "repeats": 1, "x": 1}}
        )
    said = str(raised.value)
    assert 'study.confidence: it is not a share such as "2 %"' in said
    assert "study.repeats: invalid numbers of runs" in said
    assert "study.x: there is no such key" in said
    search = {
        "search": {"method": "random"},
        "budget": {"points": 4},
        "objective": [{"of": "iops"}],
    }
    with fails_with("conflicting-settings", ConfigError):
        nacre.study({"scenario": QUEUE, "axis": axis, "study": {"confidence": "2 %"}} | search)


def test_intervals_that_stay_wide_are_reported_and_the_study_can_be_resumed(tmp_path: Path) -> None:
    study = {
        "name": "few",
        "scenario": QUEUE,
        "study": {"confidence": "0.1 %", "repeats": 6},
        "axis": [{"path": "stack.read", "values": ["100 us", "90 us"]}],
    }
    result = nacre.study(study, workers=1, out=tmp_path / "few")
    assert result.designs["runs"].to_list() == [6, 6]
    assert any(line.startswith("note: 2 designs not known within 0.1 %") for line in facts(result))
    again = nacre.studies.StudyResult.load(tmp_path / "few")
    assert (again.complete, again.total) == (True, 12)
    more = study | {"study": {"confidence": "0.1 %", "repeats": 7}}
    assert nacre.study(more, workers=1, out=tmp_path / "few", resume=True).table.height == 14


def test_a_run_continues_until_its_mean_is_known() -> None:
    record = nacre.run(QUEUE, until="1 %")
    within = record.reads.mean_ci95_ns
    assert record.requests.issued > 3000
    assert within is not None
    assert within <= 0.01 * record.reads.mean_ns
    assert abs(record.reads.mean_ns / 1e3 - mean_us(0.5)) <= 2 * within / 1e3
    with pytest.raises(ConfigError, match="until: it is not a share"):
        nacre.run(QUEUE, until="0.5")


def test_the_front_is_drawn_with_the_intervals_of_its_means() -> None:
    study = {
        "scenario": QUEUE,
        "seeds": [1, 2, 3],
        "axis": [{"path": "stack.read", "values": ["100 us", "90 us"]}],
        "objective": [{"of": "read_mean"}, {"of": "iops"}],
    }
    result = nacre.study(study, workers=1)
    spec = result.plot.pareto().to_dict()
    bars = [layer for layer in spec["layer"] if layer["mark"]["type"] == "rule"]
    (upright,) = (layer for layer in bars if "y2" in layer["encoding"])
    rows = spec["datasets"][upright["data"]["name"]]
    drawn = sorted((row["y_low"], row["y_high"]) for row in rows)
    means, within = (result.designs[name] for name in ("read_mean_ns", "read_mean_ns_ci95"))
    assert drawn == sorted(zip(means - within, means + within, strict=True))
    assert "bars: 95 % confidence intervals" in spec["title"]["subtitle"][0]
    once = nacre.study({**study, "seeds": [1]}, workers=1).plot.pareto().to_dict()
    assert all(layer["mark"]["type"] != "rule" for layer in once["layer"])
