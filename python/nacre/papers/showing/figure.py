"""Figures of papers with simulated and published results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import altair as alt

from nacre.errors import Error
from nacre.figures import theme
from nacre.papers.judging.judge import Row, number, rows
from nacre.papers.measures.measures import Results
from nacre.papers.running.outcome import UnknownError
from nacre.papers.showing.forms import columns, course, distribution, surface
from nacre.papers.showing.stacks import stacks
from nacre.papers.showing.table import published, verdict
from nacre.papers.spec.claim import Claim
from nacre.papers.spec.paper import Drawing
from nacre.papers.spec.plan import Point

_HEIGHT = 300
_LINE = 18
_COLORS = {"pass": theme.GREEN, "miss": theme.VERMILION, "FAIL": theme.VERMILION}
_PUBLISHED = "published"
_MARKED = "diamonds and dashes: published numbers, gray: what is allowed"
_ONLY_SHAPE = "of the published curves only the shape is stated"

Data = list[dict[str, Any]]


def figure(results: Results, name: str) -> alt.VConcatChart:
    """Plots the figure `name`, with a line of text for each claim about it."""
    drawing = results.paper.drawings[name]
    found = rows(results, [name])
    panel: alt.LayerChart | alt.Chart | alt.HConcatChart
    only_shape = False
    if drawing.form == "bars":
        panel = _bars(found)
    elif drawing.form == "stacks":
        panel = stacks(results, drawing)
    elif drawing.form == "columns":
        panel = columns(results, drawing)
    elif drawing.form == "surface":
        panel = surface(results, drawing)
    elif drawing.form == "distribution":
        panel = distribution(results, drawing)
    elif drawing.form == "course":
        panel = course(results, drawing)
    else:
        claims = [claim for claim in results.paper.claims if claim.figure == name]
        panel, only_shape = _lines(results, drawing, claims)
    subtitles = [f"{results.paper.name}, {name}: {drawing.stated or results.paper.title}"]
    if drawing.form == "lines":
        asserted = any(row["kind"] == "trend" for row in found)
        marks = _ONLY_SHAPE if only_shape and asserted else _MARKED
        is_alone = only_shape and not asserted
        subtitles.append("lines: simulated" if is_alone else f"lines: simulated; {marks}")
    joined = alt.vconcat(panel, _statements(found), spacing=18).resolve_scale(color="independent")
    chart: alt.VConcatChart = joined.properties(title=theme.title(drawing.title, *subtitles))
    return theme.themed(chart)


def _lines(
    results: Results, drawing: Drawing, claims: Sequence[Claim]
) -> tuple[alt.LayerChart, bool]:
    """Plots simulated points with lines, and published numbers as diamonds and horizontal lines.

    Returns the panel, and whether there are no published numbers to compare.
    """
    simulated = _simulated(results, drawing)
    if not simulated:
        raise Error("there is nothing to draw: no run of this figure has ended", "no-data")
    marks = _marks(results, drawing, claims)
    series = list(dict.fromkeys(str(row["series"]) for row in simulated))
    colors = [theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(series))]
    legend: Any = {"symbolType": "stroke"} if len(series) > 1 else None
    color = alt.Color("series:N").scale(domain=series, range=colors)
    color = color.legend(**legend) if legend else color.legend(None)
    x, y = _x(drawing, simulated), _y(drawing)
    base = alt.Chart(theme.data(simulated)).encode(x=x, y=y, color=color)
    tooltip = ["series:N", "label:N", alt.Tooltip("value:Q", format=",.4~g")]
    layers: list[alt.Chart] = [
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=46, opacity=1).encode(tooltip=tooltip),
    ]
    if drawing.interval:
        layers.append(base.mark_rule(strokeWidth=5, opacity=0.4).encode(y="low:Q", y2="high:Q"))
    points = [mark for mark in marks if "x" in mark]
    if points:
        drawn = alt.Chart(theme.data(points))
        within = drawn.mark_rule(strokeWidth=7, opacity=0.28, color=theme.INK)
        diamond = drawn.mark_point(shape="diamond", size=90, strokeWidth=1.6, color=theme.INK)
        if drawing.join:
            layers.append(drawn.mark_line(strokeDash=[4, 3], color=theme.INK).encode(x=x, y=y))
        layers += [
            within.encode(x=x, y="low:Q", y2="high:Q"),
            diamond.encode(x=x, y=y, tooltip=["metric:N", "value:Q"]),
        ]
    if level := [mark for mark in marks if "x" not in mark]:
        drawn = alt.Chart(theme.data(level))
        layers += [
            drawn.mark_rule(strokeDash=[6, 4], color=theme.INK).encode(y=y),
            drawn.mark_text(align="left", baseline="bottom", dx=4, dy=-3).encode(
                x=alt.value(0), y=y, text="said:N"
            ),
        ]
    chart = alt.layer(*layers).properties(width=theme.WIDTH, height=_HEIGHT)
    return cast("alt.LayerChart", chart), not marks


def _simulated(results: Results, drawing: Drawing) -> Data:
    found: Data = []
    for name, measure in drawing.measures.items():
        for points in results.repeated(drawing.points):
            try:
                point, value = points[0], results.mean(points, measure).value
            except UnknownError:
                continue
            series = " ".join(
                part for part in (dict(point.labels).get(drawing.series), name) if part
            )
            ends = results.interval(points, measure, drawing.interval)
            row = {"series": series, "value": value} | ends
            found.append(_place(results, drawing, point) | row)
    return found


def _marks(results: Results, drawing: Drawing, claims: Sequence[Claim]) -> Data:
    """Returns marks for the published numbers.

    Only a number about a single point has an x value.
    """
    found: Data = []
    for claim in claims:
        if not isinstance(claim.published, float):
            continue
        if claim.measure not in drawing.measures.values():
            continue
        said = f"{_PUBLISHED}: {number(claim.published, claim.unit)}"
        mark: dict[str, Any] = {"value": claim.published, "metric": claim.metric, "said": said}
        if claim.check == "value":
            (point,) = results.paper.points(claim.of)
            if drawing.x not in dict(point.labels):
                continue
            off = claim.tolerance.absolute or (claim.tolerance.relative or 0.0) * claim.published
            ends = {"low": claim.published - off, "high": claim.published + off}
            found.append(mark | _place(results, drawing, point) | ends)
        elif claim.check in ("highest", "lowest"):
            found.append(mark)
    return found


def _place(results: Results, drawing: Drawing, point: Point) -> dict[str, Any]:
    label = dict(point.labels)[drawing.x]
    x = results.paper.plan[point.group].number(drawing.x, label)
    return {"x": label if drawing.ordinal or x is None else x, "label": label}


def _x(drawing: Drawing, simulated: Data) -> alt.X:
    title = drawing.x_title or drawing.x
    if any(isinstance(row["x"], str) for row in simulated):
        places = list(dict.fromkeys(row["x"] for row in simulated))
        return alt.X("x:O", title=title).sort(places).axis(grid=False, labelAngle=0)
    return alt.X("x:Q", title=title).scale(zero=False, nice=True).axis(grid=False, tickCount=8)


def _y(drawing: Drawing) -> alt.Y:
    y = alt.Y("value:Q", title=drawing.y_title)
    return y.scale(type="log") if drawing.log else y.axis(tickCount=6)


def _bars(found: Sequence[Row]) -> alt.LayerChart:
    """Plots simulated values as bars, and published values as ticks on the bars."""
    numbers = [row for row in found if not isinstance(row["published"], str)]
    data = [
        {
            "metric": row["metric"],
            "simulated": row["simulated"],
            "published": row["published"],
            "said": number(row["simulated"], row["unit"]),
        }
        for row in numbers
    ]
    base = alt.Chart(theme.data(data)).encode(
        y=alt.Y("metric:N", title=None)
        .sort([row["metric"] for row in numbers])
        .axis(grid=False, labelLimit=300)
    )
    units = ", ".join(dict.fromkeys(row["unit"] for row in numbers if row["unit"]))
    title = "bar: simulated, line: published" + (f" ({units})" if units else "")
    x = alt.X("simulated:Q", title=title).axis(grid=False)
    chart = alt.layer(
        base.mark_bar(height={"band": 0.6}, color=theme.BLUE).encode(x=x),
        base.mark_tick(thickness=3, color=theme.INK, height={"band": 0.9}).encode(x="published:Q"),
        base.transform_calculate(end="max(datum.simulated, datum.published)")
        .mark_text(align="left", dx=8)
        .encode(x="end:Q", text="said:N"),
    ).properties(width=theme.WIDTH - 140, height=34 * len(data))
    return cast("alt.LayerChart", chart)


def _statements(found: Sequence[Row]) -> alt.Chart:
    """Plots a line of text for each claim, colored by its verdict."""
    data = [
        {"line": i, "text": _statement(row), "color": _COLORS.get(verdict(row), theme.FAINT)}
        for i, row in enumerate(found)
    ]
    chart: alt.Chart = (
        alt.Chart(theme.data(data))
        .mark_text(align="left", baseline="middle", limit=theme.WIDTH + 260, fontSize=11)
        .encode(
            x=alt.value(0),
            y=alt.Y("line:O").axis(None),
            text="text:N",
            color=alt.Color("color:N").scale(None),
        )
        .properties(width=theme.WIDTH, height=_LINE * len(data))
    )
    return chart


def _statement(row: Row) -> str:
    simulated = number(row["simulated"], row["unit"])
    allowed = f" ({row['tolerance']})" if row["tolerance"] else ""
    return f"{verdict(row)}: {row['metric']}: {simulated}; {_PUBLISHED}: {published(row)}{allowed}"
