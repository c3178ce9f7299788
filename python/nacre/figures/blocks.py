"""Figure of the share of valid pages in each erase block."""

from __future__ import annotations

import altair as alt
import numpy as np

from nacre.base.text import percent
from nacre.figures import theme
from nacre.figures.by_block import Numbers, by_component, erase_blocks, grouped, joined, panel
from nacre.results.record import Record
from nacre.results.tables import owners


def blocks(record: Record, component: str | None = None) -> alt.VConcatChart:
    """Plots the valid share of each block at the end of the run, in a panel per component.

    The blocks are ordered by position or, if positions are unknown, by number.
    """
    parts = by_component(record, "valid_share", component, by_position=True)
    has_position = any(path in parts for path in owners(record, "blocks", "position"))
    panels = [
        panel(
            values,
            alt.Y("high:Q", title="valid share")
            .scale(domain=[0, 1], nice=False)
            .axis(format=".0%", tickCount=5),
            theme.GREEN,
            180,
            name if len(parts) > 1 else "",
            "position of the erase block" if has_position else "erase block",
        )
        for name, values in parts.items()
    ]
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=14).properties(
        title=_title(record, parts)
    )
    return theme.themed(chart)


def _title(record: Record, parts: dict[str, Numbers]) -> alt.TitleParams:
    every = joined(parts)
    known = every[~np.isnan(every)]
    if known.min() == known.max():
        which = "every" if len(known) > 1 else "the only"
        headline = f"{percent(known[0])} of {which} erase block is valid"
    else:
        headline = (
            f"{percent(known.mean())} of the space of erase blocks is valid;"
            f" per block {percent(known.min())} to {percent(known.max())}"
        )
    where = f" of {next(iter(parts))}" if len(parts) == 1 else ""
    what = f"{record.name}: {erase_blocks(len(every))}{where} at the end"
    return theme.title(headline, what, *grouped(list(parts.values())))
