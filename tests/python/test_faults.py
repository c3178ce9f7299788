"""Tests devices with faults in simulated runs, and faults of served devices."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nacre
import nacre.devices
import pytest
from nacre.cli.app import app
from nacre.devices.control import Control
from nbd_client import Client, NbdError
from serving import Server, scenario, until
from typer.testing import CliRunner

if TYPE_CHECKING:
    from nacre.devices.fixtures import Mount, Serve

MIB = 1 << 20
pytest_plugins = ("nacre.devices.fixtures",)


def faulty(*faults: dict[str, Any], read_share: str = "50 %") -> dict[str, Any]:
    """Returns a scenario of 10,000 serial requests to a device with a latency of 100 us and with
    these faults."""
    return {
        "schema": 1,
        "workload": {
            "kind": "uniform",
            "requests": 10_000,
            "footprint": "64 MiB",
            "read_share": read_share,
            "arrival": {"kind": "closed", "queue_depth": 1},
        },
        "stack": {
            "kind": "faulty",
            "device": {
                "kind": "measured",
                "capacity": "64 MiB",
                "read": "100 us",
                "write": "100 us",
            },
            **({"fault": list(faults)} if faults else {}),
        },
    }


def test_a_record_has_the_effects_of_each_fault_with_silent_ones_first() -> None:
    late = {"kind": "delay", "latency": "30 us", "operations": ["read"]}
    wrong = {"kind": "error", "operations": ["write"], "every": 10}
    lost = {"kind": "lost_write", "share": "1 %", "after": "100 us"}
    record = nacre.run(faulty(late, wrong, lost))
    delay, error, lost_write = record.components[0].faults
    assert [delay.path, delay.kind] == ["stack.fault[0]", "delay"]
    reads, writes = record.requests.reads, record.requests.writes
    assert (delay.matching, delay.touched) == (reads, reads)
    assert delay.added_s == pytest.approx(reads * 30e-6, rel=1e-9)
    assert record.reads.mean_ns == pytest.approx(130_000)
    assert error.errors == record.requests.errors == writes // 10
    assert error.reported_bytes == 4096 * error.errors
    assert lost_write.silent_bytes == 4096 * lost_write.touched > 0
    first, *_ = record.summary().facts
    assert first.endswith("bytes corrupted without an error by stack.fault[2] (lost_write)")
    shown = next(table for table in record.summary().tables if table.columns[0] == "fault")
    assert [row[1] for row in shown.rows] == ["delay", "error", "lost_write"]


def test_a_limit_and_a_share_are_within_one_percent() -> None:
    limited = nacre.run(faulty({"kind": "limit", "iops": "2 kHz"}))
    assert limited.throughput.iops == pytest.approx(2000, rel=0.01)
    shared = nacre.run(faulty({"kind": "error", "share": "20 %"}), {"workload.requests": 400_000})
    assert shared.requests.errors == pytest.approx(80_000, rel=0.01)
    bare = faulty()
    bare["stack"] = bare["stack"]["device"]
    alone, within = nacre.run(bare), nacre.run(faulty())
    assert alone.latency.to_dict() == within.latency.to_dict()


def test_the_shipped_scenario_shows_a_stall_in_its_tail() -> None:
    record = nacre.run("fail-slow")
    stall = record.components[0].faults[1]
    assert stall.kind == "stall"
    assert stall.touched > 1000
    assert record.reads.max_ns == pytest.approx(500e6, rel=0.01)
    assert nacre.run("fail-slow", {"stack.fault": False}).reads.max_ns < 1e6


def test_flushes_have_latencies_in_records_columns_and_studies() -> None:
    spec = {
        "schema": 1,
        "workload": {"kind": "trace", "file": "pgbench", "limit": 5_000},
        "stack": {"preset": "disk_15k", "write_cache": "16 MiB"},
    }
    record = nacre.run(spec)
    flush = record.latency.flush
    assert flush is not None
    assert flush.count == record.requests.flushes > 100
    assert record.flushes.p99_ns > record.writes.p50_ns
    bars = record.latency_distribution("flush")
    assert bars["count"].sum() == flush.count
    assert sum(part.mean_ns for part in record.time_spent.flush) == pytest.approx(flush.mean_ns)
    table = record.summary().tables[0]
    assert [row[0] for row in table.rows] == ["reads", "writes", "flushes"]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[nacre.devices.Served]:
    with nacre.devices.served(scenario(tmp_path)) as device:
        yield device


def test_a_served_device_stalls_on_request_and_its_clients_see_it(
    served: nacre.devices.Served,
) -> None:
    control = served.control
    assert served.size == 64 * MIB
    with Client(served.uri) as client:
        client.write(0, b"a" * 4096)
        number = control.add_fault("stall", {"duration": "400 ms", "operations": ["read"]})
        client.read(0, 4096)
        (fault,) = control.faults()
        assert (fault.number, fault.kind, fault.touched) == (number, "stall", 1)
        # The server records wall-clock latencies after it sends a reply.
        until(lambda: control.stats().export().wall.read is not None)
        export = control.stats().export()
        assert 0 < fault.added_s <= 0.4
        assert export.modeled.read.max_ns == pytest.approx(1e9 * fault.added_s, rel=0.05, abs=1e6)
        assert export.wall.read.max_ns >= 0.95 * export.modeled.read.max_ns
        assert export.faults[0].added_s == fault.added_s
        control.add_fault("error", {"operations": ["write"]})
        with pytest.raises(NbdError):
            client.write(0, b"b" * 4096)
        assert control.clear_fault() == 2
        client.write(0, b"c" * 4096)
        client.flush()
        assert control.stats().export().modeled.flush.count == 1


def test_bad_faults_are_rejected_with_a_code(served: nacre.devices.Served) -> None:
    for kind, settings, code in (
        ("gremlin", {}, "unknown-name"),
        ("stall", {}, "conflicting-settings"),
        ("error", {"share": "120 %"}, "out-of-range"),
        ("error", {"range_start": "1 TiB"}, "conflicting-settings"),
    ):
        with pytest.raises(nacre.errors.ConfigError) as caught:
            served.control.add_fault(kind, settings)
        assert caught.value.code == code
    with pytest.raises(nacre.errors.ConfigError, match="there is no fault 0 to clear"):
        served.control.clear_fault(0)
    assert served.control.faults() == ()


def test_a_server_failure_is_raised_in_the_block(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "disk.img"
    with (
        pytest.raises(nacre.errors.ConfigError, match="is not a directory"),
        nacre.devices.served(scenario(tmp_path), image=missing),
    ):
        pytest.fail("it was served")


def test_the_command_adds_lists_and_clears(tmp_path: Path) -> None:
    server = Server(tmp_path, "--timing", "emulated")
    try:

        def ctl(*words: str) -> str:
            line = ["ctl", "fault", words[0], str(server.image), *words[1:]]
            result = CliRunner().invoke(app, line)
            assert result.exit_code == 0, result.output
            return result.output

        assert "no faults were added" in ctl("list")
        assert "fault 0: delay" in ctl("add", "delay", "--set", "latency=2 ms")
        stall = ctl("add", "stall", "--set", "start=1 h", "--set", 'duration="5 s"', "--json")
        assert json.loads(stall) == {"number": 1, "kind": "stall"}
        assert "active" in ctl("list")
        assert [fault["kind"] for fault in json.loads(ctl("list", "--json"))] == ["delay", "stall"]
        with Control(server.image) as control:
            assert control.step("read", 0, 4096).latency_ns == pytest.approx(2.1e6)
        assert "1 fault cleared" in ctl("clear", "0")
        assert "1 fault cleared" in ctl("clear")
    finally:
        server.close()


def test_the_fixture_serves_devices_until_the_test_ends(
    tmp_path: Path, nacre_device: Serve
) -> None:
    device = nacre_device(scenario(tmp_path), options=nacre.devices.ServeOptions(timing="none"))
    with Client(device.uri) as client:
        client.write(4096, b"x" * 512)
        assert client.read(4096, 512) == b"x" * 512
    assert device.image.exists()


def test_a_file_system_is_mounted_without_root_and_sees_faults(nacre_mount: Mount) -> None:
    stack = {"stack": {"kind": "measured", "capacity": "32 MiB", "read": "20 us", "write": "20 us"}}
    folder, device = nacre_mount(stack)
    (folder / "note").write_bytes(b"kept" * 1000)
    device.control.add_fault("delay", {"latency": "200 ms", "operations": ["flush"]})
    began = time.monotonic()
    with (folder / "note").open("r+b") as note:
        note.write(b"lost")
        note.flush()
        os.fsync(note.fileno())
    assert time.monotonic() - began > 0.2
    assert device.control.faults()[0].touched > 0
    assert (folder / "note").read_bytes() == b"lost" + b"kept" * 999


def test_a_served_device_reports_its_health() -> None:
    stack = {
        "stack": {
            "preset": "tlc_nvme",
            "channels": 1,
            "ways": 1,
            "planes": 1,
            "blocks": 48,
            "pages": 24,
            "spare_blocks": 2,
            "factory_bad": "0 %",
            "buffer": "256 KiB",
            "over_provisioning": "30 %",
        }
    }
    with nacre.devices.served(stack) as device:
        (health,) = [
            part.health for part in device.control.stats().export().components if part.health
        ]
        assert health.used == 0
        assert health.spare_left == 1
        assert not health.read_only
        assert health.media_errors == 0
        device.control.power_fail()
        export = device.control.stats().export()
        assert export.unsafe_shutdowns == 1
        told = "\n".join(export.summary().facts)
        assert "0 media errors" in told
        assert "1 unsafe shutdown" in told


def test_a_record_has_the_health_of_media_that_wear() -> None:
    record = nacre.run("ssd", {"workload.requests": 20_000})
    (health,) = [part.health for part in record.components if part.health]
    assert health.used is not None
    assert 0 <= health.used < 1
    assert health.media_errors == 0
    assert nacre.run("fail-slow").components[0].health is None
