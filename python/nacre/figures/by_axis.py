"""Figure of an objective as a function of one axis of a study.

Each combination of the other axes has a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import altair as alt
import polars as pl

from nacre.base.text import printable
from nacre.errors import Error, config_error, unknown
from nacre.figures import axes, theme

if TYPE_CHECKING:
    from nacre.studies.result import StudyResult
    from nacre.studies.spec.axis import Axis

_HEIGHT = 320
_WIDE = 30
"""Ratio between the largest and the smallest value above which an axis is logarithmic."""


def can_be_drawn(result: StudyResult) -> bool:
    """Returns whether the figure has data, and few enough lines to be distinguished."""
    if result.questions.search or not result.questions.axes:
        return False
    known = result.designs.drop_nulls(_objective(result, None))
    across = _across(result, None)
    return known[across.name].n_unique() > 1 and len(_series(result, across, known)) <= len(
        theme.PALETTE
    )


def by_axis(result: StudyResult, of: str | None = None, axis: str | None = None) -> alt.LayerChart:
    """Plots the objective `of` as a function of `axis`.

    Error bars are 95 % confidence intervals.
    """
    from nacre.words.studies import cell, counted, title

    up, across = _objective(result, of), _across(result, axis)
    known = result.designs.drop_nulls(up)
    if not known.height:
        raise Error(f"no design has a known {up}, so there is nothing to draw", "no-data")
    others = [each.name for each in result.questions.axes if each.name != across.name]
    column = _column(across, known)
    rows = [
        {
            "x": row[column],
            "y": row[up],
            "low": row[up] - (row[f"{up}_ci95"] or 0),
            "high": row[up] + (row[f"{up}_ci95"] or 0),
            "series": _label(row, others),
            "said": cell(up, row[up]),
            "label": printable(str(row[across.name])),
        }
        for row in known.iter_rows(named=True)
    ]
    is_number = known[column].dtype.is_numeric()
    x: Any = alt.X("x:Q" if is_number else "x:O", title=across.name)
    if is_number:
        x = _ticks(x.scale(type=_scale(rows, "x"), zero=False), rows)
    else:
        x = x.sort([row["x"] for row in rows])
    y: Any = alt.Y("y:Q", title=counted(up, result)).scale(type=_scale(rows, "y"), zero=False)
    if up.endswith("_ns"):
        y = y.axis(labelExpr=axes.TIME_LABEL)
    named = list(dict.fromkeys(row["series"] for row in rows))
    color: Any = alt.Color("series:N", title=", ".join(others), sort=named).scale(
        domain=named, range=list(theme.PALETTE[: len(named)])
    )
    if not others:
        color = alt.value(theme.BLUE)
    base = alt.Chart(theme.data(rows)).encode(x=x, color=color)
    tooltip = [alt.Tooltip(name) for name in ("label:N", "series:N", "said:N")]
    line = base.mark_line(point=True).encode(y=y, tooltip=tooltip)
    layers: list[Any] = [line]
    if any(row["low"] < row["high"] for row in rows):
        layers.append(base.mark_rule().encode(y=alt.Y("low:Q"), y2="high:Q"))
    chart = alt.layer(*layers).properties(
        width=theme.WIDTH,
        height=_HEIGHT,
        title=theme.title(f"{result.name}: {title(up)} by {across.name}", _runs(result)),
    )
    return theme.themed(cast("alt.LayerChart", chart))


def _objective(result: StudyResult, of: str | None) -> str:
    """Returns the column to plot. The default is the first objective."""
    if of is None:
        objectives = result.questions.objectives
        return objectives[0].column if objectives else "iops"
    known = [name for name in result.designs.columns if f"{name}_ci95" in result.designs.columns]
    if of not in known:
        raise config_error([unknown("no number called", of, known)])
    return of


def _across(result: StudyResult, axis: str | None) -> Axis:
    """Returns the axis of the study to plot. The default is the first numeric axis."""
    found = result.questions.axes
    if axis is None:
        numbers = (each for each in found if result.designs[_column(each)].dtype.is_numeric())
        return next(numbers, found[0])
    for each in found:
        if each.name == axis:
            return each
    raise config_error([unknown("no axis called", axis, [each.name for each in found])])


def _column(axis: Axis, known: pl.DataFrame | None = None) -> str:
    """Returns the column with the numbers of an axis, or with its labels if a number is missing."""
    from nacre.studies.analysis.table import labels

    column = labels(axis)[-1]
    return axis.name if known is not None and known[column].null_count() else column


def _series(result: StudyResult, across: Axis, known: pl.DataFrame) -> set[str]:
    others = [each.name for each in result.questions.axes if each.name != across.name]
    return {_label(row, others) for row in known.iter_rows(named=True)}


def _label(row: Mapping[str, Any], names: list[str]) -> str:
    return printable(", ".join(str(row[name]) for name in names if row[name] is not None))


def _ticks(x: Any, rows: list[dict[str, Any]]) -> Any:
    """Adds ticks at the values of the study, if there are at most ten values."""
    labels = {row["x"]: row["label"] for row in rows}
    if len(labels) > 10:
        return x
    said = "".join(f"datum.value == {value!r} ? '{labels[value]}' : " for value in labels)
    return x.axis(values=sorted(labels), labelExpr=f"{said}''")


def _scale(rows: list[dict[str, Any]], key: str) -> Any:
    values = [row[key] for row in rows]
    return "log" if min(values) > 0 and max(values) / min(values) > _WIDE else "linear"


def _runs(result: StudyResult) -> str:
    most = max(result.designs["runs"].to_list())
    if most == 1:
        return "each design ran once"
    return f"means of up to {most} runs, with their 95 % confidence intervals"
