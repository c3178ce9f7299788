"""HTML fragments for notebooks and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from nacre.base.table import Table
from nacre.base.text import printable

_CELL = "padding:2px 14px 2px 0;text-align:{};font-variant-numeric:tabular-nums"


def fragment(lines: Iterable[str], tables: Iterable[Table]) -> str:
    """Returns the HTML of sentences followed by tables."""
    return paragraphs(lines) + "".join(map(table, tables))


def titled_fragment(name: str, lines: Iterable[str], tables: Iterable[Table]) -> str:
    """Returns the HTML of a title, sentences, and tables."""
    heading = f"<h4 style='margin:0 0 6px'>{escape(printable(name))}</h4>"
    return f"<div class='nacre-record'>{heading}{fragment(lines, tables)}</div>"


def paragraphs(lines: Iterable[str]) -> str:
    """Returns the HTML of lines, each as a paragraph."""
    return "".join(f"<p style='margin:0 0 4px'>{escape(line)}</p>" for line in lines)


def table(content: Table) -> str:
    """Returns the HTML of a table. Numbers are right-aligned."""
    head = _row("th", content.columns, content)
    body = "".join(_row("td", row, content) for row in content.rows)
    return (
        f"<table style='border-collapse:collapse;margin:10px 0'>"
        f"<caption style='text-align:left;font-weight:bold'>{escape(content.title)}</caption>"
        f"<thead>{head}</thead><tbody>{body}</tbody></table>"
    )


def _row(tag: str, cells: Sequence[str], content: Table) -> str:
    shown = ""
    for cell, number in zip(cells, content.numeric, strict=True):
        style = _CELL.format("right;white-space:nowrap" if number else "left")
        own = tag if cell else "td"  # a header without text is not a heading
        shown += f"<{own} style='{style}'>{escape(cell)}</{own}>"
    return f"<tr>{shown}</tr>"
