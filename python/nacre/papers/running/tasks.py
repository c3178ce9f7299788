"""Converts runs of a plan to tasks of a study engine, and decodes their results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nacre.papers.running import oltp, served, transacted
from nacre.papers.running.outcome import Result
from nacre.papers.running.served import Served
from nacre.papers.running.transacted import Transacted
from nacre.papers.spec.plan import Job
from nacre.results.record import Record
from nacre.scenario.source import Source, assignments
from nacre.simulate.mixing import counted, of
from nacre.studies.engines.task import Base, Columns, Outcome, Task, compact
from nacre.studies.points.point import Points


@dataclass(frozen=True, slots=True)
class Run(Task):
    """A simulation whose whole record is needed, with columns and origins of values."""

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:
        """Runs the simulation. Returns the record and its columns."""
        data, columns = self.ran(base)
        return compact(data), columns()


@dataclass(frozen=True, slots=True)
class Mixing(Task):
    """Scores every tier mix of a scenario, in equal steps and without simulation."""

    steps: int = 1

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:  # noqa: ARG002 (none is common)
        """Scores the mixes. Returns the document and the columns."""
        data, columns = counted(self.source, list(self.settings), self.steps)
        return compact(data), columns


@dataclass(frozen=True, slots=True)
class Serving(Task):
    """Serves a device in dilated time, and reads it with sysbench or a database."""

    load: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:
        """Serves the device. Returns the results of sysbench and of the server."""
        if self.load["transactions"]:
            return served.run(self.load, base.folder, oltp.__name__, oltp.LIMIT_S), None
        return served.run(self.load, base.folder), None

    def check_here(self) -> None:
        """Raises `NotRunError` if this machine lacks a requirement."""
        served.check_here(oltp.missing() if self.load["transactions"] else ())


@dataclass(frozen=True, slots=True)
class Transacting(Task):
    """Runs transactions of a program on a device that is used as a memory."""

    job: Job | None = field(default=None, hash=False)

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:
        """Runs the transactions.

        Returns their throughput, and the share of words that were restored.
        """
        if self.job is None:
            raise TypeError("a program needs its job")
        return compact(transacted.measured(self.job, base.folder)), None


_FORMS: Mapping[type[Task], Callable[[dict[str, Any], Columns], Result]] = {
    Run: Record,
    Mixing: of,
    Serving: lambda data, _: Served(data),
    Transacting: lambda data, _: Transacted(data),
}


def task_of(job: Job, source: Source, points: Points) -> Task:
    """Creates the task of a run. Its key covers all inputs that determine the result.

    Raises `ConfigError` for invalid settings, and `Error` if the scenario cannot be served.
    """
    settings = tuple(assignments(job.overrides()))
    of_model = points.point(0, 0, {}, settings).key
    # The record also contains value origins, which the model does not use.
    of_job = [job.mixes, job.dilate, *_oltp(job)]
    identity = json.dumps([source.text, settings, *of_job, of_model])
    key = hashlib.sha256(identity.encode()).hexdigest()[: len(of_model)]
    if job.mixes:
        return Mixing(key, source, settings, steps=job.mixes)
    if job.ending:
        return Transacting(key, source, settings, job=job)
    if job.dilate:
        return Serving(key, source, settings, load=served.load_of(job))
    return Run(key, source, settings)


def _oltp(job: Job) -> list[int | str]:
    """Returns the part of a task's key that distinguishes transactions from reads of files."""
    if job.ending:
        return [job.transactions, job.ending]
    return [job.transactions] if job.transactions else []


def result_of(task: Task, outcome: Outcome) -> Result | None:
    """Decodes the result of a task. Returns None if the task failed."""
    if outcome.record is None:
        return None
    return _FORMS[type(task)](json.loads(outcome.record), outcome.columns or {})
