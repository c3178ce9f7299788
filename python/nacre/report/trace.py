"""A trace as a section of a report, and as a page of its own."""

from __future__ import annotations

from nacre.figures.export import svg
from nacre.figures.trace import trace_figures
from nacre.report import headline
from nacre.report.fragment import paragraphs, table
from nacre.report.page import figure, heading, page, part, said_aloud, wide
from nacre.text import printable
from nacre.trace_summary import request_sizes, trace_facts, trace_shape
from nacre.view import View


def trace_section(name: str, info: View) -> str:
    """What `nacre trace info` knows of a trace, with figures."""
    return "".join(
        [
            heading(printable(name)),
            said_aloud(headline.of_trace(info)),
            paragraphs(f"note: {line}" for line in info.warnings),
            part("What is in it", wide(table(trace_facts(info)))),
            part("What it is like", wide(table(trace_shape(info)))),
            part("Sizes", wide(table(request_sizes(info)))),
            *(figure(svg(chart)) for chart in trace_figures(info, printable(name)).values()),
        ]
    )


def trace_page(info: View, name: str) -> str:
    """The section as a page."""
    return page(name, trace_section(name, info))
