"""Finishes long commands: reports failed figures and interruptions."""

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
    """Plots the figures of a result.

    Returns whether all figures were plotted, and the failure if plotting raised an exception.

    Does not raise exceptions, because a result is complete without its figures.
    """
    try:
        return kinds.draw(result, put, stop), None
    except Exception as error:
        return False, failure_of(error)


def conclude(
    *, failure: Failure | None = None, kept: str = "", interrupted: str = "", failed: bool = False
) -> None:
    """Prints the failure followed by the text `kept`, and prints the text `interrupted` if given.

    Exits with an error status if anything failed or the run was interrupted.
    """
    flush()
    if failure:
        complain(*failure.lines, kept)
    if interrupted:
        complain(interrupted)
        raise typer.Exit(INTERRUPTED)
    if failure or failed:
        raise typer.Exit(FAILED)
