"""Saves and loads records.

A saved record consists of a JSON document and Parquet files with columns.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.base.shape import faults
from nacre.errors import Error
from nacre.results.record import SCHEMA, Late, Record

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

RECORD_FILE = "record.json"
LATENCY_FILE = "latency.parquet"
TIME_FILE = "time.parquet"


def files(record: Record) -> dict[str, bytes]:
    """Returns all files of a record by name. record.json is the last file.

    If this file exists, the other files are complete.
    """
    return {**_columns(record), RECORD_FILE: record.to_json().encode()}


def read(path: Path) -> Record:
    """Loads the record from a directory or a JSON file. Raises `Error` if it is not a record."""
    file = path / RECORD_FILE if path.is_dir() else path
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Error(f"{file} is not a record: {error}", "invalid-content") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise Error(f"{file} is not a record of schema {SCHEMA} (found: {found})", "wrong-version")
    if wrong := list(faults(data, Record)):
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise Error(
            f"{file} is not a whole record: {', '.join(wrong[:3])}{more}", "invalid-content"
        )
    return Record(data, Late(lambda: _load(Record(data), file.parent)))


def save_all(directory: Path, under: str, records: Mapping[str, Record]) -> dict[str, str]:
    """Saves each record in a numbered directory, e.g. `under/1`.

    Returns the directories by the names of the records.
    """
    places = {name: f"{under}/{number}" for number, name in enumerate(records, 1)}
    for name, record in records.items():
        record.save(directory / places[name])
    return places


def read_all(directory: Path, places: Mapping[str, object]) -> dict[str, Record]:
    """Loads the records that `save_all` saved. Raises `Error` if one of them is not a record."""
    return {str(name): read(directory / str(place)) for name, place in places.items()}


def files_of_saved(record_file: Path) -> list[str]:
    """Returns the names of the table files of a saved record.

    The list is empty if the file is not a record.
    """
    try:
        names = table_files(json.loads(record_file.read_bytes()))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    return [name for name in names if name.removesuffix(".parquet").isidentifier()]


def table_files(record: Mapping[str, Any]) -> list[str]:
    """Returns the names of the table files of a record."""
    from nacre.results import tables

    return [_file_name(name) for name in tables.by_name(record)]


def _columns(record: Record) -> dict[str, bytes]:
    """Encodes the columns of a record as Parquet files. Returns the files by name."""
    import polars as pl

    from nacre.results import tables

    latency = pl.concat(
        tables.latency_distribution(record, op).select(
            pl.lit(op, dtype=pl.Enum(tables.OPS)).alias("op"), "upto_ns", "count"
        )
        for op in tables.OPS
    )
    time = tables.time_series(record).with_columns(width_s=pl.lit(tables.interval_s(record)))
    more = {_file_name(name): _parquet(frame) for name, frame in tables.frames(record)}
    return {LATENCY_FILE: _parquet(latency), TIME_FILE: _parquet(time)} | more


def _load(record: Record, directory: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Loads the columns of a saved record.

    Raises `Error` if the columns are missing or belong to another run.
    """
    from nacre.results import tables

    for name in (LATENCY_FILE, TIME_FILE, *table_files(record)):
        if not (directory / name).is_file():
            raise Error(
                f"{directory / name} is missing: record.json has no distributions without it;"
                " copy all files of the record",
                "file-not-found",
            )
    columns = _read(record, directory)
    for op in tables.OPS:
        summary = record.latency[op]
        expected = summary.count if summary else 0
        found = int(columns[f"latency.{op}.count"].sum())
        if found != expected:
            raise Error(
                f"{directory / LATENCY_FILE} holds {found} {op}s but record.json counts"
                f" {expected}: they come from different runs",
                "invalid-content",
            )
    return columns


def _read(record: Record, directory: Path) -> dict[str, np.ndarray[Any, Any]]:
    import polars as pl

    from nacre.results import tables

    try:
        latency = _frame(directory / LATENCY_FILE)
        time = _frame(directory / TIME_FILE)
        columns = {
            f"latency.{op}.{name}": latency.filter(pl.col("op") == op)[name].to_numpy()
            for op in tables.OPS
            for name in ("upto_ns", "count")
        }
        nan = pl.col("mean_latency_ns").fill_null(float("nan"))
        time = time.with_columns(nan)
        columns |= {f"time.{name}": time[name].to_numpy() for name in tables.SERIES}
        columns["time.width_s"] = time["width_s"].head(1).to_numpy()
        columns |= _tables(record, directory)
    except pl.exceptions.PolarsError as error:
        raise Error(
            f"the columns in {directory} cannot be read: {error}", "invalid-content"
        ) from None
    return columns


def _frame(file: Path) -> pl.DataFrame:
    import polars as pl

    # Read the file as bytes, because Polars rejects paths that are not UTF-8.
    return pl.read_parquet(io.BytesIO(file.read_bytes()))


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _tables(record: Record, directory: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Loads the tables of a saved record. Raises `Error` if they belong to another record."""
    import polars as pl

    from nacre.results import tables

    found: dict[str, np.ndarray[Any, Any]] = {}
    for name, parts in tables.by_name(record).items():
        file = directory / _file_name(name)
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


def _file_name(table: str) -> str:
    """Returns the file name of a table."""
    return f"{table}.parquet"
