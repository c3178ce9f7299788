"""Tests single requests and their latency breakdowns."""

import json
import math

import nacre
import pytest
from nacre.cli.app import app
from typer.testing import CliRunner


def test_the_latency_breakdown_sums_to_the_latency() -> None:
    read, write = nacre.step("nvram-card", [("read", 8192, 4096), ("write", 8192, 512)])
    for answer in (read, write):
        assert math.isclose(sum(one.ns for one in answer.spent), answer.latency_ns, abs_tol=0.01)
    assert write.issued_ns == read.latency_ns
    counted = {one.name: one["count"] for one in write.counted}
    assert counted["bursts_written"] == 8


def test_a_card_reports_its_stages() -> None:
    (write,) = nacre.step("nvram-card", [("write", 8192, 4096)], {"stack.preset": "nvram_mram"})
    stages = list(dict.fromkeys(one.stage for one in write.spent))
    assert [stage for stage in stages if stage != "scheduler"] == [
        *("driver", "doorbell", "command fetch", "host memory", "controller", "DMA in"),
        *("row activate", "column", "data bus", "row close", "completion", "interrupt", "reap"),
    ]
    # The last burst waits for its row. Activation of a row takes tRCD.
    opened = [one.ns for one in write.spent if one.stage == "row activate"]
    assert math.isclose(opened[-1], 47 * 1.876, abs_tol=1e-6)
    (disk,) = nacre.step("disk-15k", [("read", 0, 4096)])
    assert all(one.stage is None for one in disk.spent)


@pytest.mark.parametrize(
    ("host", "back"), [("memory_window", "fence"), ("cxl_mem", "link to host")]
)
def test_loads_and_stores_report_their_stages(host: str, back: str) -> None:
    (write,) = nacre.step("nvram-card", [("write", 8192, 64)], {"stack.host.kind": host})
    stages = list(dict.fromkeys(one.stage for one in write.spent))
    assert [stage for stage in stages if stage != "scheduler"] == [
        *("load or store", "link to device", "row activate", "column", "data bus", back),
    ]
    assert math.isclose(sum(one.ns for one in write.spent), write.latency_ns, abs_tol=1e-6)


def test_overrides_change_the_device() -> None:
    dram, mram = (
        nacre.step("nvram-card", [("read", 0, 64)], {"stack.preset": preset})[0].latency_ns
        for preset in ("nvram_ddr3_flash", "nvram_mram")
    )
    # Opening a row takes 47 clocks of 1.876 ns instead of 13.75 ns.
    assert 60 < mram - dram < 90


@pytest.mark.parametrize(
    "request_",
    [("erase", 0, 1), ("read", -1, 1), ("read", 0, 0), ("flush", 0, 1), ("read", 1 << 40, 1)],
)
def test_invalid_requests_are_rejected(request_: tuple[str, int, int]) -> None:
    with pytest.raises(nacre.errors.ConfigError, match="requests"):
        nacre.step("nvram-card", [request_])


def test_the_command_shows_where_the_time_went() -> None:
    result = CliRunner().invoke(app, ["step", "nvram-card", "read:8192:4096", "flush"])
    assert result.exit_code == 0, result.output
    assert "software" in result.output
    assert "flush: " in result.output
    result = CliRunner().invoke(app, ["step", "nvram-card", "read", "--json"])
    assert json.loads(result.output)[0]["bytes"] == 4096


def test_a_request_is_written_with_units_or_without() -> None:
    found = [
        CliRunner().invoke(app, ["step", "nvram-card", word, "--json"])
        for word in ("read:8192:4096", "read:8KiB:4 KiB", "read:8KiB")
    ]
    assert len({json.loads(result.stdout)[0]["latency_ns"] for result in found}) == 1
    for wrong in ("read:4k", "8192", "read:0:1:2"):
        refused = CliRunner().invoke(app, ["step", "nvram-card", wrong])
        assert refused.exit_code == 2
        assert "write OP:ADDRESS:SIZE, e.g. read:8KiB:4KiB" in refused.stderr
