"""Figure of the utilization of resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import altair as alt

from nacre.base.text import count, duration, percent, printable
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.stacked import Bars, Row, in_line
from nacre.results.record import IDLE, Record

_MOST = 30
"""Maximum number of resources in the figure. The busiest resources are shown."""
_LABELED = 0.06

COLORS = {
    "read": theme.BLUE,
    "write": theme.VERMILION,
    "translate": "#332288",
    "copy_on_write": theme.shade(theme.ORANGE, 0.55),
    "drain": theme.ORANGE,
    "clean": theme.GREEN,
    "level_wear": theme.shade(theme.GREEN, 0.55),
    "erase": theme.PURPLE,
    "correct": theme.shade(theme.PURPLE, 0.5),
    "suspend": "#882255",
    "seek": "#A6761D",
    "rotate": theme.shade("#A6761D", 0.45),
    "spin_up": "#5C3D0C",
    "transfer": theme.shade(theme.BLUE, 0.45),
    "fill": theme.shade(theme.VERMILION, 0.5),
    "link": theme.SKY,
    "software": "#4D4D4D",
    "merge": "#6A8A82",
    "retry": "#CC6677",
    "queue": theme.GRAY,
    IDLE: theme.RULE,
}
"""Color of each activity, in plotting order."""


def time_split(record: Record) -> alt.LayerChart:
    """Plots a bar per resource with the share of time for each activity. Idle time is last."""
    rows = _rows(record)
    if not rows:
        raise Error(
            "there is no time to split: nothing took any, or no component has resources", "no-data"
        )
    busy = _busy(rows)
    kept = sorted(busy, key=lambda bar: -busy[bar])[:_MOST]
    rows = [row for row in rows if row["bar"] in kept]
    done = {row["activity"] for row in rows}
    y = alt.Y("bar:N", title=None).scale(paddingInner=0.35).axis(grid=False, labelLimit=300)
    bars = Bars(rows, y)
    blocks = bars.blocks(
        alt.X("start:Q", title="share of the elapsed time")
        .scale(domain=[0, 1], nice=False)
        .axis(format=".0%", tickCount=10, grid=False),
        "activity",
        {name: color for name, color in COLORS.items() if name in done},
        [
            alt.Tooltip("bar:N", title="resource"),
            "activity:N",
            alt.Tooltip("share:Q", format=".2%"),
            alt.Tooltip("seconds:Q", title="seconds of its servers", format=".4~r"),
        ],
        symbolStrokeWidth=0,
        columns=6,
        labelExpr="replace(datum.label, regexp('_', 'g'), ' ')",
    )
    inside = bars.inside(f"datum.share >= {_LABELED}", alt.Text("share:Q", format=".0%"))
    chart = alt.layer(blocks, inside).properties(
        title=_title(record, rows, busy, kept), width=theme.WIDTH, height=24 + 36 * len(bars.names)
    )
    return theme.themed(cast("alt.LayerChart", chart))


def _rows(record: Record) -> list[Row]:
    """Returns the parts of each bar, in the order of the colors."""
    several = {part.path for part in record.components if len(part.resources) > 1}
    pieces: dict[str, list[Row]] = {}
    for row in record.busy().iter_rows(named=True):
        if row["share"] is not None:
            bar = row["component"] + (f": {row['resource']}" if row["component"] in several else "")
            if row["servers"] > 1:
                bar += f" (x {row['servers']})"
            pieces.setdefault(printable(bar), []).append(row)
    order = list(COLORS)
    return [
        placed
        for bar, parts in pieces.items()
        for placed in _placed(bar, sorted(parts, key=lambda row: order.index(row["activity"])))
    ]


def _placed(bar: str, parts: Sequence[Mapping[str, Any]]) -> list[Row]:
    about = ("activity", "share", "seconds")
    rows = in_line(
        (
            {"bar": bar, "ink": theme.ink_on(COLORS[part["activity"]])}
            | {name: part[name] for name in about}
            for part in parts
            if part["share"]
        ),
        "share",
    )
    return [row | {"middle": row["start"] + row["share"] / 2} for row in rows]


def _busy(rows: Sequence[Row]) -> dict[str, float]:
    """Returns the utilization of each resource."""
    busy: dict[str, float] = {}
    for row in rows:
        share = 0.0 if row["activity"] == IDLE else row["share"]
        busy[row["bar"]] = busy.get(row["bar"], 0.0) + share
    return busy


def _title(
    record: Record, rows: Sequence[Row], busy: Mapping[str, float], kept: Sequence[str]
) -> alt.TitleParams:
    busiest = kept[0]
    own = [row for row in rows if row["bar"] == busiest and row["activity"] != IDLE]
    if own:
        most = max(own, key=lambda row: float(row["share"]))
        doing = str(most["activity"]).replace("_", " ")
        headline = f"{busiest} is busy {percent(busy[busiest])} of the time; {doing} takes most"
    else:
        headline = "Nothing was busy"
    which = "" if len(kept) == len(busy) else f" of the {len(kept)} busiest of {count(len(busy))}"
    return theme.title(
        headline,
        f"{record.name}: {duration(record.drained_s * 1e9)}, by resource and activity{which}",
    )
