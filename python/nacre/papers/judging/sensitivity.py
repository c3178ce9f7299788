"""Sensitivity of rows: to seeds, and to changes of fitted or assumed values by 20 % up or down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypedDict

from nacre.base import quantity, toml
from nacre.papers.judging.judge import Row, said
from nacre.papers.judging.trial import JUDGED, Swaps, Trial, with_setting
from nacre.papers.running.runs import Runs, Watch
from nacre.papers.running.target import Target
from nacre.papers.spec.claim import Claim
from nacre.papers.spec.plan import Job
from nacre.studies.analysis.interval import half_width

LESS, MORE = Decimal("0.8"), Decimal("1.2")
"""Factors applied to a value."""
SEEDS = (1, 2, 3, 4, 5)
_DOUBTFUL = ("fitted", "assumed")


class Moved(TypedDict):
    """A row with a changed value; `simulated` is None if the model rejects the value."""

    given: str
    simulated: float | None
    holds: bool | None


class Doubt(TypedDict):
    """Effect of changing a value by 20 % up or down on a row."""

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
"""A row: its value, the half-width of its interval over seeds, and the values that change it."""


@dataclass(frozen=True)
class Value:
    """A value that was fitted or assumed."""

    path: str
    given: str | int | float | tuple[str, ...]
    confidence: str
    source: str

    def times(self, factor: Decimal) -> str | None:
        """The value times a factor, as text for a scenario; None unless it is a positive number.

        A whole number changes by at least one.
        """
        if isinstance(self.given, tuple):
            texts = [_times(text, factor) for text in self.given]
            return toml.value(texts) if texts and None not in texts else None
        if isinstance(self.given, bool) or not self.given:
            return None
        if isinstance(self.given, int):
            step = 1 if factor > 1 else -1
            return str(step * max(step * round(self.given * factor), step * self.given + 1))
        if isinstance(self.given, float):
            return str(Decimal(str(self.given)) * factor)
        return _times(self.given, factor)


def sensitivity(target: Target, runs: Runs, watch: Watch | None) -> list[Sensitivity] | None:
    """One entry for each claim with a tolerance in the target's figures, except arithmetic.

    None if `watch` stopped it.
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
    moves = {
        value: (_moved(jobs, value, LESS), _moved(jobs, value, MORE))
        for value, jobs in _doubtful(trial).items()
    }
    if not trial.run([swaps.values() for pair in moves.values() for swaps in pair], watch):
        return None
    return [_of(claim, trial, seeds, moves) for claim in judged]


def _doubtful(trial: Trial) -> dict[Value, list[Job]]:
    """The numbers that were fitted or assumed, with the runs that used them."""
    found: dict[Value, list[Job]] = {}
    for job, origin in trial.origins():
        given = origin["value"]
        if origin["confidence"] in _DOUBTFUL and not origin["path"].startswith("run."):
            if isinstance(given, list | tuple):
                given = tuple(map(str, given))
            value = Value(origin["path"], given, origin["confidence"], origin["source"])
            if value.times(LESS) is not None:
                found.setdefault(value, []).append(job)
    return found


def _of(
    claim: Claim,
    trial: Trial,
    seeds: Sequence[Swaps],
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
            if used & less.keys()
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


def _times(text: str, factor: Decimal) -> str | None:
    found = quantity.maybe(text)
    if found is None or not found.number:
        return None
    return quantity.like(found.value * factor, found).text()


def _moved(jobs: Iterable[Job], value: Value, factor: Decimal) -> Swaps:
    text = value.times(factor) or ""
    return {job: with_setting(job, value.path, text) for job in jobs}
