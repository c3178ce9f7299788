"""Comparison of several runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nacre.results.base import Result
from nacre.results.record import Record
from nacre.results.tables import OPS

if TYPE_CHECKING:
    import polars as pl


_SOME = ("units_per_s", "write_amplification", "cleaning_cost", "erases", "lifetime_days")
"""Columns that the table omits if no record has a value for them."""


@dataclass(frozen=True)
class Comparison(Result):
    """Records to be compared, with their names."""

    names: tuple[str, ...]
    records: tuple[Record, ...]

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per record with latencies in nanoseconds, throughput, cost, and hit ratio.

        `read_mean_ci95_ns` is the half-width of the 95 % confidence interval of `read_mean_ns`. The
        table has columns for transactions, garbage collection, and wear if at least one record has
        these values.
        """
        import polars as pl

        rows = [_row(name, record) for name, record in zip(self.names, self.records, strict=True)]
        absent = {field for field in _SOME if all(row[field] is None for row in rows)}
        rows = [{key: row[key] for key in row if key not in absent} for row in rows]
        words = ("name", "cost_basis", "findings")
        types = {key: pl.String if key in words else pl.Float64 for key in rows[0]}
        return pl.DataFrame(rows, schema=types)

    def to_dict(self) -> dict[str, Any]:
        """Returns the rows of the table by the names of the records."""
        return {row.pop("name"): row for row in self.to_polars().to_dicts()}

    def __repr__(self) -> str:
        return repr(self.to_polars())


def compare(records: Mapping[str, Record] | Iterable[Record]) -> Comparison:
    """Compares records. If no names are given, the records' own names are used."""
    if isinstance(records, Record):
        raise TypeError(
            "expected a list of records, e.g. nacre.compare([a, b]), or a table of"
            " names and records"
        )
    if isinstance(records, Mapping):
        names, listed = tuple(records), tuple(records.values())
    else:
        listed = tuple(records)
        names = tuple(_distinct([record.name for record in listed]))
    if not listed:
        raise ValueError("there are no records to compare")
    return Comparison(names, listed)


def _distinct(names: Sequence[str]) -> list[str]:
    """Returns the names. Names that occur several times get a number."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if names.count(name) == 1 else f"{name} {seen[name]}")
    return result


def _row(name: str, record: Record) -> dict[str, object]:
    row: dict[str, object] = {"name": name, "iops": record.throughput.iops}
    for op in OPS:
        summary = record.latency.get(op)
        for field in ("mean", "p50", "p95", "p99"):
            value = summary[f"{field}_ns"] if summary else None
            row[f"{op}_{field}_ns"] = value
            if field == "mean":
                row[f"{op}_mean_ci95_ns"] = summary.mean_ci95_ns if summary else None
    row |= {"cost": record.cost, "cost_basis": record.cost_basis}
    row["read_hit_ratio"] = record.find_hit_ratio()
    row["units_per_s"] = record.throughput.units_per_s
    row["findings"] = ", ".join(finding.kind for finding in record.findings) or None
    return row | {field: record[field] for field in _SOME[1:]}
