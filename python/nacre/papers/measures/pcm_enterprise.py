"""What Kim et al. measure that is no field of a record.

A store is scored as they score it: requests come one after the other, so its IOPS are one over
the mean latency, and what it costs is the mean price per GiB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nacre.base import quantity
from nacre.base.view import View
from nacre.results.mixes import Mixes
from nacre.results.record import Record
from nacre.simulate.simulated import mean_ns


def _iops(record: Record) -> float | None:
    mean = mean_ns(record)
    return 1e9 / mean if mean else None


def _price(record: Record) -> float:
    """The mean price per GiB of a store of tiers or of one device."""
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
    """Mean latency times price: as a number of the read share it is a straight line."""
    mean = mean_ns(record)
    return None if mean is None else mean * _price(record)


def _share(tier: int) -> Callable[[Record], float]:
    """Percent of the capacity that a tier is to have."""

    def share(record: Record) -> float:
        return float(100 * quantity.parse(record.scenario.stack.tier[tier].share).value)

    return share


def _spread(op: str) -> Callable[[Record], float | None]:
    """The 99th percentile of a latency over its median."""

    def spread(record: Record) -> float | None:
        found = record.latency[op]
        return float(found["p99_ns"] / found["p50_ns"]) if found else None

    return spread


def _gain(found: Mixes) -> float:
    """By how many percent the best mix with the first tier is above the best without."""
    first = found.names[0]
    best = found.best(1)["iops_per_cost"][0]
    without = found.without(first).best(1)["iops_per_cost"][0]
    return float(100 * (best / without - 1))


MEASURES: Mapping[str, Callable[[Any], float | None]] = {
    "mean_ns": mean_ns,
    "read_us": lambda record: float(record.latency.read.mean_ns) / 1000,
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
