"""The tables of components: a row per erase block, per span of time, per thing they did."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from nacre.errors import Error
from nacre.results.record import IDLE

if TYPE_CHECKING:
    from nacre.results.record import Record

_Columns = dict[str, np.ndarray[Any, Any]]


def blocks(record: Record, component: str | None) -> pl.DataFrame:
    """One row per erase block: `component`, `block`, then what the component says of its blocks."""
    frame = _table(record, "blocks", component)
    place = pl.int_range(pl.len(), dtype=pl.UInt32).over("component").alias("block")
    return frame.select("component", place, pl.exclude("component"))


def cleaning(record: Record, component: str | None) -> pl.DataFrame:
    """One row per span of time: `component`, `end_s`, then what the component says of it."""
    return _table(record, "cleaning", component)


def epochs(record: Record, component: str | None) -> pl.DataFrame:
    """One row per epoch of a store of tiers: `component`, `end_s`, then how it went."""
    return _table(record, "epochs", component)


def busy(record: Record) -> pl.DataFrame:
    """One row per activity of each resource, then its idle rest.

    A share is of the time of all servers of the resource until nothing is left to do.
    """
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


def check_has(record: Record, name: str, component: str | None) -> None:
    """Raises `Error` for a component that has no table called `name`."""
    known = [path for path, _, _ in _tables(record).get(name, [])]
    if component is not None and component not in known:
        having = f"; those that have: {', '.join(known)}" if known else "; no component has"
        raise Error(f"{component} has no table of {name}{having}", "no-data")


def owners(record: Record, name: str, column: str) -> list[str]:
    """The components that have this column in their table called `name`, and rows in it."""
    return [
        path for path, rows, columns in _tables(record).get(name, ()) if rows and column in columns
    ]


def column(record: Record, name: str, component: str, field: str) -> np.ndarray[Any, Any]:
    """A column of a component's table called `name`, as it is: no row of it is copied."""
    return record.columns[f"{component}.{name}.{field}"]


def frames(record: Record) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each table by name: the rows of all components that have it, with `component` first."""
    for name in _tables(record):
        yield name, _table(record, name, None)


def columns(record: Record, directory: Path) -> _Columns:
    """The columns of the tables saved beside a record; raises `Error` if not this record's."""
    found: _Columns = {}
    for name, parts in _tables(record).items():
        file = directory / file_name(name)
        frame = pl.read_parquet(file.read_bytes())
        for path, rows, fields in parts:
            own = frame.filter(pl.col("component") == path)
            if own.height != rows:
                raise Error(
                    f"{file} holds {own.height} rows of {path} but record.json counts {rows}:"
                    " they come from different runs",
                    "invalid-content",
                )
            for field in fields:
                column = own[field]
                if column.dtype.is_float():
                    column = column.fill_null(float("nan"))
                found[f"{path}.{name}.{field}"] = column.to_numpy()
    return found


def files(record: Mapping[str, Any]) -> list[str]:
    """The names of the files that hold the tables of a record."""
    return [file_name(name) for name in _tables(record)]


def files_of_saved(record_file: Path) -> list[str]:
    """The names of the files that hold the tables of a saved record; none where it is none."""
    try:
        names = files(json.loads(record_file.read_bytes()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    return [name for name in names if name.removesuffix(".parquet").isidentifier()]


def file_name(table: str) -> str:
    """The file that holds the tables of this name."""
    return f"{table}.parquet"


def _tables(record: Mapping[str, Any]) -> dict[str, list[tuple[str, int, Sequence[str]]]]:
    """By table, the components that have it with the rows and columns it has there."""
    tables: dict[str, list[tuple[str, int, Sequence[str]]]] = {}
    for part in record.get("components", ()):
        for name, table in part.get("tables", {}).items():
            tables.setdefault(name, []).append((part["path"], table["rows"], table["columns"]))
    return tables


def _table(record: Record, name: str, component: str | None) -> pl.DataFrame:
    parts = _tables(record).get(name, [])
    check_has(record, name, component)
    frames = [
        _frame(record, path, name, fields) for path, _, fields in parts if component in (None, path)
    ]
    if len(frames) == 1:
        # Not copied: it may have millions of rows.
        return frames[0]
    empty = pl.DataFrame(schema={"component": pl.String})
    return pl.concat([empty, *frames], how="diagonal")


def _frame(record: Record, path: str, name: str, fields: Sequence[str]) -> pl.DataFrame:
    values = {field: record.columns[f"{path}.{name}.{field}"] for field in fields}
    return pl.DataFrame(values).select(
        pl.lit(path).alias("component"),
        *(pl.col(f).fill_nan(None) if values[f].dtype.kind == "f" else pl.col(f) for f in fields),
    )
