"""Plan of a paper: groups of runs. Each group is a study with axes."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nacre.base import toml
from nacre.errors import Error
from nacre.papers.spec import entry
from nacre.papers.spec.entry import Entry
from nacre.studies.points.planner import combinations
from nacre.studies.points.point import merged
from nacre.studies.spec import axis as study_axis
from nacre.studies.spec.axis import Axis, Chosen

ENDINGS = ("none", "commit", "roll back")
"""Values of `ending`: no hardware transactions; all transactions commit; some are rolled back."""


@dataclass(frozen=True)
class Job:
    """A run: a scenario and its settings. Equal runs are executed once.

    If `mixes` is set, nothing is simulated. Instead, every mix of the tiers is scored, in `mixes`
    steps. If `dilate` is set, the device is served, slowed down by this factor, and sysbench reads
    files on it. With `transactions`, sysbench instead runs this number of transactions per thread
    on a database. If `ending` is set, the transactions run on the device, which is used as a
    memory, and `ending` states how each transaction ends.
    """

    scenario: str
    settings: tuple[tuple[str, str], ...]
    mixes: int = 0
    dilate: float = 0.0
    transactions: int = 0
    ending: str = ""

    def overrides(self) -> dict[str, object]:
        """Returns the settings as overrides for `nacre.run`."""
        return dict(self.settings)


@dataclass(frozen=True)
class Point:
    """One run of a group, with its labels on the axes of the group."""

    group: str
    labels: tuple[tuple[str, str], ...]
    job: Job

    @property
    def name(self) -> str:
        """Name of the point, e.g. `cleaners: greedy, 50/50`."""
        labels = ", ".join(label for _, label in self.labels)
        return f"{self.group}: {labels}" if labels else self.group


@dataclass(frozen=True)
class Selection:
    """Points of a group that have the given labels on some axes, and any label on other axes."""

    group: str
    where: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Group:
    """A group of runs of one scenario, which differ along axes.

    `seconds` is the estimated duration of one run. The longest runs start first, and progress is
    weighted by this duration. `mixes`, `dilate`, `transactions`, and `ending` have the same meaning
    as in `Job`. `over` is the axis that repeats a run, e.g. with different seeds. Numbers are means
    over the repeats.
    """

    name: str
    scenario: str
    settings: Mapping[str, object]
    seconds: float
    axes: tuple[Axis, ...]
    mixes: int = 0
    dilate: float = 0.0
    transactions: int = 0
    ending: str = ""
    over: str = ""
    numbers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Position of each label on each axis in a figure. The position may differ from the label."""

    def axis(self, name: str) -> Axis:
        """Returns the axis called `name`. Raises `Error` if there is none."""
        for axis in self.axes:
            if axis.name == name:
                return axis
        known = ", ".join(axis.name for axis in self.axes)
        raise Error(
            f'runs "{self.name}" have no axis "{name}" (they have: {known})', "unknown-name"
        )

    def number(self, axis: str, label: str) -> float | None:
        """Returns the position of a label on an axis, or None if the axis is not numeric."""
        return self.numbers.get(axis, {}).get(label)

    def points(self, where: Mapping[str, Sequence[str]]) -> Iterator[Point]:
        """Yields the points with these labels, in the order of the axes."""
        for name in where:
            self.axis(name)
        axes = [_only(axis, where.get(axis.name)) for axis in self.axes]
        yield from map(self._point, combinations(axes))

    def _point(self, chosen: Chosen) -> Point:
        applied = {name: choice for name, choice in chosen.items() if choice}
        texts = {
            path: item if isinstance(item, str) else toml.value(item)
            for path, item in merged(self.settings, applied.values()).items()
        }
        labels = tuple((name, str(choice.label)) for name, choice in applied.items())
        job = Job(
            self.scenario,
            tuple(sorted(texts.items())),
            self.mixes,
            self.dilate,
            self.transactions,
            self.ending,
        )
        return Point(self.name, labels, job)


def _only(axis: Axis, labels: Sequence[str] | None) -> Axis:
    """Returns the axis with only these labels, in this order.

    Raises `Error` if the axis lacks one of the labels.
    """
    if labels is None:
        return axis
    choices = {str(choice.label): choice for choice in axis.choices}
    for label in labels:
        if label not in choices:
            raise Error(
                f'axis "{axis.name}" has no "{label}" (it has: {", ".join(choices)})',
                "unknown-name",
            )
    return replace(axis, choices=tuple(choices[label] for label in labels))


Plan = Mapping[str, Group]


