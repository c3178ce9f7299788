"""Executes runs of papers with the engine of studies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from nacre.errors import Error
from nacre.papers.running.outcome import Result
from nacre.papers.running.served import NotRunError
from nacre.papers.running.tasks import Serving, result_of, task_of
from nacre.papers.spec.plan import Job
from nacre.scenario.source import Source, read
from nacre.studies.engines.engine import Engine
from nacre.studies.engines.task import Task
from nacre.studies.keep.store import Memory
from nacre.studies.points.point import Points
from nacre.studies.work import End, carry_out

Watch: TypeAlias = Callable[[int, int, float], bool | None]
"""Function that is called about ten times a second with the number of completed runs, the total,
and the completed share of all work. If it returns true, the reproduction stops and keeps its
results so far."""

_PLANNED = 16
"""Number of runs to prepare between two calls of `watch`. The preparation of these runs takes some
hundredths of a second."""


class Runs:
    """Executes runs and keeps their results. Each run is executed once."""

    def __init__(self, engine: Engine, kept: Memory) -> None:
        self._engine, self._kept = engine, kept
        self._points: dict[str, tuple[Source, Points]] = {}
        self._tasks: dict[Job, Task] = {}
        self._failed: dict[Job, Exception] = {}
        self._tried: set[str] = set()

    def run(self, jobs: Mapping[Job, float], watch: Watch | None) -> bool:
        """Executes runs, the longest first. `jobs` contains their approximate durations in seconds.

        Served devices are last and run one at a time, because they run in wall-clock time. Returns
        False if `watch` stopped the execution.
        """
        order = sorted(jobs, key=lambda job: (-jobs[job], job.settings))
        if not self._plan(order, watch):
            return False
        known = {job: self._tasks[job] for job in order if job in self._tasks}
        tasks = {task.key: task for task in known.values() if task.key not in self._tried}
        seconds = {task.key: jobs[job] for job, task in known.items()}
        waves = [[key for key in tasks if not isinstance(tasks[key], Serving)]]
        waves += [[key] for key in tasks if isinstance(tasks[key], Serving)]
        for place, wave in enumerate(waves):
            later = {key for more in waves[place + 1 :] for key in more}
            told = _told(watch, seconds, later, len(jobs))
            end = carry_out({key: tasks[key] for key in wave}, self._engine, self._kept, told)
            if end is not End.DONE:
                return False
            self._tried |= set(wave)
        return True

    def ended(self, jobs: Iterable[Job]) -> dict[Job, Result | Exception]:
        """Returns the results or exceptions of runs. Omits runs that have not ended."""
        outcomes = {outcome.key: outcome for outcome in self._kept.ended()}
        found: dict[Job, Result | Exception] = {}
        for job in jobs:
            task = self._tasks.get(job)
            outcome = None if task is None else outcomes.get(task.key)
            if job in self._failed:
                found[job] = self._failed[job]
            elif task is not None and outcome is not None:
                result = result_of(task, outcome)
                found[job] = Error(str(outcome.error), "failed") if result is None else result
        return found

    def _plan(self, jobs: Sequence[Job], watch: Watch | None) -> bool:
        """Prepares the tasks of runs, and records errors of runs that cannot start.

        Returns False if `watch` stopped the preparation.
        """
        for place, job in enumerate(jobs):
            if watch is not None and place % _PLANNED == 0 and watch(0, len(jobs), 0.0):
                return False
            if job in self._tasks or job in self._failed:
                continue
            try:
                task = task_of(job, *self._source(job.scenario))
                if isinstance(task, Serving):
                    task.check_here()
                self._tasks[job] = task
            except (Error, NotRunError) as error:
                self._failed[job] = error
        return True

    def _source(self, scenario: str) -> tuple[Source, Points]:
        if scenario not in self._points:
            source = read(scenario)
            self._points[scenario] = source, Points(source, {})
        return self._points[scenario]


def _told(
    watch: Watch | None, seconds: Mapping[str, float], later: set[str], runs: int
) -> Callable[[Mapping[str, Task]], End]:
    """Returns a function that reports progress. Tasks with keys in `later` count as remaining."""
    work = sum(seconds.values()) or 1.0

    def tell(left: Mapping[str, Task]) -> End:
        if watch is None:
            return End.DONE
        missing = later | left.keys()
        share = 1 - sum(seconds[key] for key in missing) / work
        return End.STOPPED if watch(runs - len(missing), runs, share) else End.DONE

    return tell
