"""The columns of a record: NumPy arrays in memory, frames for analysis, Parquet on disk."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from nacre.errors import Error
from nacre.results import tables

if TYPE_CHECKING:
    from nacre.results.record import Op, Record

Columns = Mapping[str, np.ndarray[Any, Any]]

OPS: tuple[Op, ...] = ("read", "write")
SERIES = ("start_s", "reads", "writes", "bytes", "mean_latency_ns")
LATENCY_FILE = "latency.parquet"
TIME_FILE = "time.parquet"


def latency_distribution(record: Record, op: Op) -> pl.DataFrame:
    """One row per bar: `upto_ns`, `count`, and the `share` of requests not above it."""
    if op not in OPS:
        raise ValueError(f"op is {op!r}; it is one of: read, write")
    upto = record.columns.get(f"latency.{op}.upto_ns", np.empty(0))
    count = record.columns.get(f"latency.{op}.count", np.empty(0, np.uint64))
    frame = pl.DataFrame({"upto_ns": upto, "count": count})
    return frame.with_columns(share=pl.col("count").cum_sum() / pl.col("count").sum())


def time_series(record: Record) -> pl.DataFrame:
    """One row per interval; the mean latency is null where nothing completed."""
    columns = record.columns
    frame = pl.DataFrame({name: columns[f"time.{name}"] for name in SERIES})
    return frame.with_columns(pl.col("mean_latency_ns").fill_nan(None))


def interval_s(record: Record) -> float:
    """The width of the intervals of the time series, in seconds."""
    return float(np.asarray(record.columns["time.width_s"]).reshape(-1)[0])


def files(record: Record) -> dict[str, bytes]:
    """The Parquet files of a record, by name."""
    latency = pl.concat(
        latency_distribution(record, op).select(
            pl.lit(op, dtype=pl.Enum(OPS)).alias("op"), "upto_ns", "count"
        )
        for op in OPS
    )
    time = time_series(record).with_columns(width_s=pl.lit(interval_s(record)))
    more = {tables.file_name(name): _parquet(frame) for name, frame in tables.frames(record)}
    return {LATENCY_FILE: _parquet(latency), TIME_FILE: _parquet(time)} | more


def load(record: Record, directory: Path | None) -> dict[str, np.ndarray[Any, Any]]:
    """The columns beside a saved record.

    Raises `Error` when they are missing, or belong to another run.
    """
    if directory is None:
        raise Error("this record has no columns: it was made from its JSON alone", "no-data")
    for name in (LATENCY_FILE, TIME_FILE, *tables.files(record)):
        if not (directory / name).is_file():
            raise Error(
                f"{directory / name} is missing: record.json has no distributions without it;"
                " keep the files of a record together",
                "file-not-found",
            )
    columns = _read(record, directory)
    for op in OPS:
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
    try:
        latency = _frame(directory / LATENCY_FILE)
        time = _frame(directory / TIME_FILE)
        columns = {
            f"latency.{op}.{name}": latency.filter(pl.col("op") == op)[name].to_numpy()
            for op in OPS
            for name in ("upto_ns", "count")
        }
        nan = pl.col("mean_latency_ns").fill_null(float("nan"))
        time = time.with_columns(nan)
        columns |= {f"time.{name}": time[name].to_numpy() for name in SERIES}
        columns["time.width_s"] = time["width_s"].head(1).to_numpy()
        columns |= tables.columns(record, directory)
    except pl.exceptions.PolarsError as error:
        raise Error(
            f"the columns in {directory} cannot be read: {error}", "invalid-content"
        ) from None
    return columns


def _frame(file: Path) -> pl.DataFrame:
    # By its content: Polars takes no path that is not UTF-8.
    return pl.read_parquet(io.BytesIO(file.read_bytes()))


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()
