"""Results of power-loss tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base.view import View
from nacre.results._record import ValueOrigin
from nacre.results.base import Result

if TYPE_CHECKING:
    import polars as pl


class Tried(View):
    """Results for one class of faults.

    `lost_and_told` blocks had an acknowledged write that recovery reports as lost; `lost_unseen`
    devices returned corrupted data that they cannot detect.
    """

    fault: str
    promise: str
    points: int
    injected: int
    blocks_behind: int
    lost_and_told: int
    lost_unseen: int


class Recovery(View):
    """Recovery times; `bars` are pairs of seconds and counts."""

    count: int
    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    bars: tuple[tuple[float, int], ...]


class Finding(View):
    """A violation of a durability guarantee, with the shortest known steps to reproduce it."""

    problem: str
    fault: str
    steps: tuple[str, ...]
    steps_drawn: int
    repeats: bool


class Crash(Result, View):
    """Results of power-loss tests; `finding` is None if every durability guarantee held."""

    parts = {  # noqa: RUF012
        "faults": Tried,
        "recovery": Recovery,
        "finding": Finding,
        "origins": ValueOrigin,
    }
    name: str
    scenario: str | None
    seed: int
    points: int
    lives: int
    restarts: int
    requests: int
    blocks_audited: int
    promises: View
    faults: tuple[Tried, ...]
    branches: View
    recovery: Recovery
    finding: Finding | None
    origins: tuple[ValueOrigin, ...]
    """Every value of the stack with its origin; the workload is random."""

    def to_polars(self) -> pl.DataFrame:
        """One row per class of faults: the fields of `faults`."""
        import polars as pl

        return pl.DataFrame([tried.to_dict() for tried in self.faults])

    @property
    def silent(self) -> int:
        """Runs of the device in which it returned corrupted data without an error.

        Only faults that a device cannot detect have this effect. They do not violate a guarantee.
        """
        return sum(tried.lost_unseen for tried in self.faults)

    @property
    def is_good(self) -> bool:
        """Whether every guarantee held, and no corrupted data were returned silently."""
        return self.finding is None and not self.silent
