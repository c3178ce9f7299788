"""Figure of the distribution of latencies, from the minimum to the far tail."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np

from nacre.base.text import count, duration, percent
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import deviate, latency_axis, share_axis
from nacre.results.record import Op, Record

_LOWEST = 0.001
_CELL = 0.02
"""Distance in standard deviations below which adjacent points of a curve are merged, because the
difference is not visible."""

Point = dict[str, float | str]


def latency(
    records: Sequence[Record], ops: Sequence[Op], names: Sequence[str] | None = None
) -> alt.Chart:
    """Plots cumulative distributions of latencies, with a curve per record and kind of request."""
    names = theme.names(names or [record.name for record in records])
    points: list[Point] = []
    for record, name in zip(records, names, strict=True):
        for op in ops:
            series = op if len(records) == 1 else name if len(ops) == 1 else f"{name}, {op}s"
            points += curve(record, op, series)
    if not points:
        raise Error(f"there is no {' or '.join(ops)} latency to draw: no such requests", "no-data")
    series_names = list(dict.fromkeys(str(point["series"]) for point in points))
    base = alt.Chart(theme.data(points)).encode(
        x=_x(points),
        y=share_axis(max(float(p["share"]) for p in points), "cumulative share of requests"),
        color=_color(series_names, single=len(records) == 1),
        tooltip=[
            alt.Tooltip("series:N"),
            alt.Tooltip("latency_ns:Q", title="latency (ns)", format=",.0f"),
            alt.Tooltip("share:Q", title="not slower", format=".5~%"),
        ],
    )
    line = base.mark_line(interpolate="step-after")
    heading = _one(records[0], ops) if len(records) == 1 else _several(records, names, ops)
    chart: alt.Chart = line.properties(title=heading, width=theme.WIDTH, height=340)
    return theme.themed(chart)


def curve(record: Record, op: Op, series: str) -> list[Point]:
    """Returns the points of a curve, without points that would coincide in the figure."""
    frame = record.latency_distribution(op)
    if frame.height == 0:
        return []
    upto, total = frame["upto_ns"].to_numpy(), int(frame["count"].sum())
    share = np.clip(frame["share"].to_numpy(), _LOWEST, 1 - 0.5 / max(total, 1000))
    z = np.array([deviate(s) for s in share])
    cell = np.floor(z / _CELL)
    keep = share > _LOWEST
    keep[1:-1] &= (cell[1:-1] != cell[:-2]) | (cell[1:-1] != cell[2:])
    keep[int(np.argmax(share > _LOWEST))] = True
    upto, share, z = upto[keep], share[keep], z[keep]
    foot = [(upto[0], _LOWEST, deviate(_LOWEST))]
    return [
        {"series": series, "latency_ns": max(float(x), 1.0), "share": float(s), "deviate": float(d)}
        for x, s, d in [*foot, *zip(upto, share, z, strict=True)]
    ]


def _x(points: Sequence[Point]) -> alt.X:
    latencies = [float(point["latency_ns"]) for point in points]
    low, high = min(latencies), max(latencies)
    margin = max((high / low) ** 0.03, 1.02)
    return latency_axis(low / margin, high * margin)


def _color(series: Sequence[str], *, single: bool) -> alt.Color:
    if single:
        colors = [theme.OP_COLORS[name] for name in series]
    else:
        colors = [theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(series))]
    scale = alt.Scale(domain=list(series), range=colors)
    names = "datum.label + 's'" if single else "datum.label"
    return (
        alt.Color("series:N")
        .scale(scale)
        .legend(symbolType="stroke", labelExpr=names, columns=min(len(series), 4))
    )


def _one(record: Record, ops: Sequence[Op]) -> alt.TitleParams:
    op = next(op for op in ops if record.latency[op])
    summary = record.latency[op]
    return theme.title(
        f"Half of the {op}s take at most {duration(summary.p50_ns)};"
        f" 99 in 100 at most {duration(summary.p99_ns)}",
        f"{record.name}: latency of "
        + " and ".join(f"{count(record.latency[o].count)} {o}s" for o in ops if record.latency[o]),
    )


def _several(records: Sequence[Record], names: Sequence[str], ops: Sequence[Op]) -> alt.TitleParams:
    op = next(op for op in ops if any(record.latency[op] for record in records))
    headline, behind = fastest(records, names, op)
    systems = sum(record.latency[op] is not None for record in records)
    return theme.title(headline, f"{behind}latency of {op}s, {systems} systems")


def fastest(records: Sequence[Record], names: Sequence[str], op: Op) -> tuple[str, str]:
    """Returns a headline about the record with the lowest mean latency, and text for a subtitle.

    The subtitle compares this record with the record with the highest mean latency.
    """
    means = {
        name: record.latency[op].mean_ns
        for name, record in zip(names, records, strict=True)
        if record.latency[op]
    }
    best, worst = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    if duration(means[best]) == duration(means[worst]):
        return f"{op.capitalize()}s take {duration(means[best])} on average everywhere", ""
    less = percent(1 - means[best] / means[worst])
    headline = f"{best} has the fastest {op}s: {duration(means[best])} on average"
    return headline, f"{less} less than {worst}; "


def of_record(record: Record, op: Op | None = None) -> alt.Chart:
    """Plots the latencies of one record, for all kinds of requests or for one kind."""
    return latency([record], ops=_ops(record, op))


def _ops(record: Record, op: Op | None) -> Sequence[Op]:
    both: tuple[Op, ...] = ("read", "write")
    return [op] if op else [each for each in both if record.latency[each]] or both
