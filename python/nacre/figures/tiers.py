"""Figure of hits and migrations of a tiered store by epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from nacre.base.text import count, percent, printable, size
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import clock
from nacre.results.record import Record

if TYPE_CHECKING:
    import polars as pl

Data = list[dict[str, Any]]


def tiers(record: Record, component: str | None = None) -> alt.VConcatChart:
    """Plots the share of accesses that the fastest tier serves, and the moved bytes, by epoch."""
    frame = record.epochs(component)
    if not frame.height:
        raise Error("there are no epochs to draw: nothing was moved between tiers", "no-data")
    end_s = float(frame["end_s"].to_numpy().max())
    scale, unit = clock(end_s)
    rows: Data = []
    for (name,), part in frame.group_by("component", maintain_order=True):
        start = 0.0
        for row in part.iter_rows(named=True):
            end = row["end_s"] / scale
            # Epochs without accesses have no row. The next row therefore starts at the end of these
            # epochs.
            rows.append(
                {
                    "component": printable(str(name)),
                    "start": start,
                    "end": end,
                    "share": row["fastest_share"],
                    "moved": row["migrated_bytes"] / 1e6,
                    "accesses": row["accesses"],
                }
            )
            start = end
    names = list(dict.fromkeys(row["component"] for row in rows))
    panels = [
        _panel(rows, names, "share", "served by the fastest tier", end_s / scale, None),
        _panel(rows, names, "moved", "MB moved", end_s / scale, f"time ({unit})"),
    ]
    joined = alt.vconcat(*panels, spacing=16).resolve_scale(color="independent")
    chart: alt.VConcatChart = joined.properties(title=_title(record, frame))
    return theme.themed(chart)


def _panel(
    rows: Data, names: list[str], field: str, title: str, end: float, axis: str | None
) -> alt.Chart:
    """Plots one quantity as steps, with a line per component."""
    is_share = field == "share"
    points = [
        {"component": row["component"], "time": row[at], field: row[field], "order": 2 * i + j}
        for i, row in enumerate(rows)
        for j, at in enumerate(("start", "end"))
    ]
    x = (
        alt.X("time:Q", title=axis)
        .scale(domain=[0, end], nice=False)
        .axis(grid=False, labels=axis is not None, ticks=axis is not None, tickCount=8)
    )
    y = alt.Y(f"{field}:Q", title=title)
    y = y.scale(domain=[0, 1]).axis(format=".0%", tickCount=5) if is_share else y.axis(tickCount=4)
    colors = [theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(names))]
    if len(names) == 1:
        colors = [theme.BLUE if is_share else theme.VERMILION]
    legend = alt.Legend(symbolType="stroke") if len(names) > 1 and is_share else None
    chart: alt.Chart = (
        alt.Chart(theme.data(points))
        .mark_line(strokeWidth=1.6)
        .encode(
            x=x,
            y=y,
            order="order:Q",
            color=alt.Color("component:N").scale(domain=names, range=colors).legend(legend),
        )
        .properties(width=theme.WIDTH, height=190 if is_share else 110)
    )
    return chart


def _title(record: Record, frame: pl.DataFrame) -> alt.TitleParams:
    accesses = frame["accesses"].to_numpy()
    share = float(frame["fastest_share"].to_numpy() @ accesses / accesses.sum())
    moved = float(frame["migrated_bytes"].sum())
    headline = f"The fastest tier served {percent(share)} of accesses; {size(moved)} were moved"
    epochs = f"{count(frame.height)} epochs with accesses" if frame.height > 1 else "one epoch"
    return theme.title(headline, f"{record.name}: {epochs}, in simulated time")
