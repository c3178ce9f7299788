"""Types for policies in Python: cache replacement, placement of extents, garbage collection.

Pass a policy as a setting, e.g. `nacre.run("server-cache", {"stack.level[0].policy": Mine})`.
A study runs in separate processes, so they must be able to import the module of the policy.
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
    """A replacement policy: a class whose objects are created with the cache's number of blocks.

    Nacre tracks which blocks are cached, notifies the policy, and calls it to select victims.
    """

    def hit(self, block: int) -> None:
        """Called when a cached block is accessed."""
        ...

    def insert(self, block: int) -> None:
        """Called when a block has been inserted."""
        ...

    def evict(self, block: int) -> int:
        """Returns the block to evict for a new one; the new block itself to bypass the cache.

        Nacre calls this method only if the cache is full. It then evicts the returned block without
        calling `remove`.
        """
        ...

    def remove(self, block: int) -> None:
        """Called when a block was removed for another reason."""
        ...


MakeReplacement: TypeAlias = Callable[[int], Replacement]
"""Factory of policy objects: called with the number of blocks."""


@dataclass(frozen=True)
class PlacementView:
    """Input of a placement policy at the end of an epoch; each column has a number per extent."""

    homes: Column
    """Tier of the extent; 0 is the first."""
    reads: Column
    """Number of reads in the epoch."""
    writes: Column
    """Number of writes in the epoch."""
    skipped: int
    """Preceding epochs without accesses since the last decision."""


Placement: TypeAlias = Callable[[PlacementView], Sequence[tuple[int, int]]]
"""Returns pairs of extents to exchange, the most urgent first."""

Cleaning: TypeAlias = Callable[[CleaningView], "int | tuple[int, int, int]"]
"""Returns the index of the segment to clean among those it sees.

If the function has an attribute `partition_segments`, the array is divided into partitions of that
many segments, and it sees one of them at a time. It may return `(index, lower, higher)`: `lower`
valid pages from the end of the segment move to the previous partition, and `higher` from its head
to the next one.

If the function has an attribute `keeps_erased`, a function, that also decides when an `ssd` starts
garbage collection. Whenever the host opens a superblock, `keeps_erased(view, erased, least, most)`
is called, and garbage collection starts when fewer superblocks are erased than it returns: from
`least`, the `reserve`, to `most`, which leaves enough of the others for the data.
"""
