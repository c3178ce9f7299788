"""Runs points on all cores of this machine. Each core has a process that receives chunks of tasks.

Threads would run in parallel, too, because the core releases the GIL. However, processes also build
records in parallel, and a point that crashes its process does not affect other points.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Self

from nacre.errors import Error
from nacre.studies.engines.engine import PATIENCE_S, Chunks
from nacre.studies.engines.task import Base, Outcome, Task, died

WORKER = ("-m", "nacre.studies.engines.worker")
CHUNK_S = 0.25
CHUNK_MAX = 64
SHORT_S = 0.05
"""If a task takes less than this time in seconds, the next chunk is sent before the previous chunk
is finished."""
PLENTY = 4
"""If there are more tasks per worker than this number, long tasks are also sent before the previous
chunk is finished."""
DEATHS = 2
"""A task fails if its worker crashes this number of times while it runs the task alone."""


class Local:
    """Engine that uses the cores of this machine."""

    def __init__(self, workers: int | None = None) -> None:
        self._number = workers or cores()
        self._workers: list[_Worker] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def stop(self) -> None:
        """Kills all workers."""
        for worker in self._workers:
            worker.kill()
        self._workers = []

    def outcomes(self, base: Base, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        """Yields each outcome when a task ends, and None if no task ends for a while."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="nacre-study-")
        folder = self._folder.name
        base = replace(base, folder=folder)
        chunks = Chunks(tasks, CHUNK_S, CHUNK_MAX)
        alone: deque[Task] = deque()
        deaths: Counter[str] = Counter()
        missing = len(tasks)
        while len(self._workers) < min(self._number, missing):
            self._workers.append(_Worker(base, folder))
        try:
            while missing:
                for worker in self._workers:
                    self._feed(worker, chunks, alone)
                ready = wait([worker.connection for worker in self._workers], PATIENCE_S)
                if not ready:
                    yield None
                for place, worker in enumerate(self._workers):
                    if worker.connection not in ready:
                        continue
                    found = worker.receive()
                    if found is None:
                        found = _bury(worker, alone, deaths)
                        self._workers[place] = _Worker(base, folder)
                    for outcome in found:
                        chunks.took(outcome.seconds)
                    missing -= len(found)
                    # Send the next chunks before these outcomes are processed.
                    self._feed(self._workers[place], chunks, alone)
                    yield from found
        finally:
            if missing:
                # The outcomes of these tasks are no longer needed.
                self.stop()

    def _feed(self, worker: _Worker, chunks: Chunks, alone: deque[Task]) -> None:
        """Sends tasks to a worker.

        Tasks that may have caused a crash are sent one by one, other tasks in chunks.
        """
        if alone and not worker.held:
            worker.send([alone.popleft()])
            worker.is_trying = True
        if not len(chunks) or worker.is_trying:
            return
        is_ahead = chunks.mean_s < SHORT_S or len(chunks) > PLENTY * self._number
        if not worker.held or (is_ahead and worker.chunks < 2):
            worker.send(chunks.next(len(self._workers)))


def _bury(worker: _Worker, alone: deque[Task], deaths: Counter[str]) -> list[Outcome]:
    """Schedules the tasks of a crashed worker one by one.

    Returns an outcome for a task that crashed too often.
    """
    if not worker.started:
        raise Error(f"a worker process did not start: {worker.complaint()}", "process-failed")
    worker.kill()
    if len(worker.held) == 1:
        (task,) = worker.held
        deaths[task.key] += 1
        if deaths[task.key] >= DEATHS:
            return [died(task)]
    alone.extend(worker.held)
    return []


class _Worker:
    """A process that runs tasks. It has no state between tasks."""

    def __init__(self, base: Base, folder: str) -> None:
        self.held: deque[Task] = deque()
        self.started = False
        self.is_trying = False
        self._ends: deque[int] = deque()
        try:
            self.connection, self._process = _started(folder)
        except OSError as error:
            raise Error(
                f"a worker process could not be started: {error.strerror or error};"
                " see the limits of ulimit -a",
                "process-failed",
            ) from error
        with suppress(OSError):
            self.connection.send(base)

    @property
    def chunks(self) -> int:
        """Number of unfinished chunks."""
        return len(self._ends)

    def send(self, tasks: list[Task]) -> None:
        """Sends tasks. If the worker is dead, `receive` detects this."""
        self.held.extend(tasks)
        self._ends.append(len(tasks))
        with suppress(OSError):
            self.connection.send(tasks)

    def receive(self) -> list[Outcome] | None:
        """Returns new outcomes, or None if the worker is dead."""
        try:
            found: list[Outcome] = self.connection.recv()
        except (EOFError, OSError):
            return None
        self.started = True
        for _ in found:
            self.held.popleft()
            self._ends[0] -= 1
            if not self._ends[0]:
                self._ends.popleft()
        self.is_trying = self.is_trying and bool(self.held)
        return found

    def kill(self) -> None:
        """Kills the worker."""
        self._process.kill()
        self._process.wait()
        self.connection.close()
        if self._process.stderr:
            self._process.stderr.close()

    def complaint(self) -> str:
        """Returns the last line of the worker's error output, or its exit status without output."""
        self._process.wait()
        said = self._process.stderr.read() if self._process.stderr else b""
        lines = said.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with {self._process.returncode}"


def _started(folder: str) -> tuple[Connection, subprocess.Popen[bytes]]:
    """Starts a worker process. Returns a pipe to the worker, and its process."""
    ours, theirs = Pipe()
    try:
        with theirs:
            # Use a separate session, so that Ctrl-C reaches only the process that waits for the
            # tasks.
            process = subprocess.Popen(  # noqa: S603 (our own interpreter)
                [sys.executable, "-P", *WORKER, str(theirs.fileno()), folder],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                start_new_session=True,
            )
    except OSError:
        ours.close()
        raise
    return ours, process


def cores() -> int:
    """Returns the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
