"""A trace as a section of a report, and as a page of its own."""

from __future__ import annotations

from nacre.base.text import printable
from nacre.base.view import View
from nacre.figures.export import svg
from nacre.figures.trace import trace_figures
from nacre.pages.html import paragraphs, table
from nacre.pages.page import (
    figure,
    heading,
    page,
    part,
    said_aloud,
    wide,
)
from nacre.words import headlines
from nacre.words.traces import request_sizes, trace_facts, trace_shape


def trace_section(name: str, info: View) -> str:
    """What `nacre trace info` knows of a trace, with figures."""
    return "".join(
        [
            heading(printable(name)),
            said_aloud(headlines.of_trace(info)),
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
