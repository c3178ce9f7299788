"""Shows progress on standard error: a bar on a terminal, occasional lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from nacre.base.text import count, numbered, percent, printable, si

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

_PATIENCE_S = 0.4
"""Seconds until progress is first shown on a terminal."""
_LINE_S, _LATER_S = 10.0, 60.0
"""Seconds between two lines in a pipe: during the first minute, and later."""
_UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))


Progress: TypeAlias = Callable[..., bool | None]
"""Function that is called about ten times a second with the amount done and the total (or None). If
it returns true, the work stops."""


def answering(progress: Progress | None) -> Callable[..., bool] | None:
    """Wraps a progress function so that it returns a bool, as the core requires.

    If `progress` is None, returns None.
    """
    return None if progress is None else lambda *counters: bool(progress(*counters))


@contextmanager
def reporting(
    progress: bool | Progress, bar: AbstractContextManager[Progress]
) -> Iterator[Progress | None]:
    """Gives the block a progress function: the bar, the user's function, or None.

    Raises `TypeError` if `progress` is neither a bool nor a function.
    """
    if not (isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is True, False or a function; given {progress!r}")
    if progress is True:
        with bar as shown:
            yield shown
    else:
        yield progress or None


class Bar:
    """Shows the rate and the remaining time of a run."""

    def __init__(self, verb: str, noun: str) -> None:
        self._verb, self._noun = verb, noun
        self._began = time.monotonic()
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._next_line_s = _LINE_S
        self._drawn: RichProgress | None = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, done: int, total: int | None = None, *_: float) -> None:
        """Updates the bar, or writes a line if one is due."""
        elapsed = time.monotonic() - self._began
        if not self._is_terminal:
            self._line(done, total, elapsed)
        elif elapsed >= _PATIENCE_S:
            with suppress(OSError):  # the terminal has closed
                self._draw(done, total, elapsed)

    def _draw(self, done: int, total: int | None, elapsed: float) -> None:
        drawn = self._drawn or _bar(self._verb)
        drawn.update(drawn.task_ids[0], completed=done, total=total, rate=self._rate(done, elapsed))
        if self._drawn is None:
            self._drawn = drawn
            drawn.start()

    def _line(self, done: int, total: int | None, elapsed: float) -> None:
        if elapsed < self._next_line_s or sys.stderr is None:
            return
        self._next_line_s = elapsed + (_LINE_S if elapsed < _LATER_S else _LATER_S)
        parts = [self._done(done, total, elapsed)]
        if total and done:
            parts += [percent(done / total), f"{_rough(elapsed * (total - done) / done)} left"]
        with suppress(OSError, ValueError):
            sys.stderr.write(f"{self._verb}: {printable(', '.join(parts))}\n")
            sys.stderr.flush()

    def _done(self, done: int, total: int | None, elapsed: float) -> str:
        """Returns the amount done, the total if known, and the rate as text."""
        named = f"{numbered(done, self._noun.removesuffix('s'))}"
        of = named if total is None else f"{count(done)} of {count(total)} {self._noun}"
        return f"{of}, {self._rate(done, elapsed)}"

    def _rate(self, done: float, elapsed: float) -> str:
        return f"{si(done / elapsed)} {self._noun}/s"

    def __exit__(self, *_: object) -> None:
        if self._drawn is not None:
            with suppress(OSError):
                self._drawn.stop()


def _rough(seconds: float) -> str:
    """Formats an approximate duration, e.g. `12 s` or `3 min`."""
    scale, unit = next((row for row in _UNITS if seconds >= row[0]), _UNITS[-1])
    return f"{seconds / scale:.0f} {unit}"


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
