"""Repeats designs with more seeds until their results are sufficiently precise.

All designs use the same seeds in the same order. Each design first runs with the first few seeds.
Designs whose intervals are too wide are then repeated, depending on the spread of their results.
Each time, the number of runs at most doubles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice

from nacre.errors import SEED_MAX
from nacre.studies.analysis.interval import half_width
from nacre.studies.points.point import Point, Points
from nacre.studies.spec.axis import Chosen
from nacre.studies.spec.design import Confidence, Design, Questions
from nacre.studies.spec.metrics import Value

Row = Mapping[str, Value]

USUAL = ("iops", "mean_ns")
"""Columns whose precision is required if the study has no objectives."""


class Repeats:
    """Full grid that repeats each combination with as many seeds as necessary."""

    def __init__(
        self,
        design: Design,
        confidence: Confidence,
        points: Points,
        first: Sequence[tuple[Chosen, Sequence[Point]]],
    ) -> None:
        self._design, self._confidence, self._points = design, confidence, points
        self._chosen = [chosen for chosen, _ in first]
        self._runs = [list(found) for _, found in first]
        self._next: Sequence[Point] = [point for _, found in first for point in found]
        self._rows: dict[str, Row] = {}
        self._budget = design.budget.points or math.inf
        self.total = len(self._next)

    def ask(self) -> Sequence[Point]:
        """Returns the first runs of every design, and later the missing runs."""
        asked, self._next = self._next, ()
        return asked

    def tell(self, rows: Mapping[str, Row]) -> None:
        """Receives the results of the last runs, and determines the designs to repeat."""
        self._rows |= rows
        more: list[Point] = []
        for number, runs in enumerate(self._runs):
            wanted = self._runs_of([self._rows[point.key] for point in runs]) - len(runs)
            left = int(min(wanted, self._budget - self.total - len(more)))
            for seed in islice(seeds(self._design, runs[0].seed), len(runs), len(runs) + left):
                point = self._point(self.total + len(more), number, seed)
                runs.append(point)
                more.append(point)
        self._next = more
        self.total += len(more)

    def _runs_of(self, rows: Sequence[Row]) -> int:
        """Returns the required number of runs of a design, according to its widest interval."""
        wanted = len(rows)
        if any(row["error"] is not None for row in rows):
            return wanted
        for column in columns(self._design):
            values = [row[column] for row in rows]
            numbers = [float(v) for v in values if isinstance(v, int | float)]
            if len(numbers) == len(values):
                wanted = max(wanted, runs_wanted(numbers, self._confidence.share))
        return min(wanted, self._confidence.most)

    def _point(self, index: int, number: int, seed: int) -> Point:
        chosen = self._chosen[number]
        settings = self._points.settings(filter(None, chosen.values()), seed)
        return self._points.point(index, number, self._runs[number][0].labels, settings)


def runs_wanted(values: Sequence[float], share: float) -> int:
    """Returns the number of runs needed for the precision `share`, estimated from `values`.

    The number is at most twice the current number of runs.
    """
    runs, within = len(values), half_width(values)
    allowed = share * abs(sum(values)) / runs
    if within is None or within <= allowed:
        return runs
    needed = math.inf if allowed == 0 else runs * (within / allowed) ** 2
    return max(math.ceil(min(needed, 2 * runs)), runs + 1)


def columns(design: Questions) -> Sequence[str]:
    """Returns the columns whose precision is required: the objectives, or the default columns."""
    return [objective.column for objective in design.objectives] or USUAL


def seeds(design: Design, own: int) -> Iterator[int]:
    """Yields the seeds for every design: seeds of the study, then increasing numbers."""
    yield from design.seeds
    begin = max(design.seeds) + 1 if design.seeds else own
    yield from (seed % (SEED_MAX + 1) for seed in count(begin))
