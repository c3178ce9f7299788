"""Tests axes that are conditions. Each of their values has a separate front, comparisons, and
shares."""

from typing import Any

import nacre
import pytest
from nacre.errors import ConfigError
from nacre.words.studies import best, decisive, facts, others
from refusing import fails_with

READ, WRITE = "stack.read", "stack.write"
SCENARIO: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "footprint": "1 MiB",
        "requests": 400,
        "arrival": {"kind": "closed", "queue_depth": 1},
    },
    "stack": {"kind": "measured", "capacity": "1 GiB", "read": "10 us", "write": "10 us"},
}
DEVICES = [
    {"label": "reads", "set": {READ: "10 us", WRITE: "80 us", "stack.price": "2 /GiB"}},
    {"label": "writes", "set": {READ: "40 us", WRITE: "20 us", "stack.price": "1 /GiB"}},
    {"label": "poor", "set": {READ: "90 us", WRITE: "90 us", "stack.price": "3 /GiB"}},
]


def study(*, condition: bool, **more: Any) -> nacre.studies.StudyResult:
    axes = [
        {
            "name": "load",
            "path": "workload.read_share",
            "values": [{"label": "look-up", "value": "100 %"}, {"label": "log", "value": "0 %"}],
            "condition": condition,
        },
        {"name": "device", "values": DEVICES},
    ]
    table = {"name": "two", "scenario": SCENARIO, "axis": axes, "objective": [{"of": "mean"}]}
    return nacre.study(table | more, workers=1)


def chosen(result: nacre.studies.StudyResult) -> list[tuple[str, str]]:
    return list(result.pareto().select("load", "device").iter_rows())


def test_there_is_a_front_for_each_condition() -> None:
    # Without conditions, reads of 10 us would dominate all writes.
    assert chosen(study(condition=False)) == [("look-up", "reads")]
    under = study(condition=True)
    assert chosen(under) == [("look-up", "reads"), ("log", "writes")]
    assert facts(under)[0] == (
        "2 of 6 designs are on the Pareto fronts of low mean latency, one for each load"
    )
    assert [row[1:3] for row in best(under).rows] == [["look-up", "reads"], ["log", "writes"]]


def test_designs_are_compared_seed_by_seed_within_a_condition() -> None:
    scenario = SCENARIO | {
        "workload": SCENARIO["workload"] | {"arrival": {"kind": "poisson", "rate": "2 kHz"}}
    }
    under = study(condition=True, scenario=scenario, seeds=[1, 2, 3])
    assert chosen(under) == [("look-up", "reads"), ("log", "writes")]
    assert under.pareto()["certain"].to_list() == [True, True]
    assert under.contenders().height == 0


def test_shares_describe_only_the_axes_that_are_not_conditions() -> None:
    def shares(result: nacre.studies.StudyResult) -> dict[str, float]:
        found = result.sensitivity()
        return dict(found.select("axis", "share").iter_rows())

    under = study(condition=True)
    assert set(shares(study(condition=False))) == {"load", "device", "(together)"}
    assert set(shares(under)) == {"device", "(together)"}
    assert sum(shares(under).values()) == pytest.approx(1)
    # Computed by hand: latencies divided by the mean of their condition. Latencies are 10, 40, 90
    # and 80, 20, 90 us.
    rows = [
        [each / (140 / 3) for each in (10, 40, 90)],
        [each / (190 / 3) for each in (80, 20, 90)],
    ]
    means = [sum(column) / 2 for column in zip(*rows, strict=True)]
    between = 2 * sum((mean - 1) ** 2 for mean in means)
    total = sum((each - 1) ** 2 for row in rows for each in row)
    assert shares(under)["device"] == pytest.approx(between / total)
    assert decisive(under).columns[0].endswith("within each condition")


def test_omitted_designs_are_shown_with_the_reason() -> None:
    under = study(condition=True, constraint=[{"of": "cost", "at_most": 2.5}])
    left = others(under)
    assert [[*row[1:3], row[-1]] for row in left.rows] == [
        ["look-up", "writes", "dominated"],
        ["look-up", "poor", "violates a constraint"],
        ["log", "reads", "dominated"],
        ["log", "poor", "violates a constraint"],
    ]
    assert len(left.rows) + len(best(under).rows) == under.designs.height
    few = others(under, 1)
    assert [row[1:3] for row in few.rows] == [["look-up", "writes"], ["log", "reads"]]


def test_a_search_has_no_conditions() -> None:
    with fails_with("conflicting-settings", ConfigError):
        study(condition=True, search={"method": "random"}, budget={"points": 4})
