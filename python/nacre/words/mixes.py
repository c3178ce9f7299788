"""Summarizes tier mixes as tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from nacre.base.table import Table
from nacre.base.text import NOTHING, amount, count, duration, numbered, percent, significant, size

if TYPE_CHECKING:
    import polars as pl

    from nacre.results.mixes import Mixes
    from nacre.simulate.planning import Plan
    from nacre.simulate.simulated import Simulated

_Cell = TypeVar("_Cell")


def counted(mixes: Mixes) -> str:
    """Returns text with the number of mixes, extents, and accesses."""
    return (
        f"{count(len(mixes))} mixes of {numbered(mixes.extents, 'extent')}, evaluated with"
        f" {numbered(mixes.reads, 'read')}{_size(mixes.read_bytes, mixes.reads)}"
        f" and {numbered(mixes.writes, 'write')}{_size(mixes.write_bytes, mixes.writes)},"
        " as serial accesses on idle devices"
        + ("" if mixes.budget is None else f", at most {amount(mixes.budget)} per GiB")
    )


def flushes(plan: Plan) -> list[str]:
    """Returns sentences with the number of flushes in a trace, and their latency on each device."""
    if not plan.info.flushes:
        return []
    by_device = plan.flush_ns()
    known = ", ".join(f"{duration(ns)} on {name}" for name, ns in by_device.items() if ns)
    unknown = ", ".join(name for name, ns in by_device.items() if not ns)
    sentences = [
        f"{count(plan.info.flushes)} of {count(plan.info.records)} requests are flushes.",
        f"On an idle device, a flush after a write of 4 KiB takes {known}." if known else "",
        f"Flushes are not modeled, and take no time, on {unknown}." if unknown else "",
    ]
    return [" ".join(sentence for sentence in sentences if sentence)]


def _size(total: int, accesses: int) -> str:
    """Formats the mean size of the accesses."""
    return f" of {size(total / accesses)}" if accesses else ""


def tiers(mixes: Mixes) -> Table:
    """Returns a table of the tiers."""
    rows = [
        [
            tier.name,
            duration(tier.read_ns),
            duration(tier.write_ns),
            NOTHING if tier.price is None else amount(tier.price),
            tier.price_basis or NOTHING,
        ]
        for tier in mixes.tiers
    ]
    columns = ["tier", "idle read", "idle write", "price per GiB", "in"]
    return Table("", columns, [*_numbers(3), False], rows)


def ranking(mixes: Mixes, best: int = 10) -> Table:
    """Returns a table of the best mixes, and of each tier alone."""
    found = [
        (str(rank), row) for rank, row in enumerate(_rows(mixes.best(best, mixes.ordered_by)), 1)
    ]
    found += [("alone", row) for row in _rows(mixes.pure())]
    rows = [
        [name, *(percent(row[tier]) for tier in mixes.names), *_scores(row)] for name, row in found
    ]
    basis = f", {mixes.bases[0]}" if len(mixes.bases) == 1 else ""
    columns = ["mix", *mixes.names, "mean latency", "serial IOPS"]
    columns += [f"price per GiB{basis}", "IOPS per price"]
    return Table("", columns, _numbers(len(columns) - 1), rows)


def simulated(mixes: Mixes, runs: Simulated) -> Table:
    """Returns a table of the simulated mixes, with their serial scores."""
    rows = [
        [
            str(number),
            *(percent(row[tier]) for tier in mixes.names),
            significant(row["iops"]),
            significant(row["simulated_iops"]),
            duration(row["mean_ns"]),
            duration(row["simulated_mean_ns"]),
            NOTHING if row["simulated_flush_ns"] is None else duration(row["simulated_flush_ns"]),
            f"{row['busiest']} {percent(row['busy'])}",
            (row["findings"] or "").replace("_", " "),
        ]
        for number, row in enumerate(_rows(runs.to_polars()), 1)
    ]
    columns = [
        "mix",
        *mixes.names,
        "serial IOPS",
        "done/s",
        "serial latency",
        "latency",
        "flush",
        "busiest",
        "findings",
    ]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    numeric = [*_numbers(len(mixes.names) + 5), False, False]
    if all(row[columns.index("flush")] == NOTHING for row in rows):
        at = columns.index("flush")
        columns, rows = _without(columns, at), [_without(row, at) for row in rows]
        numeric = _without(numeric, at)
    return Table("", columns, numeric[: len(columns)], rows)


def _without(cells: list[_Cell], at: int) -> list[_Cell]:
    return cells[:at] + cells[at + 1 :]


def _scores(row: dict[str, Any]) -> list[str]:
    cost, per_cost = row["cost"], row["iops_per_cost"]
    iops = row["iops"]
    return [
        duration(row["mean_ns"]),
        NOTHING if iops is None else significant(iops),
        NOTHING if cost is None else amount(cost),
        NOTHING if per_cost is None else significant(per_cost),
    ]


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.to_dicts()


def _numbers(columns: int) -> list[bool]:
    return [False, *([True] * columns)]
