"""Computes the numbers of the Onyx paper that are not fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nacre.results.record import Component, Record


def _drive(record: Record) -> Component:
    """Returns the drive, which is the only component in these runs."""
    return record.components[0]


def _bandwidth(record: Record) -> float:
    """Returns megabytes read and written per second."""
    return record.throughput.bytes_per_s / 1e6


def _latency(record: Record) -> float:
    """Returns the mean latency of all reads and writes in microseconds."""
    found = [latency for latency in (record.latency.read, record.latency.write) if latency]
    requests = sum(latency.count for latency in found)
    return sum(latency.mean_ns * latency.count for latency in found) / requests / 1e3


def _most_programs(record: Record) -> float:
    """Returns the number of programs of the most programmed row."""
    wear = _drive(record).wear
    if wear is None or wear.row_programs is None:
        raise KeyError("row_programs")
    return float(wear.row_programs.max)


def _counter(record: Record, name: str) -> int:
    """Returns a counter of the drive."""
    return int(_drive(record).counters[name])


def _worn_out_s(record: Record) -> float:
    """Returns the seconds until the first row is worn out.

    Raises `KeyError` if no row is worn out.
    """
    if record.worn_out is None:
        raise KeyError("worn_out")
    return record.worn_out.seconds


MEASURES: Mapping[str, Callable[[Record], float]] = {
    "mb_per_s": _bandwidth,
    "mib_per_s": lambda record: record.throughput.bytes_per_s / 2**20,
    "latency_us": _latency,
    "most_programs": _most_programs,
    "line_share": lambda record: _counter(record, "line_bytes") / _counter(record, "bytes_read"),
    "worn_out_s": _worn_out_s,
    "days_until_worn_out": lambda record: _worn_out_s(record) / 86_400,
}
