"""Figures of the properties of a trace."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from nacre.base.text import count, duration, percent, significant, size
from nacre.base.view import View
from nacre.figures import theme
from nacre.figures.axes import TIME_LABEL, clock
from nacre.figures.miss_ratio import colors, size_axis

_HEIGHT = 240
_NS = 1e9
_DECADES_MAX = 12


def trace_figures(info: View, name: str) -> dict[str, alt.TopLevelMixin]:
    """Plots all figures for which the trace has data. Returns the figures by name."""
    profile = info.profile
    if not info.reads + info.writes:
        return {}
    figures: dict[str, alt.TopLevelMixin] = {
        "popularity": popularity(profile, name),
        "misses": misses(info, name),
    }
    if profile.duration_s is not None:
        figures["rhythm"] = rhythm(profile, name)
        figures["footprint"] = footprint(profile, name)
        if profile.reuse.time_s:
            figures["reuse"] = reuse(profile, name)
        figures["gaps"] = gaps(profile, name)
    return figures | {"sizes": sizes(info, name)}


def popularity(profile: View, name: str) -> alt.Chart:
    """Plots the share of accesses to the most accessed blocks and extents."""
    rows = []
    for kind, label in (("blocks", "blocks"), ("extents", "extents")):
        part = profile[kind]
        label = f"{label} of {size(profile[f'{kind[:-1]}_bytes'])}"
        rows += _zip(label, x=part.hottest, y=part.accesses)
    tenth = _at(profile.blocks.hottest, profile.blocks.accesses, 0.1)
    title = theme.title(
        f"The hottest 10 % of the blocks get {percent(tenth)} of the accesses",
        f"{name}: share of accesses to the hottest blocks, by share of blocks",
    )
    lowest = min(row["x"] for row in rows)
    return _shares(rows, _log_shares(lowest, "share of capacity, hottest first"), title)


def misses(info: View, name: str) -> alt.Chart:
    """Plots the miss-ratio curve."""
    table = info.profile.misses
    kinds = ["all", "reads", "writes"] if info.reads and info.writes else ["all"]
    rows = [row for kind in kinds for row in _zip(kind, x=table.bytes, y=table[kind])]
    for row in rows:
        row["kind"] = row.pop("series")
    title = theme.title(
        f"An LRU cache misses at least {percent(table['all'][-1])}: first accesses to blocks",
        f"{name}: miss ratio by the size of the cache",
    )
    line = (
        alt.Chart(theme.data(rows))
        .mark_line()
        .encode(
            x=size_axis(table.bytes[0], table.bytes[-1], "size of the cache", "x"),
            y=_share_axis("miss ratio"),
            color=colors(kinds),
        )
    )
    return _framed(line, title)


def rhythm(profile: View, name: str) -> alt.Chart:
    """Plots bytes read and written per second over time."""
    table = profile.timeline
    scale, unit = clock(profile.duration_s)
    rows: list[dict[str, Any]] = []
    for kind in ("read", "written"):
        series = "reads" if kind == "read" else "writes"
        rates = [amount / table.width_s / 1e6 for amount in table[f"bytes_{kind}"]]
        ends = [start / scale for start in (*table.start_s, table.start_s[-1] + table.width_s)]
        rows += [
            {"kind": series, "x": x, "y": y} for x, y in zip(ends, [*rates, rates[-1]], strict=True)
        ]
    total = sum(table.bytes_read) + sum(table.bytes_written)
    title = theme.title(
        f"{size(total)} in {duration(profile.duration_s * _NS)},"
        f" {percent(sum(table.bytes_read) / total)} of them read",
        f"{name}: MB/s by {duration(table.width_s * _NS)}",
    )
    line = (
        alt.Chart(theme.data(rows))
        .mark_line(interpolate="step-after", strokeWidth=1.4)
        .encode(
            x=_clock_axis(profile.duration_s / scale, f"time ({unit})"),
            y=alt.Y("y:Q", title="MB/s").axis(tickCount=5),
            color=colors(["reads", "writes"]),
        )
    )
    return _framed(line, title)


def footprint(profile: View, name: str) -> alt.Chart:
    """Plots the footprint over time, and the mean working set by window length."""
    table, sets = profile.timeline, profile.working_set
    rows = _zip(
        "accessed since the start",
        x=[(start + table.width_s) * _NS for start in table.start_s],
        y=[amount / 2**20 for amount in table.footprint_bytes],
    )
    rows += _zip(
        "accessed within a window, on average",
        x=[window * _NS for window in sets.window_s],
        y=[amount / 2**20 for amount in sets.bytes],
    )
    end = table.footprint_bytes[-1]
    title = theme.title(
        f"{size(end)} are accessed, {size(sets.bytes[-2] if len(sets.bytes) > 1 else end)} of them"
        f" within {duration(sets.window_s[-2 if len(sets.bytes) > 1 else -1] * _NS)}",
        f"{name}: footprint by time, working set by window",
    )
    line = (
        alt.Chart(theme.data(rows))
        .mark_line()
        .encode(
            x=_time_axis([row["x"] for row in rows], "time since the start, or window"),
            y=alt.Y("y:Q", title="MiB").axis(tickCount=5),
            color=_series(rows),
        )
    )
    return _framed(line, title)


def reuse(profile: View, name: str) -> alt.Chart:
    """Plots the distribution of the time between accesses to the same block."""
    table = profile.reuse
    rows = _zip("reuse", x=[t * _NS for t in table.time_s], y=table.share)
    half = _when(table.time_s, table.share, 0.5)
    title = theme.title(
        f"Half of the reuses occur within {duration(half * _NS)}",
        f"{name}: time since the previous access to the same block;"
        f" {percent(table.first_share)} of accesses are first accesses",
    )
    return _shares(rows, _time_axis([row["x"] for row in rows], "time since last access"), title)


def gaps(profile: View, name: str) -> alt.Chart:
    """Plots the distribution of the time between arrivals."""
    table = profile.gaps
    rows = _zip("gaps", x=[t * _NS for t in table.gap_s], y=table.share)
    title = theme.title(
        f"A request every {duration(table.mean_s * _NS)} on average",
        f"{name}: time between arrivals; standard deviation"
        f" {significant(table.variation)} times the mean",
    )
    return _shares(rows, _time_axis([row["x"] for row in rows], "time between arrivals"), title)


def sizes(info: View, name: str) -> alt.Chart:
    """Plots the distribution of the sizes of reads and writes."""
    table = info.profile.sizes
    rows: list[dict[str, Any]] = []
    kinds = [kind for kind in ("reads", "writes") if sum(table[kind])]
    for kind in kinds:
        upto, total = 0, sum(table[kind])
        for size_bytes, number in zip(table.bytes, table[kind], strict=True):
            upto += number
            rows.append({"kind": kind, "x": size_bytes, "y": upto / total})
    mean = (info.bytes_read + info.bytes_written) / (info.reads + info.writes)
    title = theme.title(
        f"The mean request size is {size(mean)}",
        f"{name}: {count(info.reads + info.writes)} reads and writes by size",
    )
    line = (
        alt.Chart(theme.data(rows))
        .mark_line(interpolate="step-after")
        .encode(
            x=size_axis(table.bytes[0], table.bytes[-1], "bytes of a request", "x"),
            y=_share_axis("share of requests"),
            color=colors(kinds),
        )
    )
    return _framed(line, title)


def _zip(series: str, x: Sequence[float], y: Sequence[float]) -> list[dict[str, Any]]:
    return [{"series": series, "x": a, "y": b} for a, b in zip(x, y, strict=True)]


def _shares(rows: list[dict[str, Any]], x: alt.X, title: alt.TitleParams) -> alt.Chart:
    line = (
        alt.Chart(theme.data(rows))
        .mark_line()
        .encode(x=x, y=_share_axis("share"), color=_series(rows))
    )
    return _framed(line, title)


def _framed(line: alt.Chart, title: alt.TitleParams) -> alt.Chart:
    framed: alt.Chart = line.properties(title=title, width=theme.WIDTH, height=_HEIGHT)
    return theme.themed(framed)


def _series(rows: Sequence[Mapping[str, Any]]) -> alt.Color:
    names = list(dict.fromkeys(str(row["series"]) for row in rows))
    color = alt.Color("series:N").scale(domain=names, range=list(theme.PALETTE[: len(names)]))
    return color.legend(None if len(names) == 1 else alt.Legend(symbolType="stroke"))


def _share_axis(title: str) -> alt.Y:
    return alt.Y("y:Q", title=title).scale(domain=[0, 1]).axis(format="~%", tickCount=5)


def _log_shares(lowest: float, title: str) -> alt.X:
    first = max(math.floor(math.log10(lowest)), -_DECADES_MAX)
    ticks = [10.0**power for power in range(first, 1)]
    return (
        alt.X("x:Q", title=title)
        .scale(type="log", domain=[10.0**first, 1], nice=False)
        .axis(values=ticks, format="~%", grid=False)
    )


def _time_axis(values_ns: Sequence[float], title: str) -> alt.X:
    """Creates a log axis of times.

    Values that are too small for the axis appear at its left end.
    """
    positive = [value for value in values_ns if value > 0] or [1.0]
    last = math.ceil(math.log10(max(positive)))
    first = max(math.floor(math.log10(min(positive))), last - _DECADES_MAX)
    ticks = [10.0**power for power in range(first, last + 1)]
    return (
        alt.X("x:Q", title=title)
        .scale(type="log", domain=[10.0**first, 10.0 ** max(last, first + 1)], clamp=True)
        .axis(values=ticks, labelExpr=TIME_LABEL, grid=False)
    )


def _clock_axis(end: float, title: str) -> alt.X:
    x = alt.X("x:Q", title=title).scale(domain=[0, end], nice=False, clamp=True)
    return x.axis(grid=False, format="~r", tickCount=8)


def _at(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """Interpolates the curve linearly at `x`."""
    before = (0.0, 0.0)
    for point in zip(xs, ys, strict=True):
        if point[0] >= x:
            run = point[0] - before[0]
            return before[1] + (point[1] - before[1]) * ((x - before[0]) / run if run else 1.0)
        before = point
    return before[1]


def _when(xs: Sequence[float], ys: Sequence[float], share: float) -> float:
    """Returns the first x at which the curve reaches `share`."""
    return next((x for x, y in zip(xs, ys, strict=True) if y >= share), xs[-1])
