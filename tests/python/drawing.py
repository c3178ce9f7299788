"""Plots the figures of results for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nacre import kinds
from nacre.figures.export import drawn_once

if TYPE_CHECKING:
    import altair as alt
    from nacre.results.base import Result


def makers(result: Result) -> dict[str, Callable[[], alt.TopLevelMixin]]:
    """Returns the functions that plot the figures for which the result has data, by name."""
    return dict(kinds.of(result).figures(result))


def charts(result: Result) -> dict[str, alt.TopLevelMixin]:
    """Returns the figures for which the result has data, by name."""
    return {name: make() for name, make in makers(result).items()}


def drawings(result: Result) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yields the name of each figure file, and a function that plots and encodes the figure."""
    for name, make in makers(result).items():
        for suffix, draw in drawn_once(make):
            yield f"{name}.{suffix}", draw
