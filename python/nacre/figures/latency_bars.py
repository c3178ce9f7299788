"""Figure of the mean read latency of several systems, divided by component."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import cast

import altair as alt

from nacre.base.text import duration, printable
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import TIME_LABEL
from nacre.figures.stacked import Bars, Row, in_line
from nacre.results.record import Activity, Record

_BAR = 30

Groups = Mapping[str, Mapping[str, Record]]
PartOf = Callable[[str, Activity], str]


def mean_latency(
    groups: Groups, part_of: PartOf, parts: Mapping[str, str], title: alt.TitleParams
) -> alt.VConcatChart:
    """Plots a panel per group and a bar per record.

    The name of the fastest record of a group is bold.

    `part_of(name, activity)` returns the part of the bar `name` to which an activity belongs.
    `parts` maps the parts to colors, in the order of plotting.
    """
    rows = {group: _rows(records, part_of, list(parts)) for group, records in groups.items()}
    longest = max(row["end_ns"] for group in rows.values() for row in group)
    last = list(rows)[-1]
    panels = [_panel(group, rows[group], parts, longest, axis=group == last) for group in rows]
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=14).properties(title=title)
    return theme.themed(chart)


def _rows(records: Mapping[str, Record], part_of: PartOf, parts: list[str]) -> list[Row]:
    rows: list[Row] = []
    totals: dict[str, float] = {}
    for name, record in records.items():
        if not record.latency.read:
            raise Error(f"{name} has no reads, so there is no read latency to draw", "no-data")
        taken = dict.fromkeys(parts, 0.0)
        for activity in record.time_spent.read:
            taken[part_of(name, activity)] += activity.mean_ns
        bar: list[Row] = [
            {"name": printable(name), "part": part, "mean_ns": taken[part]} for part in parts
        ]
        rows += in_line(bar, "mean_ns", "_ns")
        totals[printable(name)] = rows[-1]["end_ns"]
    fastest = min(totals, key=totals.__getitem__)
    for row in rows:
        row["total"] = duration(totals[row["name"]])
        row["weight"] = "bold" if row["name"] == fastest else "normal"
    return rows


def _panel_title(group: str) -> alt.TitleParams:
    return alt.TitleParams(
        printable(group), fontSize=13, fontWeight="normal", offset=6, color=theme.INK
    )


def _panel(
    group: str, rows: list[Row], parts: Mapping[str, str], longest: float, *, axis: bool
) -> alt.LayerChart:
    fastest = next(str(row["name"]) for row in rows if row["weight"] == "bold")
    weight = alt.condition(
        f"datum.value == {json.dumps(fastest)}", alt.value("bold"), alt.value("normal")
    )
    y = alt.Y("name:N", title=None).scale(paddingInner=0.3, paddingOuter=0.1)
    bars = Bars(rows, y.axis(grid=False, labelFontWeight=weight, labelLimit=240), "_ns")
    x = (
        alt.X("start_ns:Q", title="mean read latency" if axis else None)
        .scale(domain=[0, longest * 1.13], nice=False)
        .axis(grid=False, tickCount=8, labels=axis, ticks=axis, domain=axis, labelExpr=TIME_LABEL)
    )
    tooltip = ["name:N", "part:N", alt.Tooltip("total:N", title="mean")]
    blocks = bars.blocks(x, "part", parts, tooltip, stroke=None)
    labels = [
        bars.totals(f"datum.last && datum.weight == '{each}'", each) for each in ("bold", "normal")
    ]
    chart = alt.layer(blocks, *labels).properties(
        title=_panel_title(group),
        width=theme.WIDTH - 60,
        height=_BAR * len(bars.names),
    )
    return cast("alt.LayerChart", chart)
