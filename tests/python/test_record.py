"""Tests access to records, their columns, and their files."""

import copy
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nacre
import numpy as np
import polars as pl
import pytest
from drawing import charts
from nacre.results.record import Record
from nacre.words.records import facts
from refusing import fails_with

SUMMARY = {
    "count": 3,
    "mean_ns": 2000.0,
    "mean_ci95_ns": None,
    "min_ns": 1000.0,
    "p50_ns": 2000.0,
    "p95_ns": 3000.0,
    "p99_ns": 3000.0,
    "p999_ns": 3000.0,
    "p9999_ns": 3000.0,
    "max_ns": 3000.0,
}
SPENT = {
    "component": "stack",
    "kind": "measured",
    "activity": "read",
    "mean_ns": 2000.0,
    "share": 1.0,
}
STACK = {
    "path": "stack",
    "kind": "measured",
    "resources": [
        {"name": "servers", "servers": 1, "busy": {"read": 6e-6}, "utilization": 0.5},
    ],
    "servers": 1,
    "busy": {"read": 6e-6},
    "utilization": 0.5,
    "energy_j": None,
    "counters": {"reads": 3},
    "cost": 2.5,
    "cost_basis": "USD 2023",
    "lifetime_days": None,
    "area_mm2": None,
    "wear": None,
    "health": None,
    "tables": {},
    "handles": [],
    "faults": [],
}
DATA: dict[str, Any] = {
    "schema": "nacre-record-1",
    "version": "0.1.0",
    "name": "three reads",
    "seed": 7,
    "complete": True,
    "host_cpu_ns": None,
    "worn_out": None,
    "scenario": {"stack": {"kind": "measured"}},
    "origins": [],
    "requests": {
        "issued": 3, "completed": 3, "reads": 3, "writes": 0, "trims": 0, "flushes": 0, "errors": 0,
    },
    "bytes": {"read": 12288, "written": 0},
    "simulated_s": 12e-6,
    "drained_s": 12e-6,
    "throughput": {"iops": 250000.0, "bytes_per_s": 1.024e9, "units_per_s": None},
    "latency": {"read": SUMMARY, "write": None, "flush": None},
    "tenants": [],
    "fairness": None,
    "time_spent": {"read": [SPENT], "write": [], "flush": []},
    "components": [STACK],
    "write_amplification": None,
    "cleaning_cost": None,
    "erases": None,
    "energy_j": {},
    "energy_unknown": ["stack"],
    "cost": 2.5,
    "cost_basis": "USD 2023",
    "cost_by_basis": {"USD 2023": 2.5},
    "cost_unknown": [],
    "lifetime_days": None,
    "lifetime_unknown": [],
    "area_mm2": None,
    "split": None,
    "steadiness": None,
    "workload": {
        "kind": "trace", "records": 3, "bad_records": 0, "unit": None, "units": None, "notes": [],
    },
    "findings": [],
}  # fmt: skip


def columns() -> dict[str, np.ndarray[Any, Any]]:
    return {
        "latency.read.upto_ns": np.array([1000.0, 2000.0, 3000.0]),
        "latency.read.count": np.array([1, 1, 1], dtype=np.uint64),
        "latency.write.upto_ns": np.array([], dtype=np.float64),
        "latency.write.count": np.array([], dtype=np.uint64),
        "latency.flush.upto_ns": np.array([], dtype=np.float64),
        "latency.flush.count": np.array([], dtype=np.uint64),
        "time.start_s": np.array([0.0, 6e-6]),
        "time.reads": np.array([3, 0], dtype=np.uint64),
        "time.writes": np.array([0, 0], dtype=np.uint64),
        "time.bytes": np.array([12288, 0], dtype=np.uint64),
        "time.mean_latency_ns": np.array([2000.0, np.nan]),
        "time.width_s": np.array([6e-6]),
    }


@pytest.fixture
def record() -> Record:
    return Record(copy.deepcopy(DATA), columns())


def test_fields_are_reached_by_key_and_by_attribute(record: Record) -> None:
    assert record.latency.read is not None
    assert record.latency.read.p99_ns == record["latency"]["read"]["p99_ns"] == 3000.0
    assert record.latency.write is None
    assert record.components[0].busy["read"] == 6e-6
    assert record.components[0].resources[0].name == "servers"
    assert record.time_spent.read[0].activity == "read"
    assert "latency" in dir(record)
    assert list(record) == list(DATA)


def test_the_error_for_a_misspelled_field_suggests_the_right_one(record: Record) -> None:
    with pytest.raises(AttributeError, match=r"no field 'p99'; did you mean 'p99_ns'\?"):
        _ = record["latency"]["read"].p99
    with pytest.raises(KeyError):
        _ = record["latencies"]


