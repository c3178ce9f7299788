"""A valid study: axes, objectives, and budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nacre.scenario.source import Source
from nacre.studies.spec import metrics
from nacre.studies.spec.axis import Axis

Method = Literal["nsga2", "tpe", "random"]


@dataclass(frozen=True)
class Objective:
    """A column to be maximized or minimized."""

    column: str
    goal: metrics.Goal


@dataclass(frozen=True)
class Constraint:
    """Limits of a column."""

    column: str
    at_least: float | None
    at_most: float | None

    def excess(self, value: float) -> float:
        """Returns the amount by which the value violates the constraint.

        The amount is at most 0 if the constraint holds.
        """
        over = -float("inf") if self.at_most is None else value - self.at_most
        under = -float("inf") if self.at_least is None else self.at_least - value
        return max(over, under)


@dataclass(frozen=True)
class Search:
    """Settings of a sampler, which selects points instead of running all combinations."""

    method: Method
    batch: int
    seed: int


@dataclass(frozen=True)
class Budget:
    """Limits of a study: number of points, and wall-clock time in seconds."""

    points: int | None
    seconds: float | None


@dataclass(frozen=True)
class Confidence:
    """Required precision. Every design is repeated with other seeds until it has this precision.

    `share` limits the half-width of the 95 % confidence interval relative to the mean. A design
    runs at least `least` times and at most `most` times.
    """

    share: float
    least: int
    most: int


@dataclass(frozen=True)
class Questions:
    """Axes, objectives, and constraints of a study."""

    name: str
    summary: str
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    confidence: Confidence | None
    search: Search | None
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    paths: Mapping[str, str]


@dataclass(frozen=True)
class Design(Questions):
    """A study without errors in its file. Its scenario may still reject settings."""

    source: Source
    settings: Mapping[str, object]
    prices: Mapping[str, str]
    budget: Budget
    document: Mapping[str, object]
