"""Figure of the share of each objective's variance that each axis explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import altair as alt

from nacre.base.text import percent, printable
from nacre.errors import Error
from nacre.figures import theme

if TYPE_CHECKING:
    from nacre.studies.result import StudyResult

_BAR = 26


def sensitivity(result: StudyResult) -> alt.VConcatChart:
    """Plots the share of each objective's variance that each axis explains.

    There is a panel per objective and a bar per axis.
    """
    from nacre.words.studies import title

    found = result.sensitivity()
    if not found.height:
        raise Error(
            "no axis has a share: no objective differs between the points,"
            " or combinations are missing",
            "no-data",
        )
    panels = []
    objectives = found["objective"].unique(maintain_order=True).to_list()
    for name in objectives:
        rows = [
            {"axis": printable(row["axis"]), "share": row["share"], "said": percent(row["share"])}
            for row in found.filter(found["objective"] == name).iter_rows(named=True)
        ]
        panels.append(_panel(title(name), rows, last=name == objectives[-1]))
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=14).properties(
        title=theme.title(f"{result.name}: what decides", _METHODS[found["method"][0]])
    )
    return theme.themed(chart)


_METHODS = {
    "variance": "share of the variance that an axis explains alone",
    "PED-ANOVA": "influence of an axis on being among the best 10 % of points (PED-ANOVA)",
}


def _panel(name: str, rows: list[dict[str, object]], *, last: bool) -> alt.LayerChart:
    base = alt.Chart(theme.data(rows)).encode(
        y=alt.Y("axis:N", title=None).sort([str(row["axis"]) for row in rows]).axis(grid=False)
    )
    x = (
        alt.X("share:Q", title="share" if last else None)
        .scale(domain=[0, 1.1], nice=False)
        .axis(
            grid=False,
            format="%",
            values=[0, 0.25, 0.5, 0.75, 1],
            labels=last,
            ticks=last,
            domain=last,
        )
    )
    bars = base.mark_bar(color=theme.BLUE).encode(x=x)
    texts = base.mark_text(align="left", dx=6, baseline="middle").encode(x=x, text="said:N")
    chart = alt.layer(bars, texts).properties(
        title=alt.TitleParams(printable(name), fontSize=13, fontWeight="normal", offset=6),
        width=theme.WIDTH - 60,
        height=_BAR * len(rows),
    )
    return cast("alt.LayerChart", chart)
