"""Tests whether differences between designs are significant, by paired runs with equal seeds.

Every design runs with the same seeds. With equal seeds, two designs receive the same requests at
the same times (common random numbers). Differences between designs are computed per seed, which
removes the effect of the seed.
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
    """Designs that are certainly on the Pareto front, and designs that may be on it."""

    certain: frozenset[int]
    """Designs on the front for which no other design could be better in all objectives."""
    contenders: frozenset[int]
    """Designs whose means are not on the front, but that no design on the front beats
    significantly."""


def together(fronts: Sequence[Front | None]) -> Front | None:
    """Combines the fronts of all conditions. Returns None if significance is unknown."""
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
    """Tests the significance of the Pareto front. Returns None if each design ran only once.

    Each comparison has a confidence of 95 %. If there are many comparisons, some of them are wrong.
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
        # Other designs that are significantly better, significantly worse, or equal.
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
    """Returns a row per design and a column per seed.

    Lower values are better, and NaN means no result.
    """
    seeds = {seed: column for column, seed in enumerate(points["seed"].unique().sort())}
    rows = {design: row for row, design in enumerate(able)}
    found = np.full((len(able), len(seeds)), np.nan)
    sign = -1.0 if objective.goal == "max" else 1.0
    for design, seed, value in points.select("design", "seed", objective.column).iter_rows():
        if design in rows and value is not None:
            found[rows[design], seeds[seed]] = sign * value
    return found


def _against(values: Numbers, row: int) -> tuple[Flags, Flags, Flags]:
    """Compares every design with the design of a row.

    Returns whether each design is significantly better, whether it is significantly worse, and
    whether it is equal for every seed.
    """
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
