"""Tests that no client of a served device measures less than the modeled latency, even on a busy
machine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from nbd_client import READ, Client
from serving import Server, scenario

LATENCY_US = 100


class Polling:
    """A socket that polls for data without sleeping."""

    def __init__(self, of: socket.socket) -> None:
        of.setblocking(False)
        self.sendall, self.close, self._recv = of.sendall, of.close, of.recv

    def recv(self, count: int) -> bytes:
        while True:
            with suppress(BlockingIOError):
                return self._recv(count)


def seen(client: Client, depth: int, requests: int) -> Iterator[float]:
    """Yields the latencies of single requests that the client measures, in microseconds."""
    began: dict[int, int] = {}
    for number in range(requests + depth):
        if number >= depth:
            cookie = client.answer().cookie
            yield (time.monotonic_ns() - began.pop(cookie)) / 1e3
        if number < requests:
            now = time.monotonic_ns()
            began[client.send(READ, 4096 * number, 4096)] = now


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    device = scenario(folder, latency=f"{LATENCY_US} us")
    served = Server(folder, "--timing", "emulated", device=device)
    yield served
    served.close()


@pytest.fixture(scope="module", params=[0, 3], ids=["quiet", "busy"])
def machine(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keeps the machine busy with `request.param` programs that never wait."""
    command = [sys.executable, "-S", "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(request.param)]
    yield
    for process in running:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("polls", [False, True])
def test_no_reply_is_early(server: Server, polls: bool, depth: int) -> None:
    with Client(server.uri) as client:
        if polls:
            client.wire.socket = Polling(client.wire.socket)  # type: ignore[assignment]
        assert min(seen(client, depth, 200)) >= LATENCY_US
