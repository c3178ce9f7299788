"""Finds the values that affect each run, without changing every value in every run.

Most values do not affect any number in a row. For example, energies do not affect latencies. Values
that have no effect in the first and last of several similar runs are changed together in the other
runs. If all numbers remain equal, none of the values has an effect in these runs. Otherwise, each
value is changed separately.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from nacre.errors import Error
from nacre.papers.judging.trial import Trial
from nacre.papers.judging.value import Value
from nacre.papers.running.runs import Watch
from nacre.papers.spec.plan import Job
from nacre.simulate.running import check

Values: TypeAlias = Mapping[Job, Sequence[Value]]
"""Values that each run uses."""


def changing(trial: Trial, values: Values, watch: Watch | None) -> dict[Job, set[Value]] | None:
    """Returns the values that change a number of a run, or that the model rejects.

    Each of these values has been decreased and increased separately. Returns None if `watch`
    stopped the runs.
    """
    families: dict[tuple[Value, ...], list[Job]] = {}
    for job, used in values.items():
        families.setdefault(tuple(used), []).append(job)
    alone = {job: set(used) for used, jobs in families.items() for job in (jobs[0], jobs[-1])}
    if not trial.run([_single(alone)], watch):
        return None
    together: dict[Job, list[Value]] = {}
    for used, jobs in families.items():
        seen = set().union(*(_changed(trial, job, used) for job in (jobs[0], jobs[-1])))
        for job in jobs[1:-1]:
            quiet = [value for value in used if value not in seen and _accepted(job, value)]
            together[job] = quiet
            alone[job] = set(used) - set(quiet)
    if not trial.run([_bundled(together), _single(alone)], watch):
        return None
    for job, quiet in together.items():
        if quiet and _differs(trial, job, _bundle(job, quiet)):
            alone[job] |= set(quiet)
    if not trial.run([_single(alone)], watch):
        return None
    return {job: _changed(trial, job, list(used)) for job, used in alone.items()}


def _single(values: Mapping[Job, set[Value]]) -> Iterator[Job]:
    for job, used in values.items():
        for value in used:
            yield from value.moved(job)


def _bundled(values: Values) -> Iterator[Job]:
    for job, used in values.items():
        if used:
            yield from _bundle(job, used)


def _bundle(job: Job, values: Sequence[Value]) -> tuple[Job, Job]:
    """Returns a run with all values decreased, and a run with all values increased."""
    less = more = job
    for value in values:
        (less, _), (_, more) = value.moved(less), value.moved(more)
    return less, more


def _changed(trial: Trial, job: Job, values: Sequence[Value]) -> set[Value]:
    return {value for value in values if _differs(trial, job, value.moved(job))}


def _differs(trial: Trial, job: Job, moved: Sequence[Job]) -> bool:
    before = trial.numbers(job, job)
    return any(trial.numbers(job, other) != before for other in moved)


def _accepted(job: Job, value: Value) -> bool:
    """Returns whether the model accepts the decreased and the increased value."""
    try:
        for moved in value.moved(job):
            check(moved.scenario, moved.overrides())
    except Error:
        return False
    return True
