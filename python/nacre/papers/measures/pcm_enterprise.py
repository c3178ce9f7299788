"""Computes the numbers of Kim et al. that are not fields of a record.

Scores are computed as in the paper: requests are serial, IOPS is the inverse of the mean latency,
and the cost is the mean price per GiB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nacre.base import quantity
from nacre.base.view import View
from nacre.papers.running.served import Served
from nacre.results.mixes import Mixes
from nacre.results.record import Record
from nacre.simulate.simulated import mean_ns


def _iops(record: Record) -> float | None:
    mean = mean_ns(record)
    return 1e9 / mean if mean else None


def _price(record: Record) -> float:
    """Returns the mean price per GiB of a tiered store or of a single device."""
    store = record.components[0]
    if store.kind == "tiers":
        tiers = record.scenario.stack.tier
        extents = record.columns[f"{store.path}.tiers.extents"]
        prices = [_per_gib(tier.device) for tier in tiers]
        return float((extents * prices).sum() / extents.sum())
    return _per_gib(record.scenario.stack)


def _per_gib(device: View) -> float:
    return float(quantity.parse(device.price).value)


def _iops_per_cost(record: Record) -> float | None:
    iops = _iops(record)
    return None if iops is None else iops / _price(record)


def _cost_ns(record: Record) -> float | None:
    """Returns the mean latency times the price. This product is linear in the read share."""
    mean = mean_ns(record)
    return None if mean is None else mean * _price(record)


def _share(tier: int) -> Callable[[Record], float]:
    """Returns a function for the percentage of the capacity in a tier."""

    def share(record: Record) -> float:
        return float(100 * quantity.parse(record.scenario.stack.tier[tier].share).value)

    return share


def _spread(op: str) -> Callable[[Record], float | None]:
    """Returns a function for the ratio of the 99th percentile of a latency to its median."""

    def spread(record: Record) -> float | None:
        found = record.latency[op]
        return float(found["p99_ns"] / found["p50_ns"]) if found else None

    return spread


def _device_ns(result: Record | Served) -> float | None:
    """Returns the mean modeled read latency in nanoseconds, for a served or a simulated device."""
    modeled = result.server.modeled if isinstance(result, Served) else result.latency
    return modeled.read.mean_ns if modeled.read else None


def _transaction_ns(found: Served) -> float | None:
    """Returns the modeled time of all reads of a transaction in nanoseconds.

    Excludes the time that the serving machine adds.
    """
    reads = found.server.modeled.read
    return reads.count * reads.mean_ns / found.requests if reads else None


def _gain(found: Mixes) -> float:
    """Returns by how many percent the best mix with the first tier beats the best other mix.

    Other mixes do not use this tier.
    """
    first = found.names[0]
    best = found.best(1)["iops_per_cost"][0]
    without = found.without(first).best(1)["iops_per_cost"][0]
    return float(100 * (best / without - 1))


MEASURES: Mapping[str, Callable[[Any], float | None]] = {
    "mean_ns": mean_ns,
    "read_us": lambda record: float(record.latency.read.mean_ns) / 1000,
    "device_ns": _device_ns,
    "transaction_ns": _transaction_ns,
    "serial_iops": _iops,
    "iops_per_cost": _iops_per_cost,
    "cost_ns": _cost_ns,
    "pcm_percent": _share(0),
    "flash_percent": _share(1),
    "gain_percent": _gain,
    "read_spread": _spread("read"),
    "write_spread": _spread("write"),
    "megabytes_per_s": lambda record: float(record.throughput.bytes_per_s) / 1e6,
}
