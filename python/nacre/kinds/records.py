"""Defines how records of runs are summarized, plotted, saved, and loaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module

from nacre.base import toml
from nacre.base.table import Table
from nacre.base.toml import setting
from nacre.files import records as files
from nacre.files.staging import Staging
from nacre.kinds.kind import Kind, Plots
from nacre.results import tables
from nacre.results.origins import assumed
from nacre.results.record import Op, Record
from nacre.words import headlines
from nacre.words.bills import bill
from nacre.words.records import (
    components,
    facts,
    faults,
    latencies,
    tenants,
    time_spent,
    time_split,
)
from nacre.words.records import tables as all_tables
from nacre.words.summary import Summary, filled


def _words(record: Record) -> Summary:
    parts = (latencies, faults, time_spent, time_split, components, bill)
    tables = filled(*(part(record) for part in parts))
    paths = assumed(record.origins)
    return Summary(headlines.of_record(record), facts(record), tables, assumed=paths)


CHARTS: Mapping[str, Callable[[Record], bool]] = {
    "latency": lambda record: any(_kinds_of_requests(record)),
    "throughput": lambda record: (
        any(_kinds_of_requests(record))
        and record.time_series().height > 0
        and record.simulated_s > 0
    ),
    "time_spent": lambda record: any(record.time_spent[op] for op in _kinds_of_requests(record)),
    "time_split": lambda record: (
        any(_kinds_of_requests(record)) and any(part.resources for part in record.components)
    ),
    "wear": lambda record: bool(tables.owners(record, "blocks", "erases")),
    "cleaning": lambda record: (
        bool(tables.owners(record, "cleaning", "cost")) and record.cleaning()["cost"].count() > 0
    ),
    "blocks": lambda record: bool(tables.owners(record, "blocks", "valid_share")),
    "tiers": lambda record: bool(tables.owners(record, "epochs", "fastest_share")),
}
"""Figures of a record, each with a function that returns whether the record has data for the
figure. The module `nacre.figures.NAME` plots the figure NAME with its function `of_record` or
`NAME`."""
FIGURE_FILES = tuple(f"{name}.{suffix}" for name in CHARTS for suffix in ("svg", "png"))
RECORD_FILES = (files.RECORD_FILE, *FIGURE_FILES)


def _has(record: Record) -> list[str]:
    return [name for name, has in CHARTS.items() if has(record)]


def _plots() -> Plots:
    found = {}
    for name in CHARTS:
        module = import_module(f"nacre.figures.{name}")
        found[name] = getattr(module, "of_record", None) or getattr(module, name)
    return found


def _kinds_of_requests(record: Record) -> list[Op]:
    """Returns the kinds of requests that the record contains."""
    ops: tuple[Op, ...] = ("read", "write")
    return [op for op in ops if record.latency[op]]


def write(staging: Staging, record: Record) -> None:
    """Commits a record and its columns.

    Removes figures and tables of an earlier record, because they do not match the new record.
    """
    for name, data in files.files(record).items():
        staging.write(name, data)
    saved = staging.directory / files.RECORD_FILE
    staging.discard([*FIGURE_FILES, *files.files_of_saved(saved)])
    staging.commit()


def _html(record: Record) -> str:
    from nacre.pages.html import titled_fragment

    return titled_fragment(record.name, facts(record), all_tables(record))


def _section(name: str, record: Record) -> str:
    """Creates the section of a report with summary, assumptions, breakdown, energy, and cost."""
    from nacre.pages import page

    return page.section(
        name,
        KIND.summary(record),
        page.titled("Latency", latencies(record), tenants(record)),
        page.titled("Faults", faults(record)),
        page.titled("Latency breakdown", time_spent(record), time_split(record)),
        page.titled("Energy, wear and cost", bill(record)),
        page.titled("Parts of the stack", components(record)),
        after=[
            page.assumptions(record.origins),
            page.folded("Every value and its origin", page.shown(_origins(record))[0]),
            page.folded("The scenario, to rerun it", _again(record)),
        ],
    )


def _origins(record: Record) -> Table:
    rows = [
        [o.path, setting(o.value), o["from"], o.place, o.source, o.confidence]
        for o in record.origins
    ]
    columns = ["value", "is", "from", "place", "source", "confidence"]
    return Table("", columns, [False] * 6, rows)


def _again(record: Record) -> str:
    """Returns the resolved scenario as HTML, with commands that run it."""
    from nacre.pages.page import listing, part

    scenario = toml.document(json.loads(record.to_json())["scenario"])
    shell = "nacre run scenario.toml --out results"
    python = 'import nacre\nrecord = nacre.run("scenario.toml")'
    return part("scenario.toml", listing(scenario)) + part(
        "Run it", listing(shell), listing(python)
    )


KIND = Kind(
    words=_words,
    plots=_plots,
    has=_has,
    notebook=_html,
    section=_section,
    names=RECORD_FILES,
    write=write,
    read=files.read,
)
