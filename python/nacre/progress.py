"""A bar for long work, on standard error and only when that is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from nacre.text import si

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_PATIENCE_S = 0.4
"""Work shorter than this shows nothing."""


class Bar:
    """Shows rate and time left; call it with requests done, in all, and seconds simulated."""

    def __init__(self, verb: str, noun: str) -> None:
        self._verb, self._noun = verb, noun
        self._began = time.monotonic()
        self._shown = sys.stderr is not None and sys.stderr.isatty()
        self._drawn: RichProgress | None = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, done: int, total: int | None = None, *_: float) -> None:
        """Draws the bar anew."""
        elapsed = time.monotonic() - self._began
        if not self._shown or elapsed < _PATIENCE_S:
            return
        drawn = self._drawn or _bar(self._verb)
        drawn.update(drawn.task_ids[0], completed=done, total=total, rate=self._rate(done, elapsed))
        if self._drawn is None:
            self._drawn = drawn
            drawn.start()

    def _rate(self, done: float, elapsed: float) -> str:
        return f"{si(done / elapsed)} {self._noun}/s"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn is not None:
            self._drawn.stop()


def _bar(verb: str) -> RichProgress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    progress.add_task(verb, total=None, rate="")
    return progress
