"""What a server tells of itself, of its devices and of a loss of power."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from nacre.kinds.kind import Kind
from nacre.results.served import ExportStatistics, Outage, Statistics
from nacre.words.served import (
    export_facts,
    latency_table,
    outage_facts,
    request_table,
    server_facts,
    wear_table,
)
from nacre.words.summary import Figures, Summary, filled

if TYPE_CHECKING:
    import altair as alt

    from nacre.kinds.kind import Plots


def _of_server(found: Statistics) -> Summary:
    return Summary((), server_facts(found))


def _of_export(found: ExportStatistics) -> Summary:
    tables = filled(request_table(found), latency_table(found), wear_table(found.components))
    return Summary((), export_facts(found), tables, _figures(found))


def _of_outage(found: Outage) -> Summary:
    return Summary((), outage_facts(found))


def _figures(found: ExportStatistics) -> Figures:
    has_wear = any(part.get("wear") for part in found.components)
    return {"wear": partial(_wear, found)} if has_wear else {}


def _wear(found: ExportStatistics, component: str | None = None) -> alt.TopLevelMixin:
    from nacre.figures import wear

    return wear(found.as_record(), component)


def _plots() -> Plots:
    return {"wear": _wear}


def _html(result: Any) -> str:
    from nacre.pages.html import fragment

    said = result.summary()
    return fragment(said.facts, said.tables)


SERVER = Kind(summary=_of_server, html=_html)
EXPORT = Kind(summary=_of_export, html=_html, figures=_figures, plots=_plots)
OUTAGE = Kind(summary=_of_outage, html=_html)
