"""Figures of records, each defined once: for notebooks, files and reports."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from nacre.figures.export import save
from nacre.figures.latency import latency
from nacre.figures.mean_latency import mean_latency
from nacre.figures.theme import title
from nacre.figures.throughput import throughput
from nacre.figures.time_spent import time_spent
from nacre.record import Op, Record

__all__ = [
    "latency",
    "mean_latency",
    "record_figures",
    "save",
    "throughput",
    "time_spent",
    "title",
]


def record_figures(record: Record) -> Mapping[str, alt.TopLevelMixin]:
    """The figures a record has data for, by file name."""
    ops: tuple[Op, ...] = ("read", "write")
    done = [op for op in ops if record.latency[op]]
    figures: dict[str, alt.TopLevelMixin] = {}
    if done:
        figures["latency"] = latency([record], ops=done)
    if record.time_series().height:
        figures["throughput"] = throughput(record)
    if any(record.time_spent[op] for op in done):
        figures["time_spent"] = time_spent([record], ops=done)
    return figures
