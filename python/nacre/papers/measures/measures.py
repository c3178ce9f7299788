"""Reads numbers from records by name, and computes results of claims from several records."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from nacre.base.view import View
from nacre.errors import Error
from nacre.papers.measures import drives, envy, nvm_servers, nvram_cards, onyx, pcm_enterprise
from nacre.papers.running.outcome import Outcomes, Result, UnknownError
from nacre.papers.spec.claim import Claim
from nacre.papers.spec.paper import Paper
from nacre.papers.spec.plan import Point, Selection
from nacre.studies.analysis.interval import half_width

OF_PAPERS: Mapping[str, Mapping[str, Callable[[Any], float | None]]] = {
    "drives": drives.MEASURES,
    "envy": envy.MEASURES,
    "nvm-servers": nvm_servers.MEASURES,
    "nvram-cards": nvram_cards.MEASURES,
    "onyx": onyx.MEASURES,
    "pcm-enterprise": pcm_enterprise.MEASURES,
}
"""Functions that compute the numbers of each paper that are not fields of a record."""


@dataclass(frozen=True)
class Reading:
    """A number, and the point whose record contains the number."""

    point: Point
    value: float


@dataclass(frozen=True)
class Results:
    """The completed runs of a paper, with access to their numbers."""

    paper: Paper
    outcomes: Outcomes

    def readings(self, selection: Selection, measure: str) -> list[Reading]:
        """Returns the value of every selected point. Raises `UnknownError` if a value is missing.

        Repeated runs, e.g. with different seeds, are averaged.
        """
        return [self.mean(points, measure) for points in self.repeated(selection)]

    def repeated(self, selection: Selection | None) -> list[tuple[Point, ...]]:
        """Returns the selected points in groups. Each group consists of the repeats of one run."""
        if selection is None:
            return []
        over, points = self.paper.plan[selection.group].over, self.paper.points(selection)
        if not over:
            return [(point,) for point in points]
        found: dict[tuple[tuple[str, str], ...], list[Point]] = {}
        for point in points:
            labels = tuple(label for label in point.labels if label[0] != over)
            found.setdefault(labels, []).append(point)
        return [tuple(points) for points in found.values()]

    def mean(self, points: Sequence[Point], measure: str) -> Reading:
        """Returns the mean value of repeated points. Raises the errors of `reading`."""
        values = [self.reading(point, measure).value for point in points]
        return Reading(points[0], sum(values) / len(values))

    def reading(self, point: Point, measure: str) -> Reading:
        """Returns the value of a point.

        Raises `UnknownError` if the run failed, or if its record lacks the value.
        """
        result = self.outcomes.result(point)
        own = OF_PAPERS.get(self.paper.name, {}).get(measure)
        try:
            value = own(result) if own else _field(result, measure)
        except (KeyError, StopIteration, ZeroDivisionError):
            value = None
        if value is None:
            raise UnknownError(f"{point.name}: the record has no {measure}")
        return Reading(point, float(value))

    def interval(self, points: Sequence[Point], measure: str, within: str) -> dict[str, float]:
        """Returns the bounds of the 95 % confidence interval of a value.

        For repeated runs, this is the interval of their mean. For a single run, `within` names the
        measure that is the half-width of the interval in percent. If `within` is empty or the run
        was too short, the result is empty.
        """
        if not within:
            return {}
        try:
            value = self.mean(points, measure).value
            found = self.half_width(points, measure)
            if found is None:
                found = value * self.reading(points[0], within).value / 100
        except UnknownError:
            return {}
        return {"low": value - found, "high": value + found}

    def half_width(self, points: Sequence[Point], measure: str) -> float | None:
        """Returns the half-width of the 95 % interval of a mean, or None for a single run."""
        return half_width([self.reading(point, measure).value for point in points])

    def x(self, point: Point, axis: str) -> float:
        """Returns the position of a point on a numeric axis."""
        label = dict(point.labels)[axis]
        x = self.paper.plan[point.group].number(axis, label)
        if x is None:
            raise UnknownError(f'axis "{axis}" has no number at "{label}"')
        return x


def _field(result: Result, path: str) -> float | None:
    """Returns the number at a dotted path, or None if the record has no number there."""
    found: object = result
    for key in path.split("."):
        if not isinstance(found, View) or key not in found:
            return None
        found = found[key]
    return found if isinstance(found, int | float) else None


Check: TypeAlias = Callable[[Results, Claim], float]


def check(claim: Claim, results: Results) -> float:
    """Returns the simulated result of a claim.

    Raises `UnknownError` if the runs do not give a result.
    """
    found = CHECKS.get(claim.check)
    if found is None:
        known = ", ".join(CHECKS)
        raise Error(
            f'{claim.figure}/{claim.id}: no check "{claim.check}" (known: {known})', "unknown-name"
        )
    return found(results, claim)


def _values(results: Results, claim: Claim) -> list[float]:
    return [reading.value for reading in results.readings(claim.of, claim.measure)]


def _others(results: Results, claim: Claim) -> list[float]:
    return [reading.value for reading in results.readings(_other(claim), claim.measure)]


def _other(claim: Claim) -> Selection:
    if claim.to is None:
        raise Error(f'{claim.figure}/{claim.id}: {claim.check} needs a "to"', "missing-setting")
    return claim.to


def _value(results: Results, claim: Claim) -> float:
    (value,) = _values(results, claim)
    return value


def _ratios(results: Results, claim: Claim) -> list[float]:
    """Returns the ratios of the selected points to the corresponding points of `to`.

    If `to` selects a single point, all selected points are compared with it.
    """
    ours, theirs = _values(results, claim), _others(results, claim)
    if len(theirs) == 1:
        theirs *= len(ours)
    if not all(theirs):
        raise UnknownError(f"{claim.measure} is zero, so nothing can be compared with it")
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def _single(results: Results, claim: Claim) -> list[float]:
    """Returns the value of every run. Repeats are not averaged."""
    points = results.paper.points(claim.of)
    return [results.reading(point, claim.measure).value for point in points]


def _widest_interval(results: Results, claim: Claim) -> float:
    """Returns the largest half-width of the 95 % intervals over repeats, in percent of the mean."""
    widths = []
    for points in results.repeated(claim.of):
        found = results.half_width(points, claim.measure)
        if found is None:
            raise UnknownError(f"{points[0].name}: it is not repeated")
        widths.append(100 * found / abs(results.mean(points, claim.measure).value))
    return max(widths)


def _ratio(results: Results, claim: Claim) -> float:
    (ratio,) = _ratios(results, claim)
    return ratio


def _highest_ratio(results: Results, claim: Claim) -> float:
    """Returns the ratio of the maximum of `of` to the maximum of `to`."""
    other = max(_others(results, claim))
    if not other:
        raise UnknownError(f"{claim.measure} is zero, so nothing can be compared with it")
    return max(_values(results, claim)) / other


def _steps(results: Results, claim: Claim) -> list[float]:
    """Returns the ratio of each value to the previous value."""
    values = _values(results, claim)
    if not all(values[:-1]):
        raise UnknownError(f"{claim.measure} is zero, so no step from it has a size")
    return [after / before for before, after in itertools.pairwise(values)]


def _lowest_at(results: Results, claim: Claim) -> float:
    """Returns the position of the minimum on the axis named in `to`.

    Averages over all other axes.
    """
    (axis,) = _other(claim).where
    sums: dict[float, list[float]] = {}
    for reading in results.readings(claim.of, claim.measure):
        sums.setdefault(results.x(reading.point, axis), []).append(reading.value)
    return min(sums, key=lambda x: sum(sums[x]) / len(sums[x]))


def _highest_at(results: Results, claim: Claim) -> float:
    """Returns the position of the maximum on the axis named in `to`."""
    (axis,) = _other(claim).where
    highest = max(results.readings(claim.of, claim.measure), key=lambda reading: reading.value)
    return results.x(highest.point, axis)


def remark(claim: Claim, results: Results) -> str:
    """Returns a note that names the highest point, if the claim is about the highest point.

    Returns an empty string for other claims.
    """
    if claim.check not in ("highest_at", "gain"):
        return ""
    try:
        readings = results.readings(claim.of, claim.measure)
    except UnknownError:
        return ""
    highest = max(readings, key=lambda reading: reading.value).point
    varies = [label for axis, label in highest.labels if _varies(readings, axis, label)]
    return f"highest at {', '.join(varies)}" if varies else ""


def _gain(results: Results, claim: Claim) -> float:
    """Returns by how many percent the maximum of `of` exceeds the maximum of `to`."""
    return _percent_above(_values(results, claim), _others(results, claim))


def _gains(results: Results, claim: Claim) -> list[float]:
    """Returns by how many percent `of` exceeds `to`, for every label of an axis.

    The axis is the only one on which both selections have several labels.
    """
    ours = results.readings(claim.of, claim.measure)
    theirs = results.readings(_other(claim), claim.measure)
    (axis,) = (
        axis
        for axis, label in ours[0].point.labels
        if claim.of.where.get(axis) == _other(claim).where.get(axis) and _varies(ours, axis, label)
    )
    found: dict[str, tuple[list[float], list[float]]] = {}
    for side, readings in enumerate((ours, theirs)):
        for reading in readings:
            sides = found.setdefault(dict(reading.point.labels)[axis], ([], []))
            sides[side].append(reading.value)
    return [_percent_above(*sides) for sides in found.values()]


def _percent_above(values: Sequence[float], others: Sequence[float]) -> float:
    if not max(others):
        raise UnknownError("the other side is zero, so nothing can be compared with it")
    return 100 * (max(values) / max(others) - 1)


def _crossing(results: Results, claim: Claim) -> float:
    """Returns the position at which the curve of `of` crosses the curve of `to`.

    The curves have a common axis and are interpolated linearly between points.
    """
    ours = results.readings(claim.of, claim.measure)
    theirs = results.readings(_other(claim), claim.measure)
    (axis,) = (name for name, labels in ours[0].point.labels if _varies(ours, name, labels))
    gaps = [
        (results.x(one.point, axis), one.value - other.value)
        for one, other in zip(ours, theirs, strict=True)
    ]
    for (x, gap), (next_x, next_gap) in itertools.pairwise(gaps):
        if gap * next_gap <= 0 and gap != next_gap:
            return x + (next_x - x) * gap / (gap - next_gap)
    raise UnknownError("the lines do not cross")


def _varies(readings: Sequence[Reading], axis: str, label: str) -> bool:
    return any(dict(reading.point.labels)[axis] != label for reading in readings)


def _steepening(results: Results, claim: Claim) -> float:
    """Returns the mean slope of the points of `of`, relative to the mean slope of those of `to`.

    Both selections have several labels on one axis.
    """
    before = _slope(results, _other(claim), claim.measure)
    if not before:
        raise UnknownError(f"{claim.measure} does not change, so no slope is a multiple of it")
    return _slope(results, claim.of, claim.measure) / before


def _slope(results: Results, selection: Selection, measure: str) -> float:
    readings = results.readings(selection, measure)
    (axis,) = (name for name, labels in selection.where.items() if len(labels) > 1)
    first, last = readings[0], readings[-1]
    run = results.x(last.point, axis) - results.x(first.point, axis)
    return (last.value - first.value) / run


def _over(
    pick: Callable[[Sequence[float]], float], numbers: Callable[[Results, Claim], Sequence[float]]
) -> Check:
    return lambda results, claim: pick(numbers(results, claim))


CHECKS: Mapping[str, Check] = {
    "value": _value,
    "highest": _over(max, _values),
    "lowest": _over(min, _values),
    "highest_run": _over(max, _single),
    "lowest_run": _over(min, _single),
    "widest_interval": _widest_interval,
    "ratio": _ratio,
    "highest_ratio": _highest_ratio,
    "largest_ratio": _over(max, _ratios),
    "smallest_ratio": _over(min, _ratios),
    "largest_gap": _over(lambda ratios: max(abs(ratio - 1) for ratio in ratios), _ratios),
    "largest_step": _over(max, _steps),
    "smallest_step": _over(min, _steps),
    "lowest_at": _lowest_at,
    "highest_at": _highest_at,
    "gain": _gain,
    "lowest_gain": _over(min, _gains),
    "highest_gain": _over(max, _gains),
    "crossing": _crossing,
    "steepening": _steepening,
}
"""Functions that the field `check` of a claim can name."""
