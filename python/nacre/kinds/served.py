"""Defines how server statistics and effects of power losses are summarized and plotted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.kinds.kind import Kind, Plots, document, reader
from nacre.results.served import ExportStatistics, Outage, Statistics
from nacre.words.served import (
    export_facts,
    fault_table,
    latency_table,
    outage_facts,
    request_table,
    server_facts,
    wear_table,
)
from nacre.words.summary import Summary, filled

if TYPE_CHECKING:
    import altair as alt


def _of_export(found: ExportStatistics) -> Summary:
    tables = (
        request_table(found),
        latency_table(found),
        fault_table(found.faults),
        wear_table(found.components),
    )
    return Summary((), export_facts(found), filled(*tables))


def _has(found: ExportStatistics) -> list[str]:
    return ["wear"] if any(part.get("wear") for part in found.components) else []


def _wear(found: ExportStatistics, component: str | None = None) -> alt.TopLevelMixin:
    from nacre.figures.wear import wear

    return wear(found.as_record(), component)


def _plots() -> Plots:
    return {"wear": _wear}


SERVER = Kind(
    words=lambda found: Summary((), server_facts(found)),
    encode=document,
    read=reader(Statistics),
)
EXPORT = Kind(
    words=_of_export, plots=_plots, has=_has, encode=document, read=reader(ExportStatistics)
)
OUTAGE = Kind(
    words=lambda found: Summary((), outage_facts(found)), encode=document, read=reader(Outage)
)
