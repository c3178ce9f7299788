"""Computes the numbers of data sheets that are not fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nacre.results.record import Record


def _watts(record: Record) -> float:
    """Returns the mean power in watts over the run.

    Raises `KeyError` if there is no energy model.
    """
    return float(sum(record.energy_j.values())) / record.drained_s


def _read_us(record: Record) -> float | None:
    read = record.latency.read
    return read.mean_ns / 1e3 if read else None


def _write_us(record: Record) -> float | None:
    write = record.latency.write
    return write.mean_ns / 1e3 if write else None


def _read_ms(record: Record) -> float | None:
    mean = _read_us(record)
    return None if mean is None else mean / 1e3


MEASURES: Mapping[str, Callable[[Record], float | None]] = {
    "read_us": _read_us,
    "read_ms": _read_ms,
    "write_us": _write_us,
    "mb_per_s": lambda record: record.throughput.bytes_per_s / 1e6,
    "watts": _watts,
}
