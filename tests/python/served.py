"""A server for tests: a process of its own, on a unix socket in a temporary folder."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE_S = 60.0


class Server:
    """A running `nacre serve`; `uri` is where its first device is found, `lines` what it said."""

    def __init__(
        self, folder: Path, scenario: str | Path, *options: str, image: Path | None = None
    ) -> None:
        self.image = image or folder / "d.img"
        command = [sys.executable, "-m", "nacre", "serve", str(scenario), str(self.image), *options]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            self.lines = self._begun()
        except BaseException:
            self.process.kill()
            self.process.communicate()
            raise
        device = next(line for line in self.lines if " at nbd" in line)
        self.uri = device.split(" at ", 1)[1]

    def _begun(self) -> list[str]:
        """What it says until it is ready."""
        assert self.process.stdout
        said = b""
        while b"\nCtrl-C" not in said:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
            part = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            assert part, f"the server did not begin: {said.decode()}"
            said += part
        return said.decode().splitlines()

    def end(self, number: int = signal.SIGINT) -> str:
        """Asks for the end, waits for it, and returns what was said last."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.said_last()

    def said_last(self) -> str:
        """What is said until the process ends by itself."""
        assert self.process.stdout
        rest, _ = self.process.communicate(timeout=PATIENCE_S)
        return str(rest.decode())


@contextlib.contextmanager
def serving(
    folder: Path, scenario: str | Path, *options: str, image: Path | None = None
) -> Iterator[Server]:
    """A server that has begun, and is gone at the end."""
    server = Server(folder, scenario, *options, image=image)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


def until(holds: object, patience_s: float = PATIENCE_S) -> None:
    """Waits until `holds()` does; fails where that takes too long."""
    assert callable(holds)
    end = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)
