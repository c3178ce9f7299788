"""Results of checks: every value of a scenario, and the size of a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nacre.base.table import Table
from nacre.base.toml import setting
from nacre.base.view import View
from nacre.results.base import Result
from nacre.results.origins import assumed

if TYPE_CHECKING:
    import polars as pl


class CheckedScenario(Result, View):
    """Result of `nacre.check`. It contains every value of a valid scenario, with its origin."""

    __slots__ = ()

    def table(self) -> Table:
        """Returns a table with a row per value. Each row includes the origin of the value."""
        rows = [
            [o.path, setting(o.value), o["from"], o.confidence, o.source or o.place]
            for o in self.origins
        ]
        columns = ["value", "is", "from", "confidence", "source"]
        return Table("", columns, [False] * 5, rows, prose=["is", "source"])

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per value: `path`, `value`, `from`, `place`, `source`, `confidence`."""
        import polars as pl

        columns = ("path", "value", "from", "place", "source", "confidence")
        rows = [
            {**{name: o.get(name) for name in columns}, "value": setting(o.value)}
            for o in self.origins
        ]
        return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String))

    def __repr__(self) -> str:
        unknown = len(assumed(self.origins))
        return (
            f"<nacre.CheckedScenario {self.name}: no errors; {len(self.origins)} values,"
            f" {unknown} assumed>"
        )


@dataclass(frozen=True)
class CheckedStudy:
    """A study without errors."""

    name: str
    total: int
    """Number of points. For a search, this is the maximum."""
