"""Figure of the distribution of recovery times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from nacre.base.text import count, duration
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import TIME_LABEL

if TYPE_CHECKING:
    from nacre.results.crash import Crash

_NS = 1e9


def recovery_figure(found: Crash) -> alt.Chart:
    """Plots the cumulative share of recoveries by duration.

    Raises `Error` if all durations are zero.
    """
    bars, recovery = found.recovery.bars, found.recovery
    if recovery.p50_s is None or not recovery.max_s:
        raise Error("no recovery took time, so there is nothing to draw", "no-data")
    rows, below = [], 0
    for upto, times in bars:
        below += times
        rows.append({"x": max(upto * _NS, 1.0), "y": below / recovery.count})
    title = theme.title(
        f"Half of the recoveries take at most {duration(recovery.p50_s * _NS)},"
        f" the longest {duration(recovery.max_s * _NS)}",
        f"{found.name}: share of {count(recovery.count)} completed recoveries",
    )
    line: alt.Chart = (
        alt.Chart(theme.data(rows), title=title, width=620, height=240)
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("x:Q", title="time since power was restored")
            .scale(type="log")
            .axis(labelExpr=TIME_LABEL),
            y=alt.Y("y:Q", title="share").axis(format="%").scale(domain=[0, 1]),
        )
    )
    return theme.themed(line)
