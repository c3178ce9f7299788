"""Tables of the results of a study, with a row per point or per design."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from nacre.base import quantity
from nacre.studies.analysis.interval import student_t
from nacre.studies.points.point import Point
from nacre.studies.spec.axis import Axis, Label
from nacre.studies.spec.design import Questions
from nacre.studies.spec.metrics import METRICS, REMARKS, Value

COSTS = ("cost", "iops_per_cost")
"""Columns that have no meaning if prices are in different currencies."""
_COUNTS = ("erases", "requests", "request_errors")


def table(
    questions: Questions, points: Iterable[Point], rows: Mapping[str, Mapping[str, Value]]
) -> pl.DataFrame:
    """Returns a row per point that has ended, in the order of the study."""
    found = []
    for point in points:
        row = point.refused if point.error else rows.get(point.key)
        if row is not None:
            found.append(_labeled(questions, point) | {**row, "key": point.key})
    return pl.DataFrame(found, schema=_schema(questions), orient="row")


def labels(axis: Axis) -> list[str]:
    """Returns the columns of an axis: its labels and, for quantities, its values in base units."""
    base = axis.base
    return [axis.name] if base is None else [axis.name, f"{axis.name}_{base}"]


def designs(questions: Questions, points: pl.DataFrame) -> pl.DataFrame:
    """Returns a row per design with means over its seeds, or null if a run failed.

    `runs` is the number of seeds. `iops_ci95` is the half-width of the 95 % confidence interval of
    `iops`, and null for a single run. Other numbers have such columns, too. `feasible` is true if
    all constraints hold. An unknown value violates its constraint. Costs in different currencies
    cannot be compared, so they are null.
    """
    if len(bases(points)) > 1:
        points = points.with_columns(
            pl.lit(None, points.schema[name]).alias(name) for name in COSTS
        )
    names = [name for axis in questions.axes for name in labels(axis)]
    sound = pl.col("error").is_null().all()
    numbers = [*METRICS, *(n for n in questions.paths if points.schema[n].is_numeric())]
    means = [
        pl.when(sound & pl.col(n).is_not_null().all()).then(pl.col(n).mean()).alias(n)
        for n in numbers
    ]
    spreads = [
        pl.when(sound & pl.col(n).is_not_null().all()).then(pl.col(n).std()).alias(ci95(n))
        for n in numbers
        if not n.endswith("_ci95_ns")
    ]
    frame = points.group_by("design", maintain_order=True).agg(
        pl.col("point").first(), *(pl.col(name).first() for name in names), sound.alias("sound"),
        pl.len().alias("runs"), *means, pl.col("cost_basis").first(), _findings(), *spreads,
    )  # fmt: skip
    frame = _intervals(frame, [name for name in frame.columns if name in map(ci95, numbers)])
    kept: list[pl.Expr] = [pl.col("sound")]
    for constraint in questions.constraints:
        value = pl.col(constraint.column)
        if constraint.at_least is not None:
            kept.append((value >= constraint.at_least).fill_null(False))
        if constraint.at_most is not None:
            kept.append((value <= constraint.at_most).fill_null(False))
    return frame.with_columns(pl.all_horizontal(kept).alias("feasible")).drop("sound")


def ci95(name: str) -> str:
    """Returns the name of the column with the half-width of the confidence interval of a column."""
    return f"{name}_ci95"


def _intervals(frame: pl.DataFrame, spreads: Iterable[str]) -> pl.DataFrame:
    """Replaces standard deviations with half-widths of 95 % confidence intervals."""
    factors = {n: student_t(n - 1) / n**0.5 if n > 1 else None for n in frame["runs"].unique()}
    factor = pl.Series([factors[n] for n in frame["runs"]], dtype=pl.Float64)
    return frame.with_columns(pl.col(name) * factor for name in spreads)


def bases(points: pl.DataFrame) -> list[str]:
    """Returns the currencies of the costs of all points, without duplicates."""
    return points["cost_basis"].drop_nulls().unique(maintain_order=True).to_list()


def _findings() -> pl.Expr:
    """Returns an expression for the findings of the records, without duplicates."""
    kinds = pl.col("findings").drop_nulls().str.split(", ").explode().unique(maintain_order=True)
    joined = kinds.str.join(", ")
    return pl.when(joined != "").then(joined).alias("findings")


def _labeled(questions: Questions, point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {"point": point.index, "design": point.design, "seed": point.seed}
    for axis in questions.axes:
        label = point.labels.get(axis.name)
        row[axis.name] = _cell(label, axis)
        if (base := axis.base) is not None:
            found = quantity.maybe(label)
            value = None if found is None else found.value
            row[f"{axis.name}_{base}"] = (
                None if value is None else round(value) if base == "bytes" else float(value)
            )
    row["settings"] = "\n".join(f"{path}={value}" for path, value in point.settings)
    return row


def _cell(label: Label | None, axis: Axis) -> Any:
    if label is None or _type(axis) is not pl.String:
        return label
    return label if isinstance(label, str) else str(label).lower()


def _schema(questions: Questions) -> dict[str, Any]:
    schema: dict[str, Any] = {"point": pl.UInt32, "design": pl.UInt32}
    for axis in questions.axes:
        own = labels(axis)
        schema[own[0]] = _type(axis)
        for name in own[1:]:
            schema[name] = pl.Int64 if name.endswith("_bytes") else pl.Float64
    schema |= {"seed": pl.Int64, "error": pl.String, "error_code": pl.String}
    schema |= {name: pl.UInt64 if name in _COUNTS else pl.Float64 for name in METRICS}
    schema |= dict.fromkeys(REMARKS, pl.String)
    schema |= dict.fromkeys(questions.paths, pl.Float64)
    return schema | {"settings": pl.String, "key": pl.String}


def _type(axis: Axis) -> Any:
    if axis.types == {bool}:
        return pl.Boolean
    if axis.types == {int}:
        return pl.Int64
    return pl.Float64 if axis.types and axis.types <= {int, float} else pl.String
