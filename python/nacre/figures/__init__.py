"""Figures of records, each defined once: for notebooks, files and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import altair as alt

from nacre.figures.blocks import blocks
from nacre.figures.by_axis import by_axis, can_be_drawn
from nacre.figures.cleaning import cleaning
from nacre.figures.export import drawn_once, save
from nacre.figures.latency import latency
from nacre.figures.makers import makers
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
from nacre.results import tables
from nacre.results.record import Op, Record

if TYPE_CHECKING:
    from nacre.studies.result import StudyResult

__all__ = [
    "blocks",
    "by_axis",
    "cleaning",
    "drawings",
    "figure_makers",
    "latency",
    "makers",
    "mean_latency",
    "mixes",
    "pareto",
    "record_figures",
    "save",
    "sensitivity",
    "served",
    "study_figures",
    "throughput",
    "tiers",
    "time_spent",
    "time_split",
    "title",
    "wear",
]


def record_figures(record: Record) -> Mapping[str, alt.TopLevelMixin]:
    """The figures a record has data for, by file name."""
    return {name: make() for name, make in figure_makers(record).items()}


def drawings(record: Record) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The files of the figures a record has data for, each drawn when it is called."""
    for name, make in figure_makers(record).items():
        for suffix, draw in drawn_once(make):
            yield f"{name}.{suffix}", draw


def study_figures(result: StudyResult) -> Mapping[str, Callable[[], alt.TopLevelMixin]]:
    """What draws the figures a study has data for, by file name."""
    makers: dict[str, Callable[[], alt.TopLevelMixin]] = {}
    if can_be_drawn(result):
        makers["by_axis"] = partial(by_axis, result)
    columns = [objective.column for objective in result.questions.objectives[:2]]
    if len(columns) == 2 and result.designs.drop_nulls(columns).height:
        makers["pareto"] = partial(pareto, result)
    if result.sensitivity().height:
        makers["sensitivity"] = partial(sensitivity, result)
    return makers


def figure_makers(record: Record) -> Mapping[str, Callable[[], alt.TopLevelMixin]]:
    """What draws the figures a record has data for, by file name."""
    ops: tuple[Op, ...] = ("read", "write")
    done = [op for op in ops if record.latency[op]]
    makers: dict[str, Callable[[], alt.TopLevelMixin]] = {}
    if done:
        makers["latency"] = partial(latency, [record], ops=done)
    if done and record.time_series().height and record.simulated_s > 0:
        makers["throughput"] = partial(throughput, record)
    if any(record.time_spent[op] for op in done):
        makers["time_spent"] = partial(time_spent, [record], ops=done)
    if done and any(part.resources for part in record.components):
        makers["time_split"] = partial(time_split, record)
    if tables.owners(record, "blocks", "erases"):
        makers["wear"] = partial(wear, record)
    if tables.owners(record, "cleaning", "cost") and record.cleaning()["cost"].count():
        makers["cleaning"] = partial(cleaning, record)
    if tables.owners(record, "blocks", "live_share"):
        makers["blocks"] = partial(blocks, record)
    if tables.owners(record, "epochs", "fastest_share"):
        makers["tiers"] = partial(tiers, record)
    return makers
