"""Miss-ratio curves: what an LRU cache of any size would miss, from one pass over a trace."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from nacre.base.view import View
from nacre.errors import TraceError
from nacre.files.saving import write_file

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import polars as pl

Kind = Literal["all", "reads", "writes"]
Array: TypeAlias = "np.ndarray[Any, Any]"
KINDS: tuple[Kind, ...] = ("all", "reads", "writes")
SUFFIXES = ("csv", "parquet", "json", "svg", "png", "html")


class MissRatioCurve:
    """Misses of reads, of writes and of both by the size of an LRU cache.

    `about` says what it is the curve of; a curve of a sample is an estimate, and `half_width`
    gives the 95 % bounds of its miss ratios.
    """

    def __init__(self, name: str, about: Mapping[str, Any], columns: Mapping[str, Array]) -> None:
        self.name = name
        self.about = View(about)
        self._columns = columns

    @property
    def sizes(self) -> Array:
        """The sizes the curve is drawn at, in bytes."""
        return self._columns["bytes"]

    @property
    def sampled(self) -> bool:
        """Whether a sample of the blocks was followed, not all."""
        return bool(self.about.sample_rate < 1)

    def kinds(self) -> list[Kind]:
        """The kinds of access there are: reads, writes, or both and all together."""
        found: list[Kind] = [kind for kind in KINDS[1:] if self.about[kind] > 0]
        return ["all", *found] if len(found) > 1 else found

    def hits(self, size: int, kind: Kind = "all") -> float:
        """Accesses to blocks that a cache of so many bytes serves."""
        import numpy as np

        kind, blocks = _kind(kind), self._blocks(size)
        place = int(np.searchsorted(self._columns["step_blocks"], blocks, side="right")) - 1
        if place < 0:
            return 0.0
        reads, writes = (float(self._columns[f"step_{op}_hits"][place]) for op in ("read", "write"))
        return {"all": reads + writes, "reads": reads, "writes": writes}[kind]

    def miss_ratio(self, size: int, kind: Kind = "all") -> float:
        """The share of accesses to blocks that a cache of so many bytes does not serve."""
        accesses = self.accesses(kind)
        return 1 - self.hits(size, kind) / accesses if accesses else math.nan

    def half_width(self, size: int, kind: Kind = "all") -> float:
        """The miss ratio lies within so much of the estimate, with 95 % confidence; 0 if exact."""
        import numpy as np

        within = self._columns[f"{_kind(kind)}_within"]
        return float(np.interp(size, self.sizes, within))

    def accesses(self, kind: Kind = "all") -> float:
        """Accesses to blocks, hits and misses."""
        if _kind(kind) == "all":
            return float(self.about.reads + self.about.writes)
        return float(self.about[kind])

    def two_levels(self, upper: int, lower: int, kind: Kind = "all") -> tuple[float, float]:
        """The shares of accesses that hit in a cache of `upper` bytes, and in one of `lower` below.

        The lower one holds what left the upper one and gives it back when it is asked for
        (exclusive): together they are one LRU stack, cut in two.
        """
        first, both = self.hits(upper, kind), self.hits(upper + lower, kind)
        accesses = self.accesses(kind)
        return first / accesses, (both - first) / accesses

    def frame(self) -> pl.DataFrame:
        """One row per size: `bytes`, the miss ratios, and the half-widths of a sampled curve."""
        import polars as pl

        shown = ["bytes", *self.kinds()]
        if self.sampled:
            shown += [f"{kind}_within" for kind in self.kinds()]
        return pl.DataFrame({name: self._columns[name] for name in shown})

    def steps(self) -> pl.DataFrame:
        """Every size at which something changes: `blocks`, `read_hits`, `write_hits`."""
        import polars as pl

        names = ("blocks", "read_hits", "write_hits")
        return pl.DataFrame({name: self._columns[f"step_{name}"] for name in names})

    def plot(self) -> alt.TopLevelMixin:
        """The curve as a figure."""
        from nacre.figures.miss_ratio import miss_ratio

        return miss_ratio(self)

    def to_dict(self) -> dict[str, Any]:
        """What the curve is of, and its frame by columns."""
        return {**self.about.to_dict(), "curve": self.frame().to_dict(as_series=False)}

    def save(self, path: str | os.PathLike[str], *, replace: bool = True) -> None:
        """Writes the curve as what the name says: csv, parquet, json, svg, png or html.

        A file that is there is replaced, unless `replace` is false.
        """
        target = Path(path)
        write_file(
            target,
            encoded(suffix_of(target), self.to_dict, self.frame, self.plot),
            replace=replace,
        )

    def _blocks(self, size: int) -> int:
        if size < 0:
            raise ValueError(f"size is {size}; a cache has 0 bytes or more")
        return int(size) // int(self.about.block_bytes)

    def __repr__(self) -> str:
        rate = f", {100 * self.about.sample_rate:.3g} % of blocks followed" if self.sampled else ""
        return f"<nacre.MissRatioCurve {self.name}: {self.accesses():,.0f} accesses{rate}>"

    def _repr_html_(self) -> str:
        from nacre.figures.export import svg

        return svg(self.plot())


def suffix_of(path: Path) -> str:
    """The ending that says how to write; raises `TraceError` for one that does not."""
    suffix = path.suffix.removeprefix(".")
    if suffix not in SUFFIXES:
        raise TraceError(
            f'the name "{path.name}" does not say how to write a curve;'
            f" end it in one of: {', '.join(f'.{known}' for known in SUFFIXES)}",
            "unknown-name",
        )
    return suffix


def encoded(
    suffix: str,
    document: Callable[[], Mapping[str, Any]],
    frame: Callable[[], pl.DataFrame],
    drawn: Callable[[], alt.TopLevelMixin],
) -> bytes:
    """The content of a file that ends so: a document, a table or a figure."""
    if suffix == "json":
        return (json.dumps(document()) + "\n").encode()
    if suffix == "csv":
        return frame().write_csv().encode()
    if suffix == "parquet":
        buffer = io.BytesIO()
        frame().write_parquet(buffer)
        return buffer.getvalue()
    from nacre.figures.export import image

    return image(drawn(), suffix)


def _kind(kind: Kind) -> Kind:
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; it is one of: {', '.join(KINDS)}")
    return kind
