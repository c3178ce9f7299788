"""The figures of results, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nacre import kinds
from nacre.figures.export import drawn_once

if TYPE_CHECKING:
    import altair as alt
    from nacre.results.base import Result


def makers(result: Result) -> dict[str, Callable[[], alt.TopLevelMixin]]:
    """Plot functions of the figures with data."""
    return dict(kinds.of(result).figures(result))


def charts(result: Result) -> dict[str, alt.TopLevelMixin]:
    """The figures with data."""
    return {name: make() for name, make in makers(result).items()}


def drawings(result: Result) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Functions that draw the files of the figures."""
    for name, make in makers(result).items():
        for suffix, draw in drawn_once(make):
            yield f"{name}.{suffix}", draw
