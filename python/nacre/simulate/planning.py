"""Finds caches and mixes of devices for a trace and a budget."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nacre import traces
from nacre.base.table import Table
from nacre.errors import Error, invalid
from nacre.results.base import Result
from nacre.results.curves import CacheCurves
from nacre.results.mixes import Mixes
from nacre.results.traces import TraceInfo
from nacre.simulate import stepping
from nacre.simulate.mixing import mixes
from nacre.simulate.running import check

if TYPE_CHECKING:
    import polars as pl

POLICIES = ("lru", "arc", "s3_fifo", "sieve")
STEPS = 20
_EXTENTS = 1024
_SAMPLED_BLOCKS = 1 << 16
"""Number of distinct blocks above which only a sample of blocks is simulated."""
_BLOCK = 4096
_LEAST_BITS = 26
"""Base-2 logarithm of the minimum capacity of a store in bytes, i.e. 64 MiB."""
_LARGEST = 1 << 40
"""Capacity in bytes that is used to check a plan before the addresses of the trace are known."""

Step: TypeAlias = Literal["reading", "simulating caches", "scoring mixes"]
Progress: TypeAlias = Callable[[Step, int, int | None], bool | None]
"""Function that is called about ten times a second with the current step, the number of requests
done, and the total. If it returns true, the plan stops."""


@dataclass(frozen=True)
class Plan(Result):
    """Caches and tier mixes for a trace. The prices of the devices can be changed."""

    trace: str
    """Name of a built-in trace, or path of a trace."""
    currency: str
    """Currency of the prices, e.g. `USD 2023`."""
    info: TraceInfo
    """Analysis of the trace."""
    caches: CacheCurves
    """Miss ratios of caches by policy and size."""
    mixes: Mixes
    """Mixes of the devices as tiers."""
    scenario: Mapping[str, Any]
    """Scenario with the devices as tiers, and the trace as workload."""
    steps: int = STEPS

    @property
    def prices(self) -> dict[str, float]:
        """Price per GiB of each device."""
        return {tier.name: tier.price or 0.0 for tier in self.mixes.tiers}

    @property
    def sample(self) -> float | None:
        """Share of the blocks that were simulated. None if all blocks were simulated."""
        return _sample(self.info)

    def flush_ns(self) -> dict[str, float]:
        """Returns the flush latency of each device in nanoseconds.

        The latency is measured after a single write of 4 KiB to an idle device. Therefore, it is a
        lower bound for a device under load.
        """
        devices = (tier["device"] for tier in self.scenario["stack"]["tier"])
        asked = (("write", 0, _BLOCK), ("flush", 0, 0))
        return {
            name: stepping.step({"stack": device}, asked)[-1].latency_ns
            for name, device in zip(self.mixes.names, devices, strict=True)
        }

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per mix, as in `mixes`, with the additional column `flush_ns`.

        A flush is sent to every tier of a mix. Its latency is that of the slowest tier (see
        `flush_ns()`).
        """
        import polars as pl

        slowest = pl.max_horizontal(
            pl.when(pl.col(name) > 0).then(pl.lit(ns)) for name, ns in self.flush_ns().items()
        )
        return self.mixes.to_polars().with_columns(slowest.alias("flush_ns"))

    def to_dict(self) -> dict[str, Any]:
        """Returns a document with the trace, caches, mixes, and scenario."""
        return {
            "trace": self.trace,
            "currency": self.currency,
            "steps": self.steps,
            "flush_ns": self.flush_ns(),
            "info": self.info.to_dict(),
            "caches": self.caches.to_dict(),
            "mixes": self.mixes.to_dict(),
            "scenario": dict(self.scenario),
        }

    def repriced(self, prices: Mapping[str, float]) -> Plan:
        """Returns the plan with other prices per GiB for some devices."""
        paid = {**self.prices, **prices}
        tree = json.loads(json.dumps(self.scenario))
        for name, given in zip(self.mixes.names, tree["stack"]["tier"], strict=True):
            given["device"]["price"] = _per_gib(paid[name])
        found = self.mixes.repriced(paid, self.currency)
        return replace(self, mixes=found, scenario=tree)

    def within(self, budget: float | None) -> Mixes:
        """Returns the mixes up to this price per GiB. There may be none."""
        return self.mixes if budget is None else self.mixes.within(budget)

    def cache_scenarios(
        self, money: float, prices: Mapping[str, float] | None = None
    ) -> list[dict[str, Any]]:
        """Returns a scenario for each device.

        In each scenario, a server cache on one of the devices is in front of a network store. The
        cache is as large as `money` allows.

        `prices` maps devices to prices per GiB. By default, these are the prices of the plan.
        """
        if not 0 < money < math.inf:
            hint = f"give a number of {self.currency}"
            raise invalid(
                "out-of-range", "money", "expected an amount", given=str(money), hint=hint
            )
        given = self.prices if prices is None else prices
        trees = [self._cache(name, price, money) for name, price in given.items()]
        for tree in trees:
            check(tree)
        return trees

    def _cache(self, name: str, price: float, money: float) -> dict[str, Any]:
        blocks = int(money / price * 2**30) // _BLOCK
        if blocks < 1:
            raise invalid("out-of-range", "money", f"it does not buy a block of {name}")
        device = {**_device(name, price, self.currency), "capacity": f"{_BLOCK * blocks} B"}
        stack = {
            "kind": "server_cache",
            "level": [{"device": device, "policy": "lru"}],
            "backing": {"preset": "network_store"},
        }
        called = Path(self.trace).stem or self.trace
        return {"name": f"{called} {name}", "workload": _workload(self.trace), "stack": stack}

    def if_prices_differ(self, budget: float | None = None) -> Table:
        """Returns a table of the best mix if one price changes by 20 % up or down."""
        from nacre.simulate import worth

        return worth.of_prices(self.mixes, budget)

    def if_latencies_differ(
        self,
        others: Mapping[tuple[str, str], Mixes] | None = None,
        budget: float | None = None,
        *,
        progress: Callable[..., bool | None] | None = None,
    ) -> Table:
        """Returns a table of the best mix if the latencies of one device change by 20 % up or down.

        Reads the trace again for each change, unless `others` contains the results of
        `with_latencies`.
        """
        from nacre.simulate import worth

        known = self.with_latencies(progress=progress) if others is None else others
        return worth.of_latencies(self.mixes, known, budget)

    def with_latencies(
        self, *, progress: Callable[..., bool | None] | None = None
    ) -> dict[tuple[str, str], Mixes]:
        """Returns the mixes if one device is 20 % faster or slower, by device and direction.

        Only devices with constant latencies can be changed. Raises `Error` if there are none.
        """
        from nacre.simulate import worth

        return worth.with_latencies(self.scenario, self.mixes, self.steps, progress)

    @staticmethod
    def check(trace: str, prices: Mapping[str, float], currency: str) -> None:
        """Raises `ConfigError` with all errors that can be detected before the trace is read."""
        check(_store(trace, prices, currency, _LARGEST))


