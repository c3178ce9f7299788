"""Figures, each defined once: for notebooks, files, reports and pages.

A result draws its own with `result.plot`; `save` writes one to a file.
"""

from __future__ import annotations

from nacre.figures.blocks import blocks
from nacre.figures.by_axis import by_axis
from nacre.figures.cleaning import cleaning
from nacre.figures.export import save
from nacre.figures.latency import latency
from nacre.figures.mean_latency import mean_latency
from nacre.figures.mixes import mixes
from nacre.figures.pareto import pareto
from nacre.figures.sensitivity import sensitivity
from nacre.figures.served import served
from nacre.figures.theme import title
from nacre.figures.throughput import throughput
from nacre.figures.tiers import tiers
from nacre.figures.time_spent import time_spent
from nacre.figures.time_split import time_split
from nacre.figures.wear import wear

__all__ = [
    "blocks",
    "by_axis",
    "cleaning",
    "latency",
    "mean_latency",
    "mixes",
    "pareto",
    "save",
    "sensitivity",
    "served",
    "throughput",
    "tiers",
    "time_spent",
    "time_split",
    "title",
    "wear",
]
