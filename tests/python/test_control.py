"""A served device, watched and steered while clients use it."""

from __future__ import annotations

import json
import re
import socket
import stat
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nacre
import nbd_client
import pytest
from nacre.cli.app import app
from nacre.control import Control, socket_of
from nacre.summary_served import too_late
from nacre.view import View
from nbd_client import Client
from serving import NACRE, Server, scenario, until
from typer.testing import CliRunner, Result

KIB = 1024
DRIVE = """\
schema = 1
name = "drive"
[workload]
kind = "uniform"
footprint = "1 MiB"
requests = 1
[stack]
preset = "tlc_nvme"
channels = 1
ways = 1
planes = 1
blocks = 64
pages = 24
spare_blocks = 4
factory_bad = "0 %"
program = ["50 us"]
over_provisioning = "25 %"
buffer = "256 KiB"
"""


def drive(folder: Path) -> Path:
    (folder / "drive.toml").write_text(DRIVE)
    return folder / "drive.toml"


@contextmanager
def serving(
    folder: Path, *options: str, device: Path | str = "disk-15k", image: Path | None = None
) -> Iterator[Server]:
    server = Server(folder, "--dilate", "1", *options, device=device, image=image)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("d")
    with serving(folder, "--metrics", "tcp:127.0.0.1:0", device=drive(folder)) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with Client(server.uri) as client:
        yield client


@pytest.fixture
def control(server: Server) -> Iterator[Control]:
    with Control(server.image) as control:
        yield control


def ctl(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["ctl", *map(str, arguments)])


def told(*arguments: object) -> str:
    done = ctl(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: object, status: int = 2) -> str:
    done = ctl(*arguments)
    assert done.exit_code == status, done.output
    assert not done.stdout
    return done.stderr


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def page(server: Server, path: str = "/metrics") -> str:
    url = server.metrics
    with urllib.request.urlopen(url.removesuffix("/metrics") + path, timeout=20) as answer:
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
    assert export.modelled.write.count == export.wall.write.count >= 4
    marks = ("p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns")
    for summary in (export.modelled.write, export.wall.write):
        values = [summary[mark] for mark in marks]
        assert values == sorted(values)
    assert export.wall.write.p50_ns >= 0.9 * export.modelled.write.p50_ns
    assert export.simulated_s > 0
    assert export.components[0].counters
    assert sum(export.energy_j.values()) > 0
    with pytest.raises(nacre.Error, match='no export "tape"; there is drive'):
        found.export("tape")


