"""Figure of the throughput and latency of a run over simulated time."""

from __future__ import annotations

import altair as alt

from nacre.base.text import si, significant, with_unit
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import COUNT_LABEL, TIME_LABEL, clock
from nacre.results.record import Record
from nacre.results.tables import interval_s

_MEGABYTE = 1e6

_PART_MIN = 0.1
"""Minimum length of the last interval as a share of a full interval. A shorter interval has no
meaningful rate."""


def throughput(record: Record) -> alt.VConcatChart:
    """Plots requests per second by kind, bytes per second, and mean latency, in one panel each.

    The run ends within the last interval. The rates of this interval are computed over the part
    before the end of the run, and the step has the width of this part. A part of less than 10 % of
    an interval is omitted, unless the run has no other interval.
    """
    width_s = interval_s(record)
    intervals = _intervals(record, width_s)
    if not intervals:
        raise Error(
            "there is no throughput to draw: the run has no reads or writes over time", "no-data"
        )
    scale, unit = clock(len(intervals) * width_s)
    rows = [
        {
            "start": row["start_s"] / scale,
            "end": (row["start_s"] + part_s) / scale,
            "read": row["reads"] / part_s,
            "write": row["writes"] / part_s,
            "all": (row["reads"] + row["writes"]) / part_s,
            "megabytes": row["bytes"] / part_s / _MEGABYTE,
            "latency_ns": row["mean_latency_ns"],
        }
        for row, part_s in intervals
    ]
    end = rows[-1]["end"]
    panels = alt.vconcat(
        _requests(rows, end),
        _panel(rows, "megabytes", "MB/s", end, theme.GREEN),
        _panel(rows, "latency_ns", "mean latency", end, theme.PURPLE, axis=f"time ({unit})"),
        spacing=16,
    )
    return theme.themed(panels.properties(title=_title(record, len(intervals), width_s)))


def _intervals(record: Record, width_s: float) -> list[tuple[dict[str, float], float]]:
    """Returns the intervals, each with its simulated length in seconds."""
    rows = list(record.time_series().iter_rows(named=True))
    parts = [min(width_s, record.simulated_s - row["start_s"]) for row in rows]
    done = [count for count, row in enumerate(rows, 1) if row["reads"] + row["writes"]]
    least = min(done, default=0)
    while parts and parts[-1] < _PART_MIN * width_s and (len(parts) > least or parts[-1] <= 0):
        parts.pop()
    return list(zip(rows, parts, strict=False)) if len(parts) >= least > 0 else []


def _title(record: Record, intervals: int, width_s: float) -> alt.TitleParams:
    rate, volume = record.throughput.iops, record.throughput.bytes_per_s
    return theme.title(
        f"{si(rate)} requests and {with_unit(volume, 'B')} per second on average",
        f"{record.name}: {intervals} intervals of {significant(width_s)} s of simulated time",
    )


def _x(end: float, axis: str | None) -> alt.X:
    shown = axis is not None
    encoding = alt.X("start:Q", title=axis).scale(domain=[0, end], nice=False)
    return encoding.axis(grid=False, labels=shown, ticks=shown, format="~r", tickCount=8)


def _requests(rows: list[dict[str, float]], end: float) -> alt.Chart:
    """Plots reads and writes stacked, so that the outline is their sum."""
    kinds = [kind for kind in theme.OP_COLORS if any(row[kind] for row in rows)]
    flat = []
    for row in rows:
        base = 0.0
        for kind in kinds:
            flat.append(
                {
                    "start": row["start"],
                    "end": row["end"],
                    "kind": kind,
                    "low": base,
                    "high": base + row[kind],
                    "rate": row[kind],
                }
            )
            base += row[kind]
    color = (
        alt.Color("kind:N")
        .scale(domain=kinds, range=[theme.OP_COLORS[kind] for kind in kinds])
        .legend(symbolType="square", labelExpr="datum.label + 's'")
    )
    area = (
        alt.Chart(theme.data(flat))
        .mark_rect(stroke=None)
        .encode(
            x=_x(end, None),
            x2="end:Q",
            y=alt.Y("low:Q", title="requests/s").axis(tickCount=4, labelExpr=COUNT_LABEL),
            y2="high:Q",
            color=color,
            tooltip=[
                alt.Tooltip("kind:N"),
                alt.Tooltip("rate:Q", title="per second", format=",.1f"),
            ],
        )
    )
    panel: alt.Chart = area.properties(width=theme.WIDTH, height=150)
    return panel


def _panel(
    rows: list[dict[str, float]],
    field: str,
    label: str,
    end: float,
    color: str,
    axis: str | None = None,
) -> alt.Chart:
    """Plots one quantity as steps. Intervals without completed requests are gaps."""
    y = alt.Y(f"{field}:Q", title=label)
    y = y.axis(tickCount=3, labelExpr=TIME_LABEL) if field == "latency_ns" else y.axis(tickCount=3)
    line = (
        alt.Chart(theme.data(_steps(rows, field)))
        .mark_line(interpolate="step-after", color=color, strokeWidth=1.6)
        .encode(x=_x(end, axis), y=y, detail="run:N")
    )
    panel: alt.Chart = line.properties(width=theme.WIDTH, height=90)
    return panel


def _steps(rows: list[dict[str, float]], field: str) -> list[dict[str, float]]:
    """Returns the points of a step line.

    A gap starts a new segment, and each segment has an end point.
    """
    points: list[dict[str, float]] = []
    run = 0
    for row, following in zip(rows, [*rows[1:], None], strict=True):
        if row[field] is None:
            run += 1
            continue
        points.append({"start": row["start"], field: row[field], "run": run})
        if following is None or following[field] is None:
            points.append({"start": row["end"], field: row[field], "run": run})
    return points
