"""A server ends soon, whatever its clients wait for, and goes on without what the system denies."""

from __future__ import annotations

import resource
import socket
from contextlib import closing
from pathlib import Path

import nacre
import nbd_client
import psutil
from nacre.control import Control
from nbd_client import Client
from serving import Server, until

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
