"""Saves figures, and plots figures that belong to no single result.

The figures of a result are `result.plot.latency()`, `result.plot.wear()`, and so on.
"""

from __future__ import annotations

from nacre.figures.activity import served
from nacre.figures.export import save
from nacre.figures.latency_bars import mean_latency
from nacre.figures.theme import title

__all__ = ["mean_latency", "save", "served", "title"]


def __dir__() -> list[str]:
    return __all__
