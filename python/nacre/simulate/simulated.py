"""Simulates the best tier mixes, with queueing and with the arrivals of the workload."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nacre.base import quantity
from nacre.results.mixes import called
from nacre.results.record import Record
from nacre.scenario.source import Scenario
from nacre.simulate.running import Progress, check, run

if TYPE_CHECKING:
    import polars as pl

    from nacre.results.mixes import Mixes

_MILLION = 1_000_000


class Simulated:
    """Simulated mixes, each with its record."""

    def __init__(self, chosen: pl.DataFrame, names: Sequence[str], records: Sequence[Record]):
        self.records = tuple(records)
        self._chosen = chosen
        self._names = tuple(names)

    @property
    def complete(self) -> bool:
        """Whether all runs completed."""
        ended = all(record.complete for record in self.records)
        return ended and len(self.records) == self._chosen.height

    @property
    def named(self) -> dict[str, Record]:
        """Records by descriptions of their mixes, e.g. `5 % pcm_ssd, 95 % disk`."""
        rows = self._chosen.head(len(self.records)).to_dicts()
        names = [called(row, self._names) for row in rows]
        return dict(zip(names, self.records, strict=True))

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per simulated mix, with its serial scores and its simulated results.

        `simulated_iops` is the number of requests completed per second, which equals the arrival
        rate if nothing is saturated. `simulated_flush_ns` is the mean latency of flushes, or null
        if there are none. `busiest` is the tier with the busiest device, and `busy` is the
        utilization of this device. `findings` are limitations of the record, e.g. `saturated`.
        """
        import polars as pl

        rows = [self._measured(record) for record in self.records]
        types = {
            "simulated_iops": pl.Float64,
            "simulated_mean_ns": pl.Float64,
            "simulated_flush_ns": pl.Float64,
            "busiest": pl.String,
            "busy": pl.Float64,
            "findings": pl.String,
        }
        return pl.concat(
            [self._chosen.head(len(rows)), pl.DataFrame(rows, schema=types)], how="horizontal"
        )

    def _measured(self, record: Record) -> dict[str, Any]:
        busy = {
            name: max(
                (
                    part.utilization
                    for part in record.components
                    if part.path.startswith(f"stack.tier[{number}].device")
                ),
                default=0.0,
            )
            for number, name in enumerate(self._names)
        }
        busiest = max(busy, key=busy.__getitem__)
        return {
            "simulated_iops": record.throughput.iops,
            "simulated_mean_ns": mean_ns(record),
            "simulated_flush_ns": flush.mean_ns if (flush := record.latency.flush) else None,
            "busiest": busiest,
            "busy": busy[busiest],
            "findings": ", ".join(finding.kind for finding in record.findings) or None,
        }


def mean_ns(record: Record) -> float | None:
    """Returns the mean latency of all reads and writes in nanoseconds.

    Returns None if there are no reads or writes.
    """
    kinds = [of for of in (record.latency.read, record.latency.write) if of]
    requests = sum(of.count for of in kinds)
    return sum(of.count * of.mean_ns for of in kinds) / requests if requests else None


def simulate(
    scenario: Scenario,
    overrides: Mapping[str, object] | None,
    mixes: Mixes,
    count: int,
    *,
    progress: Progress | None = None,
) -> Simulated:
    """Simulates the `count` best mixes, with the placement of the scenario.

    `progress` may stop the simulation. Mixes without a complete run are then omitted.
    """
    chosen = mixes.best(count, mixes.ordered_by)
    extent = quantity.parse(check(scenario, overrides).scenario.stack.extent)
    records: list[Record] = []
    for row in chosen.to_dicts():
        held = [row[f"{name}_extents"] for name in mixes.names]
        settings = dict(overrides or {}) | {"stack.capacity": f"{int(extent.value) * sum(held)} B"}
        for number, share in enumerate(_shares(held)):
            settings[f"stack.tier[{number}].share"] = share
        records.append(run(scenario, settings, progress=progress or False))
        if not records[-1].complete:
            records.pop()
            break
    return Simulated(chosen, mixes.names, records)


def _shares(held: Sequence[int]) -> list[str]:
    """Converts numbers of extents to shares from which the device computes exactly these numbers.

    The device rounds shares to millionths.
    """
    total = sum(held)
    upto = [math.ceil(_MILLION * part / total) for part in itertools.accumulate(held)]
    return [
        f"{(after - before) / 10_000:.4f} %" for before, after in itertools.pairwise([0, *upto])
    ]
