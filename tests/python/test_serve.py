"""Tests a served device with common clients: libnbd, QEMU, and fio."""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nacre
import nbd_client
import pytest
from nacre.devices import ServeOptions
from nbd_client import FUA, Client, GoneError
from serving import MIB, Server, missing, needs, run, scenario

DEBIAN_PYTHON = "/usr/bin/python3"
"""Python interpreter that has Debian's package python3-libnbd."""


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """Runs a server with two devices at one address."""
    other = scenario(folder, "other", 16)
    served = Server(folder, "--timing", "none", "--export", f"second={other}:other.img")
    yield served
    served.close()


def test_nbdinfo_lists_both_devices_and_what_they_can_do(server: Server) -> None:
    nbdinfo = needs("nbdinfo", "libnbd-bin")
    told = json.loads(run([nbdinfo, "--list", "--json", server.uri]))
    exports = {export["export-name"]: export for export in told["exports"]}
    assert {name: export["export-size"] for name, export in exports.items()} == {
        "disk": 64 * MIB,
        "second": 16 * MIB,
    }
    able = ("flush", "fua", "trim", "zero", "fast_zero", "cache", "df", "multi_conn")
    assert all(exports["disk"][f"can_{what}"] for what in able)
    assert exports["disk"]["contexts"] == ["base:allocation"]
    assert not exports["disk"]["is_read_only"]


def test_nbdcopy_copies_a_disk_in_and_out(server: Server, tmp_path: Path) -> None:
    nbdcopy, nbdinfo = needs("nbdcopy", "libnbd-bin"), needs("nbdinfo", "libnbd-bin")
    data = (
        random.Random(1).randbytes(3 * MIB) + bytes(5 * MIB) + random.Random(2).randbytes(8 * MIB)
    )
    source, back = tmp_path / "source", tmp_path / "back"
    source.write_bytes(data)
    run([nbdcopy, source, server.uris[1]])
    run([nbdcopy, server.uris[1], back])
    assert back.read_bytes() == data
    extents = json.loads(run([nbdinfo, "--map", "--json", server.uris[1]]))
    assert sum(extent["length"] for extent in extents) == 16 * MIB
    assert {"hole,zero", "data"} == {extent["description"] for extent in extents}


def test_libnbd_writes_and_reads_over_several_connections(server: Server) -> None:
    needs("nbdsh", "python3-libnbd")
    program = f"""
import nbd
def client():
    of = nbd.NBD()
    of.connect_uri({server.uri!r})
    return of
one, other = client(), client()
assert one.can_multi_conn() and one.get_size() == {64 * MIB}
one.pwrite(b"pearl" * 100, 4096)
assert other.pread(500, 4096) == b"pearl" * 100
other.zero(4096, 4096)
assert one.pread(4096, 4096) == bytes(4096)
one.pwrite(b"kept", 0, nbd.CMD_FLAG_FUA)
one.flush()
try:
    one.pread(4096, {64 * MIB} - 4095)
except nbd.Error as error:
    assert error.errno == "EINVAL", error.errno
else:
    raise AssertionError("a read past the end was served")
assert other.pread(4, 0) == b"kept"
"""
    if subprocess.run([DEBIAN_PYTHON, "-c", "import nbd"], capture_output=True).returncode:
        pytest.skip("python3-libnbd is not installed: apt install python3-libnbd")
    run([DEBIAN_PYTHON, "-c", program])


def test_qemu_io_writes_zeroes_discards_and_forces(server: Server) -> None:
    qemu = needs("qemu-io", "qemu-utils")
    steps = (
        "write -P 7 1M 64k",
        "read -P 7 1M 64k",
        "flush",
        "discard 1M 32k",
        "write -z 1088k 64k",
        "write -f -P 3 1152k 4k",
        "read -P 0 1M 32k",
        "read -P 7 1056k 32k",
        "read -P 0 1088k 64k",
        "read -P 3 1152k 4k",
        "aio_write -P 9 2M 1M",
        "aio_flush",
        "read -P 9 2M 1M",
    )
    said = run([qemu, "-f", "raw", *(part for step in steps for part in ("-c", step)), server.uri])
    assert "failed" not in said, said


def test_qemu_img_converts_a_served_device(server: Server, tmp_path: Path) -> None:
    qemu = needs("qemu-img", "qemu-utils")
    with Client(server.uri) as client:
        client.write(8 * MIB, b"nacre" * 1000)
    copy = tmp_path / "copy.raw"
    run([qemu, "convert", "-f", "raw", "-O", "raw", server.uri, copy])
    with copy.open("rb") as file:
        file.seek(8 * MIB)
        assert file.read(5000) == b"nacre" * 1000


