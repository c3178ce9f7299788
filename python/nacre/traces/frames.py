"""Traces as Polars tables, and as Parquet files."""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from nacre import _core
from nacre.base.progress import answering
from nacre.base.view import View
from nacre.errors import TraceError
from nacre.files.atomic import write_file
from nacre.traces.inputs import Options, Paths, Progress, chosen_options, is_parquet, located

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

OPS = ("read", "write", "trim", "flush")
NATIVE = "nacre"
COLUMNS = ("arrival_ps", "address", "bytes", "volume", "op")


def read(
    paths: Paths,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pl.DataFrame:
    """Returns a table with a row per request: arrival, address, bytes, volume, and operation."""
    chosen = chosen_options(options)
    files = located(paths)
    if len(files) == 1 and is_parquet(files[0]):
        frame = read_parquet(files[0])
        return frame.head(options.get("limit") or frame.height)
    with readable(files) as native:
        return frame_of(_core.trace_columns(native, chosen, answering(progress)))


@contextmanager
def readable(paths: Paths) -> Iterator[list[str]]:
    """Yields the paths of all files.

    Converts Parquet files to temporary files in Nacre's format.
    """
    files = located(paths)
    if not any(is_parquet(file) for file in files):
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="nacre-") as scratch:
        native = []
        for index, file in enumerate(files):
            if is_parquet(file):
                frame, file = read_parquet(file), str(Path(scratch) / f"{index}.{NATIVE}")
                _core.trace_from_columns(_columns(frame), file, NATIVE)
            native.append(file)
        yield native


def read_parquet(file: str) -> pl.DataFrame:
    """Reads the requests from a Parquet file. Raises `TraceError` if it is not a trace."""
    import polars as pl

    if not Path(file).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    try:
        frame = pl.read_parquet(file)
        missing = [name for name in COLUMNS if name not in frame.columns]
        if missing:
            raise TraceError(
                f"{file}: not a trace: no column {', '.join(missing)};"
                f" a trace has {', '.join(COLUMNS)}",
                "invalid-content",
            )
        return frame.select(
            pl.col("arrival_ps").cast(pl.UInt64),
            pl.col("address").cast(pl.UInt64),
            pl.col("bytes").cast(pl.UInt32),
            pl.col("volume").cast(pl.UInt32),
            pl.col("op").cast(pl.String).cast(pl.Enum(OPS)),
        )
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"{file}: {error}", "invalid-content") from None


def frame_of(columns: dict[str, np.ndarray[Any, Any]]) -> pl.DataFrame:
    """Creates a table from the columns that the core returns."""
    import polars as pl

    frame = pl.DataFrame({name: columns[name] for name in COLUMNS})
    return frame.with_columns(pl.col("op").cat.to(pl.Enum(OPS)))


def _columns(frame: pl.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
    import polars as pl

    plain = frame.with_columns(pl.col("op").to_physical().cast(pl.UInt8))
    return {name: plain[name].to_numpy() for name in COLUMNS}


def write_parquet(columns: dict[str, np.ndarray[Any, Any]], target: Path, replace: bool) -> View:
    """Writes the columns from the core to a Parquet file.

    Returns the number of records and bytes.
    """
    frame = frame_of(columns)
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    write_file(target, buffer.getvalue(), replace=replace)
    size = buffer.getbuffer().nbytes
    return View({"records": frame.height, "bytes": size, "complete": True, "notes": []})
