"""Results of power-loss tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base.view import View
from nacre.results._record import ValueOrigin
from nacre.results.base import Result

if TYPE_CHECKING:
    import polars as pl


class FaultResult(View):
    """Results for one class of faults.

    `lost_reported` is the number of blocks with an acknowledged write that recovery reports as
    lost. `lost_silently` is the number of device runs that returned corrupted data without an
    error.
    """

    fault: str
    guarantee: str
    points: int
    injected: int
    stale_blocks: int
    lost_reported: int
    lost_silently: int


class Recovery(View):
    """Distribution of recovery times.

    `bars` are pairs of a time in seconds and a number of recoveries.
    """

    count: int
    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    bars: tuple[tuple[float, int], ...]


class Finding(View):
    """A violation of a durability guarantee, with the shortest known steps that reproduce it."""

    problem: str
    fault: str
    steps: tuple[str, ...]
    steps_generated: int
    reproducible: bool


class Crash(Result, View):
    """Results of power-loss tests. If all durability guarantees held, `finding` is None."""

    parts = {  # noqa: RUF012
        "faults": FaultResult,
        "recovery": Recovery,
        "finding": Finding,
        "origins": ValueOrigin,
    }
    name: str
    scenario: str | None
    seed: int
    points: int
    device_runs: int
    restarts: int
    requests: int
    blocks_audited: int
    guarantees: View
    faults: tuple[FaultResult, ...]
    branches: View
    recovery: Recovery
    finding: Finding | None
    origins: tuple[ValueOrigin, ...]
    """Every value of the stack with its origin. The workload is not included, because it is
    random."""

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per class of faults, with the fields of `faults`."""
        import polars as pl

        return pl.DataFrame([tried.to_dict() for tried in self.faults])

    @property
    def silent(self) -> int:
        """Number of device runs that returned corrupted data without an error.

        Only faults that a device cannot detect have this effect. Such runs do not violate a
        guarantee.
        """
        return sum(tried.lost_silently for tried in self.faults)

    @property
    def is_good(self) -> bool:
        """Whether all guarantees held, and no run returned corrupted data without an error."""
        return self.finding is None and not self.silent
