"""A study as it was read: what varies, what is wanted, and what may be spent."""

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
    """A column that is to be as large, or as small, as can be."""

    column: str
    goal: metrics.Goal


@dataclass(frozen=True)
class Constraint:
    """The limits of a column."""

    column: str
    at_least: float | None
    at_most: float | None

    def excess(self, value: float) -> float:
        """By how much it is broken; not above 0 where it is kept."""
        over = -float("inf") if self.at_most is None else value - self.at_most
        under = -float("inf") if self.at_least is None else self.at_least - value
        return max(over, under)


@dataclass(frozen=True)
class Search:
    """How points are chosen where not all are run."""

    method: Method
    batch: int
    seed: int


@dataclass(frozen=True)
class Budget:
    """What may be spent: points, and seconds on the clock."""

    points: int | None
    seconds: float | None


@dataclass(frozen=True)
class Confidence:
    """How well the results are to be known: every design is repeated with other seeds until then.

    `share` is what the half-width of a 95 % confidence interval may be of its mean; a design runs
    `least` times, and `most` times where it is still wider.
    """

    share: float
    least: int
    most: int


@dataclass(frozen=True)
class Questions:
    """What a study wants to know: what varies, and what is wanted of it."""

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
    """A study without errors, but for what its scenario does not take."""

    source: Source
    settings: Mapping[str, object]
    prices: Mapping[str, str]
    budget: Budget
    document: Mapping[str, object]