def test_the_error_for_a_nested_field_has_its_path(record: Record) -> None:
    with pytest.raises(AttributeError, match="did you mean 'reads'"):
        _ = record.read
    with pytest.raises(AttributeError, match=r"did you mean 'throughput\.iops'"):
        _ = record.iops
    with pytest.raises(AttributeError, match="there is no figure 'latencies'; there are: latency"):
        _ = record.plot.latencies


def test_a_record_reads_back_as_it_was_saved(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path / "runs" / "one")
    assert Record.load(tmp_path / "runs" / "one") == record
    assert Record.load(tmp_path / "runs" / "one" / "record.json") == record
    assert sorted(path.name for path in (tmp_path / "runs" / "one").iterdir()) == [
        "latency.parquet",
        "record.json",
        "time.parquet",
    ]


def test_records_differ_by_their_fields_and_by_their_columns(record: Record) -> None:
    other = columns()
    other["time.mean_latency_ns"][0] = 2001.0
    assert record != Record(DATA, other)
    assert record != Record(DATA | {"seed": 8}, columns())
    assert record == Record(DATA, columns())
    assert record != 1


def test_a_record_cannot_be_changed_through_its_results(record: Record) -> None:
    with pytest.raises(TypeError):
        record.columns["x"] = np.array([])  # type: ignore[index]
    record.to_dict()["latency"]["read"]["p99_ns"] = 0
    assert record["latency"]["read"]["p99_ns"] == 3000.0


def test_the_json_is_the_document(record: Record) -> None:
    assert json.loads(record.to_json()) == DATA
    assert json.loads(record.to_json(indent=None)) == DATA


def test_the_distribution_counts_shares_up_to_one(record: Record) -> None:
    frame = record.latency_distribution("read")
    assert frame["count"].sum() == 3
    assert frame["share"].to_list() == pytest.approx([1 / 3, 2 / 3, 1.0])
    assert record.latency_distribution("write").height == 0
    with pytest.raises(ValueError, match="read, write"):
        record.latency_distribution("trim")  # type: ignore[arg-type]


def test_an_interval_in_which_nothing_completed_has_no_mean(record: Record) -> None:
    assert record.time_series()["mean_latency_ns"].to_list() == [2000.0, None]


def test_a_record_without_columns_reports_what_is_missing(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path)
    (tmp_path / "latency.parquet").unlink()
    alone = Record.load(tmp_path)
    assert alone.latency.read == record.latency.read
    with pytest.raises(nacre.errors.Error, match=r"latency\.parquet is missing"):
        _ = alone.columns
    with fails_with("no-data"):
        _ = Record(DATA).columns


def test_columns_of_another_run_are_rejected(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path)
    frame = pl.read_parquet(tmp_path / "latency.parquet")
    frame.head(2).write_parquet(tmp_path / "latency.parquet")
    with fails_with("invalid-content"):
        _ = Record.load(tmp_path).columns


def test_damaged_columns_are_reported(record: Record, tmp_path: Path) -> None:
    record.save(tmp_path)
    (tmp_path / "time.parquet").write_bytes(b"PAR1 and then nothing of use")
    with pytest.raises(nacre.errors.Error, match=re.escape(str(tmp_path))):
        _ = Record.load(tmp_path).columns


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not a record"),
        ("[]", "found: list"),
        ('{"schema": "nacre-record-9"}', "found: nacre-record-9"),
    ],
)
def test_a_file_that_is_not_a_record_is_rejected(
    content: str, complaint: str, tmp_path: Path
) -> None:
    file = tmp_path / "record.json"
    file.write_text(content)
    with pytest.raises(nacre.errors.Error, match=complaint):
        Record.load(file)


def test_a_missing_record_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Record.load(tmp_path / "nothing")


def test_a_record_has_a_short_repr_and_an_html_page(record: Record) -> None:
    assert "3 requests" in repr(record)
    assert "p99 3.00 us" in repr(record)
    html = record._repr_html_()
    assert "three reads" in html
    assert "3.00 us" in html
    partial = Record(DATA | {"complete": False, "name": "<script>"}, columns())
    assert "stopped early" in repr(partial)
    assert "<script>" not in partial._repr_html_()


def test_records_side_by_side_make_one_row_each(record: Record) -> None:
    other = Record(DATA | {"cost": None}, columns())
    frame = nacre.compare([record, other]).to_polars()
    assert frame["name"].to_list() == ["three reads 1", "three reads 2"]
    assert frame["read_p99_ns"].to_list() == [3000.0, 3000.0]
    assert frame["cost"].to_list() == [2.5, None]
    assert nacre.compare({"a": record, "b": other}).to_polars()["name"].to_list() == ["a", "b"]
    with pytest.raises(ValueError, match="no records"):
        nacre.compare([])


