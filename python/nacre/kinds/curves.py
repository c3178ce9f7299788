"""Defines how miss-ratio curves are summarized, plotted, saved, and loaded."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

from nacre.errors import Error, TraceError
from nacre.kinds.kind import Kind, Plots, read_document
from nacre.results.curves import CacheCurves, Curve, MissRatioCurve
from nacre.words.summary import Summary

SUFFIXES = ("csv", "parquet", "json", "svg", "png", "html")


def suffix_of(path: Path) -> str:
    """Returns the suffix that determines the format of a file.

    Raises `TraceError` for an unknown suffix.
    """
    suffix = path.suffix.removeprefix(".")
    if suffix not in SUFFIXES:
        raise TraceError(
            f'the name "{path.name}" does not say how to write a curve;'
            f" end it in one of: {', '.join(f'.{known}' for known in SUFFIXES)}",
            "unknown-name",
        )
    return suffix


def _encoded(curve: Curve, path: Path) -> bytes:
    """Encodes a curve as a document, a table, or a figure, according to the file name."""
    suffix = suffix_of(path)
    if suffix == "json":
        return (json.dumps(curve.to_dict()) + "\n").encode()
    if suffix == "csv":
        return curve.to_polars().write_csv().encode()
    if suffix == "parquet":
        buffer = io.BytesIO()
        curve.to_polars().write_parquet(buffer)
        return buffer.getvalue()
    from nacre.figures.export import image

    return image(curve.plot(), suffix)


def _words(curve: Curve) -> Summary:
    return Summary((), [repr(curve)])


def _html(curve: Curve) -> str:
    from nacre.figures.export import svg

    return svg(curve.plot())


def _miss_ratio_plots() -> Plots:
    from nacre.figures.miss_ratio import miss_ratio

    return {"misses": miss_ratio}


def _cache_plots() -> Plots:
    from nacre.figures.cache_curves import cache_curves

    return {"misses": cache_curves}


def _kind(curve: type[MissRatioCurve | CacheCurves], plots: Callable[[], Plots]) -> Kind:
    def read(path: Path) -> Curve:
        """Loads a JSON document that `save` or `--json` wrote. Raises `Error` for other content."""
        try:
            return curve.of_document(path.stem, read_document(path))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Error(f"{path} is not a complete {curve.__name__}", "invalid-content") from None

    return Kind(words=_words, plots=plots, notebook=_html, encode=_encoded, read=read)


MISS_RATIO = _kind(MissRatioCurve, _miss_ratio_plots)
CACHES = _kind(CacheCurves, _cache_plots)