@pytest.mark.parametrize("block", ["4k", "bssplit=512/40:4k/40:128k/20"])
def test_fio_finds_what_it_wrote_at_queue_depth_32(
    server: Server, block: str, tmp_path: Path
) -> None:
    fio = needs("fio", "fio")
    size = block if "=" in block else f"bs={block}"
    options = ["--rw=randrw", "--iodepth=32", "--size=32M", "--io_size=24M", "--verify=crc32c"]
    run(
        [fio, "--name=v", "--ioengine=nbd", f"--uri={server.uri}", f"--{size}", *options],
        cwd=tmp_path,
    )


def test_four_clients_write_at_once_and_each_finds_its_own(server: Server) -> None:
    wrong: list[str] = []

    def work(number: int) -> None:
        choose = random.Random(number)
        pages: dict[int, bytes] = {}
        with Client(server.uri) as client:
            for _ in range(300):
                page = choose.randrange(256) * 4 + number
                pages[page] = choose.randbytes(4096)
                client.write(32 * MIB + page * 4096, pages[page])
            for page, data in pages.items():
                if client.read(32 * MIB + page * 4096, 4096) != data:
                    wrong.append(f"client {number}, page {page}")

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_read_only_device_rejects_writes(tmp_path: Path) -> None:
    nbdinfo = needs("nbdinfo", "libnbd-bin")
    server = Server(tmp_path, "--timing", "none")
    server.stop()
    server.options = (*server.options, "--read-only")
    server.start()
    try:
        assert json.loads(run([nbdinfo, "--json", server.uri]))["exports"][0]["is_read_only"]
        run([nbdinfo, "--can", "connect", server.uri])
    finally:
        server.close()


def test_a_stopping_server_sends_pending_replies(tmp_path: Path) -> None:
    # The device takes 120 ms per request, one after another. All requests are outstanding when the
    # server is stopped. All complete before the server disconnects its clients.
    server = Server(tmp_path, "--dilate", "1", device=scenario(tmp_path, "slow", latency="120 ms"))
    try:
        with Client(server.uri) as client:
            began = time.monotonic()
            asked = {client.send(0, at * 4096, 4096) for at in range(4)}
            time.sleep(0.1)
            said = server.stop()
            answered = {client.answer().checked().cookie for _ in asked}
            client.export.size = 0  # The server has exited, so no disconnect request is sent.
        assert answered == asked
        assert time.monotonic() - began >= 0.45
        assert said["clients"] == 1
        assert [export["answered"] for export in said["exports"]] == [4]
    finally:
        server.close()


@pytest.mark.parametrize("options", [("--timing", "none"), ("--dilate", "1")])
def test_acknowledged_writes_survive_a_killed_server(
    tmp_path: Path, options: tuple[str, str]
) -> None:
    choose = random.Random(6)
    server = Server(tmp_path, *options, device=scenario(tmp_path, latency="1 us"))
    acknowledged: dict[int, bytes] = {}
    doubtful: dict[int, bytes] = {}
    try:
        for _ in range(3):
            # A thread kills the server at a random time during writes.
            killer = threading.Timer(choose.uniform(0.0, 0.1), server.kill)
            client = Client(server.uri)
            try:
                for turn in itertools.count():
                    if turn == 50:
                        killer.start()
                    page, data = choose.randrange(16384), choose.randbytes(4096)
                    doubtful = {page: data}
                    client.write(page * 4096, data, flags=FUA if choose.random() < 0.1 else 0)
                    acknowledged[page] = data
                    if choose.random() < 0.05:
                        client.flush()
            except (GoneError, OSError):
                client.close()
            killer.join()
            server.start()
            with Client(server.uri) as client:
                for page, data in acknowledged.items():
                    found = client.read(page * 4096, 4096)
                    assert found == data or found == doubtful.get(page), page
            for page in doubtful:
                acknowledged.pop(page, None)
    finally:
        server.close()
    assert len(acknowledged) > 140


