"""Creates an HTML page with the rows of a reproduction.

The page requires no network or script.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nacre.base.table import Table
from nacre.pages.html import paragraphs, table
from nacre.pages.page import document
from nacre.papers.judging.evidence import summed
from nacre.papers.judging.judge import Row
from nacre.papers.result import Reproduction
from nacre.papers.showing.table import claims, notes

_TITLE = "Published results, recomputed"
_COLUMNS = ("figure", "metric", "class", "because")


def page(found: Reproduction) -> str:
    """Returns a page with the rows, evidence, and notes of every paper."""
    fits = {fit.paper: str(fit) for fit in found.fits}
    body = [f"<h1>{escape(_TITLE)}</h1>"]
    for paper in dict.fromkeys(row["paper"] for row in found.listed):
        rows = [row for row in found.listed if row["paper"] == paper]
        lines = [*summed(rows), *filter(None, [fits.get(paper)])]
        body.append(f"<h2>{escape(paper)}</h2>{paragraphs(lines)}{table(claims(rows))}")
        body.append(f"{table(_reasons(rows))}{paragraphs(notes(rows))}")
    return document(_TITLE, "".join(body))


def _reasons(rows: Sequence[Row]) -> Table:
    cells = [
        [row["figure"], row["metric"], row["class"], row["because"]]
        for row in rows
        if row["because"]
    ]
    return Table("Why rows are no predictions", _COLUMNS, [False] * 4, cells)
