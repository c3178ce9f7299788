"""Result of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from nacre.base.text import duration, numbered, plural, printable, si
from nacre.errors import Error
from nacre.results import tables
from nacre.results._record import (
    Activity,
    BlockErases,
    Component,
    Latency,
    LatencySummary,
    Requests,
    Resource,
    RowPrograms,
    Throughput,
    TimeSpent,
    Wear,
    WornOut,
)
from nacre.results.base import Result
from nacre.results.tables import IDLE, Tabled

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


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

Op = Literal["read", "write", "flush"]


class Late(Mapping[str, "np.ndarray[Any, Any]"]):
    """Columns that are loaded on first use.

    NumPy is then loaded only if it is needed, because loading it takes longer than a short run.
    """

    __slots__ = ("_fetch", "_found")

    def __init__(self, fetch: Callable[[], Mapping[str, np.ndarray[Any, Any]]]) -> None:
        self._fetch: Callable[[], Mapping[str, np.ndarray[Any, Any]]] | None = fetch
        self._found: dict[str, np.ndarray[Any, Any]] = {}

    def fetched(self) -> dict[str, np.ndarray[Any, Any]]:
        """Loads the columns. Raises `Error` if they cannot be read."""
        if self._fetch is not None:
            self._found, self._fetch = dict(self._fetch()), None
        return self._found

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        return self.fetched()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fetched())

    def __len__(self) -> int:
        return len(self.fetched())

    def __reduce__(self) -> tuple[type, tuple[dict[str, np.ndarray[Any, Any]]]]:
        return dict, (self.fetched(),)


class Record(Result, Tabled):
    """Result of a run: a JSON document, and distributions and tables as columns.

    Fields can be read as `record["latency"]["read"]["p99_ns"]` or `record.latency.read.p99_ns`. If
    the run has reads, `record.reads.p99_ns` is equivalent.
    """

    __slots__ = ("_columns", "state")

    def __init__(
        self,
        data: Mapping[str, Any],
        columns: Mapping[str, np.ndarray[Any, Any]] | None = None,
    ) -> None:
        super().__init__(data)
        self._columns = columns
        self.state: Path | None = None
        """File with the state after the last request, or None if the run did not save the state."""

    @property
    def columns(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """Distributions and time series as NumPy arrays by name, e.g. `latency.read.upto_ns`."""
        if self._columns is None:
            raise Error(
                "this record has no columns because it was loaded from JSON only", "no-data"
            )
        if isinstance(self._columns, Late):
            self._columns = self._columns.fetched()
        return MappingProxyType(self._columns)

    @property
    def reads(self) -> LatencySummary:
        """Latencies of reads. Raises `Error` if the run has no reads."""
        return self._latency("read")

    @property
    def writes(self) -> LatencySummary:
        """Latencies of writes. Raises `Error` if the run has no writes."""
        return self._latency("write")

    @property
    def flushes(self) -> LatencySummary:
        """Latencies of flushes. Raises `Error` if the run has no flushes."""
        return self._latency("flush")

    def _latency(self, op: Op) -> LatencySummary:
        found: LatencySummary | None = self.latency.get(op)
        if found is None:
            raise Error(f"the run has no {plural(op)}", "no-data")
        return found

    def latency_distribution(self, op: Op = "read") -> pl.DataFrame:
        """Returns a row per bin of the histogram: `upto_ns`, `count`, cumulative `share`."""
        return tables.latency_distribution(self, op)

    def time_series(self) -> pl.DataFrame:
        """Returns a row per interval: start, reads, writes, bytes, and mean latency.

        The mean latency is null if no request completed in the interval.
        """
        return tables.time_series(self)

    def blocks(self, component: str | None = None) -> pl.DataFrame:
        """Returns a row per erase block, of one component or of all components with erase blocks.

        The columns are `component`, `block` (its number), `erases` (over the lifetime), and other
        known values, e.g. `valid_share`. Raises `Error` for a component without erase blocks.
        """
        return tables.blocks(self, component)

    def cleaning(self, component: str | None = None) -> pl.DataFrame:
        """Returns a row per time interval, for one or all components with garbage collection.

        The columns are `component`, `end_s`, `cost`, and others. `cost` is the number of pages
        programmed by garbage collection per page of host data, or null if no host data was
        programmed. Raises `Error` for a component without garbage collection.
        """
        return tables.cleaning(self, component)

    def epochs(self, component: str | None = None) -> pl.DataFrame:
        """Returns a row per epoch with accesses, for one or all tiered stores that migrate extents.

        The columns are `component`, `end_s`, `accesses` (parts of requests), `fastest_share` (share
        of the accesses that the first tier served), and `migrated_bytes`. Raises `Error` for a
        component that does not migrate extents.
        """
        return tables.epochs(self, component)

    def busy(self) -> pl.DataFrame:
        """Returns a row per activity of each resource, and a row for its idle time.

        The columns are `component`, `resource`, `servers`, `activity`, `seconds` (sum over all
        servers), and `share` (share of the servers' time until all work is done, `drained_s`).
        """
        return tables.busy(self)

    def to_json(self, indent: int | None = 2) -> str:
        """Returns the record as JSON text."""
        return json.dumps(self._data, indent=indent, ensure_ascii=False, allow_nan=False)

    def hit_ratio(self) -> float:
        """Returns the share of block reads that hit in the outermost cache.

        A read counts as a hit if it waits for a block that is already being fetched. Raises `Error`
        if there are no block reads.
        """
        found = self.find_hit_ratio()
        if found is None:
            raise Error("no cache was accessed, so there is no hit ratio", "no-data")
        return found

    def find_hit_ratio(self) -> float | None:
        """Returns the hit ratio, or None if there is no cache or no block was read."""
        for component in self.components:
            if "read_hits" in component.counters:
                counters = component.counters
                hits = counters["read_hits"] + counters.get("read_merged", 0)
                blocks = hits + counters["read_misses"]
                return float(hits / blocks) if blocks else None
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self._data == other._data and _same(self.columns, other.columns)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [f"{printable(self.name)}: {numbered(self.requests.completed, 'request')}"]
        if not self.complete:
            parts[0] += " (stopped early)"
        if self.requests.completed and self.simulated_s:
            parts.append(f"{si(self.throughput.iops).strip()} IOPS")
        else:
            parts.append("nothing was measured")
        for op in tables.OPS:
            if found := self.latency.get(op):
                parts.append(f"{op} mean {duration(found.mean_ns)}, p99 {duration(found.p99_ns)}")
        return f"<nacre.Record {'; '.join(parts)}>"


def _same(
    ours: Mapping[str, np.ndarray[Any, Any]], theirs: Mapping[str, np.ndarray[Any, Any]]
) -> bool:
    import numpy as np

    return ours.keys() == theirs.keys() and all(
        np.array_equal(ours[key], theirs[key], equal_nan=ours[key].dtype.kind == "f")
        for key in ours
    )
