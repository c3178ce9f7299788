"""Figure of the scores of tier mixes as a function of the shares of the first two tiers."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, cast

import altair as alt

from nacre.base.text import duration, printable, significant
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import TIME_LABEL

if TYPE_CHECKING:
    from nacre.results.mixes import Mixes

Data = list[dict[str, Any]]

SCHEME = ["#F4F7FB", "#BFD9EA", "#6FB1D8", "#0072B2", "#003A5C"]
_SIDE = 430
_TITLES = {
    "iops_per_cost": "IOPS per cost",
    "iops": "serial IOPS",
    "mean_ns": "mean latency",
    "cost": "price per GiB",
}


def mixes(found: Mixes, by: str = "iops_per_cost") -> alt.LayerChart:
    """Plots a cell per mix, whose color shows the score. The best mix is marked.

    If there are more than three tiers, a cell shows the best mix for the given shares of the first
    two tiers. If there are two tiers, the figure is a line over the share of the first tier.
    """
    best = found.best(1, by).to_dicts()[0]
    score = _title(found, by)
    headline = f"Best {score}: {_value(best[by], by)}"
    mix = f"with {said(best, found.names)}"
    subtitle = f"{found.name}: every mix in equal steps, extents placed best, one access at a time"
    if len(found.names) < 3:
        chart = _line(found, by, best)
    else:
        rows = _fields(found, by)
        chart = surface(
            rows,
            f"{found.names[0]} (% of capacity)",
            f"{found.names[1]} (%)",
            score,
            is_least=by in ("mean_ns", "cost"),
            is_time=by == "mean_ns",
        )
    titled = chart.properties(title=theme.title(headline, mix, subtitle))
    return theme.themed(titled)


def said(row: dict[str, Any], names: list[str]) -> str:
    """Formats the shares of a mix, e.g. `5 % pcm_ssd, 35 % emlc_ssd, 60 % disk`."""
    shares = [(100 * row[name], name) for name in names if row[name] > 0]
    return ", ".join(f"{share:.3g} % {name}" for share, name in shares)


def surface(
    rows: Data,
    x_title: str,
    y_title: str,
    title: str,
    *,
    is_least: bool = False,
    is_time: bool = False,
) -> alt.LayerChart:
    """Plots cells at the percentages `x` and `y`, colored by `value`. The best cell is marked.

    If `is_time` is true, values are in nanoseconds. If `is_least` is true, the lowest value is
    best.
    """
    pick = min if is_least else max
    best = pick(rows, key=lambda row: float(row["value"]))
    x, x2, center_x = _axis(rows, "x", x_title)
    y, y2, center_y = _axis(rows, "y", y_title)
    labels: dict[str, Any] = {"labelExpr": TIME_LABEL} if is_time else {"format": "~s"}
    color = (
        alt.Color("value:Q", title=title)
        .scale(
            range=SCHEME[::-1] if is_least else SCHEME, type="log" if _is_wide(rows) else "linear"
        )
        .legend(
            title=title,
            orient="right",
            direction="vertical",
            gradientLength=_SIDE - 60,
            titleLimit=0,
            **labels,
        )
    )
    fields = (
        alt.Chart(theme.data(rows))
        .mark_rect(stroke="white", strokeWidth=0.6)
        .encode(
            x=x,
            y=y,
            **x2,
            **y2,
            color=color,
            tooltip=["label:N", alt.Tooltip("value:Q", title=title, format=",.4~g")],
        )
    )
    ring = (
        alt.Chart(theme.data([best]))
        .mark_point(shape="circle", size=110, color=theme.ORANGE, strokeWidth=3, opacity=1)
        .encode(x=center_x, y=center_y)
    )
    named = alt.Chart(theme.data([best])).encode(x=center_x, y=center_y, text="label:N")
    place: dict[str, Any] = {"align": "left", "dx": 12, "dy": -10, "fontWeight": "bold"}
    words = (
        named.mark_text(**place, stroke="white", strokeWidth=4, strokeJoin="round"),
        named.mark_text(**place, color=theme.VERMILION),
    )
    chart = alt.layer(fields, ring, *words).properties(width=_SIDE, height=_SIDE)
    return cast("alt.LayerChart", chart)


def _title(found: Mixes, by: str) -> str:
    """Returns the title of a score, with the currency if the score includes prices."""
    if by not in ("iops_per_cost", "cost") or len(found.bases) != 1:
        return _TITLES[by]
    return f"{_TITLES[by]}, {printable(found.bases[0])}"


def _fields(found: Mixes, by: str) -> Data:
    """Returns the best mix for each pair of shares of the first two tiers."""
    first, second, *_ = found.names
    fields: dict[tuple[float, float], dict[str, Any]] = {}
    for row in found.best(len(found), by).to_dicts():
        fields.setdefault((row[first], row[second]), row)
    return [
        {"x": 100 * x, "y": 100 * y, "value": row[by], "label": said(row, found.names)}
        for (x, y), row in fields.items()
    ]


def _line(found: Mixes, by: str, best: dict[str, Any]) -> alt.LayerChart:
    name = found.names[0]
    rows = [
        {"x": 100 * row[name], "value": row[by], "label": said(row, found.names)}
        for row in found.to_polars().drop_nulls(by).to_dicts()
    ]
    x = alt.X("x:Q", title=f"{name} (% of capacity)").axis(grid=False)
    title = _title(found, by)
    y = alt.Y("value:Q", title=title)
    if by == "mean_ns":
        y = y.axis(labelExpr=TIME_LABEL)
    tooltip: list[Any] = ["label:N", alt.Tooltip("value:Q", title=title, format=",.4~g")]
    base = alt.Chart(theme.data(rows)).encode(x=x, y=y, tooltip=tooltip)
    mark = {"x": 100 * best[name], "value": best[by]}
    chart = alt.layer(
        base.mark_line(color=theme.BLUE),
        base.mark_point(color=theme.BLUE, filled=True, size=30, opacity=1),
        alt.Chart(theme.data([mark]))
        .mark_point(shape="circle", size=110, color=theme.ORANGE, strokeWidth=3, opacity=1)
        .encode(x="x:Q", y="value:Q"),
    ).properties(width=theme.WIDTH, height=300)
    return cast("alt.LayerChart", chart)


def _axis(rows: Data, field: str, title: str) -> tuple[Any, dict[str, str], Any]:
    """Returns the encodings of the start, end, and center of cells along one axis.

    Evenly spaced positions use a numeric axis. Other positions are plotted side by side.
    """
    channel: Any = alt.X if field == "x" else alt.Y
    places = sorted({row[field] for row in rows})
    step = min((after - before for before, after in itertools.pairwise(places)), default=1.0)
    if not math.isclose(places[-1] - places[0], step * (len(places) - 1), rel_tol=1e-6):
        order = places if field == "x" else places[::-1]
        axis = channel(f"{field}:O", title=title).sort(order).axis(labelAngle=0, format=".3~r")
        return axis, {}, axis
    start, end = f"{field}_from", f"{field}_to"
    for row in rows:
        row |= {start: row[field] - step / 2, end: row[field] + step / 2}
    domain = [places[0] - step / 2, places[-1] + step / 2]
    axis = channel(f"{start}:Q", title=title).scale(domain=domain, nice=False)
    return axis.axis(grid=False), {f"{field}2": f"{end}:Q"}, channel(f"{field}:Q")


def _is_wide(rows: Data) -> bool:
    values = [row["value"] for row in rows]
    if min(values) <= 0:
        raise Error("there is no surface to draw: a score is zero", "no-data")
    return bool(max(values) > 10 * min(values))


def _value(value: float, by: str) -> str:
    return duration(value) if by == "mean_ns" else significant(value)
