"""Figure of the cost of garbage collection over simulated time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from nacre.base.text import count, printable, significant
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import clock
from nacre.results.record import Record


def cleaning(record: Record, component: str | None = None) -> alt.Chart:
    """Plots the pages programmed by garbage collection per reclaimed or host-written page.

    The figure is a step line over time. If no page was reclaimed in an interval, the line has a
    gap.
    """
    frame = record.cleaning(component)
    if "cost" not in frame.columns or not frame["cost"].count():
        raise Error(
            "there is no cleaning to draw: no page of host data was programmed in the run",
            "no-data",
        )
    end_s = float(frame["end_s"].to_numpy().max())
    scale, unit = clock(end_s)
    points: list[dict[str, Any]] = []
    for (name,), part in frame.group_by("component", maintain_order=True):
        if part["cost"].count():
            points += _steps(printable(str(name)), part["end_s"], part["cost"], scale)
    names = list(dict.fromkeys(point["component"] for point in points))
    color = (
        alt.Color("component:N")
        .scale(
            domain=names, range=[theme.PALETTE[i % len(theme.PALETTE)] for i in range(len(names))]
        )
        .legend(None if len(names) == 1 else alt.Legend(symbolType="stroke"))
    )
    highest = max(point["cost"] for point in points)
    x = (
        alt.X("time:Q", title=f"time ({unit})")
        .scale(domain=[0, end_s / scale], nice=False)
        .axis(grid=False, format="~r", tickCount=8)
    )
    line = (
        alt.Chart(theme.data(points))
        .mark_line(interpolate="step-after", strokeWidth=1.6)
        .encode(
            x=x,
            y=alt.Y("cost:Q", title=_counted(frame.columns))
            .scale(domain=[0, highest or 1], nice=True)
            .axis(tickCount=5),
            color=color,
            detail="run:N",
            tooltip=["component:N", alt.Tooltip("cost:Q", format=".3~r")],
        )
    )
    chart: alt.Chart = line.properties(
        title=_title(record, names, count(frame.height)), width=theme.WIDTH, height=240
    )
    return theme.themed(chart)


def _counted(columns: Sequence[str]) -> str:
    """Returns the axis title.

    It names the denominator of the cost: reclaimed or host-written pages.
    """
    per = [name for name, column in (("reclaimed page", "gained"), ("page of host data", "host"))
           if column in columns]  # fmt: skip
    return f"pages programmed by GC per {' or '.join(per) or 'page'}"


def _steps(name: str, ends: Any, costs: Any, scale: float) -> list[dict[str, Any]]:
    """Returns the points of a step line.

    A gap starts a new segment, and each segment has an end point.
    """
    points: list[dict[str, Any]] = []
    start, run = 0.0, 0
    steps = list(zip(ends / scale, costs, strict=True))
    for (end, cost), following in zip(steps, [*steps[1:], (None, None)], strict=True):
        if cost is None:
            run += 1
        else:
            point = {"component": name, "cost": cost, "run": f"{name} {run}"}
            points.append(point | {"time": start})
            if following[1] is None:
                points.append(point | {"time": end})
        start = end
    return points


def _title(record: Record, names: list[str], spans: str) -> alt.TitleParams:
    costs = {
        printable(part.path): part.wear.cleaning_cost
        for part in record.components
        if part.wear and part.wear.cleaning_cost is not None
    }
    shown = {name: costs[name] for name in names if name in costs}
    if len(names) == 1 and shown:
        cost = significant(shown[names[0]])
        headline = f"Garbage collection programs {cost} pages per page of host data"
    elif shown:
        most = max(shown, key=shown.__getitem__)
        headline = (
            f"GC costs most in {most}: {significant(shown[most])} pages per page of host data"
        )
    else:
        headline = "Cost of garbage collection per page of host data"
    where = f" of {names[0]}" if len(names) == 1 else ""
    return theme.title(
        headline,
        f"{record.name}: garbage collection{where}, in {spans} intervals of simulated time",
    )
