"""Tables of components, with a row per erase block, interval, epoch, or activity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from nacre.errors import Error
from nacre.results._record import RecordFields

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Columns: TypeAlias = "Mapping[str, np.ndarray[Any, Any]]"
OPS = ("read", "write", "flush")
"""Kinds of requests for which a record can have latencies."""
SERIES = ("start_s", "reads", "writes", "bytes", "mean_latency_ns")
IDLE = "idle"
"""Name under which idle time is listed with the activities of a resource."""


class Tabled(RecordFields):
    """A record with columns, from which tables are made."""

    __slots__ = ()

    @property
    def columns(self) -> Columns:
        """Distributions, time series, and tables of components, by name."""
        raise NotImplementedError


def latency_distribution(record: Tabled, op: str) -> pl.DataFrame:
    """Returns a row per bin: `upto_ns`, `count`, and the cumulative `share` of requests."""
    import numpy as np
    import polars as pl

    if op not in OPS:
        raise ValueError(f"op is {op!r}; it is one of: {', '.join(OPS)}")
    upto = record.columns.get(f"latency.{op}.upto_ns", np.empty(0))
    count = record.columns.get(f"latency.{op}.count", np.empty(0, np.uint64))
    frame = pl.DataFrame({"upto_ns": upto, "count": count})
    return frame.with_columns(share=pl.col("count").cum_sum() / pl.col("count").sum())


def time_series(record: Tabled) -> pl.DataFrame:
    """Returns a row per interval. The mean latency is null if no request completed in it."""
    import polars as pl

    frame = pl.DataFrame({name: record.columns[f"time.{name}"] for name in SERIES})
    return frame.with_columns(pl.col("mean_latency_ns").fill_nan(None))


def interval_s(record: Tabled) -> float:
    """Returns the length of an interval of the time series in seconds."""
    import numpy as np

    return float(np.asarray(record.columns["time.width_s"]).reshape(-1)[0])


def blocks(record: Tabled, component: str | None) -> pl.DataFrame:
    """Returns a row per erase block: `component`, `block`, and the columns of the component."""
    import polars as pl

    frame = _table(record, "blocks", component)
    place = pl.int_range(pl.len(), dtype=pl.UInt32).over("component").alias("block")
    return frame.select("component", place, pl.exclude("component"))


def cleaning(record: Tabled, component: str | None) -> pl.DataFrame:
    """Returns a row per interval: `component`, `end_s`, and the columns of the component."""
    return _table(record, "cleaning", component)


def epochs(record: Tabled, component: str | None) -> pl.DataFrame:
    """Returns a row per epoch of a tiered store: `component`, `end_s`, and the other columns."""
    return _table(record, "epochs", component)


def busy(record: Tabled) -> pl.DataFrame:
    """Returns a row per activity of each resource, and a row for its idle time.

    The share is relative to the time of all servers of the resource until all work is done.
    """
    import polars as pl

    rows = []
    for part in record.components:
        for resource in part.resources:
            there_is = record.drained_s * resource.servers
            rest = max(0.0, there_is - sum(resource.busy.values()))
            for activity, seconds in {**resource.busy, IDLE: rest}.items():
                share = seconds / there_is if there_is else None
                rows.append((part.path, resource.name, resource.servers, activity, seconds, share))
    schema = {
        "component": pl.String,
        "resource": pl.String,
        "servers": pl.UInt32,
        "activity": pl.String,
        "seconds": pl.Float64,
        "share": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def check_has(record: Tabled, name: str, component: str | None) -> None:
    """Raises `Error` if the component has no table called `name`."""
    known = [path for path, _, _ in by_name(record).get(name, [])]
    if component is not None and component not in known:
        having = f"; those that have: {', '.join(known)}" if known else "; no component has"
        raise Error(f"{component} has no table of {name}{having}", "no-data")


def owners(record: Tabled, name: str, column: str) -> list[str]:
    """Returns the components whose table `name` has this column and at least one row."""
    return [
        path for path, rows, columns in by_name(record).get(name, ()) if rows and column in columns
    ]


def column(record: Tabled, name: str, component: str, field: str) -> np.ndarray[Any, Any]:
    """Returns a column of a component's table `name`, without copying it."""
    return record.columns[f"{component}.{name}.{field}"]


def frames(record: Tabled) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yields all tables by name, with the rows of all components.

    The first column of each table is `component`.
    """
    for name in by_name(record):
        yield name, _table(record, name, None)


def by_name(record: Mapping[str, Any]) -> dict[str, list[tuple[str, int, Sequence[str]]]]:
    """Returns, for each table, the components that have the table.

    Each entry contains the path of the component, and the number of rows and the column names of
    the table.
    """
    tables: dict[str, list[tuple[str, int, Sequence[str]]]] = {}
    for part in record.get("components", ()):
        for name, table in part.get("tables", {}).items():
            tables.setdefault(name, []).append((part["path"], table["rows"], table["columns"]))
    return tables


def _table(record: Tabled, name: str, component: str | None) -> pl.DataFrame:
    import polars as pl

    parts = by_name(record).get(name, [])
    check_has(record, name, component)
    frames = [
        _frame(record, path, name, fields) for path, _, fields in parts if component in (None, path)
    ]
    if len(frames) == 1:
        # Do not copy the table, because it may have millions of rows.
        return frames[0]
    empty = pl.DataFrame(schema={"component": pl.String})
    return pl.concat([empty, *frames], how="diagonal")


def _frame(record: Tabled, path: str, name: str, fields: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    values = {field: record.columns[f"{path}.{name}.{field}"] for field in fields}
    return pl.DataFrame(values).select(
        pl.lit(path).alias("component"),
        *(pl.col(f).fill_nan(None) if values[f].dtype.kind == "f" else pl.col(f) for f in fields),
    )
