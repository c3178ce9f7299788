"""Several runs side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nacre.results.record import Op, Record

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


_SOME = ("units_per_s", "write_amplification", "cleaning_cost", "erases", "lifetime_days")
"""Columns that not every record has."""


@dataclass(frozen=True)
class Comparison:
    """Records with the names they are compared under."""

    names: tuple[str, ...]
    records: tuple[Record, ...]

    def frame(self) -> pl.DataFrame:
        """One row per record: latencies in microseconds, throughput, cost, hit ratio.

        `read_mean_within_us` is half of the 95 % confidence interval of the mean beside it.
        Transactions, cleaning and wear have columns where at least one of the records has them.
        """
        import polars as pl

        rows = [_row(name, record) for name, record in zip(self.names, self.records, strict=True)]
        absent = {field for field in _SOME if all(row[field] is None for row in rows)}
        rows = [{key: row[key] for key in row if key not in absent} for row in rows]
        words = ("name", "cost_basis", "findings")
        types = {key: pl.String if key in words else pl.Float64 for key in rows[0]}
        return pl.DataFrame(rows, schema=types)

    def plot_latency(self, op: Op = "read") -> alt.TopLevelMixin:
        """The latency distributions, overlaid."""
        from nacre.figures import latency

        return latency(self.records, ops=[op], names=self.names)

    def plot_time_spent(self, op: Op = "read") -> alt.TopLevelMixin:
        """Where the time of an average request went, one bar per record."""
        from nacre.figures import time_spent

        return time_spent(self.records, ops=[op], names=self.names)

    def __repr__(self) -> str:
        return repr(self.frame())

    def _repr_html_(self) -> str:
        return self.frame()._repr_html_()


def compare(records: Mapping[str, Record] | Iterable[Record]) -> Comparison:
    """Puts records side by side, under the given names or their own."""
    if isinstance(records, Record):
        raise TypeError("records are compared in a list, as nacre.compare([a, b]), or by name")
    if isinstance(records, Mapping):
        names, listed = tuple(records), tuple(records.values())
    else:
        listed = tuple(records)
        names = tuple(_distinct([record.name for record in listed]))
    if not listed:
        raise ValueError("there are no records to compare")
    return Comparison(names, listed)


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, numbered where they repeat."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if names.count(name) == 1 else f"{name} {seen[name]}")
    return result


def _row(name: str, record: Record) -> dict[str, object]:
    row: dict[str, object] = {"name": name, "iops": record.throughput.iops}
    for op in ("read", "write"):
        summary = record.latency[op]
        for field in ("mean", "p50", "p95", "p99"):
            value = summary[f"{field}_ns"] if summary else None
            row[f"{op}_{field}_us"] = None if value is None else value / 1000
            if field == "mean":
                within = summary.mean_ci95_ns if summary else None
                row[f"{op}_mean_within_us"] = None if within is None else within / 1000
    row |= {"cost": record.cost, "cost_basis": record.cost_basis}
    row["read_hit_ratio"] = record.find_hit_ratio()
    row["units_per_s"] = record.throughput.units_per_s
    row["findings"] = ", ".join(finding.kind for finding in record.findings) or None
    return row | {field: record[field] for field in _SOME[1:]}
