"""Tests the monitoring of a served device, and single requests to the device, while clients use
it."""

from __future__ import annotations

import json
import re
import socket
import urllib.error
import urllib.request
from pathlib import Path

import nacre
import nbd_client
import pytest
from controlling import KIB, client_of, control_of, drive, refused, served_drive, serving, told
from nacre.base.view import View
from nacre.devices.control import Control
from nacre.words.served import too_late
from nbd_client import Client
from serving import Server

server = pytest.fixture(scope="module")(served_drive)
client = pytest.fixture(client_of)
control = pytest.fixture(control_of)


def page(server: Server, path: str = "/metrics") -> str:
    url = server.metrics
    with urllib.request.urlopen(url.removesuffix("/metrics") + path, timeout=120) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return str(answer.read().decode())


def samples(text: str) -> dict[str, float]:
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    assert len({place for place, _ in lines}) == len(lines)
    return {place: float(value) for place, value in lines}


def test_statistics_count_what_clients_did(client: Client, control: Control) -> None:
    before = control.stats().export().requests
    for place in range(4):
        client.write(place * 8 * KIB, bytes(8 * KIB))
    assert client.read(4 * KIB, 512) == bytes(512)
    client.trim(0, 4 * KIB)
    client.zero(8 * KIB, 4 * KIB)
    client.flush()
    client.block_status(0, 64 * KIB)
    with pytest.raises(nbd_client.NbdError):
        client.read(client.export.size, 512)
    found = control.stats()
    export = found.export("drive")
    gained = {
        kind: (
            of.requests - before[kind].requests,
            of.bytes - before[kind].bytes,
            of.errors - before[kind].errors,
        )
        for kind, of in export.requests.items()
    }
    assert gained == {
        "read": (2, 512, 1),
        "write": (4, 32 * KIB, 0),
        "trim": (1, 4 * KIB, 0),
        "zero": (1, 4 * KIB, 0),
        "flush": (1, 0, 0),
        "status": (1, 64 * KIB, 0),
        "cache": (0, 0, 0),
        "unknown": (0, 0, 0),
    }
    assert found.connections.now >= 1
    assert export.modeled.write.count == export.wall.write.count >= 4
    marks = ("p50_ns", "p95_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns")
    for summary in (export.modeled.write, export.wall.write):
        values = [summary[mark] for mark in marks]
        assert values == sorted(values)
    assert export.wall.write.p50_ns >= 0.9 * export.modeled.write.p50_ns
    sample = found.sample("drive")
    assert (sample.reads, sample.writes) == (
        export.requests.read.requests,
        export.requests.write.requests,
    )
    assert sample.write_ns / sample.timed_writes == pytest.approx(export.modeled.write.mean_ns)
    assert export.simulated_s > 0
    assert export.components[0].counters
    assert sum(export.energy_j.values()) > 0
    with pytest.raises(nacre.errors.Error, match='no export "tape"; there is drive'):
        found.export("tape")


def test_the_wear_of_a_served_device_is_printed_and_plotted(
    server: Server, client: Client, control: Control, tmp_path: Path
) -> None:
    for _ in range(2):
        for place in range(0, client.export.size - 128 * KIB, 128 * KIB):
            client.write(place, b"w" * 128 * KIB)
    export = control.stats(columns=True).export()
    wear = export.components[0].wear
    assert wear is not None
    assert wear.block_erases is not None
    erases = export.blocks()["erases"]
    assert len(erases) == wear.block_erases.blocks > 0
    assert erases.sum() == wear.erases > 0
    assert erases.max() == wear.block_erases.max
    table = told("wear", server.image, "--out", tmp_path / "wear.svg")
    assert re.search(r"wear of +host pages +others +erases +amplification", table)
    assert f"{tmp_path / 'wear.svg'}: drawn" in table
    assert (tmp_path / "wear.svg").read_text().startswith("<svg")
    document = json.loads(told("wear", server.image, "--json"))
    assert document["wear"]["stack"]["erases"] >= wear.erases
    with pytest.raises(nacre.errors.Error, match=r"columns=True"):
        control.stats().export().blocks()


