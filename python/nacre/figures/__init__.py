"""Saves figures, and plots figures that do not belong to a single result.

To plot a figure of a single result, use the attribute `plot` of the result, e.g.
`result.plot.latency()`.
"""

from __future__ import annotations

from nacre.figures.activity import served
from nacre.figures.export import save
from nacre.figures.latency_bars import mean_latency
from nacre.figures.theme import title

__all__ = ["mean_latency", "save", "served", "title"]


def __dir__() -> list[str]:
    return __all__
