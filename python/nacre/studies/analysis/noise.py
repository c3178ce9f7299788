"""Which differences between designs are more than chance: runs with equal seeds, compared in pairs.

Every design runs with the same seeds in the same order, and with one seed two designs are asked for
the same things at the same times (common random numbers). So the difference of two designs is taken
seed by seed, which leaves out what the seed does to both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from nacre.studies.analysis.interval import student_t
from nacre.studies.spec.design import Objective

Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"
Flags: TypeAlias = "np.ndarray[Any, np.dtype[np.bool_]]"


@dataclass(frozen=True)
class Front:
    """By design: on the front by its means, and whether chance could change that."""

    certain: frozenset[int]
    """On the front, and no other design could be better in all that is wanted."""
    contenders: frozenset[int]
    """Off the front by their means, but no design on it is better beyond chance."""


def together(fronts: Sequence[Front | None]) -> Front | None:
    """The fronts under all conditions as one; None where nobody can tell of any."""
    known = [front for front in fronts if front is not None]
    if not known:
        return None
    return Front(
        frozenset().union(*(front.certain for front in known)),
        frozenset().union(*(front.contenders for front in known)),
    )


def front(
    points: pl.DataFrame,
    designs: pl.DataFrame,
    on_front: Sequence[int],
    objectives: Sequence[Objective],
) -> Front | None:
    """How certain the front is; None where designs ran once, so that nobody can tell.

    Each comparison is at 95 %: of many, a few are wrong.
    """
    able = designs.filter(
        pl.col("feasible"), *(pl.col(o.column).is_not_null() for o in objectives)
    )["design"].to_list()
    if not objectives or not on_front or designs["runs"].max() == 1:
        return None
    values = [_by_seed(points, able, objective) for objective in objectives]
    place = {design: row for row, design in enumerate(able)}
    certain, contenders = set(on_front), set(able) - set(on_front)
    for design in on_front:
        # Beyond chance, what wins against the design and what loses; or is the very same.
        pairs = [_against(each, place[design]) for each in values]
        loses = np.logical_or.reduce([losing for _, losing, _ in pairs])
        same = np.logical_and.reduce([equal for _, _, equal in pairs])
        threat = ~loses & ~same
        threat[place[design]] = False
        if threat.any():
            certain.discard(design)
        beaten = np.logical_and.reduce([losing | equal for _, losing, equal in pairs]) & ~same
        contenders -= {able[row] for row in np.flatnonzero(beaten)}
    return Front(frozenset(certain), frozenset(contenders))


def _by_seed(points: pl.DataFrame, able: Sequence[int], objective: Objective) -> Numbers:
    """A row per design and a column per seed; less is better; NaN where it did not run."""
    seeds = {seed: column for column, seed in enumerate(points["seed"].unique().sort())}
    rows = {design: row for row, design in enumerate(able)}
    found = np.full((len(able), len(seeds)), np.nan)
    sign = -1.0 if objective.goal == "max" else 1.0
    for design, seed, value in points.select("design", "seed", objective.column).iter_rows():
        if design in rows and value is not None:
            found[rows[design], seeds[seed]] = sign * value
    return found


def _against(values: Numbers, row: int) -> tuple[Flags, Flags, Flags]:
    """Of every design, against that of a row: better, worse, and equal with every seed."""
    apart = values - values[row]
    known = ~np.isnan(apart)
    count = known.sum(axis=1)
    apart = np.where(known, apart, 0.0)
    safe = np.maximum(count, 1)
    mean = apart.sum(axis=1) / safe
    squares = np.where(known, (apart - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(squares / np.maximum(count - 1, 1) / safe)
    chance = np.array([student_t(int(n) - 1) for n in count]) * error
    sure = (count > 1) & (np.abs(mean) > chance)
    equal = (count > 0) & (apart == 0).all(axis=1)
    return sure & (mean < 0), sure & (mean > 0), equal
