"""What caches of several policies and sizes miss: each simulated, in one pass over a trace."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nacre.base.text import numbered
from nacre.base.view import View
from nacre.errors import TraceError
from nacre.files.saving import write_file
from nacre.results.miss_ratio import (
    KINDS,
    Kind,
    encoded,
    suffix_of,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

Unit = Literal["block", "byte"]
UNITS: tuple[Unit, ...] = ("block", "byte")
"""What a miss ratio is a share of: accesses to blocks, or the bytes that were asked for."""


class CacheCurves:
    """Misses by policy and size, of blocks and of bytes, of reads and of writes.

    `about` says what they are of. Where a sample of the blocks was followed, they are estimates,
    and `within` has half of each 95 % confidence interval.
    """

    def __init__(self, name: str, about: Mapping[str, Any]) -> None:
        self.name = name
        self._rows: list[dict[str, Any]] = about["rows"]
        self.about = View({key: value for key, value in about.items() if key != "rows"})

    @property
    def policies(self) -> list[str]:
        """The policies, as they were given."""
        return list(dict.fromkeys(row["policy"] for row in self._rows))

    @property
    def sizes(self) -> list[int]:
        """The sizes in bytes, as they were given."""
        block = int(self.about.block_bytes)
        return list(dict.fromkeys(row["blocks"] * block for row in self._rows))

    @property
    def sampled(self) -> bool:
        """Whether a sample of the blocks was followed, not all."""
        return bool(self.about.sample_rate < 1)

    def kinds(self) -> list[Kind]:
        """The kinds of access there are: reads, writes, or both and all together."""
        found: list[Kind] = [kind for kind in KINDS[1:] if self.about[kind] > 0]
        return ["all", *found] if len(found) > 1 else found

    def miss_ratio(self, policy: str, size: int, kind: Kind = "all", by: Unit = "block") -> float:
        """The share that a cache of so many bytes misses; NaN where nothing is asked for.

        Raises `TraceError` for a policy or a size that was not simulated.
        """
        return self._number(policy, size, kind, by)

    def within(self, policy: str, size: int, kind: Kind = "all", by: Unit = "block") -> float:
        """Half of the 95 % confidence interval of a miss ratio; 0 where all blocks are followed."""
        return self._number(policy, size, f"{kind}_within", by)

    def frame(self, by: Unit = "block") -> pl.DataFrame:
        """One row per policy and size: `policy`, `bytes`, the miss ratios and their half-widths."""
        import polars as pl

        block = int(self.about.block_bytes)
        shown = [*self.kinds()] + [f"{kind}_within" for kind in self.kinds() if self.sampled]
        schema = {"policy": pl.String, "bytes": pl.UInt64, **dict.fromkeys(shown, pl.Float64)}
        rows = [
            {"policy": row["policy"], "bytes": row["blocks"] * block}
            | {key: row[by][key] for key in shown}
            for row in self._rows
        ]
        return pl.DataFrame(rows, schema=schema)

    def plot(self, by: Unit = "block") -> alt.TopLevelMixin:
        """A line per policy, over the sizes."""
        from nacre.figures.cache_curves import cache_curves

        return cache_curves(self, by)

    def to_dict(self) -> dict[str, Any]:
        """What `nacre trace mrc --policy ... --json` prints."""
        return {**self.about.to_dict(), "name": self.name, "caches": self._rows}

    def save(self, path: str | os.PathLike[str], *, replace: bool = True) -> None:
        """Writes what the name says: csv, parquet, json, svg, png or html.

        A file that is there is replaced, unless `replace` is false.
        """
        target = Path(path)
        write_file(
            target,
            encoded(suffix_of(target), self.to_dict, self._both, self.plot),
            replace=replace,
        )

    def _both(self) -> pl.DataFrame:
        """Ratios of blocks, and beside them those of bytes."""
        import polars as pl

        of_bytes = self.frame("byte").drop("policy", "bytes")
        named = of_bytes.rename({name: f"byte_{name}" for name in of_bytes.columns})
        return pl.concat([self.frame(), named], how="horizontal")

    def _number(self, policy: str, size: int, key: str, by: Unit) -> float:
        blocks = size // int(self.about.block_bytes)
        for row in self._rows:
            if row["policy"] == policy and row["blocks"] == blocks:
                value = row[by][key]
                return math.nan if value is None else float(value)
        raise TraceError(
            f"no {policy} of {size} bytes was simulated; there are {', '.join(self.policies)}"
            f" of {', '.join(map(str, self.sizes))} bytes",
            "no-data",
        )

    def __repr__(self) -> str:
        accesses = int(self.about.reads + self.about.writes)
        rate = f", {100 * self.about.sample_rate:.3g} % of blocks followed" if self.sampled else ""
        return (
            f"<nacre.CacheCurves {self.name}: {', '.join(self.policies)} at"
            f" {numbered(len(self.sizes), 'size')}; {accesses:,} accesses{rate}>"
        )

    def _repr_html_(self) -> str:
        from nacre.figures.export import svg

        return svg(self.plot())
