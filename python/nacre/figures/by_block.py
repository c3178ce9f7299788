"""Panels that plot a quantity by block number, for any number of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import altair as alt
import numpy as np

from nacre.base.text import count, printable
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import COUNT_LABEL, whole_ticks
from nacre.results.record import Record
from nacre.results.tables import check_has, owners
from nacre.results.tables import column as table_column

_APART = 64
"""Maximum number of columns in a panel with gaps between the columns."""

MOST = 310
"""Maximum number of columns in a panel. Each column is two pixels wide."""

Row = dict[str, float]
Numbers = np.ndarray[tuple[int, ...], np.dtype[Any]]


def by_component(
    record: Record, column: str, component: str | None, *, by_position: bool = False
) -> dict[str, Numbers]:
    """Returns the values of `column` for the blocks of each component, or of one component.

    The values are ordered by block number. If `by_position` is true and positions are known, they
    are ordered by position, and spare blocks are omitted, because they have no position. Raises
    `Error` if there is nothing to draw.
    """
    check_has(record, "blocks", component)
    having = [path for path in owners(record, "blocks", column) if component in (None, path)]
    with_positions = owners(record, "blocks", "position") if by_position else []
    found = {}
    for path in having:
        values = table_column(record, "blocks", path, column)
        if path in with_positions:
            values = _by_position(values, table_column(record, "blocks", path, "position"))
        if values.dtype.kind != "f" or not np.isnan(values).all():
            found[path] = values
    if not found:
        raise Error(f"there is no {column} of erase blocks to draw", "no-data")
    return found


def _by_position(values: Numbers, positions: Numbers) -> Numbers:
    """Returns the values of the blocks that have a position, ordered by position."""
    having = np.flatnonzero(positions >= 0)
    found: Numbers = values[having[np.argsort(positions[having], kind="stable")]]
    return found


def columns(values: Numbers) -> list[Row]:
    """Groups adjacent blocks into at most `MOST` columns.

    Returns minimum, mean, and maximum of each group.
    """
    group = -(-len(values) // MOST)
    rows = []
    for first in range(0, len(values), group):
        part = values[first : first + group]
        part = part[~np.isnan(part)]
        if len(part):
            last = min(first + group, len(values))
            low, mean, high = part.min(), part.mean(), part.max()
            rows.append(
                {
                    "first": first,
                    "end": last,
                    "low": float(low),
                    "mean": float(mean),
                    "high": float(high),
                }
            )
    return rows


def joined(parts: Mapping[str, Numbers]) -> Numbers:
    """Concatenates the values of all components.

    The values of a single component are not copied.
    """
    values = list(parts.values())
    return values[0] if len(values) == 1 else np.concatenate(values)


def erase_blocks(number: int) -> str:
    """Formats a number of erase blocks."""
    return f"{count(number)} erase block{'' if number == 1 else 's'}"


def grouped(parts: Sequence[Numbers]) -> list[str]:
    """Returns a note about the number of blocks per column, or no note if it is one."""
    group = max(-(-len(values) // MOST) for values in parts)
    if group == 1:
        return []
    return [
        f"a column is {count(group)} blocks: dark to the minimum, black: mean, light to the maximum"
    ]


def panel(
    values: Numbers,
    y: alt.Y,
    color: str,
    height: int,
    name: str = "",
    along: str = "erase block",
) -> alt.LayerChart:
    """Plots a column for each block or group of adjacent blocks."""
    blocks = len(values)
    # A column is centered on its block number. For example, block 5 extends from 4.5 to 5.5.
    rows = [
        row | {"left": row["first"] - 0.5, "right": row["end"] - 0.5} for row in columns(values)
    ]
    x = (
        alt.X("left:Q", title=along)
        .scale(domain=[-0.5, blocks - 0.5], nice=False)
        .axis(grid=False, values=whole_ticks(0, blocks - 1, 8), labelExpr=COUNT_LABEL)
    )
    base = alt.Chart(theme.data(rows)).encode(
        x=x,
        x2="right:Q",
        tooltip=[
            alt.Tooltip("first:Q", title="block"),
            alt.Tooltip("low:Q", title="least", format=".3~r"),
            alt.Tooltip("mean:Q", format=".4~r"),
            alt.Tooltip("high:Q", title="most", format=".3~r"),
        ],
    )
    pale = theme.shade(color, 0.6)
    light = base.mark_rect(color=pale, stroke="white" if blocks <= _APART else pale)
    dark = base.mark_rect(color=color, stroke="white" if blocks <= _APART else color)
    layers = [
        light.encode(y=y, y2="low:Q").transform_filter("datum.high > datum.low"),
        dark.transform_calculate(zero="0").encode(y="low:Q", y2="zero:Q"),
    ]
    if blocks > MOST:
        mean = base.mark_rect(color=theme.INK, stroke=theme.INK, strokeWidth=0.5)
        layers.append(mean.encode(y="mean:Q", y2="mean:Q"))
    chart = alt.layer(*layers).properties(width=theme.WIDTH, height=height)
    return cast("alt.LayerChart", chart.properties(title=panel_title(name)) if name else chart)


def panel_title(name: str) -> alt.TitleParams:
    """Creates the title of one of several panels."""
    return alt.TitleParams(
        printable(name), fontSize=13, fontWeight="normal", offset=6, color=theme.INK
    )
