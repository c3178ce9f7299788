"""Computes the numbers of the NVRAM card paper that are not fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nacre.base.view import View
from nacre.errors import Error
from nacre.results.record import Record


def _latency(record: Record) -> View:
    """Returns the latencies of the only kind of request in the run."""
    found = record.latency.read or record.latency.write
    if found is None:
        raise KeyError("latency")
    return found


def _us(field: str) -> Callable[[Record], float]:
    """Returns a function for a latency in microseconds."""
    return lambda record: float(_latency(record)[field]) / 1e3


def _interval_percent(record: Record) -> float | None:
    """Returns the half-width of the 95 % confidence interval of the mean latency, in percent.

    In a closed loop, the rate is the queue depth divided by the mean latency. The percentage
    therefore also applies to the rate.
    """
    latency = _latency(record)
    half_width = latency["mean_ci95_ns"]
    return None if half_width is None else float(100 * half_width / latency["mean_ns"])


def _in_card(record: Record) -> float:
    """Returns the mean number of outstanding requests relative to the queue depth.

    Uses Little's law.
    """
    (depth,) = (
        int(origin["value"])
        for origin in record.origins
        if origin["path"] == "workload.arrival.queue_depth"
    )
    return float(record.throughput.iops * _latency(record)["mean_ns"] / 1e9) / depth


def _dump(name: str) -> Callable[[Record], float]:
    """Returns a function that reads a value about saving the whole memory of the card."""

    def value(record: Record) -> float:
        card = record.components[0]
        try:
            return float(record.columns[f"{card.path}.dump.{name}"][0])
        except Error:
            raise KeyError(name) from None

    return value


MEASURES: Mapping[str, Callable[[Record], float | None]] = {
    "mean_us": _us("mean_ns"),
    "p50_us": _us("p50_ns"),
    "p99_us": _us("p99_ns"),
    "p999_us": _us("p999_ns"),
    "p99_over_p50": lambda record: _us("p99_ns")(record) / _us("p50_ns")(record),
    "interval_percent": _interval_percent,
    "in_card": _in_card,
    "dump_needs_j": _dump("needs_j"),
    "dump_s": _dump("s"),
    "dump_saves_share": _dump("saves_share"),
}
