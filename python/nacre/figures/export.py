"""Figures as files: SVG, PNG, or Vega-Lite."""

from __future__ import annotations

import io
from typing import Any

import altair as alt

_PNG_SCALE = 2


def images(chart: alt.TopLevelMixin) -> dict[str, bytes]:
    """The figure as SVG and as PNG of twice the nominal size, by suffix."""
    drawn: Any = chart
    svg, png = io.StringIO(), io.BytesIO()
    drawn.save(svg, format="svg")
    drawn.save(png, format="png", scale_factor=_PNG_SCALE)
    return {"svg": svg.getvalue().encode(), "png": png.getvalue()}


def svg(chart: alt.TopLevelMixin) -> str:
    """The figure as SVG text."""
    drawn: Any = chart
    text = io.StringIO()
    drawn.save(text, format="svg")
    return text.getvalue()