def test_a_compared_record_must_be_in_a_list(record: Record) -> None:
    with pytest.raises(TypeError, match=r"nacre\.compare\(\[a, b\]\)"):
        nacre.compare(record)


def test_the_hit_ratio_is_that_of_the_outermost_cache(record: Record) -> None:
    with fails_with("no-data"):
        record.hit_ratio()
    outer = STACK | {"counters": {"read_hits": 6, "read_misses": 3, "read_merged": 1}}
    inner = STACK | {"counters": {"read_hits": 0, "read_misses": 4, "read_merged": 0}}
    assert Record(DATA | {"components": [outer, inner]}).hit_ratio() == 0.7


def test_a_cost_lists_what_it_excludes() -> None:
    def cost(unknown: list[str]) -> str:
        data = DATA | {"cost": 24.0, "cost_by_basis": {"USD 2023": 24.0}, "cost_unknown": unknown}
        return next(line for line in facts(Record(data)) if line.startswith("cost"))

    assert cost([]) == "cost 24 in USD 2023"
    assert cost(["stack.backing"]) == "cost 24 in USD 2023 (without stack.backing: price not known)"
    assert cost(list("abcde")).endswith("(without a, b, c and 2 more: price not known)")


def test_costs_in_different_currencies_are_listed_separately() -> None:
    sums = {
        "cost": None,
        "cost_basis": None,
        "cost_by_basis": {"USD 2023": 0.2, "not stated": 24.0},
    }
    finding = {"kind": "prices_differ", "text": "prices have no sum", "paths": ["a", "b"]}
    lines = facts(Record(DATA | sums | {"findings": [finding]}))
    assert "cost 0.2 in USD 2023 and 24 in the currency of the given prices" in lines
    assert "note: prices have no sum" in lines


def test_totals_of_energy_and_lifetime_list_what_they_exclude() -> None:
    known = {"energy_j": {"stack": 5.0}, "lifetime_days": 30.0, "lifetime_unknown": ["b"]}
    lines = facts(Record(DATA | known | {"energy_unknown": ["a", "c.idle_power"]}))
    assert "energy 5.00 J (without a, c.idle_power: energy not known)" in lines
    assert "lifetime 30.0 days (without b: endurance not known)" in lines


def test_latencies_of_existing_requests_need_no_check(record: Record) -> None:
    assert record.reads.p99_ns == 3000.0
    with fails_with("no-data"):
        _ = record.writes


def test_a_run_without_measurements_reports_it() -> None:
    nothing = {"completed": 0, "issued": 0, "reads": 0}
    empty = {
        "requests": DATA["requests"] | nothing,
        "simulated_s": 0.0,
        "throughput": {"iops": 0.0, "bytes_per_s": 0.0},
        "latency": {"read": None, "write": None, "flush": None},
        "time_spent": {"read": [], "write": [], "flush": []},
    }
    unmeasured = Record(DATA | empty, columns())
    assert facts(unmeasured)[0] == "nothing was measured: no request completed"
    assert not any("requests/s" in line for line in facts(unmeasured))
    assert "nothing was measured" in repr(unmeasured)
    assert not charts(unmeasured)
    timeless = Record(DATA | {"simulated_s": 0.0})
    assert facts(timeless)[0].startswith("nothing was measured: 3 requests took no simulated time")
    assert not any("requests/s" in line for line in facts(timeless))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda data: data.pop("throughput"), "throughput is missing"),
        (lambda data: data["latency"]["read"].pop("p99_ns"), "latency.read.p99_ns is missing"),
        (lambda data: data.update(seed="7"), "seed is not a whole number"),
        (lambda data: data.update(seed=True), "seed is not a whole number"),
        (lambda data: data["latency"].update(read=3), "latency.read is not a table"),
        (lambda data: data.update(components=[1]), r"components\[0\] is not a table"),
        (lambda data: data["components"][0].pop("path"), r"components\[0\].path is missing"),
    ],
)
def test_an_incomplete_record_is_rejected(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], fault: str
) -> None:
    data = copy.deepcopy(DATA)
    change(data)
    file = tmp_path / "record.json"
    file.write_text(json.dumps(data))
    with pytest.raises(nacre.errors.Error, match=f"is not a whole record: {fault}"):
        Record.load(file)


def test_a_record_can_be_copied_and_pickled_before_its_columns_are_loaded() -> None:
    record = nacre.run("server-cache", {"run.requests": 1000})
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == record
    assert record.columns.keys() == nacre.run("server-cache", {"run.requests": 1000}).columns.keys()