def test_the_wear_of_the_served_device_is_told_and_drawn(
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
    with pytest.raises(nacre.Error, match=r"columns=True"):
        control.stats().export().blocks()


def test_metrics_hold_what_the_statistics_hold(
    server: Server, client: Client, control: Control
) -> None:
    client.write(0, bytes(4096))
    export = control.stats().export()
    found = samples(page(server))
    drive = 'export="drive"'
    assert found[f"nacre_export_size_bytes{{{drive}}}"] == export.bytes
    for kind, of in export.requests.items():
        assert found[f'nacre_requests_total{{{drive},op="{kind}"}}'] == of.requests
        assert found[f'nacre_request_bytes_total{{{drive},op="{kind}"}}'] == of.bytes
    writes = f'nacre_modelled_latency_seconds_bucket{{{drive},op="write",le="'
    buckets = [value for place, value in found.items() if place.startswith(writes)]
    assert buckets == sorted(buckets)
    assert buckets[-1] == export.modelled.write.count
    seconds = found[f'nacre_modelled_latency_seconds_sum{{{drive},op="write"}}']
    mean = export.modelled.write.mean_ns
    assert seconds / export.modelled.write.count == pytest.approx(mean / 1e9, rel=1e-9)


def test_other_pages_are_not_there_and_garbage_gets_no_answer(server: Server) -> None:
    with pytest.raises(urllib.error.HTTPError, match="404"):
        page(server, "/secrets")
    port = int(re.findall(r":(\d+)/", server.metrics)[0])
    for sent in (b"\x16\x03\x01\x00hello", b"y" * 8192, b"metrics please\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as wire:
            wire.sendall(sent)
            assert wire.recv(100) == b""
    assert page(server)


def test_a_recording_is_a_trace_that_a_run_replays(
    server: Server, client: Client, control: Control, tmp_path: Path
) -> None:
    trace = tmp_path / "io.nacre"
    assert "recording into" in told("record", server.image, trace)
    with pytest.raises(nacre.Error, match=r"a recording into .*io\.nacre is under way"):
        control.record(tmp_path / "other.nacre")
    for number in range(20):
        client.write(number * 4096, b"r" * 4096)
    client.write(0, b"r" * 512, flags=nbd_client.FUA)
    assert client.read(0, 4096)[:512] == b"r" * 512
    recording = control.stats().export().recording
    assert recording is not None
    assert (recording.requests, recording.is_under_way) == (23, True)
    assert names(tmp_path) != [trace.name], "half a trace is never taken for a whole one"
    assert "23 requests" in told("record", server.image, "--stop")
    assert names(tmp_path) == [trace.name]
    columns = nacre.trace.read(trace)
    assert columns["op"].to_list() == ["write"] * 21 + ["flush", "read"]
    assert columns["address"].to_list()[:20] == [number * 4096 for number in range(20)]
    record = nacre.run(
        {
            "workload": {"kind": "trace", "file": str(trace)},
            "stack": {"kind": "measured", "read": "10 us", "write": "10 us"},
        }
    )
    assert record.requests.completed == 23
    with pytest.raises(nacre.Error, match="nothing is being recorded"):
        control.record_end()


def test_sectors_fail_as_long_as_somebody_wishes(
    server: Server, client: Client, control: Control
) -> None:
    client.write(1024 * KIB, b"m" * 8192)
    said = told("media-error", server.image, 1024 * KIB + 4096 + 100, 10)
    first = 1024 * KIB + 4096
    assert said.startswith(f"bytes {first:,} to {first + 511:,}, 1 sector of 512 bytes: reads fail")
    with pytest.raises(nbd_client.NbdError) as failed:
        client.read(1024 * KIB, 8192)
    assert failed.value.number == nbd_client.EIO
    assert client.read(1024 * KIB, 4096) == b"m" * 4096
    client.write(1024 * KIB + 4096, b"n" * 512)
    assert client.read(1024 * KIB + 4096, 1024) == b"n" * 512 + b"m" * 512
    ended = json.loads(told("media-error", server.image, "1 MiB", "1 KiB", "--json"))
    assert ended == {"offset": 1024 * KIB, "length": 1024, "harm": "reads"}
    assert json.loads(told("media-error", server.image, 100, 10, "--heal", "--json")) == {
        "offset": 0,
        "length": 512,
        "harm": "heal",
    }
    assert "no number of bytes" in refused("media-error", server.image, "1.5", 10)
    assert "the range is empty" in refused("media-error", server.image, 0, 0)
    client.write(1024 * KIB, b"m" * 1024)
    control.media_error(0, 512, "writes")
    with pytest.raises(nbd_client.NbdError):
        client.write(0, b"x" * 512)
    assert "works again" in told("media-error", server.image, 0, 512, "--heal")
    client.write(0, b"x" * 512)
    with pytest.raises(nacre.Error, match="within the device"):
        control.media_error(client.export.size, 512)


def test_the_power_fails_and_what_was_flushed_is_there(server: Server, control: Control) -> None:
    client = Client(server.uri)
    client.write(2048 * KIB, b"p" * 4096)
    client.flush()
    outage = control.power_fail()
    assert outage.acknowledged_lost == 0, "the drive's buffer is protected"
    with pytest.raises((nbd_client.GoneError, ConnectionError)):
        client.read(0, 512)
    client.close()
    with Client(server.uri) as again:
        assert again.read(2048 * KIB, 4096) == b"p" * 4096
    assert "the power failed" in told("power-fail", server.image)
    assert control.stats().connections.dropped == 0


def test_a_loss_of_power_interrupts_the_write_that_is_under_way(tmp_path: Path) -> None:
    # The device takes 30 s for a write: nobody waits for it.
    device = scenario(tmp_path, "slow", latency="30 s")
    with serving(tmp_path, device=device) as server, Control(server.image) as control:
        client = Client(server.uri)
        client.send(nbd_client.WRITE, 0, 4096, b"n" * 4096)
        until(lambda: control.stats().export().requests.write.requests == 1)
        outage = control.power_fail()
        assert (outage.under_way, outage.acknowledged_lost, outage.bytes_lost) == (1, 0, 0)
        assert outage.ready_after_s < 1
        with pytest.raises((nbd_client.GoneError, ConnectionError)):
            client.answer()
        client.close()


def test_without_a_model_a_loss_of_power_says_that_there_is_none(tmp_path: Path) -> None:
    with serving(tmp_path, "--timing", "none") as server, Client(server.uri) as client:
        client.write(0, b"k" * 512)
        with Control(server.image) as control, pytest.raises(nacre.Error, match="no device is"):
            control.power_fail()
        assert client.read(0, 512) == b"k" * 512, "nobody was cut off"


def test_a_step_says_where_its_time_went_and_is_a_request_like_others(
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
    with pytest.raises(nacre.Error, match='give "fill"'):
        control.step("write", 0, 4096)
    with pytest.raises(nacre.Error, match="does not have"):
        control.step("read", 1 << 60, 4096)
    shown = told("step", server.image, "read:8192:4096", "flush")
    assert "read of 4096 B at 8192: " in shown
    assert "spent on" in shown
    found = json.loads(told("step", server.image, "write", "--fill", "1", "--json"))
    assert found[0]["op"] == "write"
    assert "--fill" in refused("step", server.image, "write")
    assert "no byte" in refused("step", server.image, "write", "--fill", "256")


def test_a_snapshot_is_an_image_of_its_own(server: Server, client: Client, tmp_path: Path) -> None:
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
    assert re.search(r"^writes, modelled +\d", shown, re.MULTILINE)
    assert json.loads(told("stats", server.image, "--json"))["exports"][0]["name"] == "drive"
    assert told("stats", f"{server.image}.ctl"), "the socket itself does as well"


def test_lines_that_make_no_sense_are_answered_and_do_no_harm(server: Server) -> None:
    path = socket_of(server.image)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(20)
        wire.connect(str(path))
        answers = wire.makefile("rb")
        for line in (b"hello", b"{}", b'{"command": 3}', b'{"command": "fly"}', b"\xff\xfe", b""):
            wire.sendall(line + b"\n")
            assert "error" in json.loads(answers.readline()), line
        wire.sendall(b"[" * 100_000)
        assert "65536 bytes at most" in json.loads(answers.readline())["error"]
        # What is left of the line is not read, so that the end may look like a reset.
        with suppress(ConnectionResetError):
            assert answers.readline() == b""
    with Control(path) as control:
        assert control.stats().up_s > 0


def test_who_is_not_a_control_socket_is_named(server: Server, tmp_path: Path) -> None:
    assert "nothing is served from" in refused("stats", tmp_path / "no.img", status=1)
    assert "not a control socket" in refused("stats", f"{server.image}.sock", status=1)
    dead = tmp_path / "dead.img.ctl"
    with socket.socket(socket.AF_UNIX) as wire:
        wire.bind(str(dead))
    assert "nothing listens there any more" in refused("stats", tmp_path / "dead.img", status=1)
    assert "begins with the name of a trace" in refused("record", server.image)
    assert "end it in .svg" in refused("wear", server.image, "--out", tmp_path / "wear.bmp")


def test_an_answer_that_is_cut_short_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "cut.img.ctl"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer(said: bytes) -> None:
            wire, _ = listener.accept()
            with wire:
                wire.recv(1000)
                wire.sendall(said)

        for said, words in ((b'{"ok": {"up', "cut short"), (b"", "ended before it answered")):
            thread = threading.Thread(target=answer, args=(said,))
            thread.start()
            with Control(path) as control, pytest.raises(nacre.Error, match=words):
                control.stats()
            thread.join()


def test_a_server_records_from_its_beginning_and_ends_when_it_is_told(tmp_path: Path) -> None:
    trace = tmp_path / "all.nacre"
    options = ("--timing", "none", "--record", str(trace), "--metrics", f"unix:{tmp_path}/m")
    with serving(tmp_path, *options) as server:
        assert server.metrics == f"unix:{tmp_path}/m"
        with Client(server.uri) as client:
            client.write(0, b"a" * 4096)
            client.read(0, 4096)
        with Control(server.image) as control:
            until(lambda: control.stats().connections.now == 0)
        assert told("stop", server.image) == "the server ends\n"
        last = server.said_last()
    assert re.search(r"all\.nacre: 2 requests, \d", last)
    assert nacre.trace.read(trace)["op"].to_list() == ["write", "read"]
    assert names(tmp_path) == ["all.nacre", "disk.img"], "sockets are taken away"


def test_a_recording_replaces_a_file_only_where_it_is_forced_and_an_image_never(
    server: Server, control: Control, tmp_path: Path
) -> None:
    trace, link, beside = tmp_path / "io.nacre", tmp_path / "link", tmp_path / "image"
    trace.write_text("mine")
    link.symlink_to(trace)
    beside.symlink_to(server.image)
    image = server.image.stat()
    for place in (trace, link):
        assert "already a file of this name" in refused("record", server.image, place)
    assert "what is there is not a file" in refused("record", server.image, link, "--force")
    for place in (server.image, beside):
        for force in ([], ["--force"]):
            said = refused("record", server.image, place, *force)
            assert "an image that is being served" in said
    assert trace.read_text() == "mine"
    with pytest.raises(nacre.Error, match="nothing is being recorded"):
        control.record_end()
    told("record", server.image, trace, "--force")
    told("record", server.image, "--stop")
    assert nacre.trace.read(trace).height == 0
    assert server.image.stat().st_ino == image.st_ino
    assert names(tmp_path) == ["image", "io.nacre", "link"]


def test_a_server_does_not_begin_by_recording_over_its_image_or_a_file(tmp_path: Path) -> None:
    device = drive(tmp_path)
    with serving(tmp_path, device=device) as server:
        server.kill()
    image = server.image.read_bytes()
    (tmp_path / "mine.txt").write_text("mine")
    for place, said in ((server.image, "an image that"), (tmp_path / "mine.txt", "already a file")):
        command = [str(NACRE), "serve", str(device), str(server.image), "--record", str(place)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        assert done.returncode == 2, done.stdout
        assert said in done.stderr
    assert server.image.read_bytes() == image
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_killed_server_leaves_no_trace_and_its_sockets_are_used_again(tmp_path: Path) -> None:
    trace = tmp_path / "all.nacre"
    with serving(tmp_path, "--record", str(trace)) as server:
        server.kill()
    assert not trace.exists()
    with serving(tmp_path) as server, Control(server.image) as control:
        assert control.stats().connections.ever == 0


def test_addresses_that_cannot_be_had_are_mistakes(tmp_path: Path) -> None:
    def mistake(*options: str) -> str:
        command = ["serve", "disk-15k", str(tmp_path / "d.img"), *options]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2, done.output
        return done.stderr

    assert "metrics are for this one" in mistake("--metrics", "tcp:0.0.0.0:0")
    assert "too long for a socket" in mistake("--control", "x" * 120)
    assert "no such" in mistake("--record", f"{tmp_path}/no/io.nacre").lower()


def test_a_machine_that_cannot_keep_up_is_said_to() -> None:
    def export(late: int, seen_ns: float, dilation: float = 1.0) -> View:
        reads = {"modelled": {"p50_ns": 5000.0}, "wall": {"p50_ns": seen_ns}}
        latencies = {name: {"read": of, "write": None} for name, of in reads.items()}
        return View({"answered": 1000, "late": late, "dilation": dilation, **latencies})

    assert too_late(export(10, 5400.0)) is None
    assert "1.1 % of the answers left late" in str(too_late(export(11, 5000.0)))
    slow = str(too_late(export(0, 40_000.0)))
    assert "reads take 8.00 times as long as modelled" in slow
    assert slow.endswith("--dilate 80")
    assert too_late(export(0, 40_000.0, dilation=8.0)) is None
