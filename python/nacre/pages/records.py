"""Sections of a report about records: side by side, then each on its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from nacre.base import toml
from nacre.base.table import Table
from nacre.base.text import (
    NOTHING,
    duration,
    percent,
    printable,
    si,
    significant,
    with_unit,
)
from nacre.base.toml import setting
from nacre.figures import record_figures
from nacre.figures.export import svg
from nacre.pages.html import paragraphs, table
from nacre.pages.page import (
    figure,
    folded,
    heading,
    listing,
    part,
    said_aloud,
    wide,
)
from nacre.results.comparison import compare
from nacre.words import headlines
from nacre.words.records import (
    components,
    facts,
    latencies,
    tenants,
    time_spent,
    time_split,
)

if TYPE_CHECKING:
    from nacre.base.view import View
    from nacre.results.record import Record


def side_by_side(records: Mapping[str, Record]) -> str:
    """Several records compared; nothing for one."""
    if len(records) < 2:
        return ""
    together = compare(records)
    figures = [figure(svg(together.plot_latency())), figure(svg(together.plot_time_spent()))]
    return (
        said_aloud(headlines.of_records(records))
        + wide(table(compared(records)))
        + "".join(figures)
    )


def section(name: str, record: Record) -> str:
    """One record: what it says, what it rests on, where time, energy and money went."""
    figures = "".join(figure(svg(chart)) for chart in record_figures(record).values())
    return "".join(
        [
            heading(printable(name)),
            said_aloud(headlines.of_record(record)),
            paragraphs(facts(record)),
            part("Latency", *_tables(latencies(record), tenants(record))),
            part("Where the time went", *_tables(time_spent(record), time_split(record))),
            part("Energy, wear and cost", *_tables(bill(record))),
            part("Parts of the stack", *_tables(components(record))),
            figures,
            assumptions(record.origins),
            folded("Every value, and where it comes from", _tables(_origins(record))[0]),
            folded("The scenario, to run it again", _again(record)),
        ]
    )


def _tables(*tables: Table) -> list[str]:
    return [wide(table(each)) for each in tables if each.rows]


def bill(record: Record) -> Table:
    """Energy, wear and cost of each part that has any of them."""
    rows = []
    for each in record.components:
        joules = None if each.energy_j is None else sum(each.energy_j.values())
        if joules is None and each.cost is None and each.lifetime_days is None:
            continue
        watts = joules / record.simulated_s if joules and record.simulated_s else None
        done = record.requests.completed
        rows.append(
            [
                each.path,
                _number(joules, "J"),
                _number(watts, "W"),
                with_unit(joules / done, "J") if joules and done else NOTHING,
                _number(each.lifetime_days, "days"),
                _number(each.cost, ""),
                each.cost_basis or NOTHING,
            ]
        )
    columns = ["component", "energy", "power", "a request", "lifetime", "cost", "counted in"]
    return Table("", columns, [False, *[True] * 5, False], rows)


def _number(value: float | None, unit: str) -> str:
    return NOTHING if value is None else f"{significant(value)} {unit}".rstrip()


def assumptions(origins: Iterable[View]) -> str:
    """The values nobody measured or published, each once, folded away."""
    found: dict[tuple[str, str], list[str]] = {}
    for origin in origins:
        if origin.confidence == "assumed":
            said = setting(origin.value)
            found.setdefault((origin.path, said), [origin.path, said, origin.source])
    shown = wide(table(Table("", ["value", "is", "why"], [False] * 3, list(found.values()))))
    return folded(f"What is assumed: {len(found)} values", shown)


def _origins(record: Record) -> Table:
    rows = [
        [o.path, setting(o.value), o["from"], o.place, o.source, o.confidence]
        for o in record.origins
    ]
    columns = ["value", "is", "from", "place", "source", "confidence"]
    return Table("", columns, [False] * 6, rows)


def _again(record: Record) -> str:
    """The resolved scenario, and how to run it from a shell and from Python."""
    scenario = toml.document(json.loads(record.to_json())["scenario"])
    shell = "nacre run scenario.toml --out results"
    python = 'import nacre\nrecord = nacre.run("scenario.toml")'
    return part("scenario.toml", listing(scenario)) + part(
        "Run it", listing(shell), listing(python)
    )


def compared(records: Mapping[str, Record]) -> Table:
    """A line for each record."""
    basis = _basis(records)
    rows = []
    for name, record in records.items():
        cells = [printable(name), si(record.throughput.iops).strip()]
        for op in ("read", "write"):
            latency = record.latency[op]
            cells += [duration(latency.mean_ns if latency else None)]
            cells += [duration(latency.p99_ns if latency else None)]
        watts = sum(record.energy_j.values()) / (record.simulated_s or 1.0) or None
        cells += [percent(record.find_hit_ratio()), _number(watts, "W"), _price(record, basis)]
        found = ", ".join(finding.kind.replace("_", " ") for finding in record.findings)
        rows.append([*cells, found or NOTHING])
    columns = ["", "requests/s", "read mean", "read p99", "write mean", "write p99"]
    columns += ["hit ratio", "power", f"cost, {basis}" if basis else "cost"]
    columns += ["findings"]
    return Table("", columns, [False, *[True] * 8, False], rows)


def _basis(records: Mapping[str, Record]) -> str:
    """What all costs are counted in; nothing where that differs or is not said."""
    bases = {record.cost_basis or "" for record in records.values() if record.cost is not None}
    return bases.pop() if len(bases) == 1 else ""


def _price(record: Record, basis: str) -> str:
    """The cost, with what it is counted in where others are counted in something else."""
    own = "" if basis else record.cost_basis or ""
    return _number(record.cost, own)