def read(path: Path) -> dict[str, Group]:
    """Reads the groups of a plan file. A scenario named `x.toml` is in the folder of this file."""
    document = entry.file(path)
    groups = [_group(entry, path.parent) for entry in document.entries("runs")]
    document.done()
    plan = {group.name: group for group in groups}
    if len(plan) < len(groups):
        raise document.error("two groups of runs have the same name")
    return plan


def as_study(group: Group) -> dict[str, Any]:
    """Returns the runs of a group as a study for users."""
    document: dict[str, Any] = {"name": group.name, "scenario": group.scenario}
    if group.scenario.endswith(".toml"):
        document["scenario"] = tomllib.loads(Path(group.scenario).read_text())
    axes = [_as_table(axis) for axis in group.axes]
    alone: list[dict[str, Any]] = [{"name": "own", "path": "run.seed", "values": [1]}]
    return document | {"set": dict(group.settings), "axis": axes or alone}


def _as_table(axis: Axis) -> dict[str, Any]:
    values = [{"label": str(each.label), "set": dict(each.settings)} for each in axis.choices]
    when = {"when": {name: list(labels) for name, labels in axis.when.items()}} if axis.when else {}
    return {"name": axis.name, "values": values, **when}


def selection(entry: Entry, key: str, groups: Mapping[str, Group]) -> Selection:
    """Reads the selection in `key` of an entry, e.g. `{ runs = "rates", rate = [5000, 10000] }`."""
    table = dict(entry.value(key, dict))
    name = table.pop("runs", None)
    if name not in groups:
        raise entry.error(f'"{key}" is of runs {name!r}; there are: {", ".join(groups)}')
    where = {
        axis: tuple(str(v) for v in (given if isinstance(given, list) else [given]))
        for axis, given in table.items()
    }
    selection = Selection(name, where)
    try:
        list(groups[name].points(where))
    except Error as error:
        raise entry.error(f'"{key}": {error}') from None
    return selection


def _group(entry: Entry, folder: Path) -> Group:
    name, scenario = entry.value("name", str), entry.value("scenario", str)
    tables = entry.value("axis", list, [])
    axes = tuple(_axis(entry, table, number) for number, table in enumerate(tables))
    group = Group(
        name=name,
        scenario=str(folder / scenario) if scenario.endswith(".toml") else scenario,
        settings=entry.value("set", dict, {}),
        seconds=entry.value("seconds", float, 1.0),
        axes=tuple(axis for axis, _ in axes),
        mixes=entry.value("mixes", int, 0),
        dilate=entry.value("dilate", float, 0.0),
        transactions=entry.value("transactions", int, 0),
        ending=entry.value("ending", str, ""),
        over=entry.value("over", str, ""),
        numbers={axis.name: numbers for axis, numbers in axes},
    )
    entry.done()
    if group.over and group.over not in [axis.name for axis in group.axes]:
        raise entry.error(f'"over" names no axis of these runs: "{group.over}"')
    if group.mixes and group.dilate:
        raise entry.error('"mixes" are computed and "dilate" is for what is served: give one')
    if group.transactions and not (group.dilate or group.ending):
        raise entry.error('"transactions" are served or in memory: give "dilate" or "ending"')
    if group.ending and (group.ending not in ENDINGS or group.dilate or not group.transactions):
        raise entry.error(f'"ending" is one of {", ".join(ENDINGS)}, of "transactions" not served')
    return group


def _axis(runs: Entry, table: Mapping[str, Any], number: int) -> tuple[Axis, dict[str, float]]:
    """Reads an axis of a study, and the position of each label in a figure.

    The position is `x` if it is given, otherwise the label if it is a number.
    """
    values = table.get("values")
    given = {"values": [_without_number(item) for item in values]} if values else {}
    entry = Entry({**table, **given}, runs.errors, f"{runs.path}.axis", number)
    axis = study_axis.read(entry, search=False)
    assert axis is not None  # noqa: S101 (every error is raised)
    places = values or [choice.label for choice in axis.choices]
    found = {
        str(choice.label): _number(item, runs)
        for item, choice in zip(places, axis.choices, strict=True)
    }
    return axis, {label: number for label, number in found.items() if number is not None}


def _without_number(item: Any) -> Any:
    """Returns an axis value for a study, without the position in a figure (`x`), if any."""
    return {k: v for k, v in item.items() if k != "x"} if isinstance(item, Mapping) else item


def _number(item: Any, runs: Entry) -> float | None:
    """Returns the position of a label: its `x`, its value if it is a number, or else None."""
    x = item.get("x", item.get("value")) if isinstance(item, Mapping) else item
    if isinstance(item, Mapping) and "x" in item and not isinstance(x, int | float):
        raise runs.error(f'"x" is {x!r}')
    return float(x) if isinstance(x, int | float) and not isinstance(x, bool) else None
