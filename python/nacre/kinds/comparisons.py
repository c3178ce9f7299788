"""Records side by side."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from nacre.kinds.kind import Kind, Plots
from nacre.results.comparison import Comparison, compare
from nacre.results.origins import assumed
from nacre.results.record import Op, Record
from nacre.words import headlines
from nacre.words.bills import compared
from nacre.words.summary import Figures, Summary, filled

if TYPE_CHECKING:
    import altair as alt


def _words(result: Comparison) -> Summary:
    records = dict(zip(result.names, result.records, strict=True))
    paths = (path for record in result.records for path in assumed(record.origins))
    tables = filled(compared(records))
    return Summary(headlines.of_records(records), (), tables, assumed=list(dict.fromkeys(paths)))


def _figures(result: Comparison) -> Figures:
    """Of each kind of request that all of the records have."""
    found: dict[str, Any] = {}
    ops: tuple[Op, ...] = ("read", "write")
    for op in ops:
        if all(record.latency[op] for record in result.records):
            found[f"latency-{op}"] = partial(_latency, result, op)
            found[f"time-spent-{op}"] = partial(_time_spent, result, op)
    return found


def _latency(result: Comparison, op: Op = "read") -> alt.TopLevelMixin:
    from nacre.figures.latency import latency

    return latency(result.records, ops=[op], names=result.names)


def _time_spent(result: Comparison, op: Op = "read") -> alt.TopLevelMixin:
    from nacre.figures.time_spent import time_spent

    return time_spent(result.records, ops=[op], names=result.names)


def _plots() -> Plots:
    return {"latency": _latency, "time_spent": _time_spent}


def side_by_side(records: Mapping[str, Record]) -> str:
    """Several records as the first part of a report; nothing for one."""
    from nacre.pages import page

    if len(records) < 2:
        return ""
    together = compare(records)
    charts = [page.drawn(_latency(together)), page.drawn(_time_spent(together))]
    tables = page.shown(compared(records))
    return "".join([page.said_aloud(headlines.of_records(records)), *tables, *charts])


def _html(result: Comparison) -> str:
    return result.to_polars()._repr_html_()


KIND = Kind(words=_words, plots=_plots, drawings=_figures, notebook=_html)
