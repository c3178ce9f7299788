"""Miss ratios by cache size, for LRU caches of any size and for several policies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nacre.base.text import numbered
from nacre.base.view import View
from nacre.errors import TraceError
from nacre.results.base import Result

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Kind = Literal["all", "reads", "writes"]
Array: TypeAlias = "np.ndarray[Any, Any]"
KINDS: tuple[Kind, ...] = ("all", "reads", "writes")
Unit = Literal["block", "byte"]
UNITS: tuple[Unit, ...] = ("block", "byte")
"""Units of a miss ratio: accesses to blocks, or requested bytes."""


class Curve(Result):
    """A miss-ratio curve. `about` describes the trace.

    If only a sample of the blocks was tracked, miss ratios are estimates.
    """

    def __init__(self, name: str, about: Mapping[str, Any]) -> None:
        self.name = name
        self.about = View(about)

    @property
    def sampled(self) -> bool:
        """Whether only a sample of the blocks was tracked."""
        return bool(self.about.sample_rate < 1)

    def kinds(self) -> list[Kind]:
        """Returns the kinds of accesses in the trace: reads, writes, and, if both occur, all."""
        found: list[Kind] = [kind for kind in KINDS[1:] if self.about[kind] > 0]
        return ["all", *found] if len(found) > 1 else found

    def to_polars(self) -> pl.DataFrame:
        """Returns all values as one table, as in saved files."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Returns all values as one document."""
        raise NotImplementedError


class MissRatioCurve(Curve):
    """Miss ratios of reads, writes, and all accesses as functions of the LRU cache size.

    `about` describes the trace. If only a sample of the blocks was tracked, the curve is an
    estimate. `ci95` returns the half-width of each 95 % confidence interval.
    """

    def __init__(self, name: str, about: Mapping[str, Any], columns: Mapping[str, Array]) -> None:
        super().__init__(name, about)
        self._columns = {_column(name): values for name, values in columns.items()}

    @classmethod
    def of_document(cls, name: str, document: Mapping[str, Any]) -> MissRatioCurve:
        """Creates a curve from a document of `to_dict`.

        The curve has values only for the sizes in the document.
        """
        import numpy as np

        about = {key: value for key, value in document.items() if key not in ("curve", "name")}
        found = cls(str(document.get("name", name)), about, {})
        kinds = found.kinds()
        given = {key: np.asarray(values) for key, values in document["curve"].items()}
        nothing = np.full(len(given["bytes"]), math.nan)
        exact = np.zeros(len(nothing))
        for kind in KINDS:
            of = kinds[0] if kind == "all" and len(kinds) == 1 else kind
            given[kind] = given.get(of, nothing)
            given[f"{kind}_ci95"] = given.get(f"{of}_ci95", exact)
        found._columns = given
        return found

    @property
    def sizes(self) -> Array:
        """Cache sizes of the curve, in bytes."""
        return self._columns["bytes"]

    def hits(self, size: int, kind: Kind = "all") -> float:
        """Returns the number of block accesses that hit a cache of `size` bytes.

        Raises `TraceError` if the curve was loaded from a file without this size.
        """
        import numpy as np

        kind, blocks = _kind(kind), self._blocks(size)
        if "step_blocks" not in self._columns:
            return self._saved_hits(size, kind)
        place = int(np.searchsorted(self._columns["step_blocks"], blocks, side="right")) - 1
        if place < 0:
            return 0.0
        reads, writes = (float(self._columns[f"step_{op}_hits"][place]) for op in ("read", "write"))
        return {"all": reads + writes, "reads": reads, "writes": writes}[kind]

    def miss_ratio(self, size: int, kind: Kind = "all") -> float:
        """Returns the share of block accesses that miss in a cache of `size` bytes."""
        accesses = self.accesses(kind)
        return 1 - self.hits(size, kind) / accesses if accesses else math.nan

    def ci95(self, size: int, kind: Kind = "all") -> float:
        """Returns the half-width of the 95 % interval of a miss ratio.

        The half-width is 0 if all blocks were tracked.
        """
        import numpy as np

        return float(np.interp(size, self.sizes, self._columns[f"{_kind(kind)}_ci95"]))

    def accesses(self, kind: Kind = "all") -> float:
        """Returns the number of block accesses, i.e. the sum of hits and misses."""
        if _kind(kind) == "all":
            return float(self.about.reads + self.about.writes)
        return float(self.about[kind])

    def two_levels(self, upper: int, lower: int, kind: Kind = "all") -> tuple[float, float]:
        """Returns the hit shares of two exclusive caches, `upper` bytes in front of `lower` bytes.

        The lower cache receives the blocks that the upper cache evicts. On a hit, the lower cache
        returns the block to the upper cache. Therefore, the two caches are the upper and lower part
        of one LRU stack.
        """
        first, both = self.hits(upper, kind), self.hits(upper + lower, kind)
        accesses = self.accesses(kind)
        return first / accesses, (both - first) / accesses

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per size with `bytes`, miss ratios, and, for an estimate, half-widths."""
        import polars as pl

        shown = ["bytes", *self.kinds()]
        if self.sampled:
            shown += [f"{kind}_ci95" for kind in self.kinds()]
        return pl.DataFrame({name: self._columns[name] for name in shown})

    def steps(self) -> pl.DataFrame:
        """Returns a row per size at which hits change: `blocks`, `read_hits`, `write_hits`.

        Raises `TraceError` if the curve was loaded, because files do not contain all sizes.
        """
        import polars as pl

        if "step_blocks" not in self._columns:
            raise TraceError("a saved curve has no steps; run nacre.traces.mrc for them", "no-data")
        names = ("blocks", "read_hits", "write_hits")
        return pl.DataFrame({name: self._columns[f"step_{name}"] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Returns the description of the curve, and its table by columns."""
        return {
            **self.about.to_dict(),
            "name": self.name,
            "curve": self.to_polars().to_dict(as_series=False),
        }

    def _saved_hits(self, size: int, kind: Kind) -> float:
        """Looks up the hits in the table of a saved file, which contains only some sizes."""
        import numpy as np

        place = int(np.searchsorted(self.sizes, size))
        if place == len(self.sizes) or self.sizes[place] != size:
            near = " and ".join(str(int(at)) for at in self.sizes[max(place - 1, 0) : place + 1])
            raise TraceError(
                f"the saved curve has no cache of {size} bytes; the nearest are {near} bytes."
                " To ask for any size, run nacre.traces.mrc",
                "no-data",
            )
        return float((1 - self._columns[kind][place]) * self.accesses(kind))

    def _blocks(self, size: int) -> int:
        if size < 0:
            raise ValueError(f"size is {size}; a cache has 0 bytes or more")
        return int(size) // int(self.about.block_bytes)

    def __repr__(self) -> str:
        rate = f", {100 * self.about.sample_rate:.3g} % of blocks sampled" if self.sampled else ""
        return f"<nacre.MissRatioCurve {self.name}: {self.accesses():,.0f} accesses{rate}>"


