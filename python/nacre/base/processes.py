"""A program of the user's with every process that it starts, and their end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from nacre.errors import Error

GRACE_S = 3.0
"""Seconds between the request to end (SIGTERM) and the end (SIGKILL)."""
_KILL_S = 10.0
"""Seconds in which the system ends a process that was killed."""
_LOOK_S = 0.01
_PROC = Path("/proc")


class Family:
    """A program and the processes that it started, which are found by `mark`.

    `mark` is a variable of their environment, NAME=VALUE, that no other process has. A process
    belongs to the family if it has the mark, if it is in the program's process group, or if it was
    a descendant of the program at the last `look`. It may have a session of its own, or another
    parent. A process that has cleared its environment and lost its parent before is not found.
    """

    def __init__(self, program: subprocess.Popen[bytes], mark: str) -> None:
        self._program = program
        self._mark = mark.encode()
        self._members: dict[int, str] = {}

    def poll(self) -> int | None:
        """The exit status of the program; None while it runs."""
        return self._program.poll()

    def wait(self, timeout_s: float, stop: Callable[[], bool]) -> bool:
        """Waits until the program has ended, or the time is over, or `stop`; whether it ended."""
        until = time.monotonic() + timeout_s
        while (is_running := self.poll() is None) and not stop():
            left_s = until - time.monotonic()
            if left_s <= 0:
                break
            time.sleep(min(_LOOK_S, left_s))
        return not is_running

    def ask_to_end(self) -> None:
        """Asks the program and its process group to end, and waits for the program a while."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._program.pid, signal.SIGTERM)
            self.wait(GRACE_S, lambda: False)

    def kill(self) -> None:
        """Ends every process of the family. Raises `Error` if one cannot be ended."""
        until = time.monotonic() + _KILL_S
        while True:
            self.look()
            for pid in self._members:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._program.pid, signal.SIGKILL)
            if not self._members and self.poll() is not None:
                return
            if time.monotonic() > until:
                left = ", ".join(map(str, sorted(self._members)))
                raise Error(f"processes of the program cannot be ended: {left}", "process-failed")
            time.sleep(_LOOK_S)

    def look(self) -> None:
        """Finds the processes that belong to it now, without those of the process group alone."""
        parents: dict[int, int] = {}
        began: dict[int, str] = {}
        members: set[int] = set()
        for pid in _running():
            with suppress(OSError):
                parents[pid], began[pid] = _parent(pid)
                if self._members.get(pid) == began[pid] or self._has_mark(pid):
                    members.add(pid)
        if self.poll() is None:
            members.add(self._program.pid)
        while found := {pid for pid, parent in parents.items() if parent in members} - members:
            members |= found
        self._members = {pid: began.get(pid, "") for pid in members - {os.getpid()}}

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
    """Runs a command, a shell's if it is one string; at the end no process of it is left.

    `mark` is the name of a variable in `environment`. Without `output` it writes where we do.
    """
    process = subprocess.Popen(  # noqa: S603  (the user's own program)
        command,
        shell=isinstance(command, str),
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        start_new_session=True,
    )
    family = Family(process, f"{mark}={environment[mark]}")
    try:
        yield family
    finally:
        family.kill()


def _running() -> list[int]:
    """Every process of the system that has not ended; none where there is no /proc."""
    with suppress(OSError):
        return [int(name) for name in os.listdir(_PROC) if name.isdecimal()]  # noqa: PTH208
    return []


def _parent(pid: int) -> tuple[int, str]:
    """The parent of a process, and when it began. Errors: it has ended."""
    # The name in parentheses may have spaces and parentheses.
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    state, parent, began = fields[0], fields[1], fields[19]
    if state in "ZX":
        raise ProcessLookupError(pid)
    return int(parent), began
