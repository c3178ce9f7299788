"""Figure of the designs of a study for two objectives, with the Pareto front.

If there are many designs, the figure contains the whole front and one dot for each cell of a grid.
A figure with 20,000 dots takes 7 MB but looks like a figure with 1,000 dots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import altair as alt

from nacre.base.text import printable
from nacre.errors import Error
from nacre.figures import axes, theme

if TYPE_CHECKING:
    from nacre.studies.result import StudyResult

_HEIGHT = 380
_LABELS_MAX = 12
_DOTS_MAX = 1500
"""Maximum number of dots for designs that are not on the front."""
_WIDE = 30
"""Ratio between the largest and the smallest value above which an axis is logarithmic."""


def pareto(result: StudyResult) -> alt.LayerChart:
    """Plots the first objective over the second, with the Pareto front as a line."""
    from nacre.words.studies import cell, counted, title

    objectives = result.questions.objectives
    if len(objectives) < 2:
        raise Error("a Pareto front is drawn of two objectives, and the study has fewer", "no-data")
    up, across = objectives[0].column, objectives[1].column
    known = [
        row
        for row in result.designs.iter_rows(named=True)
        if row[up] is not None and row[across] is not None
    ]
    if not known:
        raise Error("no design has both objectives, so there is nothing to draw", "no-data")
    front = set(result.pareto()["design"])
    names = [axis.name for axis in result.questions.axes]
    given = [axis.name for axis in result.questions.axes if axis.condition]
    every = [
        {
            "x": row[across],
            "y": row[up],
            "kind": _kind(row, front),
            "under": printable(", ".join(str(row[n]) for n in given)),
            "label": printable(", ".join(str(row[n]) for n in names if row[n] is not None)),
            "up": cell(up, row[up]),
            "across": cell(across, row[across]),
            **_interval("x", row, across),
            **_interval("y", row, up),
        }
        for row in known
    ]
    rows = _distinguishable(every)
    x = _axis(alt.X, "x", across, rows, counted(across, result))
    y = _axis(alt.Y, "y", up, rows, counted(up, result))
    best = [row for row in rows if row["kind"] == _FRONT]
    kinds = [kind for kind in _COLORS if any(row["kind"] == kind for row in rows)]
    dots = (
        alt.Chart(theme.data(rows))
        .mark_circle(size=60, opacity=0.85)
        .encode(
            x=x,
            y=y,
            color=alt.Color("kind:N").scale(domain=kinds, range=[_COLORS[kind] for kind in kinds]),
            tooltip=[alt.Tooltip(name) for name in ("label:N", "up:N", "across:N")],
        )
    )
    bars = _intervals(rows, x, y)
    layers: list[Any] = [dots, *bars]
    if len(objectives) == 2 and best:
        step: Any = "step-after" if objectives[1].goal == "min" else "step-before"
        line = alt.Chart(theme.data(best)).mark_line(interpolate=step, color=theme.VERMILION)
        # Each condition has a separate front.
        layers.insert(0, line.encode(x=x, y=y, order=alt.Order("x:Q"), detail="under:N"))
    said = _merged_labels(best)
    if len(said) <= _LABELS_MAX:
        rightmost = max((row["x"] for row in said), default=0.0)
        sides: list[tuple[Any, int]] = [("left", 7), ("right", -7)]
        for align, dx in sides:
            some = [row for row in said if (row["x"] == rightmost) == (align == "right")]
            if not some:
                continue  # Vega warns about a layer without data, because its extent is unknown.
            text = alt.Chart(theme.data(some)).mark_text(align=align, dx=dx, dy=11, fontSize=11)
            layers.append(text.encode(x=x, y=y, text="label:N"))
    chart = alt.layer(*layers).properties(
        width=theme.WIDTH,
        height=_HEIGHT,
        title=theme.title(
            f"{result.name}: {title(up)} against {title(across)}",
            _subtitle(result, bool(bars), drawn=(len(rows), len(every))),
        ),
    )
    return theme.themed(cast("alt.LayerChart", chart))


def _distinguishable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows to plot: the front, and one row for each grid cell and kind of row."""
    if len(rows) <= _DOTS_MAX:
        return rows
    places = [_places(rows, key) for key in ("x", "y")]
    cells = 256
    while True:
        kept: dict[object, dict[str, Any]] = {}
        for number, row in enumerate(rows):
            at = tuple(int(cells * place[number]) for place in places)
            kept.setdefault(number if row["kind"] == _FRONT else (row["kind"], at), row)
        beaten = sum(row["kind"] != _FRONT for row in kept.values())
        if beaten <= _DOTS_MAX or cells == 1:
            return list(kept.values())
        cells //= 2


def _places(rows: list[dict[str, Any]], key: str) -> list[float]:
    """Returns the positions of the rows along an axis, from 0 to 1."""
    of = math.log if _scale(rows, key) == "log" else float
    values = [of(row[key]) for row in rows]
    low, high = min(values), max(values)
    return [(value - low) / ((high - low) or 1.0) for value in values]


def _interval(key: str, row: dict[str, Any], column: str) -> dict[str, float]:
    """Returns the confidence interval of a design's mean.

    Omits the lower part if a log axis cannot show it.
    """
    value, within = row[column], row[f"{column}_ci95"] or 0.0
    low = value - within
    return {f"{key}_low": value if low <= 0 < value else low, f"{key}_high": value + within}


def _intervals(rows: list[dict[str, Any]], x: Any, y: Any) -> list[alt.Chart]:
    """Plots error bars for designs with several runs."""
    found = []
    for key, bounds in (
        ("x", {"x": alt.X("x_low:Q"), "x2": "x_high:Q", "y": y}),
        ("y", {"y": alt.Y("y_low:Q"), "y2": "y_high:Q", "x": x}),
    ):
        some = [row for row in rows if row[f"{key}_low"] < row[f"{key}_high"]]
        if some:
            rule: Any = alt.Chart(theme.data(some)).mark_rule(color=theme.INK, opacity=0.7)
            found.append(rule.encode(**bounds))
    return found


def _axis(channel: Any, key: str, column: str, rows: list[dict[str, Any]], said: str) -> Any:
    label = {"labelExpr": axes.TIME_LABEL} if column.endswith("_ns") else {}
    scaled = channel(f"{key}:Q", title=said).scale(type=_scale(rows, key), zero=False)
    return scaled.axis(**label) if label else scaled


def _merged_labels(best: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Combines the labels of designs at the same position into one label."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in best:
        found.setdefault((row["across"], row["up"]), []).append(row)
    return [
        rows[0] | {"label": rows[0]["label"] + (f" and {len(rows) - 1} more" if rows[1:] else "")}
        for rows in found.values()
    ]


_FRONT, _BEATEN, _OUT = "on the front", "dominated", "violates a constraint"
_COLORS = {_FRONT: theme.VERMILION, _BEATEN: theme.GRAY, _OUT: "#D8D8D8"}


def _kind(row: dict[str, Any], front: set[int]) -> str:
    if not row["feasible"]:
        return _OUT
    return _FRONT if row["design"] in front else _BEATEN


def _scale(rows: list[dict[str, Any]], key: str) -> Any:
    values = [row[key] for row in rows]
    return "log" if min(values) > 0 and max(values) / min(values) > _WIDE else "linear"


def _subtitle(result: StudyResult, are_bars: bool, *, drawn: tuple[int, int]) -> str:
    from nacre.words.studies import facts

    some, every = drawn
    said = facts(result)[0] + ("; bars: 95 % confidence intervals" if are_bars else "")
    return said if some == every else f"{said}; {some:,} of {every:,} designs drawn"
