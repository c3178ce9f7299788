"""Tables of energy, wear, and cost of runs, and comparisons of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nacre.base.table import Table
from nacre.base.text import NOTHING, duration, percent, printable, si, significant, with_unit
from nacre.words.records import time_spent

if TYPE_CHECKING:
    from nacre.results.record import Record


def bill(record: Record) -> Table:
    """Returns a table of the energy, wear, and cost of each component that has such data."""
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
    columns = ["component", "energy", "power", "per request", "lifetime", "cost", "currency"]
    return Table("", columns, [False, *[True] * 5, False], rows)


def _number(value: float | None, unit: str) -> str:
    return NOTHING if value is None else f"{significant(value)} {unit}".rstrip()


def compared(records: Mapping[str, Record]) -> Table:
    """Returns a table that compares records, with a row for each record."""
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
    """Returns the common currency of all costs, or an empty string if there is none."""
    bases = {record.cost_basis or "" for record in records.values() if record.cost is not None}
    return bases.pop() if len(bases) == 1 else ""


def _price(record: Record, basis: str) -> str:
    """Formats the cost of a record, with the currency if the records have different currencies."""
    own = "" if basis else record.cost_basis or ""
    return _number(record.cost, own)


def bills(records: Mapping[str, Record]) -> list[Table]:
    """Returns tables that compare runs: latency breakdown, energy, wear, and cost."""
    if not records:
        return []
    told = [compared(records)] if len(records) > 1 else []
    spent = _joined("Latency breakdown", {name: time_spent(of) for name, of in records.items()})
    taken = _joined("Energy, wear and cost", {name: bill(of) for name, of in records.items()})
    return [*told, spent, taken]


def _joined(title: str, tables: Mapping[str, Table]) -> Table:
    """Merges tables with equal columns. The first row of a table starts with the table's name."""
    first = next(iter(tables.values()))
    rows = [
        [printable(name) if number == 0 else "", *row]
        for name, each in tables.items()
        for number, row in enumerate(each.rows)
    ]
    return Table(title, ["of", *first.columns], [False, *first.numeric], rows)
