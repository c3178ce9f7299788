"""Theme of all figures: colors, fonts, axes.

Uses the colors of Okabe and Ito (2008), which color-blind readers can distinguish.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

import altair as alt

from nacre.base.text import printable

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY, GRAY = "#CC79A7", "#E69F00", "#56B4E9", "#999999"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#4D4D4D", "#A6761D")
OP_COLORS = {"read": BLUE, "write": VERMILION}

WIDTH = 620
INK, FAINT, RULE = "#222222", "#666666", "#E4E4E4"
FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"

Chart = TypeVar(
    "Chart", alt.Chart, alt.LayerChart, alt.VConcatChart, alt.FacetChart, alt.HConcatChart
)


def data(rows: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """Embeds the rows in a figure, regardless of their number."""
    made = alt.InlineData(values=[])
    made["values"] = [dict(row) for row in rows]  # not validated against the schema, which is slow
    return made


def names(given: Iterable[str]) -> list[str]:
    """Escapes control characters in names, because XML does not allow these characters."""
    return [printable(name) for name in given]


def title(text: str, *subtitles: str) -> alt.TitleParams:
    """Creates a title with the main result, and gray subtitles that describe the measurement."""
    return alt.TitleParams(printable(text), subtitle=[printable(line) for line in subtitles])


def themed(chart: Chart) -> Chart:
    """Applies the theme to a figure. Notebooks can then show the figure without network access."""
    themed_chart: Chart = chart.configure(**_CONFIG)
    # Set it without Altair, because Altair makes attributes part of the specification.
    object.__setattr__(themed_chart, "_repr_mimebundle_", partial(_notebook_output, themed_chart))
    return themed_chart


def _notebook_output(chart: Any, *given: Any, **more: Any) -> Any:
    """Returns notebook output as SVG, unless the user has selected another Altair renderer.

    With Altair's default renderer, the browser would load scripts from the internet.
    """
    if alt.renderers.active not in ("default", "html"):
        return type(chart)._repr_mimebundle_(chart, *given, **more)
    from nacre.figures.export import svg

    return {"image/svg+xml": svg(chart), "text/plain": repr(type(chart))}


def ink_on(color: str) -> str:
    """Returns black or white, whichever has more contrast to the color."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 150 else "#FFFFFF"


def shade(color: str, share: float) -> str:
    """Mixes a color with white. `share` is the proportion of white, from 0 to 1."""
    parts = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * share):02X}" for part in parts)


_CONFIG: dict[str, Any] = {
    "background": "white",
    "font": FONT,
    "padding": 14,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "group",
        "color": INK,
        "fontSize": 16,
        "fontWeight": "bold",
        "subtitleColor": FAINT,
        "subtitleFontSize": 13,
        "subtitlePadding": 5,
        "offset": 16,
    },
    "axis": {
        "labelColor": INK,
        "labelFontSize": 12,
        "titleColor": FAINT,
        "titleFontSize": 12.5,
        "titleFontWeight": "normal",
        "titlePadding": 10,
        "gridColor": RULE,
        "domainColor": "#8A8A8A",
        "tickColor": "#8A8A8A",
        "tickSize": 4,
        "labelPadding": 4,
    },
    "axisY": {"domain": False, "ticks": False},
    "legend": {
        "orient": "top",
        "direction": "horizontal",
        "title": None,
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 320,
        "symbolStrokeWidth": 3,
        "columnPadding": 18,
        "offset": 8,
    },
    "line": {"strokeWidth": 2},
    "text": {"fontSize": 12, "color": INK},
}
