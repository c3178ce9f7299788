"""Interface of engines, which run the points of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Literal, Protocol, Self

from nacre.studies.engines.task import Base, Outcome, Task

Name = Literal["local", "dask"]

PATIENCE_S = 0.1
"""Maximum time in seconds without a result or None."""


class Engine(Protocol):
    """Runs points in parallel. Entering checks that it can; leaving stops all work."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def outcomes(self, base: Base, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        """Yields each outcome as it completes, and None when none does for a while.

        A failed point is an outcome; an exception here is an error of the engine.
        """
        ...


class Chunks:
    """Divides tasks into chunks of about `seconds`, estimated from completed tasks.

    Short points are sent in large chunks to save overhead, long ones singly to balance the load at
    the end.
    """

    def __init__(self, tasks: Sequence[Task], seconds: float, most: int) -> None:
        self._left = list(reversed(tasks))
        self._seconds, self._most = seconds, most
        self._mean_s: float | None = None

    @property
    def mean_s(self) -> float:
        """Mean duration of a point in seconds; infinite if unknown."""
        return float("inf") if self._mean_s is None else self._mean_s

    def took(self, seconds: float) -> None:
        """Records the duration of a point."""
        past = seconds if self._mean_s is None else self._mean_s
        self._mean_s = 0.8 * past + 0.2 * seconds

    def next(self, takers: int) -> list[Task]:
        """Next chunk, limited to a fair share of the remaining tasks."""
        fair = -(-len(self._left) // (2 * takers))
        wanted = int(self._seconds / max(self.mean_s, 1e-6))
        size = max(1, min(wanted, fair, self._most))
        return [self._left.pop() for _ in range(min(size, len(self._left)))]

    def __len__(self) -> int:
        return len(self._left)
