"""Block traces: what is in them, other formats, smaller samples, frames.

Every function takes one path or several, or the name of a shipped trace. Several files of one
recording (blktrace writes one per processor) are merged by time. Parquet files with the columns
of `read` are traces too.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

from nacre import _core
from nacre.errors import TraceError, nearest
from nacre.saving import write_file
from nacre.view import View

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Paths: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"
Progress: TypeAlias = Callable[..., bool | None]
Sampling = Literal["block", "request", "first"]


class Options(TypedDict, total=False):
    """How to read a trace: what its name and content do not say."""

    format: str | None
    time_unit: str | None
    strict: bool
    action: str | None
    limit: int | None


OPS = ("read", "write", "trim", "flush")
PARQUET = "parquet"
NATIVE = "nacre"
_SHIPPED = Path(__file__).parent / "traces"
_SHIPPED_ENDING = ".nacre.zst"
_COMPRESSIONS = (".gz", ".zst", ".xz")
COLUMNS = ("arrival_ps", "address", "bytes", "volume", "op")


def formats() -> list[View]:
    """The formats traces are read from and, where `writable`, written to."""
    return [View(row) for row in json.loads(_core.formats())]


def info(
    paths: Paths,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> View:
    """Requests, sizes, footprint, duration and damage of a trace."""
    with _readable(paths) as files:
        return View(json.loads(_core.trace_info(files, _options(options), _answering(progress))))


def read(
    paths: Paths,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pl.DataFrame:
    """The requests of a trace, one per row: arrival, address, bytes, volume, operation."""
    files = _listed(paths)
    if len(files) == 1 and is_parquet(files[0]):
        frame = _read_parquet(files[0])
        return frame.head(options.get("limit") or frame.height)
    with _readable(files) as native:
        return _frame(_core.trace_columns(native, _options(options), _answering(progress)))


def convert(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    to: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> View:
    """Writes a trace in another format; `to` defaults to what the name of `output` says."""
    target, kind = _target(output), _writable(to, Path(output))
    with _readable(paths) as files:
        if kind == PARQUET:
            columns = _core.trace_columns(files, _options(options), _answering(progress))
            return _write_parquet(columns, target)
        text = _core.trace_convert(
            files, str(target), kind, _options(options), _answering(progress)
        )
        return View(json.loads(text))


def sample(
    paths: Paths,
    output: str | os.PathLike[str],
    *,
    fraction: float | None = None,
    by: Sampling = "block",
    seed: int = 1,
    to: str | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> View:
    """Writes a share of a trace: of its blocks (which keeps reuse) or of its requests.

    With `by="first"` it is the first `limit` requests.
    """
    chosen = _options(options) | {"fraction": fraction, "by": by, "seed": seed}
    target, kind = _target(output), _writable(to, Path(output))
    with _readable(paths) as files:
        if kind != PARQUET:
            text = _core.trace_sample(files, str(target), kind, chosen, _answering(progress))
            return View(json.loads(text))
        with tempfile.TemporaryDirectory(prefix="nacre-") as scratch:
            native = str(Path(scratch) / f"sample.{NATIVE}")
            _core.trace_sample(files, native, NATIVE, chosen, _answering(progress))
            plain = _options({"format": NATIVE})
            return _write_parquet(_core.trace_columns([native], plain, None), target)


def shipped() -> list[str]:
    """The names of the traces that come with Nacre."""
    return sorted(
        path.name.removesuffix(_SHIPPED_ENDING) for path in _SHIPPED.glob(f"*{_SHIPPED_ENDING}")
    )


def is_parquet(path: str) -> bool:
    """Whether the name says Parquet."""
    return path.endswith(f".{PARQUET}")


@contextmanager
def _readable(paths: Paths) -> Iterator[list[str]]:
    """The files with Parquet turned into the native format for as long as the block lasts."""
    files = _listed(paths)
    if not any(is_parquet(file) for file in files):
        yield files
        return
    with tempfile.TemporaryDirectory(prefix="nacre-") as scratch:
        native = []
        for index, file in enumerate(files):
            if is_parquet(file):
                frame, file = _read_parquet(file), str(Path(scratch) / f"{index}.{NATIVE}")
                _core.trace_from_columns(_columns(frame), file, NATIVE)
            native.append(file)
        yield native


def _read_parquet(file: str) -> pl.DataFrame:
    import polars as pl

    try:
        frame = pl.read_parquet(file)
        missing = [name for name in COLUMNS if name not in frame.columns]
        if missing:
            raise TraceError(
                f"{file}: not a trace: no column {', '.join(missing)};"
                f" a trace has {', '.join(COLUMNS)}"
            )
        return frame.select(
            pl.col("arrival_ps").cast(pl.UInt64),
            pl.col("address").cast(pl.UInt64),
            pl.col("bytes").cast(pl.UInt32),
            pl.col("volume").cast(pl.UInt32),
            pl.col("op").cast(pl.String).cast(pl.Enum(OPS)),
        )
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"{file}: {error}") from None


def _frame(columns: dict[str, np.ndarray[Any, Any]]) -> pl.DataFrame:
    import polars as pl

    frame = pl.DataFrame({name: columns[name] for name in COLUMNS})
    return frame.with_columns(pl.col("op").cat.to(pl.Enum(OPS)))


def _columns(frame: pl.DataFrame) -> dict[str, np.ndarray[Any, Any]]:
    import polars as pl

    plain = frame.with_columns(pl.col("op").to_physical().cast(pl.UInt8))
    return {name: plain[name].to_numpy() for name in COLUMNS}


def _write_parquet(columns: dict[str, np.ndarray[Any, Any]], target: Path) -> View:
    frame = _frame(columns)
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    write_file(target, buffer.getvalue())
    size = buffer.getbuffer().nbytes
    return View({"records": frame.height, "bytes": size, "complete": True, "notes": []})


def _target(output: str | os.PathLike[str]) -> Path:
    """Where to write, links followed; raises `TraceError` for what a file must not replace."""
    target = Path(output).resolve()
    if target.exists() and not target.is_file():
        raise TraceError(f"{output}: not a file; a trace is written to a file of its own")
    return target


def _writable(to: str | None, output: Path) -> str:
    """The format to write; raises `TraceError` for one that is unknown or only read."""
    rows = formats()
    known = [row.kind for row in rows if row.writable] + [PARQUET]
    endings = [ending for ending in output.suffixes if ending not in _COMPRESSIONS]
    suffix = endings[-1].removeprefix(".") if endings else ""
    if to is None:
        by_name = [row.kind for row in rows if row.writable and suffix in row.extensions]
        kind = PARQUET if suffix == PARQUET else by_name[0] if len(by_name) == 1 else None
        if kind is None:
            raise TraceError(
                f'the name "{output.name}" does not say which format to write;'
                f" say it with --to (`to=`): {', '.join(known)}"
            )
        return str(kind)
    if to not in known:
        meant = nearest(to, known)
        hint = f'; did you mean "{meant}"?' if meant else ""
        raise TraceError(f'cannot write format "{to}"; known: {", ".join(known)}{hint}')
    return to


def _listed(paths: Paths) -> list[str]:
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    files = [_located(os.fspath(path)) for path in paths]
    if not files:
        raise TraceError("no trace file given")
    return files


def _located(name: str) -> str:
    """The path, or that of the shipped trace of this name."""
    if not Path(name).exists() and name in shipped():
        return str(_SHIPPED / f"{name}{_SHIPPED_ENDING}")
    return name


def _options(options: Options) -> dict[str, object]:
    unset = {"format": None, "time_unit": None, "strict": False, "action": None, "limit": None}
    return {**unset, **options}


def _answering(progress: Progress | None) -> Callable[..., bool] | None:
    if progress is None:
        return None
    call = progress
    return lambda *counters: bool(call(*counters))
