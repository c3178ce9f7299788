"""Plans the points of a study of axes, i.e. every combination in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

from nacre.errors import ConfigError, Problem, config_error
from nacre.scenario.source import by_name
from nacre.studies.points.point import Point, Points, problems
from nacre.studies.spec import document
from nacre.studies.spec.axis import Axis, Choice, Chosen, Label
from nacre.studies.spec.design import Design
from nacre.studies.spec.effort import POINTS_MAX
from nacre.studies.spec.metrics import Value

Row = Mapping[str, Value]


class Planner(Protocol):
    """Selects the points to run, and receives their results."""

    @property
    def total(self) -> int:
        """Number of points. For a search, the number may be unknown until the end."""
        ...

    def ask(self) -> Sequence[Point]:
        """Returns the next points to run. The sequence is empty when the study is complete."""
        ...

    def tell(self, rows: Mapping[str, Row]) -> None:
        """Receives the results of the points that `ask` returned last, by key."""
        ...


class Grid:
    """Full grid of all combinations. The first axis varies slowest, and the seed varies fastest."""

    def __init__(self, points: Sequence[Point]) -> None:
        self._points = points
        self.total = len(points)
        self._asked = False

    def ask(self) -> Sequence[Point]:
        """Returns all points at the first call, and none afterwards."""
        if self._asked:
            return ()
        self._asked = True
        return self._points

    def tell(self, rows: Mapping[str, Row]) -> None:
        """Ignores the results, because a grid is fixed."""


def sound(given: document.Given) -> tuple[Design, Planner]:
    """Returns the study and its planner. Raises `ConfigError` with all errors."""
    reading = document.read(_plain(given) if isinstance(given, Mapping) else given)
    design = reading.design
    if design is None:
        found = list(reading.errors.found)
        if reading.source is not None:
            points = Points(reading.source, reading.settings)
            axes = reading.questions.axes
            found += problems(points.resolved, points, ((each, axes) for each in one_by_one(axes)))
        raise config_error(found)
    if design.search is not None:
        from nacre.studies.points.search import Searching

        points = Points(design.source, design.settings, design.prices)
        found = problems(
            points.resolved, points, ((each, design.axes) for each in one_by_one(design.axes))
        )
        if found:
            raise config_error(found)
        return design, Searching(design, points)
    return design, _planned(design)


def _plain(given: Mapping[str, object]) -> dict[str, object]:
    """Returns a study whose functions are replaced with names where settings allow functions."""
    plain = {key: by_name(item) if key in _SETTINGS else item for key, item in given.items()}
    axes = given.get("axis")
    if isinstance(axes, list):
        plain["axis"] = [_axis(axis) for axis in axes]
    return plain


def _axis(given: object) -> object:
    """Returns an axis in which each function is replaced with its name, which is its label."""
    if not isinstance(given, Mapping) or not isinstance(given.get("values"), list):
        return by_name(given)
    values = [
        {"label": getattr(value, "__name__", "function"), "set": {given["path"]: by_name(value)}}
        if callable(value) and "path" in given
        else by_name(value)
        for value in given["values"]
    ]
    return {**given, "values": values}


_SETTINGS = ("set", "axis", "scenario")
"""Keys of a study whose values contain settings of a scenario."""


def combinations(axes: Sequence[Axis]) -> Iterator[Chosen]:
    """Yields every combination of choices that the conditions of the axes allow."""
    if not axes:
        yield {}
        return

    def extend(chosen: dict[str, Choice | None], rest: Sequence[Axis]) -> Iterator[Chosen]:
        if not rest:
            yield chosen
            return
        axis = rest[0]
        labels = {name: choice.label if choice else None for name, choice in chosen.items()}
        options: Sequence[Choice | None] = axis.choices if axis.applies(labels) else (None,)
        for option in options:
            yield from extend({**chosen, axis.name: option}, rest[1:])

    yield from extend({}, axes)


def one_by_one(axes: Sequence[Axis]) -> Iterator[Chosen]:
    """Yields one combination for each choice of each axis."""
    for number, axis in enumerate(axes):
        for sample in axis.samples:
            wanted: dict[str, Label] = {axis.name: sample.label}
            for earlier in reversed(axes[: number + 1]):
                if earlier.name in wanted:
                    wanted |= {name: labels[0] for name, labels in earlier.when.items()}
            yield _combination(axes, wanted, {axis.name: sample})
    if not axes:
        yield {}


def _combination(
    axes: Sequence[Axis], wanted: Mapping[str, Label], fixed: Mapping[str, Choice]
) -> Chosen:
    chosen: dict[str, Choice | None] = {}
    for axis in axes:
        labels = {name: choice.label if choice else None for name, choice in chosen.items()}
        if axis.name in fixed:
            option: Choice | None = fixed[axis.name]
        elif axis.name in wanted:
            option = axis.by_label.get(wanted[axis.name])
        else:
            option = axis.first
        chosen[axis.name] = option if axis.applies(labels) else None
    return chosen


def _planned(design: Design) -> Planner:
    """Plans all combinations. Raises `ConfigError` if there are errors."""
    points = Points(design.source, design.settings, design.prices)
    confidence = design.confidence
    repeats = confidence.least if confidence else len(design.seeds) or 1
    most = (design.budget.points or POINTS_MAX) // repeats
    chosen = list(islice(combinations(design.axes), most + 1))
    if len(chosen) > most:
        raise config_error([_too_many(design, most * repeats)])
    found: list[tuple[Chosen, list[Point]]] = []
    wrong: list[tuple[Chosen, Sequence[Axis]]] = []
    index = 0
    for number, each in enumerate(chosen):
        labels = {name: choice.label if choice else None for name, choice in each.items()}
        runs: list[Point] = []
        try:
            for seed in _first_seeds(design, points, each):
                settings = points.settings(filter(None, each.values()), seed)
                runs.append(points.point(index, number, labels, settings))
                index += 1
            found.append((each, runs))
        except ConfigError:
            wrong.append((each, design.axes))
    unused = [axis for axis in design.axes if all(each[axis.name] is None for each in chosen)]
    wrong_settings = problems(points.resolved, points, wrong) + [_unused(axis) for axis in unused]
    if not wrong_settings:
        # Build the stack once for each value of each axis, with the first values of the other axes.
        trials = ((each, design.axes) for each in one_by_one(design.axes))
        wrong_settings = problems(points.built, points, trials)
    if wrong_settings:
        raise config_error(wrong_settings)
    if confidence:
        from nacre.studies.points.repeats import Repeats

        return Repeats(design, confidence, points, found)
    return Grid([point for _, runs in found for point in runs])


def _first_seeds(design: Design, points: Points, chosen: Chosen) -> Sequence[int | None]:
    """Returns the seeds with which every design runs first. None means the scenario's seed."""
    if design.confidence is None:
        return design.seeds or (None,)
    from nacre.studies.points.repeats import seeds

    own = 0
    if not design.seeds:
        settings = points.settings(filter(None, chosen.values()), None)
        own = int(points.resolved(settings)["run"]["seed"])
    return list(islice(seeds(design, own), max(design.confidence.least, len(design.seeds))))


def _too_many(design: Design, most: int) -> Problem:
    if design.budget.points is None:
        return Problem(
            code="over-limit",
            path="axis",
            problem=f"there are more than {most:,} combinations",
            hint="shorten an axis, or use a [search]",
        )
    return Problem(
        code="over-limit",
        path="budget.points",
        problem=f"there are more than these {most:,} combinations",
        hint="allow more points, shorten an axis, or use a [search]",
    )


def _unused(axis: Axis) -> Problem:
    return Problem(
        code="conflicting-settings",
        path=f"axis {axis.name}.when",
        where=axis.where,
        problem="no combination meets its condition",
        hint="leave the axis out, or change the condition",
    )