def test_metrics_equal_the_statistics(server: Server, client: Client, control: Control) -> None:
    client.write(0, bytes(4096))
    export = control.stats().export()
    found = samples(page(server))
    drive = 'export="drive"'
    assert found[f"nacre_export_size_bytes{{{drive}}}"] == export.bytes
    for kind, of in export.requests.items():
        assert found[f'nacre_requests_total{{{drive},op="{kind}"}}'] == of.requests
        assert found[f'nacre_request_bytes_total{{{drive},op="{kind}"}}'] == of.bytes
    writes = f'nacre_modeled_latency_seconds_bucket{{{drive},op="write",le="'
    buckets = [value for place, value in found.items() if place.startswith(writes)]
    assert buckets == sorted(buckets)
    assert buckets[-1] == export.modeled.write.count
    seconds = found[f'nacre_modeled_latency_seconds_sum{{{drive},op="write"}}']
    mean = export.modeled.write.mean_ns
    assert seconds / export.modeled.write.count == pytest.approx(mean / 1e9, rel=1e-9)


def test_unknown_pages_give_404_and_garbage_is_ignored(server: Server) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        page(server, "/secrets")
    port = int(re.findall(r":(\d+)/", server.metrics)[0])
    for sent in (b"\x16\x03\x01\x00hello", b"y" * 8192, b"metrics please\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=120) as wire:
            wire.sendall(sent)
            assert wire.recv(100) == b""
    assert page(server)


def test_a_step_has_a_latency_breakdown_and_counts_as_a_request(
    server: Server, client: Client, control: Control
) -> None:
    before = control.stats().export().requests.write.requests
    write = control.step("write", 8192, 4096, fill=0x5A)
    assert abs(sum(one.ns for one in write.spent) - write.latency_ns) < 0.01
    assert write.latency_ns > 0
    assert write.is_done
    assert {one.name: one.count for one in write.counted}["writes"] == 1
    assert client.read(8192, 4096) == b"\x5a" * 4096
    assert control.stats().export().requests.write.requests == before + 1
    with pytest.raises(nacre.errors.Error, match='give "fill"'):
        control.step("write", 0, 4096)
    with pytest.raises(nacre.errors.Error, match="past the end"):
        control.step("read", 1 << 60, 4096)
    shown = told("step", server.image, "read:8192:4096", "flush")
    assert "read of 4096 B at 8192: " in shown
    assert "spent on" in shown
    found = json.loads(told("step", server.image, "write", "--fill", "1", "--json"))
    assert found[0]["op"] == "write"
    assert "--fill" in refused("step", server.image, "write")
    assert "not a byte" in refused("step", server.image, "write", "--fill", "256")


def test_a_snapshot_is_a_separate_image(server: Server, client: Client, tmp_path: Path) -> None:
    client.write(3072 * KIB, b"s" * 4096)
    copy = tmp_path / "copy.img"
    assert "an image" in told("snapshot", server.image, copy)
    client.write(3072 * KIB, b"t" * 4096)
    with (
        serving(tmp_path, device=drive(tmp_path), image=copy) as other,
        Client(other.uri) as reader,
    ):
        assert reader.read(3072 * KIB, 4096) == b"s" * 4096
    assert "copy.img" in refused("snapshot", server.image, copy)


def test_statistics_are_tables_and_one_document(server: Server, client: Client) -> None:
    client.write(0, bytes(512))
    shown = told("stats", server.image)
    assert re.search(r"^serving for .*; \d+ clients? now, \d+ ever$", shown, re.MULTILINE)
    assert re.search(r"^requests +count +bytes +errors$", shown, re.MULTILINE)
    assert re.search(r"^writes, modeled +\d", shown, re.MULTILINE)
    assert json.loads(told("stats", server.image, "--json"))["exports"][0]["name"] == "drive"
    assert told("stats", f"{server.image}.ctl"), "the socket itself does as well"


def test_a_warning_is_printed_if_the_machine_cannot_keep_up() -> None:
    def export(late: int, seen_ns: float, dilation: float = 1.0, *, answered: int = 1000) -> View:
        reads = {"modeled": {"p50_ns": 5000.0}, "wall": {"p50_ns": seen_ns}}
        latencies = {name: {"read": of, "write": None} for name, of in reads.items()}
        return View({"answered": answered, "late": late, "dilation": dilation, **latencies})

    assert too_late(export(10, 5400.0)) is None
    assert "1.1 % of the replies were late" in str(too_late(export(11, 5000.0)))
    slow = str(too_late(export(0, 40_000.0)))
    assert "median read latency at the clients is 8.00 times the modeled one" in slow
    assert slow.endswith("--dilate 80")
    assert too_late(export(0, 40_000.0, dilation=8.0)) is None
    assert too_late(export(2, 40_000.0, answered=99)) is None, "two answers show nothing"
