"""Defines how trace analyses and fitted workloads are summarized, plotted, and saved."""

from __future__ import annotations

from collections.abc import Sequence

from nacre.base.text import NOTHING, count, duration, percent, printable, size
from nacre.kinds.kind import Kind, Line, document, reader
from nacre.results.traces import TraceInfo
from nacre.words import headlines
from nacre.words.summary import Summary, filled
from nacre.words.traces import missed_by_lru, request_sizes, trace_facts, trace_shape

_NS = 1e9


def _words(info: TraceInfo) -> Summary:
    tables = filled(trace_facts(info), trace_shape(info), request_sizes(info))
    return Summary(headlines.of_trace(info), list(info.warnings), tables)


def _html(info: TraceInfo) -> str:
    from nacre.pages.html import paragraphs, table

    tables = filled(trace_facts(info), trace_shape(info), request_sizes(info))
    notes = paragraphs(f"note: {line}" for line in info.warnings)
    return "".join(map(table, tables)) + notes


def _section(name: str, info: TraceInfo) -> str:
    """Creates the section of a report with the analysis and the figures of a trace."""
    from nacre.figures.trace import trace_figures
    from nacre.pages import page

    return page.section(
        name,
        _words(info),
        page.titled("Requests", trace_facts(info)),
        page.titled("Locality and rate", trace_shape(info)),
        page.titled("Sizes", request_sizes(info)),
        lines=[f"note: {line}" for line in info.warnings],
        after=[page.drawn(chart) for chart in trace_figures(info, printable(name)).values()],
    )


def _line(info: TraceInfo) -> Sequence[str]:
    asked = info.reads + info.writes
    missed = percent(missed_by_lru(info, 0.1)[1]) if asked else NOTHING
    reads = percent(info.read_share) if asked else NOTHING
    took = duration(info.duration_s * _NS)
    return [count(info.records), reads, size(info.footprint_bytes), took, missed]


KIND = Kind(
    words=_words,
    notebook=_html,
    section=_section,
    line=Line(
        "Traces side by side",
        ["requests", "reads", "touched", "duration", "misses of a 10 % LRU cache"],
        _line,
    ),
    encode=document,
    read=reader(TraceInfo),
)


FITTED = Kind(
    words=lambda found: Summary((), [repr(found), *found.warnings]),
    notebook=lambda found: str(found.to_polars()._repr_html_()),
    encode=lambda found, _path: bytes(found.text.encode()),
)
