"""Interface of engines. An engine runs the points of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Literal, Protocol, Self

from nacre.studies.engines.task import Base, Outcome, Task

Name = Literal["local", "dask"]

PATIENCE_S = 0.1
"""Maximum time in seconds until an engine yields an outcome or None."""


class Engine(Protocol):
    """Runs points in parallel.

    At the start of the block, the engine checks that it can run points. At the end of the block,
    all work stops.
    """

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def outcomes(self, base: Base, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        """Yields each outcome when a task ends, and None if no task ends for a while.

        If a point fails, its outcome contains the error. An exception means that the engine failed.
        """
        ...


class Chunks:
    """Divides tasks into chunks that take about `seconds`, estimated from completed tasks.

    Short tasks are sent in large chunks, which saves overhead. Long tasks are sent one by one, so
    that all workers finish at about the same time.
    """

    def __init__(self, tasks: Sequence[Task], seconds: float, most: int) -> None:
        self._left = list(reversed(tasks))
        self._seconds, self._most = seconds, most
        self._mean_s: float | None = None

    @property
    def mean_s(self) -> float:
        """Mean duration of a task in seconds. It is infinite until a task has completed."""
        return float("inf") if self._mean_s is None else self._mean_s

    def took(self, seconds: float) -> None:
        """Updates the mean duration with the duration of a task."""
        past = seconds if self._mean_s is None else self._mean_s
        self._mean_s = 0.8 * past + 0.2 * seconds

    def next(self, takers: int) -> list[Task]:
        """Returns the next chunk. The chunk is limited to a fair share of the remaining tasks."""
        fair = -(-len(self._left) // (2 * takers))
        wanted = int(self._seconds / max(self.mean_s, 1e-6))
        size = max(1, min(wanted, fair, self._most))
        return [self._left.pop() for _ in range(min(size, len(self._left)))]

    def __len__(self) -> int:
        return len(self._left)
