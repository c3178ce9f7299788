"""The built-in media and devices. Every number has a source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nacre import _core

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Value:
    """One number of the catalog, with its source and confidence."""

    path: str
    value: str
    source: str
    confidence: str
    note: str


@dataclass(frozen=True)
class Entry:
    """A medium or device that scenarios can use as a `preset`."""

    name: str
    family: str
    kind: str
    summary: str
    values: tuple[Value, ...]

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per value."""
        import polars as pl

        return pl.DataFrame([vars(value) for value in self.values])


def entries() -> dict[str, Entry]:
    """Returns the entries of the catalog by name."""
    return {row["name"]: _entry(row) for row in json.loads(_core.catalog())}


def _entry(row: dict[str, Any]) -> Entry:
    values = [
        Value(
            path=value["path"],
            value=str(value["value"]),
            source=value["source"],
            confidence=value["confidence"],
            note=value.get("note") or "",
        )
        for value in row["values"]
    ]
    return Entry(**{**row, "values": tuple(values)})
