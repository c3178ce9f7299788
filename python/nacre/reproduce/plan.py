"""What a paper's rows are computed from: groups of runs, a point for each combination of axes."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre import toml
from nacre.errors import Error
from nacre.reproduce import reading
from nacre.reproduce.reading import Entry

_SCALAR = (str, int, float)


@dataclass(frozen=True)
class Job:
    """A run: a scenario and what is set in it. Equal jobs are run once.

    With `mixes` nothing is simulated: every mix of its tiers in so many steps is scored. With
    `dilate` nothing is either: the device is served so many times slower, and sysbench reads it.
    """

    scenario: str
    settings: tuple[tuple[str, str], ...]
    mixes: int = 0
    dilate: float = 0.0

    def overrides(self) -> dict[str, object]:
        """The settings as `nacre.run` takes them."""
        return dict(self.settings)


@dataclass(frozen=True)
class Value:
    """A place on an axis: its label, its number if it has one, and what it sets."""

    label: str
    x: float | None
    settings: Mapping[str, object]


@dataclass(frozen=True)
class Axis:
    """What varies within a group."""

    name: str
    values: tuple[Value, ...]

    def value(self, label: str) -> Value:
        """The place called `label`; raises `Error` if there is none."""
        for value in self.values:
            if value.label == label:
                return value
        known = ", ".join(value.label for value in self.values)
        raise Error(f'axis "{self.name}" has no "{label}" (it has: {known})')


@dataclass(frozen=True)
class Point:
    """One run of a group, under the labels it has on the group's axes."""

    group: str
    labels: tuple[tuple[str, str], ...]
    job: Job

    @property
    def name(self) -> str:
        """`cleaners: greedy, 50/50`."""
        labels = ", ".join(label for _, label in self.labels)
        return f"{self.group}: {labels}" if labels else self.group


@dataclass(frozen=True)
class Selection:
    """Points of a group: those with the given labels on some axes, all labels on the others."""

    group: str
    where: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Group:
    """Runs of one scenario that differ along axes. `seconds` is about what one of them takes.

    `mixes` is the number of steps, where every mix of its tiers is scored and nothing simulated;
    `dilate` how many times slower devices are served, where sysbench reads them; `over` the axis
    that repeats a run, such as its seed: numbers are means over it.
    """

    name: str
    scenario: str
    settings: Mapping[str, object]
    seconds: float
    axes: tuple[Axis, ...]
    mixes: int = 0
    dilate: float = 0.0
    over: str = ""

    def axis(self, name: str) -> Axis:
        """The axis called `name`; raises `Error` if there is none."""
        for axis in self.axes:
            if axis.name == name:
                return axis
        known = ", ".join(axis.name for axis in self.axes)
        raise Error(f'runs "{self.name}" have no axis "{name}" (they have: {known})')

    def points(self, where: Mapping[str, Sequence[str]]) -> Iterator[Point]:
        """The points with those labels, in the order of the axes."""
        for name in where:
            self.axis(name)
        chosen = [
            [axis.value(label) for label in where[axis.name]] if axis.name in where else axis.values
            for axis in self.axes
        ]
        for values in itertools.product(*chosen):
            yield self._point(values)

    def _point(self, values: Sequence[Value]) -> Point:
        settings = dict(self.settings)
        for value in values:
            settings |= value.settings
        texts = {
            path: item if isinstance(item, str) else toml.value(item)
            for path, item in settings.items()
        }
        labels = tuple((axis.name, v.label) for axis, v in zip(self.axes, values, strict=True))
        job = Job(self.scenario, tuple(sorted(texts.items())), self.mixes, self.dilate)
        return Point(self.name, labels, job)


Plan = Mapping[str, Group]


def read(path: Path) -> dict[str, Group]:
    """The groups of a plan file; a scenario named `x.toml` lies beside it."""
    document = reading.file(path)
    groups = [_group(entry, path.parent) for entry in document.entries("runs")]
    document.done()
    plan = {group.name: group for group in groups}
    if len(plan) < len(groups):
        raise document.wrong("two groups of runs have the same name")
    return plan


def as_study(group: Group) -> dict[str, Any]:
    """The runs of a group as a study, for whoever wants to go on from them."""
    document: dict[str, Any] = {"name": group.name, "scenario": group.scenario}
    if group.scenario.endswith(".toml"):
        document["scenario"] = tomllib.loads(Path(group.scenario).read_text())
    axes: list[dict[str, Any]] = [
        {
            "name": axis.name,
            "values": [{"label": each.label, "set": dict(each.settings)} for each in axis.values],
        }
        for axis in group.axes
    ]
    alone: list[dict[str, Any]] = [{"name": "own", "path": "run.seed", "values": [1]}]
    return document | {"set": dict(group.settings), "axis": axes or alone}


def selection(entry: Entry, key: str, groups: Mapping[str, Group]) -> Selection:
    """What `key` of an entry selects: `{ runs = "rates", rate = [5000, 10000] }`."""
    table = dict(entry.take(key, dict))
    name = table.pop("runs", None)
    if name not in groups:
        raise entry.wrong(f'"{key}" is of runs {name!r}; there are: {", ".join(groups)}')
    where = {
        axis: tuple(str(v) for v in (given if isinstance(given, list) else [given]))
        for axis, given in table.items()
    }
    selection = Selection(name, where)
    try:
        list(groups[name].points(where))
    except Error as error:
        raise entry.wrong(f'"{key}": {error}') from None
    return selection


def _group(entry: Entry, folder: Path) -> Group:
    name, scenario = entry.take("name", str), entry.take("scenario", str)
    group = Group(
        name=name,
        scenario=str(folder / scenario) if scenario.endswith(".toml") else scenario,
        settings=entry.take("set", dict, {}),
        seconds=entry.take("seconds", float, 1.0),
        axes=tuple(_axis(axis) for axis in entry.entries("axis")),
        mixes=entry.take("mixes", int, 0),
        dilate=entry.take("dilate", float, 0.0),
        over=entry.take("over", str, ""),
    )
    entry.done()
    if group.over and group.over not in [axis.name for axis in group.axes]:
        raise entry.wrong(f'"over" names no axis of these runs: "{group.over}"')
    if group.mixes and group.dilate:
        raise entry.wrong('"mixes" are computed and "dilate" is for what is served: give one')
    return group


def _axis(entry: Entry) -> Axis:
    name, path = entry.take("name", str), entry.take("path", str, "")
    values = [_value(item, path, entry) for item in entry.take("values", list)]
    entry.done()
    if len({value.label for value in values}) < len(values):
        raise entry.wrong("two values have the same label")
    return Axis(name, tuple(values))


def _value(item: Any, path: str, axis: Entry) -> Value:
    """`"50/50"` is set at the path of the axis; a table may say label, number and settings."""
    table = item if isinstance(item, dict) else {"value": item}
    entry = Entry(table, f"{axis.place}: {item}")
    value: Any = entry.take("value", _SCALAR, None)
    settings: dict[str, object] = dict(entry.take("set", dict, {}))
    if value is not None and path:
        settings[path] = value
    label: Any = entry.take("label", _SCALAR, value)
    x: Any = entry.take("x", float, value if isinstance(value, int | float) else None)
    entry.done()
    if label is None:
        raise entry.wrong("it needs a value or a label")
    return Value(str(label), None if x is None else float(x), settings)
