"""Evaluates claims again after some of their runs are replaced with other runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from nacre.papers.judging.judge import Row, row_of
from nacre.papers.measures.measures import Results
from nacre.papers.running.outcome import Outcomes, Result, UnknownError
from nacre.papers.running.runs import Runs, Watch
from nacre.papers.running.target import Target
from nacre.papers.spec.claim import Claim
from nacre.papers.spec.plan import Job, Point
from nacre.results.record import Record

JUDGED = ("prediction", "calibration", "trend")
"""Classes of claims that fitted or assumed values can affect. Arithmetic claims follow from
inputs."""

Swaps: TypeAlias = Mapping[Job, Job]
"""Maps runs to the runs that replace them."""


class Trial:
    """The runs that some claims need, and the runs that replace them."""

    def __init__(self, target: Target, claims: Sequence[Claim], runs: Runs) -> None:
        self._target, self._runs = target, runs
        self._ended: dict[Job, Result | Exception] = {}
        self.jobs: dict[Job, float] = {}
        self.first: dict[Job, Job] = {}
        """Maps each run to the first of its repeats. Most runs are not repeated."""
        self._read: dict[Job, dict[str, Point]] = {}
        for claim in claims:
            self.jobs |= self._needed(claim)
            for points in self._repeated(claim):
                for point in points:
                    self.first.setdefault(point.job, points[0].job)
                    self._read.setdefault(point.job, {})[claim.measure] = point

    def run(self, groups: Iterable[Iterable[Job]], watch: Watch | None) -> bool:
        """Executes runs that have no result yet. Returns False if `watch` stopped the execution."""
        usual = max(self.jobs.values(), default=1.0)
        wanted = {job: self.jobs.get(job, usual) for group in groups for job in group}
        jobs = {job: seconds for job, seconds in wanted.items() if job not in self._ended}
        complete = self._runs.run(jobs, watch)
        self._ended |= self._runs.ended(jobs)
        return complete

    def origins(self) -> Iterator[tuple[Job, Mapping[str, Any]]]:
        """Yields each value that a run uses, with its origin."""
        for job in self.jobs:
            record = self._ended[job]
            for origin in record.origins if isinstance(record, Record) else ():
                yield job, origin

    def of(self, claim: Claim) -> set[Job]:
        """Returns the runs of a claim."""
        return set(self._needed(claim))

    def judge(self, claim: Claim, swaps: Swaps) -> Row:
        """Evaluates a claim after some of its runs are replaced."""
        ended = {job: self._ended[swaps.get(job, job)] for job in self.jobs}
        return row_of(claim, Results(self._target.paper, Outcomes(ended)))

    def numbers(self, job: Job, instead: Job) -> list[float | None]:
        """Returns the claims' numbers for the run `job`, computed from the result of `instead`."""
        results = Results(self._target.paper, Outcomes({job: self._ended[instead]}))
        found: list[float | None] = []
        for measure, point in self._read[job].items():
            try:
                found.append(results.reading(point, measure).value)
            except UnknownError:
                found.append(None)
        return found

    def _repeated(self, claim: Claim) -> Iterator[tuple[Point, ...]]:
        results = Results(self._target.paper, Outcomes({}))
        for selection in (claim.of, claim.to):
            yield from results.repeated(selection)

    def _needed(self, claim: Claim) -> dict[Job, float]:
        """Returns the runs of a claim, with their approximate durations in seconds."""
        paper = self._target.paper
        return {
            point.job: paper.plan[selection.group].seconds
            for selection in filter(None, (claim.of, claim.to))
            for point in paper.points(selection)
        }


def with_setting(job: Job, path: str, text: str) -> Job:
    """Returns the run with an additional setting."""
    settings = dict(job.settings) | {path: text}
    return replace(job, settings=tuple(sorted(settings.items())))
