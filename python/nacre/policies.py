"""Policies of your own, in Python: what a cache keeps, where extents lie, what flash cleans.

They stand where the built-in ones do: `nacre.run("server-cache", {"stack.level[0].policy": Mine})`.
In a study, which runs in other processes, they come from their own module.
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
    """What a cache keeps: an object of a class that is made with the blocks it may keep.

    Which blocks are in the cache is known to Nacre; the policy hears of it, and says who leaves.
    """

    def hit(self, block: int) -> None:
        """A block that is in the cache is asked for."""
        ...

    def insert(self, block: int) -> None:
        """A block has come in."""
        ...

    def evict(self, block: int) -> int:
        """Says who leaves for a block that is to come in; itself, if it stays out.

        It is asked only when the cache is full. A block that is named has left.
        """
        ...

    def remove(self, block: int) -> None:
        """A block has been taken out of the cache, not by this policy."""
        ...


MakeReplacement: TypeAlias = Callable[[int], Replacement]
"""A class of such objects: called with the number of blocks."""


@dataclass(frozen=True)
class PlacementView:
    """What a placement sees at the end of an epoch: a column has a number for each extent."""

    homes: Column
    """The tier it lies in; 0 is the first."""
    reads: Column
    """How often it was read in the epoch."""
    writes: Column
    """How often it was written."""
    skipped: int
    """Epochs without any access before this one, since the last decision."""


Placement: TypeAlias = Callable[[PlacementView], Sequence[tuple[int, int]]]
"""Names the pairs of extents that change places, the most urgent first."""

Cleaning: TypeAlias = Callable[[CleaningView], "int | tuple[int, int, int]"]
"""Names the place to clean, by its index among those it sees.

A function whose attribute `partition_segments` is a number divides the array into partitions of so
many segments, and sees one of them at a time. It may return `(index, lower, higher)`: so many live
pages from the end of the segment go to the partition before, and from its head to the one behind.

A function whose attribute `keeps_erased` is a function decides when an `ssd` cleans, too. Whenever
the host begins to fill a superblock it is called as `keeps_erased(view, erased, least, most)`, and
cleaning begins when fewer superblocks are erased than it returns: from `least`, the `reserve`, to
`most`, which leaves the others enough for the data.
"""
