"""Checks that a drive generated from a data sheet has the performance on this data sheet."""

from __future__ import annotations

import tomllib
from typing import Any

import nacre
import pytest
from nacre.cli.app import app
from nacre.errors import ConfigError
from nacre.results.record import Record
from nacre.scenario.data_sheet import DataSheet, drive
from typer.testing import CliRunner

# These drives are not in the catalog. Samsung PM9D3a 7.68 TB (MZWL67T6HBLC): table of
# syspartsdirect.com. Samsung PM9A3, U.2: data sheet of the manufacturer in heise.de/-4720224
# (2020).
PM9D3A = DataSheet(
    capacity=7.68e12,
    read_iops=2e6,
    write_iops=250e3,
    sequential_read=12e9,
    sequential_write=6.8e9,
    read_latency=65e-6,
    endurance=14_016e12,
)
PM9A3 = DataSheet(
    capacity=7.68e12,
    read_iops=900e3,
    write_iops=200e3,
    sequential_read=6.5e9,
    sequential_write=3.5e9,
)
READS: dict[str, Any] = {"workload.read_share": "100 %", "run.until_steady": False}
WRITES: dict[str, Any] = {"workload.read_share": "0 %"}
IN_ORDER: dict[str, Any] = {
    "workload.kind": "sequential",
    "workload.request": "128 KiB",
    "workload.arrival.queue_depth": 64,
    "run.until_steady": False,
}
WITHIN = 0.2


def _run(sheet: DataSheet, requests: int, **settings: Any) -> Record:
    scenario = tomllib.loads(drive(sheet).scenario())
    return nacre.run(scenario, {"workload.requests": requests, **settings})


@pytest.mark.parametrize("sheet", [PM9D3A, PM9A3], ids=["PM9D3a", "PM9A3"])
def test_the_drive_has_the_performance_of_the_data_sheet(sheet: DataSheet) -> None:
    depth = "workload.arrival.queue_depth"
    reads = _run(sheet, 200_000, **READS, **{depth: 256})
    writes = _run(sheet, 500_000, **WRITES, **{depth: 128})
    in_order = _run(sheet, 40_000, **{**READS, **IN_ORDER})
    written = _run(sheet, 60_000, **{**WRITES, **IN_ORDER, "run.warm_up": 30_000})
    assert reads.throughput.iops == pytest.approx(sheet.read_iops, rel=WITHIN)
    assert writes.throughput.iops == pytest.approx(sheet.write_iops, rel=WITHIN)
    assert in_order.throughput.bytes_per_s == pytest.approx(sheet.sequential_read, rel=WITHIN)
    assert written.throughput.bytes_per_s == pytest.approx(sheet.sequential_write, rel=WITHIN)
    if sheet.read_latency is not None:
        alone = _run(sheet, 5_000, **READS, **{depth: 1})
        assert alone.latency.read is not None
        assert alone.latency.read.mean_ns == pytest.approx(sheet.read_latency * 1e9, rel=0.02)


@pytest.mark.parametrize("unit", [16, 32, 64])
def test_a_unit_larger_than_a_page_spans_several_planes(unit: int) -> None:
    # Solidigm D5-P5336 122.88 TB: architecting.it/blog/100tb-ssd-vendors.
    sheet = DataSheet(122.88e12, 930e3, 25e3, 7.4e9, 3.2e9, cells="qlc", unit=unit * 1024)
    stack = tomllib.loads(drive(sheet).scenario())["stack"]
    kib = int(stack["page"]["value"].removesuffix(" KiB"))
    assert kib == max(16, unit)
    assert kib * stack["planes"]["value"] == 64
    assert _run(sheet, 1_000, **READS).requests.completed == 1_000


@pytest.mark.parametrize("unit", [6.0, 128.0])
def test_an_impossible_unit_is_rejected(unit: float) -> None:
    with pytest.raises(ConfigError) as caught:
        drive(DataSheet(**{**vars(PM9D3A), "unit": unit * 1024}))
    assert [problem["path"] for problem in caught.value.problems] == ["--unit"]


@pytest.mark.parametrize("terabytes", [0.48, 0.96, 1.92, 3.84, 7.68, 15.36])
def test_the_whole_drive_has_the_capacity_of_the_data_sheet(terabytes: float) -> None:
    sheet = DataSheet(terabytes * 1e12, 500e3, 60e3, 3e9, 1.2e9)
    made = drive(sheet)
    whole = made.whole()
    spare = float(whole["stack.over_provisioning"].rstrip(" %")) / 100
    flash = int(whole["stack.blocks"]) * int(whole["stack.pages"]) * made.row
    assert flash / (1 + spare) == pytest.approx(sheet.capacity, rel=1e-6)


def test_endurance_follows_from_the_bytes_that_may_be_written() -> None:
    made = drive(PM9D3A)
    cycles = tomllib.loads(made.scenario())["stack"]["endurance"]["value"]
    flash = int(made.whole()["stack.blocks"]) * int(made.whole()["stack.pages"]) * made.row
    assert cycles * flash / made.amplification == pytest.approx(14_016e12, rel=1e-3)


@pytest.mark.parametrize(
    ("figure", "option"),
    [
        ({"sequential_write": 40e9}, "--sequential-write"),
        ({"write_iops": 2e6}, "--write-iops"),
        ({"read_latency": 5e-6}, "--read-latency"),
        ({"write_latency": 2e-6}, "--write-latency"),
    ],
)
def test_contradictory_figures_are_rejected(figure: dict[str, float], option: str) -> None:
    with pytest.raises(ConfigError) as caught:
        drive(DataSheet(**{**vars(PM9D3A), **figure}))
    assert [problem["path"] for problem in caught.value.problems] == [option]
    assert caught.value.code == "conflicting-settings"


def test_all_missing_and_invalid_figures_are_reported_together() -> None:
    given = ["--capacity", "3.84 TB", "--read-iops", "1000 us", "--cells", "qlc"]
    result = CliRunner().invoke(app, ["new", "ssd", *given])
    assert result.exit_code == 2
    for option in ("--read-iops", "--write-iops", "--sequential-read", "--sequential-write"):
        assert option in result.output
    assert "--capacity" not in result.output
