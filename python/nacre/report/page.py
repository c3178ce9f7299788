"""One HTML page from records alone: no network, no script."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from nacre.comparison import compare
from nacre.figures import record_figures
from nacre.figures.export import svg
from nacre.report.fragment import paragraphs, table
from nacre.summary import Table, components, facts, latencies, setting
from nacre.text import NOTHING, printable

if TYPE_CHECKING:
    from nacre.record import Record

_STYLE = """
body { font: 15px/1.5 'Liberation Sans', Arial, Helvetica, sans-serif; color: #222;
  max-width: 960px; margin: 40px auto; padding: 0 24px; }
h1 { font-size: 26px; margin: 0 0 24px; } h2 { font-size: 20px; margin: 48px 0 10px;
  border-top: 1px solid #ddd; padding-top: 24px; }
table { font-size: 13px; } th { color: #666; font-weight: normal; border-bottom: 1px solid #ccc; }
figure { margin: 20px 0; overflow-x: auto; } svg { max-width: 100%; height: auto; }
details { margin: 12px 0; } summary { cursor: pointer; color: #0072B2; }
"""


def report(records: Mapping[str, Record], title: str = "Nacre report") -> str:
    """A page with the records side by side, then each on its own."""
    parts = [f"<h1>{escape(title)}</h1>"]
    if len(records) > 1:
        together = compare(records)
        parts += [_frame(records), _figure(svg(together.plot_latency()))]
        parts.append(_figure(svg(together.plot_time_spent())))
    parts += [_section(name, record) for name, record in records.items()]
    return document(title, "".join(parts))


def document(title: str, body: str) -> str:
    """A whole page in the look of the house."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def _section(name: str, record: Record) -> str:
    figures = "".join(_figure(svg(chart)) for chart in record_figures(record).values())
    tables = table(latencies(record)) + table(components(record))
    return (
        f"<h2>{escape(printable(name))}</h2>{paragraphs(facts(record))}{tables}{figures}"
        f"<details><summary>Every value, and where it comes from</summary>"
        f"{table(_origins(record))}</details>"
    )


def _origins(record: Record) -> Table:
    rows = [
        [o.path, setting(o.value), o["from"], o.place, o.source, o.confidence]
        for o in record.origins
    ]
    columns = ["value", "is", "from", "place", "source", "confidence"]
    return Table("", columns, [False] * 6, rows)


def _frame(records: Mapping[str, Record]) -> str:
    rows = []
    columns: list[str] = []
    for row in compare(records).frame().iter_rows(named=True):
        columns = list(row)
        rows.append(
            [
                value if isinstance(value, str) else NOTHING if value is None else f"{value:,.4g}"
                for value in row.values()
            ]
        )
    return table(Table("", columns, [name != "name" for name in columns], rows))


def _figure(drawing: str) -> str:
    return f"<figure>{drawing}</figure>"
