"""Saves figures as SVG, PNG, PDF, or HTML."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import altair as alt

from nacre.base import limits
from nacre.files.atomic import write_file

SUFFIXES = ("svg", "png")
FORMATS = (*SUFFIXES, "pdf", "html")
_PNG_SCALE = 2


def images(chart: alt.TopLevelMixin) -> dict[str, bytes]:
    """Encodes a figure as SVG, and as PNG of twice the nominal size.

    Returns the files by suffix.
    """
    return {suffix: make() for suffix, make in drawn_once(lambda: chart)}


def image(chart: alt.TopLevelMixin, suffix: str) -> bytes:
    """Encodes a figure as `svg`, `png`, `pdf`, or `html`. PNG has twice the nominal size."""
    return _encoded(svg(chart), suffix)


def drawn_once(
    make: Callable[[], alt.TopLevelMixin], suffixes: Sequence[str] = SUFFIXES
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yields an encoder for each suffix. The first call of an encoder plots the figure."""
    drawing = cache(lambda: svg(make()))
    for suffix in suffixes:
        yield suffix, partial(_drawn, drawing, suffix)


def _drawn(drawing: Callable[[], str], suffix: str) -> bytes:
    return _encoded(drawing(), suffix)


def _encoded(drawing: str, suffix: str) -> bytes:
    if suffix == "svg":
        return drawing.encode()
    if suffix == "html":
        return _page(drawing).encode()
    import vl_convert

    with limits.as_limit_errors("figures"):
        if suffix == "pdf":
            return vl_convert.svg_to_pdf(drawing)
        return vl_convert.svg_to_png(drawing, scale=_PNG_SCALE)


def save(chart: alt.TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Saves a figure in the format that the suffix of `path` selects: svg, png, pdf, or html.

    If the path has none of these suffixes, saves PATH.svg and PATH.png. Each file is written
    completely or not at all.
    """
    suffix = Path(path).suffix.removeprefix(".").lower()
    if suffix in FORMATS:
        write_file(Path(path), image(chart, suffix))
        return
    for suffix, data in images(chart).items():
        write_file(Path(f"{os.fspath(path)}.{suffix}"), data)


def _page(drawing: str) -> str:
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>Nacre</title></head>"
        f"<body>{drawing}</body></html>\n"
    )


def svg(chart: alt.TopLevelMixin) -> str:
    """Converts a figure to SVG text. Raises `Error` if a limit of the system is too low."""
    limits.for_figures()
    drawn: Any = chart
    text = io.StringIO()
    with limits.as_limit_errors("figures"):
        drawn.save(text, format="svg")
    return text.getvalue()
