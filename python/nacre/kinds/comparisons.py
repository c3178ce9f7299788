"""Defines how comparisons of records are summarized, plotted, saved, and loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.errors import Error
from nacre.files import records as files
from nacre.files.staging import Staging
from nacre.kinds.kind import Kind, Plots, read_document
from nacre.results.comparison import Comparison, compare
from nacre.results.origins import assumed
from nacre.results.record import Op, Record
from nacre.words import headlines
from nacre.words.bills import compared
from nacre.words.summary import Figures, Summary, filled

if TYPE_CHECKING:
    import altair as alt

COMPARISON_FILE = "comparison.json"
SCHEMA = "nacre-comparison-1"


def _words(result: Comparison) -> Summary:
    records = dict(zip(result.names, result.records, strict=True))
    paths = (path for record in result.records for path in assumed(record.origins))
    tables = filled(compared(records))
    return Summary(headlines.of_records(records), (), tables, assumed=list(dict.fromkeys(paths)))


def _figures(result: Comparison) -> Figures:
    """Returns the latency figures for each kind of request that occurs in all records."""
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
    """Compares several records for the first part of a report.

    Returns an empty string for a single record.
    """
    from nacre.pages import page

    if len(records) < 2:
        return ""
    together = compare(records)
    charts = [page.drawn(_latency(together)), page.drawn(_time_spent(together))]
    tables = page.shown(compared(records))
    return "".join([page.headline(headlines.of_records(records)), *tables, *charts])


def _html(result: Comparison) -> str:
    return result.to_polars()._repr_html_()


def _write(staging: Staging, result: Comparison) -> None:
    """Commits the records, each in a separate directory, and then the file that lists them."""
    named = zip(result.names, result.records, strict=True)
    places = files.save_all(staging.directory, "records", dict(named))
    document = json.dumps({"schema": SCHEMA, "records": places}, indent=2, ensure_ascii=False)
    staging.put(COMPARISON_FILE, f"{document}\n".encode())


def _read(folder: Path) -> Comparison:
    """Loads a comparison that `Comparison.save` saved. Raises `Error` for other content."""
    places = read_document(folder / COMPARISON_FILE).get("records")
    if not isinstance(places, dict) or not places:
        raise Error(f"{folder} holds no comparison", "invalid-content")
    return compare(files.read_all(folder, places))


KIND = Kind(
    words=_words,
    plots=_plots,
    drawings=_figures,
    notebook=_html,
    names=(COMPARISON_FILE,),
    write=_write,
    read=_read,
)
