"""Reads the objectives and constraints of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from nacre.base import quantity
from nacre.errors import nearest
from nacre.studies.spec import metrics
from nacre.studies.spec.design import Constraint, Objective
from nacre.studies.spec.entry import Entry

_GOALS = ("max", "min")


def read_objective(entry: Entry, paths: Mapping[str, str]) -> Objective | None:
    """Reads an `objective`.

    Returns None after an error. `paths` are the columns that the study defines.
    """
    column = _column(entry, paths)
    goal = entry.take("goal", str, "max or min")
    entry.done()
    if goal is not None and goal not in _GOALS:
        entry.wrong("invalid-value", "goal", "expected max or min", given=goal)
        return None
    goal = goal or (metrics.usual_goal(column) if column else "min")
    if goal is None:
        entry.wrong("missing-setting", "goal", "it has no default direction", "give max or min")
    return Objective(column, cast("metrics.Goal", goal)) if column and goal else None


def read_constraint(entry: Entry, paths: Mapping[str, str]) -> Constraint | None:
    """Reads a `constraint`.

    Returns None after an error. `paths` are the columns that the study defines.
    """
    column = _column(entry, paths)
    limits = [_limit(entry, key, column) for key in ("at_least", "at_most")]
    entry.done()
    if column and not any(key in entry.table for key in ("at_least", "at_most")):
        entry.wrong("missing-setting", "", "it has no limit", "give at_least or at_most")
    return Constraint(column, *limits) if column else None


def _limit(entry: Entry, key: str, column: str | None) -> float | None:
    given = entry.take(key, (int, float, str), "a number or a quantity")
    if given is None or isinstance(given, int | float):
        return None if given is None else float(given)
    unit = metrics.unit_of(column) if column else None
    found = quantity.maybe(given)
    if unit is None or found is None or found.base != unit[0]:
        if column:
            entry.wrong(
                "invalid-value", key, f"it is not a quantity to compare {column} with", given=given
            )
        return None
    return float(found.value) * unit[1]


def _column(entry: Entry, paths: Mapping[str, str]) -> str | None:
    name = entry.need("of", str, "the name of a column, such as iops, cost or p99")
    if name is None:
        return None
    found = name if name in paths else metrics.column(name)
    if found is None:
        known = [*metrics.names(), *paths]
        meant = nearest(name, known)
        hint = f'did you mean "{meant}"? ' if meant else ""
        entry.wrong(
            "unknown-name",
            "of",
            "there is no such column",
            f"{hint}known: {', '.join(known)}; or name a path of the record in [columns]",
            given=name,
        )
    return found
