"""Figures with stacked bars, and a second measure on a separate axis."""

from __future__ import annotations

from typing import Any, cast

import altair as alt

from nacre.base.text import significant
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.stacked import in_line
from nacre.papers.measures.measures import Results
from nacre.papers.running.outcome import UnknownError
from nacre.papers.spec.paper import Drawing
from nacre.papers.spec.plan import Point

_HEIGHT = 300

Data = list[dict[str, Any]]


def stacks(results: Results, drawing: Drawing) -> alt.LayerChart:
    """Plots a stacked bar of all measures for every x and label of the series.

    Diamonds on the right axis show the measure `second_axis`, relative to its value for the first
    bar of the group.
    """
    bars, diamonds = _rows(results, drawing)
    if not bars:
        raise Error("there is nothing to draw: no run of this figure has ended", "no-data")
    names = list(dict.fromkeys(row["bar"] for row in bars))
    colors = [theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(drawing.measures))]
    x = alt.X("bar:O", title=None).sort(names).scale(paddingInner=0.45)
    x = x.axis(grid=False, labelAngle=0, labelLimit=200)
    parts = list(drawing.measures)
    color = alt.Color("part:N").scale(domain=parts, range=colors).legend(symbolType="square")
    left = (
        alt.Chart(theme.data(bars))
        .mark_bar()
        .encode(
            x=x,
            y=alt.Y("start:Q", title=drawing.y_title).axis(tickCount=6),
            y2="end:Q",
            color=color,
            tooltip=["bar:O", "part:N", alt.Tooltip("value:Q", format=",.4~g")],
        )
    )
    sums = alt.Chart(theme.data([row for row in bars if row["last"]]))
    # A diamond may cover the sum at the middle of a bar, so the sum is to its left.
    words = sums.mark_text(
        dx=-10 if diamonds else 0, dy=-8, fontSize=11, align="right" if diamonds else "center"
    ).encode(x=x, y="end:Q", text="said:N")
    chart = alt.layer(alt.layer(left, words))
    if diamonds:
        right = alt.Y("value:Q", title=drawing.second_axis_title).scale(zero=True)
        right = right.axis(orient="right", grid=False, tickCount=6)
        base = alt.Chart(theme.data(diamonds)).encode(x=x, y=right)
        marks = base.mark_point(
            shape="diamond", size=110, filled=True, opacity=1, color=theme.INK
        ).encode(tooltip=["bar:O", alt.Tooltip("value:Q", format=",.4~g")])
        said = base.mark_text(dx=26, fontSize=11, fontWeight="bold").encode(text="said:N")
        chart = alt.layer(alt.layer(left, words), alt.layer(marks, said))
        chart = chart.resolve_scale(y="independent")
    return cast("alt.LayerChart", chart.properties(width=theme.WIDTH, height=_HEIGHT))


def _rows(results: Results, drawing: Drawing) -> tuple[Data, Data]:
    """Returns the segments of the bars, from the bottom up, and the diamonds."""
    bars: Data = []
    diamonds: Data = []
    first: dict[str, float] = {}
    points = results.paper.points(drawing.points) if drawing.points else []
    places = list(dict.fromkeys(dict(point.labels)[drawing.x] for point in points))
    for point in sorted(points, key=lambda point: places.index(dict(point.labels)[drawing.x])):
        labels = dict(point.labels)
        place = labels[drawing.x]
        bar = f"{place}: {labels[drawing.series]}" if drawing.series else place
        values = {part: _value(results, point, name) for part, name in drawing.measures.items()}
        parts: Data = [
            {"bar": bar, "part": part, "value": value}
            for part, value in values.items()
            if value is not None
        ]
        for row in in_line(parts, "value"):
            bars.append(row | {"said": significant(row["end"])})
        found = _value(results, point, drawing.second_axis) if drawing.second_axis else None
        if found is not None:
            ratio = found / first.setdefault(place, found)
            diamonds.append({"bar": bar, "value": ratio, "said": significant(ratio)})
    return bars, diamonds


def _value(results: Results, point: Point, measure: str) -> float | None:
    try:
        return results.reading(point, measure).value
    except UnknownError:
        return None
