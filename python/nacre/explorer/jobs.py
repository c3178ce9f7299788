"""Jobs, i.e. work in threads that pages can watch and stop.

The core releases the GIL, so the explorer serves pages during the work. After a request to stop,
the work ends at its next progress report and keeps its results so far.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from nacre.base.failures import failure_of
from nacre.errors import Error

State: TypeAlias = Literal["waiting", "running", "done", "failed", "stopped"]
Work: TypeAlias = "Callable[[Job], str | None]"
"""Function that does the work and returns the address of the result. It calls `tick` to report
progress and to check whether to stop."""

AT_ONCE = 2
"""Maximum number of jobs that run in parallel. Further jobs are queued."""
KEPT = 50
"""Maximum number of ended jobs in the list of jobs."""


@dataclass
class Job:
    """A job with its progress and its outcome."""

    number: int
    kind: str
    title: str
    state: State = "waiting"
    done: int = 0
    total: int | None = None
    noun: str = "requests"
    note: str = ""
    address: str | None = None
    error: str = ""
    problems: list[Any] = field(default_factory=list)
    began: float | None = None
    ended: float | None = None
    asked_to_stop: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(self) -> bool:
        """Starts the job and returns True. Returns False if the job was stopped before it began."""
        with self._turn:
            if self.is_over:
                return False
            self.began, self.state = time.monotonic(), "running"
            return True

    def stop(self) -> None:
        """Asks the job to stop. A queued job then never starts."""
        with self._turn:
            self.asked_to_stop = True
            if self.state == "waiting":
                self.state, self.note = "stopped", "stopped before it started"

    def tick(self, done: int, total: int | None = None, *_: float) -> bool:
        """Records the progress. Returns whether the job should stop."""
        self.done, self.total = int(done), None if total is None else int(total)
        return self.asked_to_stop

    def go_on(self) -> None:
        """Raises `Error` if the job was asked to stop before it had results to keep."""
        if self.asked_to_stop:
            raise Error("stopped before the first result", "stopped")

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state not in ("waiting", "running")

    def report(self) -> dict[str, Any]:
        """Returns the state of the job for pages."""
        upto = self.ended or time.monotonic()
        return {
            "number": self.number,
            "kind": self.kind,
            "title": self.title,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "noun": self.noun,
            "note": self.note,
            "address": self.address,
            "error": self.error,
            "problems": self.problems,
            "seconds": 0.0 if self.began is None else round(upto - self.began, 2),
            "stopping": self.asked_to_stop and not self.is_over,
        }


class Jobs:
    """All jobs of an explorer."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="nacre-job")
        self._jobs: dict[int, Job] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def start(self, kind: str, title: str, work: Work, noun: str = "requests") -> Job:
        """Starts a job. If `AT_ONCE` jobs are running, queues the job."""
        job = Job(next(self._numbers), kind, title, noun=noun)
        with self._lock:
            self._jobs[job.number] = job
            over = [number for number, each in self._jobs.items() if each.is_over]
            for number in over[: max(0, len(over) - KEPT)]:
                del self._jobs[number]
        self._pool.submit(_carry_out, job, work)
        return job

    def get(self, number: int) -> Job | None:
        """Returns the job with this number, or None if it does not exist."""
        return self._jobs.get(number)

    def listed(self) -> list[Job]:
        """Returns all jobs, the latest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: -job.number)

    def stop(self) -> None:
        """Asks all jobs to stop."""
        for job in self.listed():
            job.stop()

    def close(self) -> None:
        """Stops all jobs, and waits until completed results are written."""
        self.stop()
        self._pool.shutdown(wait=True)


def _carry_out(job: Job, work: Work) -> None:
    if not job.begin():
        return
    state: State
    try:
        job.address = work(job)
        state = "stopped" if job.asked_to_stop and job.note else "done"
    except BaseException as error:  # PyO3 raises a panic of the core as a BaseException.
        job.error, job.problems = said(error)
        state = "failed"
        if job.asked_to_stop and isinstance(error, Error):
            state, job.note = "stopped", job.error
    job.ended = time.monotonic()
    job.state = state


def said(error: BaseException) -> tuple[str, list[Mapping[str, Any]]]:
    """Returns an error message as on the command line, and the list of the error's problems."""
    failure = failure_of(error)
    return "\n".join(failure.lines), [dict(problem) for problem in failure.problems]
