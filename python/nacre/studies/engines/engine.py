"""What runs the points of a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Literal, Protocol, Self

from nacre.studies.engines.task import Base, Outcome, Task

Name = Literal["local", "dask"]

PATIENCE_S = 0.1
"""How long an engine is silent at most."""


class Engine(Protocol):
    """Runs points side by side. Entering it makes sure that it can; leaving it stops all work."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def outcomes(self, base: Base, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        """Each outcome once, as it comes, and None whenever none came for a while.

        What a point does is its outcome; an error raised here is the engine's own.
        """
        ...


class Chunks:
    """Tasks handed out in chunks that take about as long as `seconds`, by what others took.

    Short points are handed out many at a time, so that handing out costs little; long
    ones one by one, so that nobody waits for another's last.
    """

    def __init__(self, tasks: Sequence[Task], seconds: float, most: int) -> None:
        self._left = list(reversed(tasks))
        self._seconds, self._most = seconds, most
        self._mean_s: float | None = None

    @property
    def mean_s(self) -> float:
        """What a point takes; for ever while nobody knows."""
        return float("inf") if self._mean_s is None else self._mean_s

    def took(self, seconds: float) -> None:
        """Notes what a point took."""
        past = seconds if self._mean_s is None else self._mean_s
        self._mean_s = 0.8 * past + 0.2 * seconds

    def next(self, takers: int) -> list[Task]:
        """The next chunk, and no more than a fair part of what is left among so many takers."""
        fair = -(-len(self._left) // (2 * takers))
        wanted = int(self._seconds / max(self.mean_s, 1e-6))
        size = max(1, min(wanted, fair, self._most))
        return [self._left.pop() for _ in range(min(size, len(self._left)))]

    def __len__(self) -> int:
        return len(self._left)
