"""Figure of the miss ratio of an LRU cache as a function of the cache size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from nacre.base.text import count, percent, size
from nacre.figures import theme

if TYPE_CHECKING:
    from nacre.results.curves import MissRatioCurve

SIZE_LABEL = (
    "datum.value >= 1099511627776 ? format(datum.value / 1099511627776, ',~r') + ' TiB'"
    " : datum.value >= 1073741824 ? format(datum.value / 1073741824, ',~r') + ' GiB'"
    " : datum.value >= 1048576 ? format(datum.value / 1048576, ',~r') + ' MiB'"
    " : format(datum.value / 1024, ',~r') + ' KiB'"
)
COLORS = {"all": theme.INK, "reads": theme.BLUE, "writes": theme.VERMILION}


def miss_ratio(curve: MissRatioCurve) -> alt.LayerChart:
    """Plots miss-ratio curves of reads, writes, and all accesses.

    If the curve is an estimate, the figure shows confidence intervals.
    """
    frame = curve.to_polars()
    kinds = curve.kinds()
    points: list[dict[str, Any]] = []
    for kind in kinds:
        for row in frame.iter_rows(named=True):
            within = row.get(f"{kind}_ci95", 0.0)
            points.append(
                {
                    "bytes": row["bytes"],
                    "kind": kind,
                    "miss": row[kind],
                    "low": max(0.0, row[kind] - within),
                    "high": min(1.0, row[kind] + within),
                }
            )
    chart = alt.Chart(theme.data(points)).encode(
        x=size_axis(float(frame["bytes"][0]), float(frame["bytes"][-1]), "size of the cache"),
        color=colors(kinds),
    )
    y = alt.Y("miss:Q", title="miss ratio").scale(domain=[0, 1]).axis(format="~%", tickCount=5)
    line = chart.mark_line().encode(y=y)
    band = chart.mark_area(opacity=0.18).encode(y=alt.Y("low:Q", title="miss ratio"), y2="high:Q")
    layers = [band, line] if curve.sampled else [line]
    drawn: Any = alt.layer(*layers)
    framed: alt.LayerChart = drawn.properties(title=_title(curve), width=theme.WIDTH, height=300)
    return theme.themed(framed)


def size_axis(low: float, high: float, title: str, field: str = "bytes") -> alt.X:
    """Creates a log axis of sizes with ticks at powers of two."""
    first, last = math.floor(math.log2(max(low, 1))), math.ceil(math.log2(max(high, low * 2, 2)))
    step = max(1, math.ceil((last - first) / 10))
    ticks = [2.0**power for power in range(first, last + 1, step)]
    return (
        alt.X(f"{field}:Q", title=title)
        .scale(type="log", domain=[2.0**first, 2.0**last], nice=False)
        .axis(values=ticks, labelExpr=SIZE_LABEL, grid=False)
    )


def colors(kinds: list[Any]) -> alt.Color:
    """Returns the color encoding for all accesses, reads, and writes."""
    shown = [str(kind) for kind in kinds]
    return (
        alt.Color("kind:N")
        .scale(domain=shown, range=[COLORS[kind] for kind in shown])
        .legend(None if len(shown) == 1 else alt.Legend(symbolType="stroke"))
    )


def _title(curve: MissRatioCurve) -> alt.TitleParams:
    frame = curve.to_polars()
    kind = curve.kinds()[0]
    least = float(frame[kind][-1])
    reached = frame.filter(frame[kind] <= least + 0.1 * (1 - least))["bytes"][0]
    subtitle = f"{curve.name}: {count(curve.accesses())} accesses to blocks of"
    subtitle += f" {size(curve.about.block_bytes)}, LRU"
    if curve.sampled:
        subtitle += f"; {100 * curve.about.sample_rate:.3g} % of the blocks sampled, 95 % bounds"
    return theme.title(
        f"{size(reached)} of cache leave {percent(curve.miss_ratio(int(reached), kind))} misses",
        subtitle,
    )
