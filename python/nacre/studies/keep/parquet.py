"""Converts outcomes of points to rows of Parquet files, and back.

A file has a row for every outcome: key, document, error with its code, duration in seconds, and, if
requested, columns as the bytes of an npz file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.errors import invalid
from nacre.studies.engines.task import Columns, Outcome

if TYPE_CHECKING:
    import polars as pl

POINTS = "points"
_COLUMNS = "columns"
_LATER = (_COLUMNS, "code")
"""Columns that older files lack."""


def parts(directory: Path) -> list[Path]:
    """Returns the Parquet files of a directory, in the order in which they were written."""
    return sorted((directory / POINTS).glob("[0-9]*.parquet"))


def table(files: Iterable[Path], *, with_columns: bool = True) -> pl.DataFrame:
    """Returns the rows of several files.

    If a key occurs several times, only the latest row is included.
    """
    import polars as pl

    names = [name for name in _schema() if with_columns or name != _COLUMNS]
    frames = []
    for file in files:
        try:
            found = pl.read_parquet(file.read_bytes())
            for name in (name for name in _LATER if name not in found.columns):
                found = found.with_columns(pl.lit(None, _schema()[name]).alias(name))
            frames.append(found.select(names))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise invalid(
                "damaged",
                "--out",
                f"{file} cannot be read: {' '.join(str(error).split())}",
                hint="remove it; its points are run again",
            ) from None
    return pl.concat(frames).unique("key", keep="last", maintain_order=True)


def frame(outcomes: Iterable[Outcome]) -> pl.DataFrame:
    """Converts outcomes to the rows of a file."""
    import polars as pl

    rows = [(*each[:4], _packed(each.columns), each.code) for each in outcomes]
    return pl.DataFrame(rows, schema=_schema(), orient="row")


def outcomes(rows: pl.DataFrame) -> Iterator[Outcome]:
    """Converts the rows of a file to outcomes."""
    for row in rows.iter_rows(named=True):
        yield Outcome(**{**row, _COLUMNS: _unpacked(row.get(_COLUMNS))})


def record(directory: Path, key: str) -> dict[str, Any] | None:
    """Returns the record stored under a key, without origins of values.

    Returns None if there is no such record.
    """
    import polars as pl

    for part in reversed(parts(directory)):
        found = pl.scan_parquet(part).filter(pl.col("key") == key).collect()
        texts = [text for text in found["record"] if text is not None]
        if texts:
            data: dict[str, Any] = json.loads(texts[-1])
            return {"origins": [], **data}
    return None


def _unpacked(packed: bytes | None) -> Columns | None:
    """Decodes columns from the bytes of an npz file. Returns None if there are none."""
    if packed is None:
        return None
    import numpy as np

    with np.load(io.BytesIO(packed), allow_pickle=False) as found:
        return dict(found)


def _packed(columns: Columns | None) -> bytes | None:
    if columns is None:
        return None
    import numpy as np

    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **columns)
    return buffer.getvalue()


def _schema() -> dict[str, Any]:
    import polars as pl

    plain = {"key": pl.String, "record": pl.String, "error": pl.String, "seconds": pl.Float64}
    return {**plain, _COLUMNS: pl.Binary, "code": pl.String}
