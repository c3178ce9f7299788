"""Searches with Optuna, which selects points in batches from earlier results.

The study determines the batch size, and the sampler receives the results in the order in which it
selected the points. The points therefore do not depend on the number of parallel runs, or on the
order in which the runs end. A resumed search requests the same points again, and finds their
results in the store.

A sampler may select a design twice. The second time, the design does not run again. Instead, the
sampler receives the result of the first run, and selects another design.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nacre.errors import ConfigError, invalid
from nacre.studies.points.point import Point, Points
from nacre.studies.spec.axis import Axis, Choice, Label
from nacre.studies.spec.design import Constraint, Design, Objective, Search
from nacre.studies.spec.metrics import Value

if TYPE_CHECKING:
    import optuna

Row = Mapping[str, Value]
Key = tuple[tuple[str, "Label | None"], ...]

REPEATS_MAX = 100
"""Number of consecutive repeated selections after which a search ends, because hardly any new
designs remain."""


class Searching:
    """Points that an Optuna sampler selects. A trial is a design, with one point for each seed."""

    def __init__(self, design: Design, points: Points) -> None:
        self._design, self._points = design, points
        self._search, total = _limits(design)
        self._seeds: Sequence[int | None] = design.seeds or (None,)
        self._trials = max(1, total // len(self._seeds))
        self.total = self._trials * len(self._seeds)
        self._study = _study(self._search, design.objectives)
        self._asked: list[tuple[optuna.Trial, list[Point]]] = []
        self._ran: dict[Key, list[Row]] = {}
        self._count = 0

    def ask(self) -> Sequence[Point]:
        """Returns the points of the next batch of trials."""
        number = min(self._search.batch, self._trials - self._count)
        # Select all designs of a batch before any result is reported, so that selections do not
        # affect each other.
        batch: dict[Key, list[Point]] = {}
        repeats = 0
        while len(batch) < number and repeats < REPEATS_MAX:
            trial = self._study.ask()
            chosen = self._choose(trial)
            key: Key = tuple(_labels(chosen).items())
            if key in self._ran:
                self._report(trial, self._ran[key])
                repeats += 1
                continue
            if key in batch:
                repeats += 1
            else:
                batch[key], repeats = self._points_of(chosen), 0
            self._asked.append((trial, batch[key]))
        if len(batch) < number:
            self._trials = self._count
            self.total = self._trials * len(self._seeds)
        return [point for points in batch.values() for point in points]

    def tell(self, rows: Mapping[str, Row]) -> None:
        """Receives the results of the trials that `ask` returned last, in their order."""
        for trial, points in self._asked:
            found = [rows[point.key] for point in points]
            self._ran[tuple(points[0].labels.items())] = found
            self._report(trial, found)
        self._asked = []

    def _report(self, trial: optuna.Trial, found: Sequence[Row]) -> None:
        """Reports the result of a trial to the sampler."""
        import optuna

        values = [_mean(found, objective.column) for objective in self._design.objectives]
        self._constrain(trial, found)
        if any(value is None for value in values):
            self._study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            self._study.tell(trial, [float(value) for value in values if value is not None])

    def _choose(self, trial: optuna.Trial) -> dict[str, Choice | None]:
        chosen: dict[str, Choice | None] = {}
        for axis in self._design.axes:
            applies = axis.applies(_labels(chosen))
            chosen[axis.name] = _suggest(trial, axis) if applies else None
        return chosen

    def _points_of(self, chosen: Mapping[str, Choice | None]) -> list[Point]:
        """Returns the points of a new design, one for each seed."""
        labels = _labels(chosen)
        points = [
            self._point(self._count * len(self._seeds) + place, labels, chosen, seed)
            for place, seed in enumerate(self._seeds)
        ]
        self._count += 1
        return points

    def _point(
        self,
        index: int,
        labels: Mapping[str, Label | None],
        chosen: Mapping[str, Choice | None],
        seed: int | None,
    ) -> Point:
        settings = self._points.settings(filter(None, chosen.values()), seed)
        try:
            return self._points.point(index, self._count, labels, settings)
        except ConfigError as error:
            return self._points.rejected(index, self._count, labels, settings, error)

    def _constrain(self, trial: optuna.Trial, rows: Sequence[Row]) -> None:
        for number, constraint in enumerate(self._design.constraints):
            value = _mean(rows, constraint.column)
            trial.set_constraint(_name(number, constraint), _excess(constraint, value))


def _labels(chosen: Mapping[str, Choice | None]) -> dict[str, Label | None]:
    return {name: choice.label if choice else None for name, choice in chosen.items()}


def importances(
    axes: Sequence[Axis], rows: Sequence[Row], objective: Objective
) -> dict[str, float]:
    """Returns the influence of each axis on whether a point is among the best.

    The values add up to 1.

    Uses PED-ANOVA. `rows` contains a column for each axis. Axes that are missing in some points are
    omitted.
    """
    optuna = _optuna()
    always = [axis for axis in axes if all(row[axis.name] is not None for row in rows)]
    study = optuna.create_study(direction="minimize")
    sign = -1.0 if objective.goal == "max" else 1.0
    for row in rows:
        value = row[objective.column]
        assert isinstance(value, int | float)  # noqa: S101 (the caller chose the rows)
        trial = optuna.trial.create_trial(
            value=sign * float(value),
            params={axis.name: _parameter(axis, row[axis.name]) for axis in always},
            distributions={axis.name: _distribution(axis) for axis in always},
        )
        study.add_trial(trial)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PED-ANOVA warns that it assumes that lower is better
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {axis.name: float(found[axis.name]) for axis in always if axis.name in found}


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise invalid(
            "missing-package",
            "search",
            "Optuna is not installed",
            hint="pip install 'nacre[search]'",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _limits(design: Design) -> tuple[Search, int]:
    assert design.search is not None  # noqa: S101 (only then is there a search)
    assert design.budget.points is not None  # noqa: S101 (without, it is an error)
    return design.search, design.budget.points


def _study(search: Search, objectives: Sequence[Objective]) -> Any:
    optuna = _optuna()
    samplers = {
        "nsga2": lambda: optuna.samplers.NSGAIISampler(
            seed=search.seed, population_size=max(2, search.batch)
        ),
        "tpe": lambda: optuna.samplers.TPESampler(seed=search.seed),
        "random": lambda: optuna.samplers.RandomSampler(seed=search.seed),
    }
    directions = ["maximize" if each.goal == "max" else "minimize" for each in objectives]
    return optuna.create_study(directions=directions, sampler=samplers[search.method]())


def _suggest(trial: optuna.Trial, axis: Axis) -> Choice:
    span = axis.span
    if span is None:
        place = trial.suggest_categorical(axis.name, list(range(len(axis.choices))))
        return axis.choices[int(place)]
    if span.whole:
        return span.choice(
            trial.suggest_int(axis.name, int(span.low), int(span.high), log=span.log)
        )
    return span.choice(trial.suggest_float(axis.name, span.low, span.high, log=span.log))


def _distribution(axis: Axis) -> Any:
    from optuna import distributions

    span = axis.span
    if span is None:
        return distributions.CategoricalDistribution(list(range(len(axis.choices))))
    if span.whole:
        return distributions.IntDistribution(int(span.low), int(span.high), log=span.log)
    return distributions.FloatDistribution(span.low, span.high, log=span.log)


def _parameter(axis: Axis, label: Value) -> Any:
    from nacre.base import quantity

    span = axis.span
    if span is None:
        return [str(choice.label).lower() for choice in axis.choices].index(str(label).lower())
    if span.example is None:
        return label
    return min(max(float(quantity.parse(str(label)).value), span.low), span.high)


def _mean(rows: Sequence[Row], column: str) -> float | None:
    """Returns the mean over the seeds, or None if the value is missing for a seed."""
    values = [row[column] for row in rows if row["error"] is None]
    numbers = [float(v) for v in values if isinstance(v, int | float) and math.isfinite(v)]
    return sum(numbers) / len(numbers) if len(numbers) == len(rows) else None


def _excess(constraint: Constraint, value: float | None) -> float:
    """Returns the amount by which a value violates a constraint. An unknown value violates it."""
    return 1e300 if value is None else constraint.excess(value)


def _name(number: int, constraint: Constraint) -> str:
    return f"{number}: {constraint.column}"
