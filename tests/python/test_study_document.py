"""Tests study files: valid content, and errors that are reported before any run."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.base import quantity, toml
from nacre.errors import ConfigError
from nacre.studies.points.planner import one_by_one, sound
from nacre.studies.spec import axis as axes
from nacre.studies.spec.entry import Entry, Errors

SCENARIO: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "footprint": "1 MiB",
        "requests": 100,
        "arrival": {"kind": "closed", "queue_depth": 1},
    },
    "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
}
READ, DEPTH = "stack.read", "workload.arrival.queue_depth"


def labels(*axes: dict[str, Any], **rest: Any) -> list[dict[str, Any]]:
    """Returns the labels of the points of a grid, in order."""
    planner = sound({"scenario": SCENARIO, "axis": list(axes), **rest})[1]
    return [dict(point.labels) for point in planner.ask()]


def errors_of(study: dict[str, Any] | Path) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        nacre.study(study)
    assert len(raised.value.problems) == len(str(raised.value).split("\n"))
    return str(raised.value).split("\n")


def of(*axes: dict[str, Any], **rest: Any) -> list[str]:
    return errors_of({"scenario": SCENARIO, "axis": list(axes), **rest})


def choices(**form: Any) -> list[Any]:
    """Returns the labels of an axis with the settings `form`."""
    errors = Errors("study", None)
    axis = axes.read(Entry({"path": "a.b", **form}, errors, "axis", 0), search=False)
    assert not errors.found
    assert axis is not None
    return [choice.label for choice in axis.choices]


def test_each_value_of_each_axis_is_checked_with_the_first_of_the_others() -> None:
    kinds = axes.Axis("kind", tuple(axes.Choice(k, {}) for k in "abc"), None, {}, "")
    sizes = axes.Axis("size", tuple(axes.Choice(n, {}) for n in (1, 2)), None, {"kind": ("b",)}, "")
    tried = [
        [choice and choice.label for choice in chosen.values()]
        for chosen in one_by_one([kinds, sizes])
    ]
    # If an axis has a condition, it has a value only if the condition holds.
    assert tried == [["a", None], ["b", 1], ["c", None], ["b", 1], ["b", 2]]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"values": [1, 2.5, "x"]}, [1, 2.5, "x"]),
        ({"range": {"from": 1, "to": 8, "step": 2}}, [1, 3, 5, 7]),
        ({"range": {"from": 0.1, "to": 0.3, "step": 0.1}}, [0.1, 0.2, 0.3]),
        ({"range": {"from": 0.0, "to": 1, "points": 5}}, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ({"log": {"from": 1, "to": 100, "points": 3}}, [1, 10, 100]),
        ({"log": {"from": 1, "to": 9, "factor": 2}}, [1, 2, 4, 8]),
        ({"range": {"from": "10 %", "to": "30 %", "points": 3}}, ["10 %", "20 %", "30 %"]),
        ({"range": {"from": "1 ms", "to": "1.5 ms", "step": "250 us"}},
         ["1 ms", "1.25 ms", "1.5 ms"]),
        ({"log": {"from": "64 KiB", "to": "1 MiB", "factor": 4}}, ["64 KiB", "256 KiB", "1 MiB"]),
        # The middle is sqrt(1 x 4) MiB. The value at one third is 1.587 MiB, i.e. 406.4 pages.
        ({"log": {"from": "1 MiB", "to": "4 MiB", "points": 3}}, ["1 MiB", "2 MiB", "4 MiB"]),
        ({"log": {"from": "1 MiB", "to": "4 MiB", "points": 4, "multiple": "4 KiB"}},
         ["1 MiB", "1624 KiB", "2580 KiB", "4 MiB"]),
    ],
)  # fmt: skip
def test_an_axis_is_a_list_a_range_or_a_log_range(
    form: dict[str, Any], expected: list[Any]
) -> None:
    assert choices(**form) == expected


def test_the_first_axis_varies_slowest_and_the_seed_fastest() -> None:
    reads = {"path": READ, "name": "read", "values": ["1 us", "2 us"]}
    depths = {"path": DEPTH, "name": "depth", "values": [1, 2]}
    found = labels(reads, depths)
    assert [(each["read"], each["depth"]) for each in found] == [
        ("1 us", 1),
        ("1 us", 2),
        ("2 us", 1),
        ("2 us", 2),
    ]
    points = sound({"scenario": SCENARIO, "axis": [reads], "seeds": [7, 8]})[1].ask()
    assert [(p.index, p.design, p.seed) for p in points] == [
        (0, 0, 7),
        (1, 0, 8),
        (2, 1, 7),
        (3, 1, 8),
    ]


def test_settings_change_together_and_labels_may_be_given() -> None:
    moving = {"name": "device", "zip": {READ: ["1 us", "2 us"], "stack.write": ["3 us", "4 us"]}}
    assert labels(moving) == [{"device": "1 us, 3 us"}, {"device": "2 us, 4 us"}]
    assert labels(moving | {"labels": ["new", "old"]}) == [{"device": "new"}, {"device": "old"}]
    spelled = [{"label": "both", "set": {READ: "5 us", "stack.write": "6 us"}}]
    (point,) = sound({"scenario": SCENARIO, "axis": [{"name": "d", "values": spelled}]})[1].ask()
    assert dict(point.settings) == {READ: "5 us", "stack.write": "6 us"}


def test_an_axis_is_named_after_its_setting_unless_every_table_has_such_a_column() -> None:
    axes = [
        {"path": "stack.read", "values": ["1 us"]},
        {"path": "workload.requests", "values": [9]},
    ]
    design, _ = sound({"scenario": SCENARIO, "axis": axes})
    assert [axis.name for axis in design.axes] == ["read", "workload_requests"]


def test_an_axis_with_a_condition_applies_only_if_it_holds() -> None:
    kinds = {"path": "workload.kind", "values": ["uniform", "zipf"]}
    theta = {"path": "workload.theta", "values": [0.8, 0.9], "when": {"kind": "zipf"}}
    assert labels(kinds, theta) == [
        {"kind": "uniform", "theta": None},
        {"kind": "zipf", "theta": 0.8},
        {"kind": "zipf", "theta": 0.9},
    ]


def test_a_point_is_identified_by_its_content() -> None:
    def key(path: str, value: object, **scenario: Any) -> str:
        axis = {"name": "it", "path": path, "values": [value]}
        return sound({"scenario": SCENARIO | scenario, "axis": [axis]})[1].ask()[0].key

    assert key(READ, "10 us") == key(DEPTH, 1) == key(READ, "10 us", name="other")
    assert key(READ, "10 us") != key(READ, "11 us")
    assert key("run.seed", 1) != key("run.seed", 2)


def test_the_content_of_a_file_is_part_of_the_key(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    scenario = {**SCENARIO, "workload": {"kind": "trace", "file": str(trace)}}
    study = {"scenario": scenario, "axis": [{"path": READ, "values": ["1 us"]}]}
    keys = []
    for content in ("1", "2", "1"):
        trace.write_text(content)
        keys.append(sound(study)[1].ask()[0].key)
    assert keys[0] == keys[2] != keys[1]


def test_all_errors_are_reported_together_with_location_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(toml.document(SCENARIO))
    study = tmp_path / "study.toml"
    study.write_text(
        'scenario = "s.toml"\n'
        "[set]\n"
        '"stack.wirte" = "2 us"\n'
        "[[axis]]\n"
        'path = "stack.raed"\n'
        'values = ["1 us"]\n'
        "[[axis]]\n"
        'path = "workload.requests"\n'
        "values = []\n"
        "[[axis]]\n"
        'name = "depth"\n'
        'path = "workload.arrival.queue_depth"\n'
        "values = [0, 1]\n"
        "[[objective]]\n"
        'of = "iosp"\n'
        "[[axes]]\n"
    )
    told = errors_of(study)
    places = [line.replace(str(tmp_path), "") for line in told]
    expected = [
        "axis[1].values (/study.toml:9): it is empty: there is nothing to study",
        'objective[0].of (/study.toml:15): there is no such column, given "iosp";'
        ' did you mean "iops"?',
        'axes (/study.toml:16): there is no such key; did you mean "axis"?',
        'stack.wirte ([set] stack.wirte=2 us): there is no such setting; did you mean "write"?',
        'stack.raed (/study.toml:4, axis raed): there is no such setting; did you mean "read"?',
        "workload.arrival.queue_depth (/study.toml:10, axis depth): ",
    ]
    assert len(places) == len(expected)
    for beginning in expected:
        assert any(line.startswith(beginning) for line in places), beginning


@pytest.mark.parametrize(
    ("study", "told"),
    [
        ({"axis": [{"path": READ, "values": ["1 us"]}]}, "scenario: it is missing"),
        (
            {"scenario": SCENARIO, "confidence": "2 %", "axis": [{"path": READ, "values": [1]}]},
            "confidence: it is not allowed in this table; move it to [study]",
        ),
        ({"scenario": SCENARIO}, "axis: there is nothing to study"),
        ({"scenario": "evny", "axis": [{"path": READ, "values": ["1 us"]}]}, '"envy"'),
        ({"scenario": "no/such.toml", "axis": [{"path": READ, "values": [1]}]}, "no such file"),
        ({"schema": 2, "scenario": SCENARIO, "axis": []}, "knows schema 1, given 2"),
    ],
)
def test_a_study_without_a_scenario_or_axes_is_an_error(study: dict[str, Any], told: str) -> None:
    assert told in "\n".join(errors_of(study))


@pytest.mark.parametrize(
    ("axis", "told"),
    [
        ({"path": READ}, "it has no values"),
        ({"path": READ, "values": [1], "zip": {}}, "values and zip"),
        ({"path": READ, "values": ["1 us", "1 us"]}, "two of its values have the same label"),
        ({"values": ["1 us"]}, "say which setting"),
        ({"path": READ, "range": {"from": 2, "to": 1, "step": 1}}, "it holds nothing"),
        ({"path": READ, "range": {"from": 1, "to": 2}}, "give points or step"),
        ({"path": READ, "range": {"from": 1, "to": 2, "step": 0}}, "step is not above 0"),
        ({"path": READ, "range": {"from": 0, "to": 1e9, "step": 1}}, "more than 100000 values"),
        ({"path": READ, "log": {"from": 0, "to": 2, "points": 2}}, "above zero"),
        ({"path": READ, "log": {"from": "1 us", "to": 2, "points": 2}}, "different units"),
        ({"path": READ, "log": {"from": "1 uss", "to": 2, "points": 2}}, 'no unit "uss"'),
        ({"path": READ, "log": {"from": 1, "to": 2, "pionts": 2}}, 'no such key "pionts"'),
        ({"name": "a", "zip": {READ: [1, 2], "stack.write": [1]}}, "differ in length"),
        ({"path": READ, "name": "iops", "values": ["1 us"]}, "every table has such a column"),
        ({"path": READ, "values": ["1 us"], "when": {"no": 1}}, 'there is no axis "no" before'),
    ],
)
def test_an_invalid_axis_is_an_error(axis: dict[str, Any], told: str) -> None:
    assert told in "\n".join(of(axis))


def test_a_condition_must_be_possible() -> None:
    depth = {"path": DEPTH, "name": "depth", "values": [1, 2]}
    reads = {"path": READ, "values": ["1 us"], "when": {"depth": 3}}
    assert "has no such value, given 3; it has 1, 2" in of(depth, reads)[0]
    third = {"path": "stack.write", "values": ["1 us"], "when": {"read": "1 us", "depth": 1}}
    never = of(depth, reads | {"when": {"depth": 2}}, third)
    assert "no combination meets its condition" in never[0]


def test_a_grid_stays_within_its_budget() -> None:
    axis = {"path": DEPTH, "range": {"from": 1, "to": 10, "step": 1}}
    assert "more than these 9 combinations" in of(axis, budget={"points": 9})[0]
    assert len(labels(axis, budget={"points": 10})) == 10


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ({"search": {}}, "budget.points: a search needs a limit"),
        ({"search": {}, "budget": {"points": 9}}, "a search needs an objective"),
        ({"search": {"method": "nsga"}}, 'did you mean "nsga2"?'),
        ({"objective": [{"of": "simulated"}]}, "it has no default direction"),
        ({"constraint": [{"of": "p99"}]}, "it has no limit"),
        ({"constraint": [{"of": "p99", "at_most": "5 GiB"}]}, "to compare p99_ns with"),
        ({"columns": {"x": "throughput.iosp"}}, 'did you mean "iops"?'),
        ({"seeds": [1, 1]}, "which gives equal runs"),
        ({"budget": {"time": "soon"}}, 'not a time such as "2 h"'),
        ({"set": {"workload": {"requests": 5}}}, '"workload.requests" = ...'),
    ],
)
def test_objectives_and_constraints_are_validated(rest: dict[str, Any], told: str) -> None:
    assert told in "\n".join(of({"path": READ, "values": ["1 us"]}, **rest))


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        ("1.5 KiB", "bytes", "1536"),
        ("6.7us", "s", "0.0000067"),
        ("1_000 kHz", "per_s", "1e6"),
        ("1e3 \u00b5s", "s", "1e-3"),
        ("90 /h", "per_s", "0.025"),
        ("8_100 nm2/bit", "um2_per_bit", "0.0081"),
    ],
)
def test_a_quantity_is_a_number_and_a_unit(text: str, base: str, value: str) -> None:
    found = quantity.parse(text)
    assert (found.base, found.value) == (base, Decimal(value))
    for wrong in ("5", "1e3", "us", "-1 us", "5 parsecs", "1e us"):
        assert quantity.maybe(wrong) is None


def test_the_error_for_a_misspelled_unit_suggests_the_right_one() -> None:
    with pytest.raises(ValueError, match=r'there is no unit "kib", did you mean "KiB"\?'):
        quantity.parse("5 kib")
    with pytest.raises(ValueError, match="it is not a number with a unit"):
        quantity.parse("KiB")


def test_the_example_study_is_valid_and_compares_costs() -> None:
    design, planner = sound(Path(__file__).parents[2] / "examples" / "cache_for_the_money.toml")
    assert planner.total == 6 * 4 * 2
    assert [objective.column for objective in design.objectives] == ["iops", "cost"]
