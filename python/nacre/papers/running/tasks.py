"""Runs of a plan as tasks of a study engine, and decoding of their results."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nacre.papers.running import oltp, served
from nacre.papers.running.outcome import Result
from nacre.papers.running.served import Served
from nacre.papers.spec.plan import Job
from nacre.results.record import Record
from nacre.scenario.source import Source, assignments
from nacre.simulate.mixing import counted, of
from nacre.studies.engines.task import Base, Columns, Outcome, Task, compact
from nacre.studies.points.point import Points


@dataclass(frozen=True, slots=True)
class Run(Task):
    """A run whose whole record is needed, with columns and value origins."""

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:
        """The record and its columns."""
        data, columns = self.ran(base)
        return compact(data), columns()


@dataclass(frozen=True, slots=True)
class Mixing(Task):
    """Scores every tier mix of a scenario in equal steps, without simulation."""

    steps: int = 1

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:  # noqa: ARG002 (none is common)
        """Scores, and the columns of the mixes."""
        data, columns = counted(self.source, list(self.settings), self.steps)
        return compact(data), columns


@dataclass(frozen=True, slots=True)
class Serving(Task):
    """A device that is served in dilated time and read by sysbench or by a database."""

    load: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:
        """Results of sysbench and of the server."""
        if self.load["transactions"]:
            return served.run(self.load, base.folder, oltp.__name__, oltp.LIMIT_S), None
        return served.run(self.load, base.folder), None

    def check_here(self) -> None:
        """Raises `NotRunError` if a requirement is missing here."""
        served.check_here(oltp.missing() if self.load["transactions"] else ())


_FORMS: Mapping[type[Task], Callable[[dict[str, Any], Columns], Result]] = {
    Run: Record,
    Mixing: of,
    Serving: lambda data, _: Served(data),
}


def task_of(job: Job, source: Source, points: Points) -> Task:
    """The task of a job, with a key of all inputs that determine its outcome.

    Raises `ConfigError` for invalid settings, `Error` if it cannot be served.
    """
    settings = tuple(assignments(job.overrides()))
    of_model = points.point(0, 0, {}, settings).key
    # The record also contains value origins, which the model does not use.
    identity = json.dumps([source.text, settings, job.mixes, job.dilate, *_oltp(job), of_model])
    key = hashlib.sha256(identity.encode()).hexdigest()[: len(of_model)]
    if job.mixes:
        return Mixing(key, source, settings, steps=job.mixes)
    if job.dilate:
        return Serving(key, source, settings, load=served.load_of(job))
    return Run(key, source, settings)


def _oltp(job: Job) -> list[int]:
    """Distinguishes a run of a database from one that reads files."""
    return [job.transactions] if job.transactions else []


def result_of(task: Task, outcome: Outcome) -> Result | None:
    """Result of a successful task; None for others."""
    if outcome.record is None:
        return None
    return _FORMS[type(task)](json.loads(outcome.record), outcome.columns or {})
