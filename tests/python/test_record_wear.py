"""Tests wear, garbage collection, and utilization in records: access, files, and tables."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import nacre
import numpy as np
import polars as pl
import pytest
from nacre.results.record import Record
from nacre.words.records import facts, time_split

Worn = Callable[..., Record]

PATHS = ("stack.level[0].device", "stack.backing")


def test_wear_is_reached_by_attribute(worn: Worn) -> None:
    record = worn()
    wear = record.components[0].wear
    assert wear is not None
    assert wear.block_erases is not None
    assert (wear.programs, wear.block_erases.max, wear.block_erases.mean) == (275, 8, 5.0)


def test_blocks_and_cleaning_are_frames(worn: Worn) -> None:
    record = worn()
    blocks = record.blocks()
    assert blocks.columns == ["component", "block", "erases", "valid_share"]
    assert blocks["block"].to_list() == [0, 1, 2, 3]
    assert blocks["erases"].to_list() == [3, 5, 4, 8]
    cleaning = record.cleaning()
    assert cleaning.columns == ["component", "end_s", "cost"]
    assert cleaning["cost"].to_list() == [None, 2.0, 1.5]
    assert cleaning["end_s"][-1] == record.simulated_s


def test_blocks_of_several_components_are_numbered_each(worn: Worn) -> None:
    record = worn(paths=PATHS)
    blocks = record.blocks()
    assert blocks["component"].unique(maintain_order=True).to_list() == list(PATHS)
    assert blocks["block"].to_list() == [0, 1, 2, 3] * 2
    assert record.blocks("stack.backing").height == 4
    with pytest.raises(nacre.errors.Error, match=re.escape(f"those that have: {', '.join(PATHS)}")):
        record.blocks("stack")


def test_a_stack_without_wear_has_no_blocks() -> None:
    record = nacre.run("disk-15k", {"run.requests": 200})
    assert record.components[0].wear is None
    assert (record.blocks().height, record.cleaning().height) == (0, 0)
    with pytest.raises(nacre.errors.Error, match="stack has no table of blocks; no component has"):
        record.blocks("stack")


def test_a_placement_handle_without_writes_has_no_amplification(tmp_path: Path) -> None:
    small = {"channels": 1, "ways": 1, "planes": 1, "blocks": 128, "pages": 64, "spare_blocks": 0}
    share = {"over_provisioning": "40 %", "fdp": {"initially_isolated": 2}, "buffer": "256 KiB"}
    writes = {"kind": "uniform", "requests": 400, "footprint": "4 MiB", "read_share": "0 %"}
    stack = {"preset": "tlc_nvme", **small, **share}
    record = nacre.run("disk-15k", {"stack": stack, "workload": writes})
    first, second = record.columns["stack.handles.write_amplification"]
    assert first == 1.0
    assert np.isnan(second)
    units = record.columns["stack.handles.units_host"]
    written, unused = record.components[0].handles
    assert (written.units_host, written.write_amplification) == (units[0], 1.0)
    assert (unused.units_host, unused.write_amplification) == (0, None)
    found = nacre.study(
        {
            "scenario": {"stack": stack, "workload": writes},
            "axis": [{"path": "run.seed", "values": [1]}],
            "columns": {
                "first": 'components["stack"].handles[0].write_amplification',
                "second": 'components["stack"].handles[1].write_amplification',
            },
        },
        workers=1,
    )
    assert found.table.select("first", "second").row(0) == (1.0, None)
    record.save(tmp_path)
    table = pl.read_parquet(tmp_path / "handles.parquet")
    assert table["write_amplification"].to_list() == [1.0, None]


def test_busy_and_idle_time_sum_to_the_total() -> None:
    stack = {"kind": "measured", "read": "10 us", "write": "30 us", "parallelism": 4}
    arrival = {"kind": "closed", "queue_depth": 2}
    workload = {
        "kind": "uniform", "footprint": "1 MiB", "requests": 2000, "arrival": arrival,
    }  # fmt: skip
    record = nacre.run({"workload": workload, "stack": stack})
    busy = record.busy()
    assert busy.columns == ["component", "resource", "servers", "activity", "seconds", "share"]
    assert busy["share"].sum() == pytest.approx(1)
    assert busy["seconds"].sum() == pytest.approx(4 * record.drained_s)
    shares = dict(zip(busy["activity"], busy["share"], strict=True))
    assert shares["read"] == pytest.approx(
        record.requests.reads * 10e-6 / (4 * record.drained_s), rel=1e-9
    )
    # Two of four servers are always busy, except at the end, when one of them waits for the other.
    assert shares["idle"] == pytest.approx(0.5, abs=1e-3)


def test_tables_read_back_as_they_were_saved(worn: Worn, tmp_path: Path) -> None:
    record = worn(cost=(np.nan, 1.0), paths=PATHS)
    record.save(tmp_path)
    assert Record.load(tmp_path) == record
    assert (tmp_path / "blocks.parquet").is_file()
    assert pl.read_parquet(tmp_path / "cleaning.parquet")["cost"].to_list() == [None, 1.0] * 2
    assert Record.load(tmp_path).columns["stack.backing.blocks.erases"].dtype == np.uint64


def test_components_may_have_different_block_columns(worn: Worn, tmp_path: Path) -> None:
    whole = worn(paths=PATHS)
    data, columns = whole.to_dict(), dict(whole.columns)
    data["components"][1]["tables"] = {"blocks": {"rows": 4, "columns": ["erases"]}}
    for name in ("blocks.valid_share", "cleaning.end_s", "cleaning.cost"):
        del columns[f"stack.backing.{name}"]
    record = Record(data, columns)
    record.save(tmp_path)
    assert Record.load(tmp_path) == record
    assert record.blocks()["valid_share"].null_count() == 4


def test_a_table_without_rows_reads_back(worn: Worn, tmp_path: Path) -> None:
    record = worn(cost=())
    record.save(tmp_path)
    assert Record.load(tmp_path) == record
    assert record.cleaning().columns == ["component", "end_s", "cost"]


def test_missing_and_foreign_tables_are_named(worn: Worn, tmp_path: Path) -> None:
    worn().save(tmp_path)
    pl.read_parquet(tmp_path / "blocks.parquet").head(3).write_parquet(tmp_path / "blocks.parquet")
    with pytest.raises(
        nacre.errors.Error, match=r"holds 3 rows of stack but record\.json counts 4"
    ):
        _ = Record.load(tmp_path).columns
    (tmp_path / "blocks.parquet").unlink()
    with pytest.raises(nacre.errors.Error, match=r"blocks\.parquet is missing"):
        _ = Record.load(tmp_path).columns


def test_tables_of_an_earlier_run_are_removed_with_its_record(worn: Worn, tmp_path: Path) -> None:
    worn().save(tmp_path)
    (tmp_path / "mine.parquet").write_bytes(b"")
    nacre.run("disk-15k", {"run.requests": 200}).save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "latency.parquet", "mine.parquet", "record.json", "time.parquet",
    ]  # fmt: skip


def test_a_foreign_record_json_removes_no_other_files(worn: Worn, tmp_path: Path) -> None:
    outside = tmp_path / "outside.parquet"
    outside.write_bytes(b"")
    components = [{"path": "stack", "tables": {"../outside": {"rows": 1, "columns": []}}}]
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "record.json").write_text(json.dumps({"components": components}))
    with pytest.raises(FileExistsError, match="it holds a file of this name but no results"):
        worn().save(tmp_path / "d")
    assert outside.exists()


def test_wear_is_described_in_sentences(worn: Worn) -> None:
    lines = facts(worn())
    for line in (
        "write amplification 2.75",
        "cleaning cost 1.50",
        "erases 12 (3 to 8 per block over its lifetime)",
        "lifetime 3,151 days (8.63 years)",
    ):
        assert line in lines
    short = facts(Record(worn().to_dict() | {"lifetime_days": 90.0}))
    assert "lifetime 90.0 days" in short


def test_a_medium_without_blocks_has_no_erases(worn: Worn) -> None:
    data = worn().to_dict() | {"erases": 0, "cleaning_cost": 0.0}
    for part in data["components"]:
        part["wear"] |= {"erases": 0, "block_erases": None}
    assert not any(line.startswith(("erases", "cleaning cost")) for line in facts(Record(data)))


def test_a_row_worn_out_early_and_the_lifetime_do_not_contradict_each_other(worn: Worn) -> None:
    worn_out = {"seconds": 140.0, "writes": None, "simulated": False}
    lines = facts(Record(worn().to_dict() | {"worn_out": worn_out}))
    assert "lifetime 3,151 days (8.63 years) with even wear" in lines


def test_the_output_reports_whether_a_steady_state_was_reached(worn: Worn) -> None:
    found = {"writes": 2_000, "window_bytes": 4096, "write_amplification": [None, 3.5, 4.25]}
    lines = facts(Record(worn().to_dict() | {"steadiness": found | {"reached": True}}))
    after = "after 2,000 writes before the run: write amplification 4.25"
    assert f"in its steady state {after}" in lines
    lines = facts(Record(worn().to_dict() | {"steadiness": found | {"reached": False}}))
    assert f"not in a steady state {after}" in lines


def test_transactions_are_reported_next_to_requests(worn: Worn) -> None:
    data = worn().to_dict()
    assert not any("transactions" in line for line in facts(Record(data)))
    data["workload"] |= {"unit": "transactions", "units": 100}
    data["throughput"] |= {"units_per_s": 10376.0}
    assert facts(Record(data))[1].endswith("B/s, 10.4 k transactions/s")
    frame = nacre.compare([Record(data)]).to_polars()
    assert frame["units_per_s"].to_list() == [10376.0]


def test_utilization_is_printed_only_for_media_that_wear(worn: Worn) -> None:
    table = time_split(worn())
    assert [row[2] for row in table.rows][-1] != "idle", "a closed loop of one keeps it busy"
    assert sum(float(row[4].removesuffix(" %")) for row in table.rows) == pytest.approx(100, abs=1)
    assert not time_split(nacre.run("disk-15k", {"run.requests": 200})).rows


def test_wear_is_compared_if_a_record_has_it(worn: Worn) -> None:
    plain = nacre.run("disk-15k", {"run.requests": 200})
    assert "write_amplification" not in nacre.compare([plain]).to_polars().columns
    frame = nacre.compare({"worn": worn(), "disk": plain}).to_polars()
    assert frame["write_amplification"].to_list() == [2.75, None]
    assert frame["lifetime_days"].to_list() == [3151.0, None]
