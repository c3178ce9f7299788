"""The result of a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from nacre.base.shape import faults
from nacre.errors import Error
from nacre.results._record import (
    Activity,
    BlockErases,
    Component,
    Latency,
    LatencySummary,
    RecordFields,
    Requests,
    Resource,
    RowPrograms,
    Throughput,
    TimeSpent,
    Wear,
    WornOut,
)

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import polars as pl

    from nacre._core import RunColumns

__all__ = [
    "IDLE",
    "SCHEMA",
    "Activity",
    "BlockErases",
    "Component",
    "Latency",
    "LatencySummary",
    "Op",
    "Record",
    "Requests",
    "Resource",
    "RowPrograms",
    "Throughput",
    "TimeSpent",
    "Wear",
    "WornOut",
]

SCHEMA = "nacre-record-1"

Op = Literal["read", "write"]

_EARLIER: Mapping[str, Any] = {"tenants": [], "fairness": None}
"""What records of earlier versions do not have, as it was for their runs."""
IDLE = "idle"
"""What a resource does the rest of the time, beside its activities."""


class Arrays(Mapping[str, "np.ndarray[Any, Any]"]):
    """The columns of a run, which become NumPy arrays when somebody looks at them.

    To load NumPy takes longer than a short run.
    """

    __slots__ = ("_found", "_run")

    def __init__(self, run: RunColumns) -> None:
        self._run: RunColumns | None = run
        self._found: dict[str, np.ndarray[Any, Any]] = {}

    def _arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        if self._run is not None:
            self._found, self._run = self._run.arrays(), None
        return self._found

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        return self._arrays()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays())

    def __len__(self) -> int:
        return len(self._arrays())

    def __reduce__(self) -> tuple[type, tuple[dict[str, np.ndarray[Any, Any]]]]:
        return dict, (self._arrays(),)


class Record(RecordFields):
    """The result of a run: the JSON document, and the distributions as columns.

    Fields are reached as `record["latency"]["read"]["p99_ns"]`, as `record.latency.read.p99_ns`
    or, where there are such requests, as `record.reads.p99_ns`.
    """

    __slots__ = ("_columns", "_directory", "state")

    def __init__(
        self,
        data: Mapping[str, Any],
        columns: Mapping[str, np.ndarray[Any, Any]] | None = None,
        directory: Path | None = None,
    ) -> None:
        missing = {name: of for name, of in _EARLIER.items() if name not in data}
        super().__init__({**data, **missing})
        self._columns = columns
        self._directory = directory
        self.state: Path | None = None
        """The file of the state behind the last request, where the run saved it."""

    @property
    def columns(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Distributions and time series as NumPy arrays, such as `latency.read.upto_ns`."""
        if self._columns is None:
            from nacre.results import columns

            self._columns = columns.load(self, self._directory)
        return MappingProxyType(self._columns)

    @property
    def reads(self) -> LatencySummary:
        """Latencies of reads; raises `Error` if the run has none."""
        return self._latency("read")

    @property
    def writes(self) -> LatencySummary:
        """Latencies of writes; raises `Error` if the run has none."""
        return self._latency("write")

    def _latency(self, op: Op) -> LatencySummary:
        found = self.latency.read if op == "read" else self.latency.write
        if found is None:
            raise Error(f"the run has no {op}s, and so no latency of them", "no-data")
        return found

    def latency_distribution(self, op: Op = "read") -> pl.DataFrame:
        """One row per bar of the histogram: `upto_ns`, `count`, and `share` not above it."""
        from nacre.results import columns

        return columns.latency_distribution(self, op)

    def time_series(self) -> pl.DataFrame:
        """One row per interval: start, reads, writes, bytes, mean latency (null: nothing done)."""
        from nacre.results import columns

        return columns.time_series(self)

    def blocks(self, component: str | None = None) -> pl.DataFrame:
        """One row per erase block, of one component or of all that have any.

        `component`, `block` (its number), `erases` in its whole life, and what else is known of
        it, such as `live_share`. Raises `Error` for a component without erase blocks.
        """
        from nacre.results import tables

        return tables.blocks(self, component)

    def cleaning(self, component: str | None = None) -> pl.DataFrame:
        """One row per span of simulated time, of one component or of all that clean.

        `component`, `end_s`, `cost` (pages the cleaner programmed per page of host data; null
        where no such page was), and what else the component says. Raises `Error` for a
        component that does not clean.
        """
        from nacre.results import tables

        return tables.cleaning(self, component)

    def epochs(self, component: str | None = None) -> pl.DataFrame:
        """One row per epoch with accesses, of one store of tiers or of all that move extents.

        `component`, `end_s`, `accesses` (parts of requests), `fastest_share` of them that the
        first tier served, and `migrated_bytes`. Raises `Error` for a component that moves none.
        """
        from nacre.results import tables

        return tables.epochs(self, component)

    def busy(self) -> pl.DataFrame:
        """One row per resource and activity, and one for its idle rest.

        `component`, `resource`, `servers`, `activity`, `seconds` of all servers together, and
        their `share` of the servers' time until nothing is left to do (`drained_s`).
        """
        from nacre.results import tables

        return tables.busy(self)

    def save(self, directory: str | os.PathLike[str], *, figures: bool = False) -> Path:
        """Writes record.json, the columns as Parquet and, if wanted, the figures.

        Files appear complete or not at all; the record comes first and stays if a figure fails.
        Figures of an earlier record in the directory are removed. Returns the directory.
        """
        from nacre.files.saving import Staging

        with Staging(Path(directory)) as staging:
            staging.record(self)
            if figures:
                staging.figures(self)
        return Path(directory)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Record:
        """Reads a record from its directory or its JSON file; raises `Error` for another file."""
        path = Path(path)
        file = path / "record.json" if path.is_dir() else path
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise Error(f"{file} is not a record: {error}", "invalid-content") from None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            found = data.get("schema") if isinstance(data, dict) else type(data).__name__
            raise Error(
                f"{file} is not a record of schema {SCHEMA} (found: {found})", "wrong-version"
            )
        record = cls(data, None, file.parent)
        if wrong := list(faults(record._data, cls)):
            more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            raise Error(
                f"{file} is not a whole record: {', '.join(wrong[:3])}{more}", "invalid-content"
            )
        return record

    def to_json(self, indent: int | None = 2) -> str:
        """The record as JSON text."""
        return json.dumps(self._data, indent=indent, ensure_ascii=False, allow_nan=False)

    def hit_ratio(self) -> float:
        """Share of block reads the outermost cache answered; raises `Error` if there are none.

        Who waits for a block that is already on its way does not ask the backing: a hit.
        """
        found = self.find_hit_ratio()
        if found is None:
            raise Error("no cache was asked for a block, so there is no share of hits", "no-data")
        return found

    def find_hit_ratio(self) -> float | None:
        """The hit ratio, or None where no cache was asked for a block."""
        for component in self.components:
            if "read_hits" in component.counters:
                counters = component.counters
                hits = counters["read_hits"] + counters.get("read_merged", 0)
                blocks = hits + counters["read_misses"]
                return float(hits / blocks) if blocks else None
        return None

    def plot_latency(self, op: Op | None = None) -> alt.TopLevelMixin:
        """Share of requests slower than a latency, to the far tail."""
        from nacre.figures import latency

        return latency([self], ops=[op] if op else ["read", "write"])

    def plot_throughput(self) -> alt.TopLevelMixin:
        """Requests and bytes per second over simulated time."""
        from nacre.figures import throughput

        return throughput(self)

    def plot_time_spent(self) -> alt.TopLevelMixin:
        """Where the time of an average request went."""
        from nacre.figures import time_spent

        return time_spent([self], ops=["read", "write"])

    def plot_time_split(self) -> alt.TopLevelMixin:
        """What each resource did all the time, and how long it was idle."""
        from nacre.figures import time_split

        return time_split(self)

    def plot_wear(self, component: str | None = None) -> alt.TopLevelMixin:
        """How often each erase block was erased: by number, and as a histogram."""
        from nacre.figures import wear

        return wear(self, component)

    def plot_cleaning(self, component: str | None = None) -> alt.TopLevelMixin:
        """What cleaning costs per page of host data, over simulated time."""
        from nacre.figures import cleaning

        return cleaning(self, component)

    def plot_blocks(self, component: str | None = None) -> alt.TopLevelMixin:
        """Which share of each erase block is live at the end."""
        from nacre.figures import blocks

        return blocks(self, component)

    def plot_tiers(self, component: str | None = None) -> alt.TopLevelMixin:
        """What the fastest tier served and what was moved between tiers, epoch by epoch."""
        from nacre.figures import tiers

        return tiers(self, component)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self._data == other._data and _same(self.columns, other.columns)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        from nacre.base.text import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        from nacre.pages.html import record_fragment

        return record_fragment(self)


def _same(
    ours: Mapping[str, np.ndarray[Any, Any]], theirs: Mapping[str, np.ndarray[Any, Any]]
) -> bool:
    import numpy as np

    return ours.keys() == theirs.keys() and all(
        np.array_equal(ours[key], theirs[key], equal_nan=ours[key].dtype.kind == "f")
        for key in ours
    )
