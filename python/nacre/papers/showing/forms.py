"""Figures other than lines: columns, surfaces, distributions, and values over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import altair as alt
import numpy as np

from nacre.base.text import significant
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.mixes import surface as fields
from nacre.papers.measures.measures import Results
from nacre.papers.running.outcome import UnknownError
from nacre.papers.spec.paper import Drawing
from nacre.results.record import Op, Record
from nacre.studies.analysis.interval import half_width

_HEIGHT = 280
_ROOM = 60
"""Minimum width in pixels of a column with its number above it."""

_LETTER = 7
"""Width in pixels of a letter in a label."""

_GAP = 60
"""Distance in pixels between panels side by side."""

Data = list[dict[str, Any]]


def columns(results: Results, drawing: Drawing) -> alt.LayerChart:
    """Plots a column for every x and label of the series, with its value above the column.

    If the figure has confidence intervals, it shows the intervals instead of the value labels.
    """
    (measure,) = drawing.measures.values()
    rows: Data = []
    for points in results.repeated(drawing.points):
        labels = dict(points[0].labels)
        try:
            value = results.mean(points, measure).value
        except UnknownError:
            continue
        row = {"x": labels[drawing.x], "series": labels.get(drawing.series, ""), "value": value}
        ends = results.interval(points, measure, drawing.interval)
        rows.append(row | ends | {"said": significant(value)})
    if not rows:
        raise Error("there is nothing to draw: no run of this figure has ended", "no-data")
    places = list(dict.fromkeys(row["x"] for row in rows))
    series = list(dict.fromkeys(row["series"] for row in rows))
    colors = [theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(series))]
    x = (
        alt.X("x:O", title=drawing.x_title or drawing.x)
        .sort(places)
        .scale(paddingInner=0.25)
        .axis(grid=False, labelAngle=0 if _fit(places) else -35, labelLimit=160)
    )
    y = alt.Y("value:Q", title=drawing.y_title).axis(tickCount=6)
    color = alt.Color("series:N").scale(domain=series, range=colors)
    color = color.legend(symbolType="square") if len(series) > 1 else color.legend(None)
    offset = alt.XOffset("series:N").sort(series)
    base = alt.Chart(theme.data(rows))
    tooltip = ["x:O", "series:N", alt.Tooltip("value:Q", format=",.4~g")]
    bars = base.mark_bar().encode(x=x, xOffset=offset, y=y, color=color, tooltip=tooltip)
    layers: list[alt.Chart] = [bars]
    if drawing.interval:
        rules = base.mark_rule(strokeWidth=2, color=theme.INK)
        layers.append(rules.encode(x=x, xOffset=offset, y="low:Q", y2="high:Q"))
    elif theme.WIDTH / len(rows) > _ROOM / 2:
        words = base.mark_text(dy=-7, fontSize=10.5)
        layers.append(words.encode(x=x, xOffset=offset, y=y, text="said:N"))
    chart = alt.layer(*layers).properties(width=theme.WIDTH, height=_HEIGHT)
    return cast("alt.LayerChart", chart)


def _fit(places: list[str]) -> bool:
    """Returns whether all labels of the x axis fit side by side."""
    return max(map(len, places)) * _LETTER < theme.WIDTH / len(places)


def surface(results: Results, drawing: Drawing) -> alt.LayerChart:
    """Plots a cell per point, colored by its value. The highest cell is marked and labeled."""
    rows: Data = []
    for point in results.paper.points(drawing.points) if drawing.points else []:
        labels = dict(point.labels)
        try:
            found = {
                name: results.reading(point, measure).value
                for name, measure in drawing.measures.items()
            }
        except UnknownError:
            continue
        rows.append(found | {"label": labels.get(drawing.series, point.name)})
    if not rows:
        raise Error("there is nothing to draw: no run of this figure has ended", "no-data")
    value, _, rest = drawing.y_title.partition(";")
    return fields(rows, drawing.x_title, rest.strip() or "y", value)


def distribution(results: Results, drawing: Drawing) -> alt.HConcatChart:
    """Plots cumulative distributions of latencies, with a line for every label of the series.

    Each label of `x` has a separate panel and latency axis. For repeated runs, the figure shows the
    mean share and its 95 % confidence interval.
    """
    (op,) = drawing.measures.values()
    panels: dict[str, Data] = {}
    for points in results.repeated(drawing.points):
        ended = [results.outcomes.ended.get(point.job) for point in points]
        records = [record for record in ended if isinstance(record, Record)]
        if not records:
            continue
        labels = dict(points[0].labels)
        rows = panels.setdefault(labels.get(drawing.x, ""), [])
        before = (0.0, 0.0, 0.0)
        for upto_us, shares in _shares(records, "read" if op == "read" else "write"):
            # Use a step line, because no latency lies between two bins.
            rows += [
                {"x": upto_us, "value": value, "low": low, "high": high}
                | {"series": labels[drawing.series]}
                for value, low, high in (before, shares)
            ]
            before = shares
    if not panels:
        raise Error("there is nothing to draw: no run of this figure has ended", "no-data")
    series = list(dict.fromkeys(row["series"] for rows in panels.values() for row in rows))
    width = (theme.WIDTH - _GAP * (len(panels) - 1)) / len(panels)
    charts = [
        _steps(rows, series, drawing, label).properties(width=width, height=_HEIGHT)
        for label, rows in panels.items()
    ]
    return alt.hconcat(*charts, spacing=_GAP)


def _shares(
    records: Sequence[Record], op: Op
) -> Iterator[tuple[float, tuple[float, float, float]]]:
    """Yields latencies in microseconds with cumulative shares of requests.

    The share is the mean over the records, with the bounds of its confidence interval.
    """
    frames = [record.latency_distribution(op) for record in records]
    ends = [frame["upto_ns"].to_numpy() for frame in frames]
    known = [np.concatenate(([0.0], frame["share"].to_numpy())) for frame in frames]
    for upto_ns in np.unique(np.concatenate(ends)):
        found = [
            float(shares[np.searchsorted(of, upto_ns, side="right")])
            for of, shares in zip(ends, known, strict=True)
        ]
        mean, within = sum(found) / len(found), half_width(found) or 0.0
        yield float(upto_ns) / 1e3, (mean, max(mean - within, 0.0), min(mean + within, 1.0))


def _steps(rows: Data, series: list[str], drawing: Drawing, label: str) -> alt.LayerChart:
    """Plots the lines of one panel.

    Later lines are thinner and dashed, so that earlier lines stay visible.
    """
    low, high = (end(row["x"] for row in rows) for end in (min, max))
    room = max(0.1 * (high - low), 0.01 * high)
    # Extend the lines to both edges of the panel.
    whole = list(rows)
    for name in series:
        for x, share in ((low - room, 0.0), (high + room, 1.0)):
            whole.append({"x": x, "value": share, "low": share, "high": share, "series": name})
    colors = [theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(series))]
    color = alt.Color("series:N").scale(domain=series, range=colors)
    color = color.legend(symbolType="stroke", symbolOpacity=1)
    title = f"{drawing.x_title}, {drawing.x} {label}" if label else drawing.x_title
    domain = alt.X("x:Q", title=title).scale(domain=[low - room, high + room], nice=False)
    y = alt.Y("value:Q", title=drawing.y_title).axis(format="%")
    layers = []
    for place, name in enumerate(series):
        of_series = [row for row in whole if row["series"] == name]
        of_series.sort(key=lambda row: (row["x"], row["value"]))
        base = alt.Chart(theme.data(of_series))
        across = domain.axis(grid=False, tickCount=5)
        band = base.mark_area(opacity=0.25).encode(x=across, y="low:Q", y2="high:Q", color=color)
        lines = base.mark_line(
            strokeWidth=max(5 - 3 * place, 2), strokeDash=[6, 4] if place else [1, 0]
        )
        layers += [band, lines.encode(x=across, y=y, color=color)]
    return cast("alt.LayerChart", alt.layer(*layers))


def course(results: Results, drawing: Drawing) -> alt.LayerChart:
    """Plots one column of each record over another column, with a line for every point."""
    (measure,) = drawing.measures.values()
    rows: Data = []
    for point in results.paper.points(drawing.points) if drawing.points else []:
        record = results.outcomes.ended.get(point.job)
        if not isinstance(record, Record):
            continue
        name = dict(point.labels).get(drawing.series, point.name)
        for component in record.components:
            paths = [f"{component.path}.{column}" for column in (drawing.x, measure)]
            if not all(path in record.columns for path in paths):
                continue
            x, y = (record.columns[path].tolist() for path in paths)
            steps = zip([0.0, *x], [1.0, *y], strict=True)
            rows += [{"x": at, "value": value, "series": name} for at, value in steps]
    if not rows:
        raise Error("there is nothing to draw: no run of this figure has ended", "no-data")
    series = list(dict.fromkeys(row["series"] for row in rows))
    colors = [theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(series))]
    color = alt.Color("series:N").scale(domain=series, range=colors)
    color = color.legend(symbolType="stroke", columns=3)
    x_axis = alt.X("x:Q", title=drawing.x_title).axis(grid=False, format="~s")
    y_axis = alt.Y("value:Q", title=drawing.y_title).axis(format="%")
    lines = alt.Chart(theme.data(rows)).mark_line(strokeWidth=2)
    lines = lines.encode(x=x_axis, y=y_axis, color=color)
    chart = alt.layer(lines).properties(width=theme.WIDTH, height=_HEIGHT)
    return cast("alt.LayerChart", chart)