def plan(
    trace_: str | os.PathLike[str],
    prices: Mapping[str, float],
    currency: str,
    *,
    policies: Sequence[str] = POLICIES,
    steps: int = STEPS,
    progress: Progress | None = None,
) -> Plan:
    """Reads a trace, simulates caches of many sizes, and scores every mix of some devices.

    `prices` maps two or more catalog devices to their prices per GiB in `currency`. The capacity of
    the store covers all addresses of the trace.

    Raises `ConfigError` for an unknown device or policy, `TraceError` for an invalid trace, and
    `Error` if `progress` stopped the plan.
    """
    place = os.fspath(trace_)
    Plan.check(place, prices, currency)

    def telling(step: Step) -> Callable[..., bool | None]:
        return lambda done, total=None, *_: progress(step, done, total) if progress else None

    def go_on(step: Step) -> None:
        if progress and progress(step, 0, None):
            raise Error("stopped before the first result", "stopped")

    info = traces.info(place, progress=telling("reading"))
    go_on("simulating caches")
    sample = _sample(info)
    curves = traces.caches(place, policies, sample=sample, progress=telling("simulating caches"))
    go_on("scoring mixes")
    tell = telling("scoring mixes")
    found, tree = _scored(place, prices, currency, int(info.footprint_bytes), steps, tell)
    return Plan(place, currency, info, curves, found, tree, steps)


def _scored(
    place: str,
    prices: Mapping[str, float],
    currency: str,
    footprint: int,
    steps: int,
    tell: Callable[..., bool | None],
) -> tuple[Mixes, dict[str, Any]]:
    """Scores the mixes of a store that covers all addresses of the trace."""
    least = footprint
    while True:
        bits = max(_LEAST_BITS, math.ceil(math.log2(max(1, least))))
        tree = _store(place, prices, currency, 1 << bits)
        try:
            return mixes(tree, steps=steps, progress=tell), tree
        except Error as error:
            if error.code != "past-the-end" or error.data.get("end", 0) <= least:
                raise
            least = error.data["end"]


def _sample(info: TraceInfo) -> float | None:
    """Returns the share of the blocks to simulate, or None for all blocks."""
    blocks = info.footprint_bytes // _BLOCK
    return None if blocks <= _SAMPLED_BLOCKS else _SAMPLED_BLOCKS / blocks


def _per_gib(price: float) -> str:
    return f"{price:.9g} /GiB"


def _device(name: str, price: float, currency: str) -> dict[str, Any]:
    return {"preset": name, "price": _per_gib(price), "price_basis": currency}


def _workload(place: str) -> dict[str, Any]:
    return {"kind": "trace", "file": place, "placement": "compact"}


def _store(place: str, prices: Mapping[str, float], currency: str, capacity: int) -> dict[str, Any]:
    """Returns a scenario with the devices as tiers, and the trace as workload."""
    share = f"{100 / max(1, len(prices)):.9g} %"
    tiers = [
        {"device": _device(name, price, currency), "share": share} for name, price in prices.items()
    ]
    stack = {
        "kind": "tiers",
        "capacity": f"{capacity} B",
        "extent": f"{max(1 << 20, capacity // _EXTENTS)} B",
        "placement": "static_optimal",
        "tier": tiers,
    }
    return {"name": "mix of tiers", "workload": _workload(place), "stack": stack}
