"""Figures as files: SVG, PNG, or Vega-Lite."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import altair as alt

from nacre.saving import write_file

SUFFIXES = ("svg", "png")
_PNG_SCALE = 2


def images(chart: alt.TopLevelMixin) -> dict[str, bytes]:
    """The figure as SVG and as PNG of twice the nominal size, by suffix."""
    return {suffix: image(chart, suffix) for suffix in SUFFIXES}


def image(chart: alt.TopLevelMixin, suffix: str) -> bytes:
    """The figure as `svg`, as `png` of twice the nominal size, or as an `html` page."""
    if suffix == "svg":
        return svg(chart).encode()
    if suffix == "html":
        return _page(svg(chart)).encode()
    drawn: Any = chart
    png = io.BytesIO()
    drawn.save(png, format="png", scale_factor=_PNG_SCALE)
    return png.getvalue()


def save(chart: alt.TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Writes the figure as PATH.svg and PATH.png, each complete or not at all."""
    for suffix, data in images(chart).items():
        write_file(Path(f"{os.fspath(path)}.{suffix}"), data)


def _page(drawing: str) -> str:
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Nacre</title></head>"
        f"<body>{drawing}</body></html>\n"
    )


def svg(chart: alt.TopLevelMixin) -> str:
    """The figure as SVG text."""
    drawn: Any = chart
    text = io.StringIO()
    drawn.save(text, format="svg")
    return text.getvalue()
