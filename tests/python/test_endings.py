"""A server ends soon, whatever its clients wait for, and goes on without what the system denies."""

from __future__ import annotations

import os
import resource
import socket
import struct
from contextlib import closing, suppress
from pathlib import Path

import nacre
import nbd_client
import psutil
from nacre.control import Control
from nbd_client import Client
from serving import Server, missing, until

LATE = ("--dilate", "1000000")
"""An answer of 100 us takes 100 s: longer than these tests wait for anything."""


def test_a_server_ends_though_an_answer_is_due_much_later(tmp_path: Path) -> None:
    server = Server(tmp_path, *LATE)
    try:
        with closing(Client(server.uri)) as client:
            client.send(nbd_client.READ, 0, 4096)
            server.stop()
    finally:
        server.close()


def test_the_power_fails_though_an_answer_is_due_much_later(tmp_path: Path) -> None:
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


def answers(server: Server) -> bool:
    try:
        with Control(server.image) as control:
            return bool(control.stats().connections.now == 0)
    except nacre.Error:
        return False


def test_a_server_without_free_descriptors_goes_on_when_there_are_some(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    server = Server(tmp_path, "--timing", "none", "--metrics", f"unix:{tmp_path}/metrics")
    try:
        assert server.process is not None
        process = psutil.Process(server.process.pid)
        process.rlimit(psutil.RLIMIT_NOFILE, (process.num_fds() + 3, limits[1]))
        callers = [socket.socket(socket.AF_UNIX) for _ in range(12)]
        for number, caller in enumerate(callers):
            caller.connect(str(tmp_path / "metrics") if number % 2 else f"{server.image}.ctl")
        for caller in callers:
            caller.close()
        until(lambda: answers(server))
    finally:
        server.close()


def test_a_server_without_memory_for_threads_goes_on_when_there_is_some(tmp_path: Path) -> None:
    server = Server(tmp_path, "--timing", "none")
    try:
        assert server.process is not None
        process = psutil.Process(server.process.pid)
        before = process.rlimit(psutil.RLIMIT_AS)
        # A thread needs 512 KiB for its stack.
        process.rlimit(psutil.RLIMIT_AS, (process.memory_info().vms + (256 << 10), before[1]))
        for _ in range(5):
            with closing(socket.socket(socket.AF_UNIX)) as caller:
                caller.connect(str(tmp_path / "disk.img.sock"))
                assert caller.recv(1) == b"", "its connection ends, for there is no thread for it"
        process.rlimit(psutil.RLIMIT_AS, before)
        until(lambda: answers(server))
        with Client(server.uri) as client:
            assert client.read(0, 512) == bytes(512)
    finally:
        server.close()


HOSTILE = 1000
"""Clients in a row, of five kinds."""


def hostile(server: Server, kind: int) -> None:
    """A client that does no good, and leaves."""
    with closing(socket.socket(socket.AF_UNIX)) as caller:
        caller.connect(str(server.folder / "disk.img.sock"))
        if kind == 0:
            return
        if kind == 1:
            caller.send(os.urandom(64))
            return
        if kind == 2:
            caller.send(b"IHAVEOPT" * 3)
            caller.recv(16)
            return
    client = Client(server.uri)
    if kind == 3:  # announces 32 MiB and sends half of one
        client.send(nbd_client.WRITE, 0, 32 << 20, bytes(512 << 10))
    else:  # asks for much and takes nothing
        client.wire.send(struct.pack(">IHHQQI", 0x25609513, 0, nbd_client.READ, 1, 0, 16 << 20))
    client.close()


def test_hostile_clients_in_a_row_leave_a_server_as_it_was(tmp_path: Path) -> None:
    server = Server(tmp_path, "--timing", "none")
    try:
        assert server.process is not None
        process = psutil.Process(server.process.pid)

        def rests() -> bool:
            return bool(process.num_threads() <= threads and process.num_fds() <= descriptors)

        # Its beginning is over when it has served somebody, whose thread may still be there.
        with Client(server.uri) as client:
            assert client.read(0, 512) == bytes(512)
        threads, descriptors = process.num_threads(), process.num_fds()
        for number in range(HOSTILE // 5):
            hostile(server, number % 5)
        until(rests)
        before = process.memory_info().rss
        for number in range(HOSTILE):
            hostile(server, number % 5)
        until(rests)
        grown = process.memory_info().rss - before
        # The allocator keeps 16 MiB in some arenas; 64 KiB for each client would be more.
        assert grown < 64 << 20, f"{grown} bytes more"
        with Client(server.uri) as client:
            assert client.read(0, 512) == bytes(512)
    finally:
        server.close()


def test_processors_may_sleep_after_a_second_of_silence(tmp_path: Path) -> None:
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
