"""Checks the names of axes and columns of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nacre.errors import nearest
from nacre.studies.spec import metrics
from nacre.studies.spec.axis import Axis
from nacre.studies.spec.entry import Entry

COLUMNS = (
    "point",
    "design",
    "key",
    "seed",
    "error",
    "error_code",
    "feasible",
    "runs",
    "settings",
    *metrics.METRICS,
    *metrics.REMARKS,
)
"""Columns of every table. Axes cannot have these names."""


def check_names(entry: Entry, found: Sequence[Axis]) -> None:
    """Checks that names of axes are unique, and that axes depend only on earlier axes."""
    before: dict[str, Axis] = {}
    for axis in found:
        hint = "give the axis another name"
        if axis.name in COLUMNS:
            entry.errors.add(
                "duplicate-name",
                f"axis {axis.name}",
                "every table has such a column",
                hint,
                where=axis.where,
            )
        if axis.name in before:
            entry.errors.add(
                "duplicate-name",
                f"axis {axis.name}",
                "another axis has this name",
                hint,
                where=axis.where,
            )
        for name, labels in axis.when.items():
            _condition(entry, axis, name, labels, before)
        before[axis.name] = axis


def _condition(
    entry: Entry, axis: Axis, name: str, labels: Sequence[object], before: Mapping[str, Axis]
) -> None:
    path = f"axis {axis.name}.when"
    if name not in before:
        known = f"axes before it: {', '.join(before)}" if before else "no axis comes before it"
        meant = nearest(name, before)
        hint = f'did you mean "{meant}"? {known}' if meant else known
        entry.errors.add(
            "unknown-name", path, f'there is no axis "{name}" before it', hint, where=axis.where
        )
        return
    known_labels = [choice.label for choice in before[name].choices]
    if before[name].span:
        entry.errors.add(
            "not-supported", path, f'"{name}" has no labels to depend on', where=axis.where
        )
        return
    for label in labels:
        if label not in known_labels:
            hint = f"it has {', '.join(map(str, known_labels))}"
            entry.errors.add(
                "unknown-name",
                path,
                f'axis "{name}" has no such value',
                hint,
                given=label,
                where=axis.where,
            )


def read_columns(entry: Entry) -> Mapping[str, str]:
    """Reads the table `columns`, which maps names of columns to paths in a record."""
    table = entry.take("columns", Mapping, "a table of names and paths in a record", {})
    found = {}
    for name, path in table.items():
        if not isinstance(path, str):
            entry.wrong(
                "invalid-path", f"columns.{name}", "it is not a path in a record", given=path
            )
        elif fault := metrics.fault_of(path):
            entry.wrong("invalid-path", f"columns.{name}", fault, given=path)
        elif name in COLUMNS:
            entry.wrong(
                "duplicate-name",
                f"columns.{name}",
                "every table has such a column",
                "choose another name",
            )
        else:
            found[name] = path
    return found