def test_a_full_disk_rejects_writes_while_reads_and_trims_continue(tmp_path: Path) -> None:
    server = Server(tmp_path, "--dilate", "1", device=scenario(tmp_path, latency="1 us"))
    assert server.process is not None
    try:
        with Client(server.uri) as client:
            client.write(0, b"a" * MIB)
            room = server.image.stat().st_size + 2 * MIB
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (room, -1))
            kept, error = 1, 0
            while error == 0:
                try:
                    client.write(kept * MIB, b"b" * MIB)
                    kept += 1
                except nbd_client.NbdError as refused:
                    error = refused.number
            assert error == nbd_client.ENOSPC
            for turn in range(3):
                assert client.read(MIB // 2, MIB // 2) == b"a" * (MIB // 2)
                client.trim(turn * 4096, 4096)
                for place in range(1, kept):
                    assert client.read(place * MIB, MIB) == b"b" * MIB
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (-1, -1))
            client.write(40 * MIB, b"c" * MIB)
        server.kill()
        server.start()
        with Client(server.uri) as client:
            assert client.read(MIB // 2, MIB // 2) == b"a" * (MIB // 2)
            for place in range(1, kept):
                assert client.read(place * MIB, MIB) == b"b" * MIB
            assert client.read(40 * MIB, MIB) == b"c" * MIB
    finally:
        server.close()


def test_a_run_continues_from_a_served_image_and_a_server_from_a_run(tmp_path: Path) -> None:
    device = scenario(tmp_path, latency="1 us")
    server = Server(tmp_path, "--dilate", "1", device=device)
    try:
        with Client(server.uri) as client:
            client.write(0, b"s" * 4096)
        server.kill()
        with nacre.open(device, image=server.image) as memory:
            assert memory[:4096] == b"s" * 4096
            memory[4096:4100] = b"more"
        state = tmp_path / "state"
        record = nacre.run(device, start=server.image, save_state=state)
        assert record.requests.completed == 1
        server.start()
        with Client(server.uri) as client:
            assert client.read(0, 4100) == b"s" * 4096 + b"more"
        server.stop()
        other = {"stack.capacity": "32 MiB"}
        with pytest.raises(
            nacre.errors.Error, match=r"`stack\.capacity` is 64 MiB in the image, but 32 MiB"
        ):
            nacre.run(device, other, start=server.image)
        server.image, server.options = tmp_path / "new.img", ("--from", str(state))
        server.start()
        with Client(server.uri) as client:
            assert client.read(0, 4096) == bytes(4096), "a state has no bytes"
    finally:
        server.close()


def test_fast_zeroes_are_rejected_if_the_file_system_would_write_them() -> None:
    memory = Path("/dev/shm")  # tmpfs supports holes, but not zeroing with allocation
    if not os.access(memory, os.W_OK):
        missing("there is no /dev/shm")
    with TemporaryDirectory(dir=memory) as folder:
        server = Server(Path(folder))
        try:
            with Client(server.uri) as client:
                client.write(0, b"x" * 8192)
                with pytest.raises(nbd_client.NbdError) as refused:
                    client.zero(0, 4096, flags=nbd_client.FAST_ZERO | nbd_client.NO_HOLE)
                assert refused.value.number == nbd_client.ENOTSUP
                assert client.read(0, 8192) == b"x" * 8192
                client.zero(0, 4096, flags=nbd_client.NO_HOLE)
                client.zero(4096, 4096, flags=nbd_client.FAST_ZERO)
                assert client.read(0, 8192) == bytes(8192)
        finally:
            server.close()


def test_a_device_needs_no_workload_and_lists_ignored_settings(
    tmp_path: Path,
) -> None:
    device = scenario(tmp_path)
    table = device.read_text()
    start, end = table.index("[workload]"), table.index("[stack]")
    past = "fill = {}\nprecondition = 100\n"
    device.write_text(f"{table[:start]}{table[end:]}[run]\n{past}warm_up = 5\n")
    told: list[str] = []
    nacre.serve(
        device,
        image=tmp_path / "disk.img",
        listen=f"unix:{tmp_path / 'socket'}",
        tell=told.append,
        stop=lambda: True,
    )
    assert told[0] == (
        "run.fill, run.precondition, run.warm_up are only used by nacre run: a"
        " served device starts new or from its image; to start from the state after a run, use"
        " nacre run --save-state FILE, then nacre serve --from FILE"
    )


def test_a_device_starts_from_a_state_instead_of_preconditioning(tmp_path: Path) -> None:
    device = tmp_path / "drive.toml"
    device.write_text(
        '[workload]\nkind = "uniform"\nrequests = 1\nfootprint = "1 MiB"\n'
        '[stack]\npreset = "tlc_nvme"\nblocks = 192\npages = 4\nspare_blocks = 4\n'
    )
    nacre.run(device, save_state=tmp_path / "state")
    told: list[str] = []
    nacre.serve(
        device,
        {"run.precondition": 100, "run.requests": 1},
        image=tmp_path / "disk.img",
        listen=f"unix:{tmp_path / 'socket'}",
        options=ServeOptions(start=tmp_path / "state"),
        tell=told.append,
        stop=lambda: True,
    )
    assert told[0] == "run.requests is only used by nacre run"


def test_an_image_in_a_missing_folder_is_a_user_error(tmp_path: Path) -> None:
    with pytest.raises(nacre.errors.ConfigError, match="none is not a directory; create it"):
        nacre.serve(scenario(tmp_path), image=tmp_path / "none" / "disk.img", listen="unix:socket")
