"""Types for policies written in Python: cache replacement, extent placement, garbage collection.

Pass a policy as a setting, e.g. `nacre.run("server-cache", {"stack.level[0].policy": Mine})`. A
study runs in separate processes, which must be able to import the module of the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from nacre._core import CleaningView as CleaningView

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Cleaning",
    "CleaningView",
    "MakeReplacement",
    "Placement",
    "PlacementView",
    "Replacement",
]


def __dir__() -> list[str]:
    return sorted(__all__)


Column: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


class Replacement(Protocol):
    """A replacement policy.

    Nacre creates an object of this class with the number of blocks of the cache.

    Nacre tracks which blocks are cached, notifies the policy, and calls it to select victims.
    """

    def hit(self, block: int) -> None:
        """Nacre calls this method when a cached block is accessed."""
        ...

    def insert(self, block: int) -> None:
        """Nacre calls this method after it inserts a block."""
        ...

    def evict(self, block: int) -> int:
        """Returns the block to evict for `block`. To bypass the cache, returns `block` itself.

        Nacre calls this method only if the cache is full. Nacre then evicts the returned block
        without calling `remove`.
        """
        ...

    def remove(self, block: int) -> None:
        """Nacre calls this method after it removes a block for a reason other than eviction."""
        ...


MakeReplacement: TypeAlias = Callable[[int], Replacement]
"""Class or function that creates a policy object, given the number of blocks."""


@dataclass(frozen=True)
class PlacementView:
    """Input of a placement policy at the end of an epoch. Each column has one number per extent."""

    homes: Column
    """Index of the tier that contains the extent. The first tier is 0."""
    reads: Column
    """Number of reads of the extent in the epoch."""
    writes: Column
    """Number of writes of the extent in the epoch."""
    skipped: int
    """Number of epochs without accesses since the last decision."""


Placement: TypeAlias = Callable[[PlacementView], Sequence[tuple[int, int]]]
"""Function that returns the pairs of extents to exchange, the most urgent pair first."""

Cleaning: TypeAlias = Callable[[CleaningView], "int | tuple[int, int, int]"]
"""Function that returns the index of the segment to clean, among the segments in its view.

If the function has an attribute `partition_segments`, the array is divided into partitions with
this number of segments. The function then sees one partition at a time. The function may return
`(index, lower, higher)`. Then `lower` valid pages from the end of the segment move to the previous
partition. `higher` valid pages from its start move to the next partition.

If the function has an attribute `keeps_erased`, this attribute is a second function, which
determines when an `ssd` starts garbage collection. Nacre calls `keeps_erased(view, erased, least,
most)` whenever the host opens a superblock. Garbage collection starts if the number of erased
superblocks is below the returned number. The number must be between `least` (the setting `reserve`)
and `most`. With `most` erased superblocks, the other superblocks can still hold all data.
"""
