"""Sensitivity of rows to seeds, and to changes of fitted or assumed values by 20 % up or down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypedDict

from nacre.papers.judging.judge import Row, said
from nacre.papers.judging.screening import changing
from nacre.papers.judging.trial import JUDGED, Swaps, Trial, with_setting
from nacre.papers.judging.value import LESS, MORE, Value
from nacre.papers.running.runs import Runs, Watch
from nacre.papers.running.target import Target
from nacre.papers.spec.claim import Claim
from nacre.papers.spec.plan import Job
from nacre.studies.analysis.interval import half_width

SEEDS = (1, 2, 3, 4, 5)
_DOUBTFUL = ("fitted", "assumed")


class Moved(TypedDict):
    """A row that was recomputed with a changed value.

    `simulated` is None if the model rejects the changed value.
    """

    given: str
    simulated: float | None
    holds: bool | None


class Doubt(TypedDict):
    """Effect that changing a value by 20 % up or down has on a row."""

    value: str
    confidence: str
    source: str
    less: Moved
    more: Moved
    flips: bool


Sensitivity = TypedDict(
    "Sensitivity",
    {
        "id": str,
        "figure": str,
        "metric": str,
        "class": str,
        "published": float | str | None,
        "unit": str,
        "tolerance": str,
        "simulated": float | None,
        "holds": bool | None,
        "half_width": float | None,
        "values": list[Doubt],
    },
)
"""A row with its value, the half-width of its confidence interval over seeds, and the values that
change it."""


def sensitivity(target: Target, runs: Runs, watch: Watch | None) -> list[Sensitivity] | None:
    """Returns an entry for each claim that has a tolerance, except arithmetic claims.

    Includes only claims about the target's figures. Returns None if `watch` stopped the runs.
    """
    judged = [
        claim
        for claim in target.paper.claims
        if claim.figure in target.figures and claim.grade in JUDGED
    ]
    trial = Trial(target, judged, runs)
    seeds = [
        {job: with_setting(job, "run.seed", str(seed)) for job in trial.jobs} for seed in SEEDS
    ]
    if not trial.run([trial.jobs, *(swaps.values() for swaps in seeds)], watch):
        return None
    uses = _doubtful(trial)
    found = changing(trial, _by_run(trial, uses), watch)
    if found is None:
        return None
    moves = {value: _swaps(trial, value, found) for value in uses}
    return [_of(claim, trial, seeds, uses, moves) for claim in judged]


def _doubtful(trial: Trial) -> dict[Value, set[Job]]:
    """Returns the fitted or assumed numbers, with the runs that use them."""
    found: dict[Value, set[Job]] = {}
    for job, origin in trial.origins():
        given = origin["value"]
        if origin["confidence"] in _DOUBTFUL and not origin["path"].startswith("run."):
            if isinstance(given, list | tuple):
                given = tuple(map(str, given))
            value = Value(origin["path"], given, origin["confidence"], origin["source"])
            if value.times(LESS) is not None:
                found.setdefault(value, set()).add(job)
    return found


def _by_run(trial: Trial, uses: Mapping[Value, set[Job]]) -> dict[Job, list[Value]]:
    """Returns the values that each run uses. For repeated runs, includes only the first run."""
    first = [job for job in trial.jobs if trial.first[job] == job]
    found = {job: [value for value, jobs in uses.items() if job in jobs] for job in first}
    return {job: values for job, values in found.items() if values}


def _swaps(trial: Trial, value: Value, changed: Mapping[Job, set[Value]]) -> tuple[Swaps, Swaps]:
    """Maps the runs that a value affects to the runs with the decreased and increased value.

    Repeats of a run share the changed runs of its first repeat.
    """
    moved = {
        job: value.moved(first)
        for job, first in trial.first.items()
        if value in changed.get(first, ())
    }
    return {job: less for job, (less, _) in moved.items()}, {
        job: more for job, (_, more) in moved.items()
    }


def _of(
    claim: Claim,
    trial: Trial,
    seeds: Sequence[Swaps],
    uses: Mapping[Value, set[Job]],
    moves: Mapping[Value, tuple[Swaps, Swaps]],
) -> Sensitivity:
    row = trial.judge(claim, {})
    over = [trial.judge(claim, swaps)["simulated"] for swaps in seeds]
    known = [number for number in over if number is not None]
    within = half_width(known) if len(known) == len(SEEDS) else None
    used = trial.of(claim)

    def moved(value: Value, factor: Decimal, swaps: Swaps) -> Moved:
        return _at(value, factor, trial.judge(claim, swaps))

    return {
        "id": row["id"],
        "figure": row["figure"],
        "metric": row["metric"],
        "class": row["class"],
        "published": row["published"],
        "unit": row["unit"],
        "tolerance": row["tolerance"],
        "simulated": row["simulated"],
        "holds": row["pass"],
        "half_width": within,
        "values": [
            _doubt(value, row, moved(value, LESS, less), moved(value, MORE, more))
            for value, (less, more) in moves.items()
            if used & uses[value]
        ],
    }


def _at(value: Value, factor: Decimal, row: Row) -> Moved:
    known = row["simulated"] is not None
    return {
        "given": value.times(factor) or "",
        "simulated": row["simulated"],
        "holds": row["pass"] if known else None,
    }


def _doubt(value: Value, row: Row, less: Moved, more: Moved) -> Doubt:
    verdicts = {moved["holds"] for moved in (less, more)} - {None}
    return {
        "value": f"{value.path} = {said(value.given)}",
        "confidence": value.confidence,
        "source": value.source,
        "less": less,
        "more": more,
        "flips": row["pass"] is not None and verdicts - {row["pass"]} != set(),
    }
