"""Figure of the miss ratios of cache policies as functions of the cache size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from nacre.base.text import count, size
from nacre.figures import theme
from nacre.figures.miss_ratio import size_axis

if TYPE_CHECKING:
    from nacre.results.curves import CacheCurves, Unit

_HEIGHT = 320


def cache_curves(curves: CacheCurves, by: Unit = "block") -> alt.LayerChart:
    """Plots a miss-ratio curve per policy.

    If the curves are estimated from a sample, the figure shows confidence intervals.
    """
    kind = curves.kinds()[0]
    rows: list[dict[str, Any]] = []
    for row in curves.to_polars(by).iter_rows(named=True):
        within = row.get(f"{kind}_ci95", 0.0)
        rows.append(
            {
                "bytes": row["bytes"],
                "policy": row["policy"],
                "miss": row[kind],
                "low": max(0.0, row[kind] - within),
                "high": min(1.0, row[kind] + within),
            }
        )
    sizes = curves.sizes
    chart = alt.Chart(theme.data(rows)).encode(
        x=size_axis(float(min(sizes)), float(max(sizes)), "size of the cache"),
        color=alt.Color("policy:N").scale(domain=curves.policies),
    )
    title = "miss ratio" if by == "block" else "share of bytes missed"
    y = alt.Y("miss:Q", title=title).scale(domain=[0, 1]).axis(format="~%", tickCount=5)
    line = chart.mark_line(point=True).encode(y=y)
    bars = chart.mark_rule().encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    drawn: Any = alt.layer(*([bars, line] if curves.sampled else [line]))
    framed: alt.LayerChart = drawn.properties(
        title=_title(curves, by), width=theme.WIDTH, height=_HEIGHT
    )
    return theme.themed(framed)


def _title(curves: CacheCurves, by: Unit) -> alt.TitleParams:
    kind = curves.kinds()[0]
    middle = curves.sizes[len(curves.sizes) // 2]
    best = min(curves.policies, key=lambda each: curves.miss_ratio(each, middle, kind, by))
    accesses = count(curves.about.reads + curves.about.writes)
    subtitle = f"{curves.name}: {accesses} accesses to blocks of {size(curves.about.block_bytes)}"
    if curves.sampled:
        subtitle += f"; {100 * curves.about.sample_rate:.3g} % of the blocks sampled, 95 % bounds"
    return theme.title(f"{best} misses least at {size(middle)}", subtitle)
