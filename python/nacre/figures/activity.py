"""Live figure of the requests of a served device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import altair as alt

from nacre.figures import theme
from nacre.figures.axes import COUNT_LABEL, TIME_LABEL
from nacre.results.served import Sample

SAMPLES = "samples"
"""Name of the data set into which a page inserts rows. The rows have the fields of `Sample`."""
SPAN_S = 120
"""Length in seconds of the time axis, which ends at the last sample."""

_ERRORS_ONLY = 1
_FOR_PAGES = {
    "data": SAMPLES,
    "span_s": SPAN_S,
    "embedOptions": {"logLevel": _ERRORS_ONLY},
}
"""Metadata for pages. Vega logs only errors, because it warns about axes without values, and a live
figure starts empty."""

_SAID_WIDTH = 150
_LABELS = 44
"""Width in pixels that is reserved for axis labels, so that the plot area of a live figure stays in
place."""


class _Panel(NamedTuple):
    """Panel with one line per kind of request. In the expressions, `{0}` stands for the kind."""

    title: str
    least: int
    """Minimum value for the upper end of the axis."""
    value: str
    label: str
    """Vega expression that formats `datum.value` on the axis."""
    said: str
    """Text for the latest value. `{0}` is the formatted value."""
    line: Literal["linear", "step-before"]
    """Interpolation of the line. A rate applies to the time since the previous sample. A latency
    between missing values is plotted as a point."""
    height: int


_TIMED = "datum.timed_{0}s - datum.timed_{0}s_before"
_PANELS = (
    _Panel(
        "requests/s",
        1,
        "(datum.{0}s - datum.{0}s_before) / (datum.up_s - datum.up_s_before)",
        COUNT_LABEL,
        "({0}) + ' ' + datum.kind + 's/s'",
        "step-before",
        130,
    ),
    _Panel(
        "mean latency",
        1000,
        f"{_TIMED} > 0 ? (datum.{{0}}_ns - datum.{{0}}_ns_before) / ({_TIMED}) : null",
        TIME_LABEL,
        "datum.kind + 's ' + ({0})",
        "linear",
        80,
    ),
)


def served(samples: Iterable[Sample] = ()) -> alt.VConcatChart:
    """Plots requests per second and mean latency between samples of a served device.

    Without samples, the figure is empty, so that a page can insert rows later.
    """
    rows = theme.data(sample._asdict() for sample in samples)
    rows["name"] = SAMPLES
    between = _between(alt.Chart(rows))
    panels = alt.vconcat(*(_panel(between, each) for each in _PANELS), spacing=30)
    title = theme.title(
        "Requests per second and their mean latency",
        f"as the device is modeled, over the last {SPAN_S} seconds",
    )
    # The figure grows when the first samples add the text above the panels.
    size = alt.AutoSizeParams(type="pad", resize=True)
    return theme.themed(panels.properties(title=title, usermeta=_FOR_PAGES, autosize=size))


def _between(chart: alt.Chart) -> alt.Chart:
    """Adds to each sample the preceding sample, and its age relative to the latest sample."""
    before: list[Any] = [
        {"op": "lag", "field": field, "as": f"{field}_before"} for field in Sample._fields
    ]
    return (
        chart.transform_window(window=before, sort=[alt.SortField("up_s")])
        .transform_joinaggregate(last_s="max(up_s)")
        .transform_filter("isValid(datum.up_s_before)")
        .transform_calculate(ago_s="datum.up_s - datum.last_s")
        .transform_filter(f"datum.ago_s >= {-SPAN_S}")
    )


def _panel(between: alt.Chart, panel: _Panel) -> alt.LayerChart:
    """Plots a line for each kind of request, with the latest values above the lines."""
    kinds: list[Any] = list(theme.OP_COLORS)
    values = between.transform_calculate(**{kind: panel.value.format(kind) for kind in kinds})
    values = values.transform_fold(kinds, as_=["kind", "value"])
    x = alt.X("ago_s:Q", title=None).scale(domain=[-SPAN_S, 0], nice=False)
    x = x.axis(
        grid=False,
        values=list(range(-SPAN_S, 1, SPAN_S // 4)),
        labelExpr="datum.value ? -datum.value + ' s ago' : 'now'",
    )
    y = alt.Y("value:Q", title=panel.title).axis(
        tickCount=3, labelExpr=panel.label, minExtent=_LABELS
    )
    y = y.scale(domain={"unionWith": [0, panel.least]})
    color = alt.Color("kind:N", legend=None)
    color = color.scale(domain=kinds, range=list(theme.OP_COLORS.values()))
    # The round cap of a line shows a value between two missing values as a dot.
    line = values.mark_line(interpolate=panel.line, strokeCap="round", strokeWidth=1.6)
    line = line.encode(x=x, y=y, color=color)
    said = panel.said.format(panel.label.replace("datum.value", "datum.rounded"))
    last = (
        values.transform_filter("datum.ago_s == 0 && isValid(datum.value)")
        .transform_calculate(rounded="toNumber(format(datum.value, '.3r'))")
        .transform_calculate(said=said)
    )
    layers: list[Any] = [line]
    for number, kind in enumerate(kinds):
        text = last.transform_filter(f"datum.kind == '{kind}'").mark_text(
            align="left", fontWeight="bold"
        )
        place = {"x": alt.value(number * _SAID_WIDTH), "y": alt.value(-10)}
        layers.append(text.encode(**place, text="said:N", color=color))
    drawn: Any = alt.layer(*layers)
    framed: alt.LayerChart = drawn.properties(width=theme.WIDTH, height=panel.height)
    return framed
