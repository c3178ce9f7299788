"""Converts the rows of a reproduction to a Polars table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from nacre.papers.judging.judge import Row

_TYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    "id": pl.String,
    "paper": pl.String,
    "figure": pl.String,
    "metric": pl.String,
    "published": pl.Float64,
    "stated": pl.String,
    "law": pl.Float64,
    "simulated": pl.Float64,
    "unit": pl.String,
    "error": pl.Float64,
    "kind": pl.String,
    "class": pl.String,
    "because": pl.String,
    "pass": pl.Boolean,
    "misses": pl.String,
    "source": pl.String,
    "tolerance": pl.String,
    "note": pl.String,
    "not_run": pl.String,
    "fitted": pl.List(pl.String),
}


def frame(rows: Sequence[Row]) -> pl.DataFrame:
    """Returns a table with a row per claim.

    For a statement, `published` is null, and `stated` is its text.
    """
    split = []
    for row in rows:
        published = row["published"]
        said = isinstance(published, str)
        split.append(
            {**row, "published": None if said else published, "stated": published if said else None}
        )
    return pl.DataFrame(split, schema=_TYPES)
