"""Tests recordings of the requests to a served device. A trace is complete or does not exist, and
files that are not recordings are not replaced."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nacre
import nbd_client
import pytest
from controlling import client_of, control_of, drive, names, refused, served_drive, serving, told
from nacre.devices.control import Control
from nbd_client import Client
from refusing import fails_with
from serving import NACRE, Server, event, until

server = pytest.fixture(scope="module")(served_drive)
client = pytest.fixture(client_of)
control = pytest.fixture(control_of)


def test_a_recording_is_a_trace_that_a_run_replays(
    server: Server, client: Client, control: Control, tmp_path: Path
) -> None:
    trace = tmp_path / "io.nacre"
    assert "recording into" in told("record", server.image, trace)
    with pytest.raises(nacre.errors.Error, match=r"a recording into .*io\.nacre is under way"):
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
    columns = nacre.traces.read(trace)
    assert columns["op"].to_list() == ["write"] * 21 + ["flush", "read"]
    assert columns["address"].to_list()[:20] == [number * 4096 for number in range(20)]
    record = nacre.run(
        {
            "workload": {"kind": "trace", "file": str(trace)},
            "stack": {"kind": "measured", "read": "10 us", "write": "10 us"},
        }
    )
    assert record.requests.completed == 23
    with fails_with("no-data"):
        control.record_end()


def test_a_recording_lists_active_and_added_faults(
    server: Server, client: Client, control: Control, tmp_path: Path
) -> None:
    before = control.add_fault("delay", {"latency": "1 ms"})
    control.record(tmp_path / "io.nacre")
    client.write(0, b"f" * 4096)
    meanwhile = control.add_fault("slow", {"factor": 2.0})
    going = control.stats().export().recording
    assert going is not None
    assert [fault.number for fault in going.faults] == [before, meanwhile]
    assert control.clear_fault() == 2
    printed = told("record", server.image, "--stop")
    recording = control.stats().export().recording
    assert recording is not None
    faults = [(fault.number, fault.settings) for fault in recording.faults]
    assert faults[:2] == [
        (before, 'kind = "delay"\nlatency = "1 ms"'),
        (meanwhile, 'kind = "slow"\nfactor = 2.0'),
    ]
    assert sorted(faults[2:]) == [(before, None), (meanwhile, None)]
    times = [fault.at_s for fault in recording.faults]
    assert times[0] == 0 < times[1]
    assert times == sorted(times)
    assert f"at 0 ns, fault {before} added" in printed
    assert f"fault {meanwhile} cleared" in printed


def test_a_server_records_from_its_start_until_it_stops(tmp_path: Path) -> None:
    trace = tmp_path / "all.nacre"
    options = ("--timing", "none", "--record", str(trace), "--metrics", f"unix:{tmp_path}/m")
    with serving(tmp_path, *options) as server:
        assert server.metrics == f"unix:{tmp_path}/m"
        with Client(server.uri) as client:
            client.write(0, b"a" * 4096)
            client.read(0, 4096)
        with Control(server.image) as control:
            until(lambda: control.stats().connections.now == 0)
        assert told("stop", server.image) == "the server is stopping\n"
        last = server.said_last()
    recorded = last["exports"][0]["recording"]
    assert (recorded["path"], recorded["requests"]) == (str(trace), 2)
    assert nacre.traces.read(trace)["op"].to_list() == ["write", "read"]
    assert names(tmp_path) == ["all.nacre", "disk.img"], "sockets are taken away"


def test_a_recording_replaces_a_file_only_with_force_and_never_an_image(
    server: Server, control: Control, tmp_path: Path
) -> None:
    trace, link, other_image = tmp_path / "io.nacre", tmp_path / "link", tmp_path / "image"
    trace.write_text("mine")
    link.symlink_to(trace)
    other_image.symlink_to(server.image)
    image = server.image.stat()
    for place in (trace, link):
        assert "the file already exists" in refused("record", server.image, place)
    assert "the existing entry is not a file" in refused("record", server.image, link, "--force")
    for place in (server.image, other_image):
        for force in ([], ["--force"]):
            said = refused("record", server.image, place, *force)
            assert "an image that is being served" in said
    assert trace.read_text() == "mine"
    with fails_with("no-data"):
        control.record_end()
    told("record", server.image, trace, "--force")
    told("record", server.image, "--stop")
    assert nacre.traces.read(trace).height == 0
    assert server.image.stat().st_ino == image.st_ino
    assert names(tmp_path) == ["image", "io.nacre", "link"]


def test_a_server_does_not_record_over_its_image_or_an_existing_file(tmp_path: Path) -> None:
    device = drive(tmp_path)
    with serving(tmp_path, device=device) as server:
        server.kill()
    image = server.image.read_bytes()
    (tmp_path / "mine.txt").write_text("mine")
    for place, said in (
        (server.image, "an image that"),
        (tmp_path / "mine.txt", "file already exists"),
    ):
        command = [str(NACRE), "serve", str(device), str(server.image), "--record", str(place)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 2, done.stdout
        assert said in done.stderr
    assert server.image.read_bytes() == image
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_killed_server_leaves_no_trace_file_and_its_sockets_are_reused(tmp_path: Path) -> None:
    trace = tmp_path / "all.nacre"
    with serving(tmp_path, "--record", str(trace)) as server:
        server.kill()
    assert not trace.exists()
    with serving(tmp_path) as server, Control(server.image) as control:
        assert control.stats().connections.ever == 0


def test_an_image_that_another_server_or_a_memory_has_open_is_never_replaced(
    server: Server, tmp_path: Path
) -> None:
    device, folder = drive(tmp_path), tmp_path / "other"
    folder.mkdir()
    nacre.run("onyx", {"workload.requests": 100}).save(tmp_path / "r")
    memory = nacre.open("envy", image=tmp_path / "m.img")
    with memory, serving(folder, device=device) as other:
        begin = ["serve", str(device), str(tmp_path / "new.img"), "--record", str(other.image)]
        page = ["report", str(tmp_path / "r"), "--html", str(tmp_path / "m.img")]
        for command, status in ((begin, 2), (page, 1)):
            image = Path(command[-1])
            before = image.stat()
            assert "in use" in refused("record", server.image, image, "--force")
            done = subprocess.run(
                [str(NACRE), *command, "--force"],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == status, done.stdout
            assert "in use" in done.stderr
            with pytest.raises(OSError, match="in use"):
                nacre.traces.convert(tmp_path / "t.csv", image)
            assert (image.stat().st_ino, image.stat().st_size) == (before.st_ino, before.st_size)


def test_a_recording_whose_name_was_taken_gets_another_name(tmp_path: Path) -> None:
    device, trace = drive(tmp_path), tmp_path / "all.nacre"
    image = str(tmp_path / "d.img")
    command = [str(NACRE), "serve", str(device), image, "--json", "--timing", "none"]
    command += ["--record", str(trace)]
    for ends in ("ctl record", "serve"):
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert any(event(line) for line in process.stdout)
        trace.write_text("meanwhile")
        if ends == "ctl record":
            stop = [str(NACRE), "ctl", "record", image, "--stop"]
            done = subprocess.run(stop, capture_output=True, text=True, timeout=120, check=False)
            assert (done.returncode, "the new one is kept as" in done.stderr) == (1, True)
        process.terminate()
        _, said = process.communicate(timeout=120)
        assert process.returncode == 1
        assert "the new one is kept as" in said
        assert trace.read_text() == "meanwhile"
        trace.unlink()
    for other in ("all-2.nacre", "all-3.nacre"):
        assert nacre.traces.read(tmp_path / other).height == 0


def test_requests_that_need_a_model_are_user_errors_without_one(tmp_path: Path) -> None:
    with serving(tmp_path, "--timing", "none") as bare:
        assert "has no medium with modeled wear" in refused("wear", bare.image)
        assert "so there is no latency to show" in refused("step", bare.image, "read:0:4096")
        trace = tmp_path / "none" / "io.nacre"
        assert "none is not a directory; create it" in refused("record", bare.image, trace)
        assert "recording into" in told("record", bare.image, tmp_path / "io.nacre")
        assert "0 requests" in told("record", bare.image, "--stop")
