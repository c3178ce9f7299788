"""Tests that a server exits quickly regardless of its clients, and that it continues with fewer
resources if necessary."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import nacre
import nbd_client
import psutil
import pytest
from nacre.devices.control import Control
from nbd_client import Client, GoneError
from serving import MIB, NACRE, Server, missing, scenario, until

LATE = ("--dilate", "1000000")
"""With this dilation, a reply of 100 us takes 100 s, which is longer than any timeout in these
tests."""


def test_a_server_ends_before_a_late_reply_is_due(tmp_path: Path) -> None:
    server = Server(tmp_path, *LATE)
    try:
        with closing(Client(server.uri)) as client:
            client.send(nbd_client.READ, 0, 4096)
            server.stop()
    finally:
        server.close()


def test_power_can_be_cut_before_a_late_reply_is_due(tmp_path: Path) -> None:
    server = Server(tmp_path, *LATE)
    try:
        with closing(Client(server.uri)) as client, Control(server.image) as control:
            client.send(nbd_client.READ, 0, 4096)
            control.power_fail()
            assert control.stats().connections.now == 0
        with Client(server.uri) as client:
            assert client.export.size > 0
    finally:
        server.close()


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("listen", ["unix:disk.sock", "tcp:127.0.0.1:0"])
def test_a_client_that_disconnects_and_closes_frees_its_slot_immediately(
    tmp_path: Path, listen: str, structured: bool
) -> None:
    server = Server(tmp_path, *LATE, "--listen", listen)
    try:
        client = Client(server.uri, structured=structured)
        for number in range(3):
            client.send(nbd_client.READ, 4096 * number, 4096)
        client.disconnect()
        with Control(server.image) as control:
            until(lambda: control.stats().connections.now == 0)
        server.stop()
    finally:
        server.close()


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("listen", ["unix:disk.sock", "tcp:127.0.0.1:0"])
def test_a_client_that_disconnects_receives_complete_replies(
    tmp_path: Path, listen: str, structured: bool
) -> None:
    server = Server(tmp_path, "--dilate", "1", "--listen", listen)
    try:
        with Client(server.uri, structured=structured) as client:
            client.write(0, b"a" * 4096)
            client.write(4096, b"b" * 4096)
            asked = [client.send(nbd_client.READ, at * 4096, 4096) for at in range(3)]
            client.send(nbd_client.DISCONNECT)
            client.wire.socket.shutdown(socket.SHUT_WR)
            found = {answer.cookie: answer for answer in (client.answer() for _ in asked)}
            client.export.size = 0  # The disconnect request was already sent.
        whole = [found[cookie].checked().data for cookie in asked]
        assert whole == [b"a" * 4096, b"b" * 4096, bytes(4096)]
    finally:
        server.close()


@pytest.mark.parametrize("listen", ["unix:disk.sock", "tcp:127.0.0.1:0"])
def test_clients_that_close_the_connection_free_their_slots_immediately(
    tmp_path: Path, listen: str
) -> None:
    server = Server(tmp_path, *LATE, "--listen", listen)
    try:
        for _ in range(2):
            clients = [Client(server.uri) for _ in range(256)]
            for client in clients:
                for number in range(3):
                    client.send(nbd_client.READ, 4096 * number, 4096)
            for client in clients:
                client.wire.close()
            with Control(server.image) as control:
                until(lambda: control.stats().connections.now == 0)
    finally:
        server.close()


def took(process: psutil.Process) -> float:
    """Returns the processor time of the process so far, in seconds."""
    times = process.cpu_times()
    return float(times.user + times.system)


def answers(server: Server) -> bool:
    try:
        with Control(server.image) as control:
            return bool(control.stats().connections.now == 0)
    except nacre.errors.Error:
        return False


def test_a_server_without_descriptors_continues_when_some_are_free(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    server = Server(tmp_path, "--timing", "none", "--metrics", f"unix:{tmp_path}/metrics")
    try:
        assert server.process is not None
        process = psutil.Process(server.process.pid)
        process.rlimit(psutil.RLIMIT_NOFILE, (process.num_fds() + 3, limits[1]))
        callers = [socket.socket(socket.AF_UNIX) for _ in range(12)]
        doors = [f"{server.image}.ctl", str(tmp_path / "metrics"), f"{server.image}.sock"]
        for number, caller in enumerate(callers):
            caller.connect(doors[number % 3])
        began = took(process)
        time.sleep(0.3)
        assert took(process) - began < 0.1, "it looks now and then, and has no processor busy"
        for caller in callers:
            caller.close()
        until(lambda: answers(server))
        process.rlimit(psutil.RLIMIT_NOFILE, limits)
        with Client(server.uri) as client:
            assert client.read(0, 512) == bytes(512)
    finally:
        server.close()


@pytest.mark.parametrize("came", [0, 3])
def test_a_server_without_memory_for_threads_continues_when_some_is_free(
    tmp_path: Path, came: int
) -> None:
    server = Server(tmp_path, "--timing", "none", "--metrics", f"unix:{tmp_path}/metrics")
    try:
        assert server.process is not None
        process = psutil.Process(server.process.pid)
        threads = process.num_threads()
        # Stacks of threads that have ended are reused, so a new thread takes no additional memory.
        with ExitStack() as clients:
            for _ in range(came):
                clients.enter_context(closing(Client(server.uri)))
        until(lambda: process.num_threads() <= threads)
        before = process.rlimit(psutil.RLIMIT_AS)
        # A thread requires 8 MiB of free address space. Running threads have 4 MiB left.
        process.rlimit(psutil.RLIMIT_AS, (process.memory_info().vms + 4 * MIB, before[1]))
        for door in ["disk.img.sock", "disk.img.ctl", "metrics"] * 3:
            with closing(socket.socket(socket.AF_UNIX)) as caller:
                caller.settimeout(10)
                caller.connect(str(tmp_path / door))
                # A connection that the server has not accepted is reset.
                with suppress(ConnectionResetError):
                    assert caller.recv(1) == b"", "its connection ends: there is no thread for it"
        process.rlimit(psutil.RLIMIT_AS, before)
        until(lambda: answers(server))
        with Control(server.image) as control:
            until(lambda: control.stats().connections.dropped == 3)
        with Client(server.uri) as client:
            assert client.read(0, 512) == bytes(512)
        server.stop()
    finally:
        server.close()


@pytest.mark.parametrize(
    "arguments",
    [
        "serve device.toml disk.img",
        "serve device.toml disk.img --timing none",
        "trace mrc trace.csv --policy lru -o curve.csv",
    ],
)
def test_a_command_without_threads_reports_it(tmp_path: Path, arguments: str) -> None:
    scenario(tmp_path, "device")
    (tmp_path / "trace.csv").write_text("128166372003061629,host,0,Read,0,4096,100\n")
    done = subprocess.run(
        [NACRE, *arguments.split()],
        cwd=tmp_path,
        # No machine has enough memory for such stacks, so the system refuses every thread of the
        # core.
        env=os.environ | {"RUST_MIN_STACK": str(1 << 46)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "thread" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "bug" not in done.stderr
    assert not (tmp_path / "curve.csv").exists()


HOSTILE = int(os.environ.get("NACRE_HOSTILE", "300"))
"""Number of misbehaving clients. 10,000 clients take minutes."""
AT_A_TIME = 8
GROWS_MAX = 64 * MIB
"""Maximum growth of memory in bytes. glibc has 8 arenas per processor, and each may keep 2 MiB
(`keep_little` in the crate of pages), i.e. 32 MiB on 2 processors. With glibc's default settings,
500 of these clients left 200 MiB."""


def raw(server: Server, sent: bytes) -> None:
    """Sends bytes to the server, and disconnects."""
    with closing(socket.socket(socket.AF_UNIX)) as caller:
        caller.connect(str(server.folder / "disk.img.sock"))
        caller.send(sent)


def hostile(server: Server, number: int) -> None:
    """Runs a client that misbehaves in a way that depends on `number`, and disconnects."""
    kind, size = number % 9, 1 << 19 + number // 9 % 6
    if kind < 3:
        raw(server, [b"", os.urandom(64), b"IHAVEOPT" * 3][kind])
        return
    with closing(Client(server.uri)) as client, suppress(OSError, GoneError):
        match kind:
            case 3:  # announces 32 MiB and sends half of one
                client.send(nbd_client.WRITE, 0, 32 * MIB, bytes(MIB // 2))
            case 4:  # requests a lot of data and receives nothing
                client.send(nbd_client.READ, 0, 16 * MIB)
            case 5:  # disconnects while its data is written
                client.send(nbd_client.WRITE, 0, size, bytes(size))
            case 6:  # exceeds the limit of outstanding data, and receives only the beginning
                for _ in range(8):
                    client.send(nbd_client.READ, 0, size)
                client.wire.take(1000)
            case 7:
                client.read(0, size)
            case 8:
                client.write(0, bytes(size))


def test_hostile_clients_do_not_change_a_server(tmp_path: Path) -> None:
    server = Server(tmp_path, "--timing", "none")
    try:
        assert server.process is not None
        process = psutil.Process(server.process.pid)

        def rests() -> bool:
            return bool(process.num_threads() <= threads and process.num_fds() <= descriptors)

        def gone() -> bool:
            return answers(server)

        # The server has finished its start when it has served a client.
        with Client(server.uri) as client:
            assert client.read(0, 512) == bytes(512)
        until(gone)
        threads, descriptors = process.num_threads(), process.num_fds()
        before = process.memory_info().rss
        with ThreadPoolExecutor(AT_A_TIME) as clients:
            for done in [clients.submit(hostile, server, number) for number in range(HOSTILE)]:
                done.result()
        until(gone)
        until(rests)
        grown = process.memory_info().rss - before
        assert grown < GROWS_MAX, f"{grown} bytes more"
        with Client(server.uri) as client:
            assert len(client.read(0, 512)) == 512
    finally:
        server.close()


def test_processors_may_sleep_after_a_second_without_requests(tmp_path: Path) -> None:
    if not os.access("/dev/cpu_dma_latency", os.W_OK):
        missing("only some users may keep processors awake")
    server = Server(tmp_path, "--dilate", "1")
    try:
        assert server.process is not None
        process = psutil.Process(server.process.pid)

        def is_held() -> bool:
            for place in Path(f"/proc/{process.pid}/fd").iterdir():
                with suppress(FileNotFoundError):
                    if place.readlink().name == "cpu_dma_latency":
                        return True
            return False

        with Client(server.uri) as client:

            def asks() -> bool:
                client.read(0, 512)
                return is_held()

            until(asks)
            until(lambda: not is_held())
            until(asks)
    finally:
        server.close()


@pytest.mark.parametrize(
    ("limit", "most", "said", "kept"),
    [
        ("-n", 12, "of which", True),
        ("-n", 7, "open files", False),
        ("-v", 8_000_000, "GiB of addresses", True),
        ("-v", 600_000, "GiB of addresses", False),
    ],
)
def test_denied_resources_are_reported_and_finished_results_kept(
    limit: str, most: int, said: str, kept: bool, tmp_path: Path
) -> None:
    simulated = f"{NACRE} run onyx --set workload.requests=100 --out out"
    done = subprocess.run(
        ["bash", "-c", f"ulimit {limit} {most}; exec {simulated}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert said in done.stderr
    assert "bug" not in done.stderr
    assert "panicked" not in done.stderr
    assert ("the record is saved in out" in done.stderr) == kept
    if kept:
        assert nacre.results.Record.load(tmp_path / "out").requests.completed == 100
    else:
        assert not (tmp_path / "out").exists()


def test_too_few_files_for_a_browser_are_reported_at_the_start(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"ulimit -n 8; exec {NACRE} explore"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: pages need 16 more open files, and ulimit -n allows 8,")
    assert list(tmp_path.iterdir()) == []