def _column(name: str) -> str:
    """Returns the column name for a name of the core, in which `_within` marks half-widths."""
    return name.replace("_within", "_ci95")


def _kind(kind: Kind) -> Kind:
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it is one of: {', '.join(KINDS)}")
    return kind


class CacheCurves(Curve):
    """Miss ratios by policy and size, per block and per byte, for reads and for writes.

    `about` describes the trace. If only a sample of the blocks was tracked, the ratios are
    estimates. `ci95` returns the half-width of each 95 % confidence interval.
    """

    def __init__(self, name: str, about: Mapping[str, Any]) -> None:
        super().__init__(name, {key: value for key, value in about.items() if key != "rows"})
        self._rows: list[dict[str, Any]] = [
            {
                name: {_column(key): of for key, of in value.items()} if name in UNITS else value
                for name, value in row.items()
            }
            for row in about["rows"]
        ]

    @classmethod
    def of_document(cls, name: str, document: Mapping[str, Any]) -> CacheCurves:
        """Creates the curves from a document of `to_dict`."""
        about = {key: value for key, value in document.items() if key not in ("caches", "name")}
        rows = {"rows": document["caches"]}
        return cls(str(document.get("name", name)), {**about, **rows})

    @property
    def policies(self) -> list[str]:
        """Names of the policies, in the given order."""
        return list(dict.fromkeys(row["policy"] for row in self._rows))

    @property
    def sizes(self) -> list[int]:
        """Cache sizes in bytes, in the given order."""
        block = int(self.about.block_bytes)
        return list(dict.fromkeys(row["blocks"] * block for row in self._rows))

    def miss_ratio(self, policy: str, size: int, kind: Kind = "all", by: Unit = "block") -> float:
        """Returns the miss ratio of a cache of `size` bytes, or NaN if there are no accesses.

        Raises `TraceError` if the policy or the size was not simulated.
        """
        return self._number(policy, size, kind, by)

    def ci95(self, policy: str, size: int, kind: Kind = "all", by: Unit = "block") -> float:
        """Returns the half-width of the 95 % interval of a miss ratio.

        The half-width is 0 if all blocks were tracked.
        """
        return self._number(policy, size, f"{kind}_ci95", by)

    def to_polars(self, by: Unit | None = None) -> pl.DataFrame:
        """Returns a row per policy and size: `policy`, `bytes`, miss ratios, and their half-widths.

        Ratios are per block. Columns with the prefix `byte_` are per byte. If `by` is `"block"` or
        `"byte"`, the table contains only the ratios of this unit.
        """
        if by is not None:
            return self._of(by)
        import polars as pl

        of_bytes = self._of("byte").drop("policy", "bytes")
        named = of_bytes.rename({name: f"byte_{name}" for name in of_bytes.columns})
        return pl.concat([self._of("block"), named], how="horizontal")

    def _of(self, by: Unit) -> pl.DataFrame:
        """Returns the ratios per block or per byte."""
        import polars as pl

        block = int(self.about.block_bytes)
        shown = [*self.kinds()] + [f"{kind}_ci95" for kind in self.kinds() if self.sampled]
        schema = {"policy": pl.String, "bytes": pl.UInt64, **dict.fromkeys(shown, pl.Float64)}
        rows = [
            {"policy": row["policy"], "bytes": row["blocks"] * block}
            | {key: row[by][key] for key in shown}
            for row in self._rows
        ]
        return pl.DataFrame(rows, schema=schema)

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `nacre trace mrc --policy ... --json` prints."""
        return {**self.about.to_dict(), "name": self.name, "caches": self._rows}

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
        rate = f", {100 * self.about.sample_rate:.3g} % of blocks sampled" if self.sampled else ""
        return (
            f"<nacre.CacheCurves {self.name}: {', '.join(self.policies)} at"
            f" {numbered(len(self.sizes), 'size')}; {accesses:,} accesses{rate}>"
        )
