"""Figure of the erase counts of blocks."""

from __future__ import annotations

from typing import cast

import altair as alt
import numpy as np

from nacre.base.text import count, significant
from nacre.figures import theme
from nacre.figures.axes import COUNT_LABEL, whole_ticks
from nacre.figures.by_block import Numbers, by_component, erase_blocks, grouped, joined, panel
from nacre.results.record import Record

_BARS = 60
_AT_ONCE = 1 << 16
"""Number of blocks to count in one step. Their counts fit in the processor's caches."""
_NEAR = 0.2
"""If the most worn block has used this share of its endurance, the figure shows the limit."""


def wear(record: Record, component: str | None = None) -> alt.VConcatChart:
    """Plots erase counts by block number, and their histogram, in two panels per component."""
    parts = by_component(record, "erases", component)
    endurances = {part.path: part.wear.endurance for part in record.components if part.wear}
    panels: list[alt.LayerChart] = []
    for name, values in parts.items():
        near = _near(values, endurances.get(name))
        panels += [
            _by_number(values, near, name if len(parts) > 1 else ""),
            _histogram(values, near),
        ]
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=18).properties(
        title=_title(record, parts, endurances)
    )
    return theme.themed(chart)


def _near(values: Numbers, endurance: int | None) -> int | None:
    return endurance if endurance and values.max() >= _NEAR * endurance else None


def _by_number(values: Numbers, endurance: int | None, name: str) -> alt.LayerChart:
    top = max(float(values.max()), 1.0) * 1.02
    if endurance:
        top = max(top, endurance * 1.08)
    y = (
        alt.Y("high:Q", title="erases")
        .scale(domain=[0, top], nice=False)
        .axis(values=whole_ticks(0, top, 5), labelExpr=COUNT_LABEL)
    )
    drawn = panel(values, y, theme.BLUE, 170, name)
    if endurance:
        rule = alt.Chart(theme.data([{"high": endurance, "said": "endurance"}]))
        line = rule.mark_rule(color=theme.VERMILION, strokeDash=[5, 3]).encode(y="high:Q")
        said = rule.mark_text(
            align="right", baseline="bottom", dy=-2, x=theme.WIDTH, color=theme.VERMILION
        ).encode(y="high:Q", text="said:N")
        drawn = cast("alt.LayerChart", alt.layer(drawn, line, said))
    return drawn


def histogram(values: Numbers) -> list[dict[str, float]]:
    """Computes the histogram of erase counts.

    Each bar has a lower bound, an exclusive upper bound, and a number of blocks.
    """
    low, high = int(values.min()), int(values.max())
    width = -(-(high - low + 1) // _BARS)
    bars = (high - low) // width + 1
    counts = np.zeros(bars, np.int64)
    for first in range(0, len(values), _AT_ONCE):
        erases = values[first : first + _AT_ONCE].astype(np.int64)
        counts += np.bincount((erases - low) // width, minlength=bars)
    starts = (low + width * bar for bar in range(bars))
    return [
        {"from": float(start), "end": float(start + width), "blocks": int(blocks)}
        for start, blocks in zip(starts, counts, strict=True)
        if blocks
    ]


def _histogram(values: Numbers, endurance: int | None) -> alt.LayerChart:
    rows = histogram(values)
    # A bar is centered on its erase count. For example, 5 erases extend from 4.5 to 5.5.
    for row in rows:
        row |= {"left": row["from"] - 0.5, "right": row["end"] - 0.5, "last": row["end"] - 1}
    low, high = rows[0]["left"], rows[-1]["right"]
    margin = max(0.02 * (high - low), 2.0)
    domain = [max(low - margin, -0.5), max(high + margin, (endurance or 0) * 1.04)]
    x = (
        alt.X("left:Q", title="erases")
        .scale(domain=domain, nice=False)
        .axis(grid=False, values=whole_ticks(domain[0], domain[1], 8), labelExpr=COUNT_LABEL)
    )
    y = alt.Y("blocks:Q", title="erase blocks").axis(
        values=whole_ticks(0, max(row["blocks"] for row in rows), 4), labelExpr=COUNT_LABEL
    )
    bars = (
        alt.Chart(theme.data(rows))
        .transform_calculate(zero="0")
        .mark_rect(color=theme.BLUE, stroke="white", strokeWidth=0.5)
        .encode(
            x=x,
            x2="right:Q",
            y=y,
            y2="zero:Q",
            tooltip=[
                alt.Tooltip("from:Q", title="erases from"),
                alt.Tooltip("last:Q", title="to"),
                alt.Tooltip("blocks:Q", format=","),
            ],
        )
    )
    layers: list[alt.Chart] = [bars]
    if endurance:
        rule = alt.Chart(theme.data([{"left": endurance}]))
        layers.append(rule.mark_rule(color=theme.VERMILION, strokeDash=[5, 3]).encode(x="left:Q"))
    chart = alt.layer(*layers).properties(width=theme.WIDTH, height=110)
    return cast("alt.LayerChart", chart)


def _title(
    record: Record, parts: dict[str, Numbers], endurances: dict[str, int | None]
) -> alt.TitleParams:
    every = joined(parts)
    low, high = int(every.min()), int(every.max())
    where = f" of {next(iter(parts))}" if len(parts) == 1 else ""
    subtitles = [f"{record.name}: {erase_blocks(len(every))}{where}, erases since new"]
    used = {path: values.max() / e for path, values in parts.items() if (e := endurances.get(path))}
    if used and high:
        worst = max(used, key=used.__getitem__)
        subtitles.append(
            f"the most worn block has had {count(parts[worst].max())} of the"
            f" {count(endurances[worst])} rated erase cycles"
        )
    subtitles += grouped(list(parts.values()))
    return theme.title(_headline(low, float(every.mean()), high, len(every)), *subtitles)


def _headline(low: int, mean: float, high: int, blocks: int) -> str:
    if high == 0:
        return "No block was ever erased"
    if low == high:
        who = "Every block" if blocks > 1 else "The only block"
        return f"{who} was erased {'once' if high == 1 else f'{count(high)} times'}"
    return f"Blocks were erased {count(low)} to {count(high)} times, {significant(mean)} on average"
