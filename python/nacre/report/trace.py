"""One HTML page about a trace: no network, no script."""

from __future__ import annotations

from html import escape

from nacre.figures.export import svg
from nacre.figures.trace import trace_figures
from nacre.report.fragment import paragraphs, table
from nacre.report.page import document
from nacre.text import printable
from nacre.trace_summary import request_sizes, trace_facts, trace_shape
from nacre.view import View


def trace_page(info: View, name: str) -> str:
    """What `nacre trace info` knows of a trace, with figures."""
    name = printable(name)
    charts = trace_figures(info, name).values()
    figures = "".join(f"<figure>{svg(chart)}</figure>" for chart in charts)
    notes = paragraphs(f"note: {line}" for line in info.warnings)
    tables = table(trace_facts(info)) + table(trace_shape(info)) + table(request_sizes(info))
    return document(name, f"<h1>{escape(name)}</h1>{notes}{tables}{figures}")
