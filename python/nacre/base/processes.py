"""Runs a user's program, tracks all processes that it starts, and terminates them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from nacre.base import reaper
from nacre.errors import Error

GRACE_S = 3.0
"""Seconds between SIGTERM, which asks a process to exit, and SIGKILL."""
_KILL_S = 10.0
"""Maximum time in seconds until a killed process must have exited."""
_LOOK_S = 0.01
_PROC = Path("/proc")


class Family:
    """A program and its descendants.

    The program runs under a `reaper`, which becomes the parent of every orphaned descendant. `mark`
    is an environment variable, NAME=VALUE, that only these processes have. A process belongs to the
    family if it descends from the reaper, has the mark, or belonged to the family at the last
    `look`.
    """

    def __init__(self, parent: subprocess.Popen[bytes], news: int, mark: str) -> None:
        self._parent, self._news = parent, news
        self._mark = mark.encode()
        self._members: dict[int, str] = {}
        self._group = 0
        self._heard = b""
        self._status: int | None = None

    def has_started(self, name: str) -> None:
        """Waits until the program has started. Raises `OSError` if it cannot be started."""
        while b"\n" not in self._heard:
            if not self._hear(None):
                raise Error("the program could not be started", "process-failed")
        what, number = self._heard.partition(b"\n")[0].split()
        if what == b"failed":
            raise OSError(int(number), os.strerror(int(number)), name)
        self._group = int(number)

    def poll(self) -> int | None:
        """Returns the exit status of the program, or None while the program runs."""
        if self._status is None and not self._hear(0.0):
            # The reaper was killed; `look` still finds the remaining processes.
            self._status = self._parent.wait()
        for line in self._heard.splitlines():
            if line.startswith(b"ended "):
                self._status = int(line.split()[1])
        return self._status

    def wait(self, timeout_s: float, stop: Callable[[], bool]) -> bool:
        """Waits until the program exits, the timeout expires, or `stop` returns true.

        Returns whether the program has exited.
        """
        until = time.monotonic() + timeout_s
        while (is_running := self.poll() is None) and not stop():
            left_s = until - time.monotonic()
            if left_s <= 0:
                break
            time.sleep(min(_LOOK_S, left_s))
        return not is_running

    def ask_to_end(self) -> None:
        """Sends SIGTERM to the program's process group.

        Waits up to `GRACE_S` seconds for the program to exit.
        """
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._group, signal.SIGTERM)
            self.wait(GRACE_S, lambda: False)

    def kill(self) -> None:
        """Kills every process of the family. Raises `Error` if a process does not exit."""
        until = time.monotonic() + _KILL_S
        while True:
            self.look()
            for pid in self._members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            # The reaper exits when it has no children.
            if not self._members and self._parent.poll() is not None:
                return
            if time.monotonic() > until:
                self._parent.kill()
                left = ", ".join(map(str, sorted(self._members)))
                raise Error(f"processes of the program cannot be ended: {left}", "process-failed")
            time.sleep(_LOOK_S)

    def look(self) -> None:
        """Updates the list of processes that belong to the family."""
        parents: dict[int, int] = {}
        began: dict[int, str] = {}
        members: set[int] = set()
        for pid in _running():
            with suppress(OSError):
                parents[pid], began[pid] = _parent(pid)
                if self._members.get(pid) == began[pid] or self._has_mark(pid):
                    members.add(pid)
        if self._parent.poll() is None:
            members.add(self._parent.pid)
        while found := {pid for pid, parent in parents.items() if parent in members} - members:
            members |= found
        ours = {os.getpid(), self._parent.pid}
        self._members = {pid: began.get(pid, "") for pid in members - ours}

    def _hear(self, timeout_s: float | None) -> bool:
        """Waits up to the timeout for output of the reaper. Returns False at the stream's end."""
        if not select.select([self._news], [], [], timeout_s)[0]:
            return True
        said = os.read(self._news, 4096)
        self._heard += said
        return bool(said)

    def _has_mark(self, pid: int) -> bool:
        with suppress(PermissionError):
            return self._mark in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        return False


@contextmanager
def started(
    command: Sequence[str] | str,
    environment: Mapping[str, str],
    mark: str,
    output: IO[bytes] | None = None,
) -> Iterator[Family]:
    """Runs a command while the block runs, and then terminates all of its processes.

    If the command is a string, the shell runs it.

    `mark` is the name of a variable in `environment`. Without `output`, the command inherits the
    standard output of this process.
    """
    words = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    news, told = os.pipe()
    try:
        try:
            parent = subprocess.Popen(  # noqa: S603  (the user's own program)
                [sys.executable, "-I", "-S", reaper.__file__, str(told), *words],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=None if output is None else subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(told,),
            )
        finally:
            os.close(told)
        family = Family(parent, news, f"{mark}={environment[mark]}")
        try:
            family.has_started(words[0])
            yield family
        finally:
            family.kill()
    finally:
        os.close(news)


def _running() -> list[int]:
    """Returns the process IDs of all running processes, or an empty list if there is no /proc."""
    with suppress(OSError):
        return [int(name) for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208
    return []


def _parent(pid: int) -> tuple[int, str]:
    """Returns the parent and the start time of a process.

    Raises `OSError` if the process has exited.
    """
    # The name in parentheses may have spaces and parentheses.
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    state, parent, began = fields[0], fields[1], fields[19]
    if state in "ZX":
        raise ProcessLookupError(pid)
    return int(parent), began
