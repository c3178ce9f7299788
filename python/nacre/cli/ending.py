"""How long commands end: what is reported of figures that failed, and of an interruption."""

from __future__ import annotations

from collections.abc import Callable

import typer

from nacre import kinds
from nacre.cli.failure import FAILED, INTERRUPTED, Failure, complain, failure_of
from nacre.cli.terminal import flush
from nacre.results.base import Result


def drawn(
    result: Result, put: Callable[[str, bytes], object], stop: Callable[[], bool] = lambda: False
) -> tuple[bool, Failure | None]:
    """Draws the figures of a result; whether all are there, and what failed.

    A result is complete without its figures, so this raises nothing.
    """
    try:
        return kinds.draw(result, put, stop), None
    except Exception as error:
        return False, failure_of(error)


def conclude(
    *, failure: Failure | None = None, kept: str = "", interrupted: str = "", failed: bool = False
) -> None:
    """Says what failed and what is `kept`, then what was `interrupted`; raises the exit status."""
    flush()
    if failure:
        complain(*failure.lines, kept)
    if interrupted:
        complain(interrupted)
        raise typer.Exit(INTERRUPTED)
    if failure or failed:
        raise typer.Exit(FAILED)
