"""Stacked bars for figures of latency breakdowns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from nacre.figures import theme

Row = dict[str, Any]


def in_line(parts: Iterable[Row], measure: str, unit: str = "") -> list[Row]:
    """Adds to each part the positions `start` and `end` along its bar.

    If `unit` is `_ns`, the fields are `start_ns` and `end_ns`. The field `last` is true for the
    last part only.
    """
    rows: list[Row] = []
    start = 0.0
    for part in parts:
        end = start + part[measure]
        rows.append({**part, f"start{unit}": start, f"end{unit}": end, "last": False})
        start = end
    if rows:
        rows[-1]["last"] = True
    return rows


class Bars:
    """Horizontal stacked bars of rows from `in_line`.

    There is one bar for each value of the field that `y` encodes.
    """

    def __init__(self, rows: Sequence[Row], y: alt.Y, unit: str = "") -> None:
        field = str(y.shorthand).removesuffix(":N")
        self.names = list(dict.fromkeys(str(row[field]) for row in rows))
        self._chart = alt.Chart(theme.data(rows)).encode(y=y.sort(self.names))
        self._end = f"end{unit}:Q"

    def blocks(
        self,
        x: alt.X,
        part: str,
        colors: Mapping[str, str],
        tooltip: Sequence[Any],
        stroke: str | None = "white",
        **legend: Any,
    ) -> alt.Chart:
        """Plots the parts of the bars in their colors."""
        edge: dict[str, Any] = {} if stroke is None else {"stroke": stroke, "strokeWidth": 1}
        color = alt.Color(f"{part}:N").scale(domain=[*colors], range=[*colors.values()])
        blocks: alt.Chart = self._chart.mark_bar(**edge).encode(
            x=x,
            x2=self._end,
            color=color.legend(symbolType="square", **legend),
            tooltip=list(tooltip),
        )
        return blocks

    def inside(self, where: str, text: str | alt.Text) -> alt.Chart:
        """Plots labels at `middle` on parts that match `where`, in the color of the field `ink`."""
        words = self._chart.transform_filter(where).mark_text(baseline="middle", fontSize=11)
        ink = alt.Color("ink:N").scale(None)
        inside: alt.Chart = words.encode(x="middle:Q", text=text, color=ink)
        return inside

    def totals(self, where: str = "datum.last", weight: str | None = None) -> alt.Chart:
        """Plots the field `total` as a label at the end of each bar."""
        bold: dict[str, Any] = {} if weight is None else {"fontWeight": weight}
        ends = self._chart.transform_filter(where)
        words = ends.mark_text(align="left", dx=6, baseline="middle", **bold)
        totals: alt.Chart = words.encode(x=self._end, text="total:N")
        return totals
