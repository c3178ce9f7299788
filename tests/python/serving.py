"""Helpers for tests of served devices: starts a server process, and skips tests if programs are
missing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

MIB = 1 << 20
NACRE = Path(sys.executable).with_name("nacre")


def scenario(folder: Path, name: str = "disk", mib: int = 64, latency: str = "100 us") -> Path:
    """Writes a scenario of a device with constant latency. Returns the path of the scenario."""
    path = folder / f"{name}.toml"
    path.write_text(
        f"""schema = 1
name = "{name}"
summary = "A constant {latency}"
[workload]
kind = "uniform"
requests = 1
footprint = "{mib} MiB"
[stack]
kind = "measured"
capacity = "{mib} MiB"
read = "{latency}"
write = "{latency}"
"""
    )
    return path


def event(line: str) -> dict[str, Any] | None:
    """Parses a line of a server with `--json`. Returns None for a warning or a part of an error."""
    line = line.strip()
    return json.loads(line) if line.startswith("{") and line.endswith("}") else None


class Server:
    """Runs `nacre serve` on a unix socket in a folder. By default, replies are immediate."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        device: Path | str | None = None,
        image: Path | None = None,
    ) -> None:
        self.folder = folder
        self.device = device or scenario(folder)
        self.image = image or folder / "disk.img"
        self.options = options or ("--timing", "none")
        self.process: subprocess.Popen[str] | None = None
        self.uris: list[str] = []
        self.metrics = ""
        self.ready: dict[str, Any] = {}
        self.start()

    @property
    def uri(self) -> str:
        """URI of the first device."""
        return self.uris[0]

    def start(self) -> None:
        """Starts the server, and waits until it listens."""
        command = [str(NACRE), "serve", str(self.device), str(self.image), "--json", *self.options]
        self.process = subprocess.Popen(
            command, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert self.process.stdout is not None
        self.uris, said = [], ""
        for line in self.process.stdout:
            said += line
            if (told := event(line)) and told["event"] == "ready":
                self.ready = told
                self.metrics = told["metrics"] or ""
                self.uris = [export["uri"] for export in told["exports"]]
                return
        self.process.communicate()
        self.process = None
        pytest.fail(f"the server did not start: {said}")

    def kill(self) -> None:
        """Kills the server, which has the effect of a crash."""
        self._end(signal.SIGKILL)

    def stop(self) -> dict[str, Any]:
        """Stops the server. Returns the summary that the server prints."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.said_last()

    def said_last(self) -> dict[str, Any]:
        """Waits until the server exits without a signal. Returns the summary that the server
        prints."""
        assert self.process is not None
        said, _ = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, said
        self.process = None
        last = event(said.splitlines()[-1])
        assert last is not None
        assert last["event"] == "ended"
        return last

    def close(self) -> None:
        """Kills the server if it is still running."""
        if self.process is not None:
            self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.communicate(timeout=120)
        self.process = None


def needs(program: str, package: str) -> str:
    """Returns the path of a program. If the program is missing, skips the test and names the
    package to install."""
    found = shutil.which(program)
    if found is None:
        missing(f"{program} is not installed: apt install {package} (or make clients)")
    return str(found)


def needs_mounts() -> None:
    """Skips the test if file systems cannot be mounted."""
    if os.geteuid() != 0:
        missing("mounting needs root")
    for device in ("/dev/fuse", "/dev/loop-control"):
        if not os.access(device, os.R_OK | os.W_OK):
            missing(f"there is no {device}")


def missing(what: str) -> None:
    """Prints a reason and skips the test."""
    print(f"\nNOT TESTED: {what}", file=sys.__stderr__)
    pytest.skip(what)


def run(command: Sequence[str | Path], **options: object) -> str:
    """Runs a program that must succeed. Returns its output."""
    done = subprocess.run(
        [str(part) for part in command],
        text=True,
        capture_output=True,
        timeout=60,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return str(done.stdout)


def until(condition: object, seconds: float = 120.0) -> None:
    """Waits until a condition is true. Fails after `seconds`."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition did not become true"
        time.sleep(0.01)
