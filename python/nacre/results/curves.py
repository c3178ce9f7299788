"""Miss ratios by cache size: of LRU caches of any size, and of several policies."""

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
"""Basis of a miss ratio: accesses to blocks, or requested bytes."""


class Curve(Result):
    """A miss-ratio curve; `about` describes it.

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
        """Kinds of access in the trace: reads, writes, or both and their total."""
        found: list[Kind] = [kind for kind in KINDS[1:] if self.about[kind] > 0]
        return ["all", *found] if len(found) > 1 else found

    def to_polars(self) -> pl.DataFrame:
        """All values as one table, as in saved files."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """All values as one document."""
        raise NotImplementedError


class MissRatioCurve(Curve):
    """Miss ratios of reads, of writes, and of both by the size of an LRU cache.

    `about` describes the trace. A curve of a sample is an estimate, and `ci95` has half of each 95
    % confidence interval.
    """

    def __init__(self, name: str, about: Mapping[str, Any], columns: Mapping[str, Array]) -> None:
        super().__init__(name, about)
        self._columns = {_column(name): values for name, values in columns.items()}

    @classmethod
    def of_document(cls, name: str, document: Mapping[str, Any]) -> MissRatioCurve:
        """Curve from a document of `to_dict`, which has only the sizes in its table."""
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
        """Block accesses that hit a cache of `size` bytes.

        Raises `TraceError` if the curve was loaded, and its file does not have this size.
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
        """Share of block accesses that miss a cache of `size` bytes."""
        accesses = self.accesses(kind)
        return 1 - self.hits(size, kind) / accesses if accesses else math.nan

    def ci95(self, size: int, kind: Kind = "all") -> float:
        """Half of the 95 % confidence interval of a miss ratio; 0 if all blocks were tracked."""
        import numpy as np

        return float(np.interp(size, self.sizes, self._columns[f"{_kind(kind)}_ci95"]))

    def accesses(self, kind: Kind = "all") -> float:
        """Accesses to blocks, hits and misses."""
        if _kind(kind) == "all":
            return float(self.about.reads + self.about.writes)
        return float(self.about[kind])

    def two_levels(self, upper: int, lower: int, kind: Kind = "all") -> tuple[float, float]:
        """Hit shares of two exclusive caches: `upper` bytes, and `lower` bytes below.

        The lower cache receives the victims of the upper cache and returns them on a hit
        (exclusive). Together, the two caches are one LRU stack in two parts.
        """
        first, both = self.hits(upper, kind), self.hits(upper + lower, kind)
        accesses = self.accesses(kind)
        return first / accesses, (both - first) / accesses

    def to_polars(self) -> pl.DataFrame:
        """One row per size: `bytes`, miss ratios, and half-widths for a sampled curve."""
        import polars as pl

        shown = ["bytes", *self.kinds()]
        if self.sampled:
            shown += [f"{kind}_ci95" for kind in self.kinds()]
        return pl.DataFrame({name: self._columns[name] for name in shown})

    def steps(self) -> pl.DataFrame:
        """Every size at which the number of hits changes: `blocks`, `read_hits`, `write_hits`.

        Raises `TraceError` for a curve that was loaded, because files do not contain all sizes.
        """
        import polars as pl

        if "step_blocks" not in self._columns:
            raise TraceError("a saved curve has no steps; run nacre.traces.mrc for them", "no-data")
        names = ("blocks", "read_hits", "write_hits")
        return pl.DataFrame({name: self._columns[f"step_{name}"] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Description of the curve, and its frame by columns."""
        return {
            **self.about.to_dict(),
            "name": self.name,
            "curve": self.to_polars().to_dict(as_series=False),
        }

    def _saved_hits(self, size: int, kind: Kind) -> float:
        """Hits from the table of a file, which contains only some sizes."""
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
    """Name of a column of the core, where half-widths end in `_within`."""
    return name.replace("_within", "_ci95")


def _kind(kind: Kind) -> Kind:
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it is one of: {', '.join(KINDS)}")
    return kind


class CacheCurves(Curve):
    """Miss ratios by policy and size, of blocks and of bytes, of reads and of writes.

    `about` describes the trace. If only a sample of the blocks was tracked, the ratios are
    estimates, and `ci95` has half of each 95 % confidence interval.
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
        """The curves of a document of `to_dict`."""
        about = {key: value for key, value in document.items() if key not in ("caches", "name")}
        rows = {"rows": document["caches"]}
        return cls(str(document.get("name", name)), {**about, **rows})

    @property
    def policies(self) -> list[str]:
        """The policies, in the given order."""
        return list(dict.fromkeys(row["policy"] for row in self._rows))

    @property
    def sizes(self) -> list[int]:
        """The sizes in bytes, in the given order."""
        block = int(self.about.block_bytes)
        return list(dict.fromkeys(row["blocks"] * block for row in self._rows))

    def miss_ratio(self, policy: str, size: int, kind: Kind = "all", by: Unit = "block") -> float:
        """Miss ratio of a cache of `size` bytes; NaN without accesses.

        Raises `TraceError` for a policy or a size that was not simulated.
        """
        return self._number(policy, size, kind, by)

    def ci95(self, policy: str, size: int, kind: Kind = "all", by: Unit = "block") -> float:
        """Half of the 95 % confidence interval of a miss ratio; 0 if all blocks were tracked."""
        return self._number(policy, size, f"{kind}_ci95", by)

    def to_polars(self, by: Unit | None = None) -> pl.DataFrame:
        """One row per policy and size: `policy`, `bytes`, miss ratios, and their intervals.

        Ratios are by block and, in `byte_all`, by byte. With `by`, the table has only the named
        ratios.
        """
        if by is not None:
            return self._of(by)
        import polars as pl

        of_bytes = self._of("byte").drop("policy", "bytes")
        named = of_bytes.rename({name: f"byte_{name}" for name in of_bytes.columns})
        return pl.concat([self._of("block"), named], how="horizontal")

    def _of(self, by: Unit) -> pl.DataFrame:
        """Ratios of blocks or of bytes."""
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
        """The output of `nacre trace mrc --policy ... --json`."""
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
