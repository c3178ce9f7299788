"""Prints errors and sets the exit status: 1 for a failure, 2 for a user error, 130 for Ctrl-C."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec

import typer

from nacre.base import failures
from nacre.base.failures import FAILED, USER_ERROR, Failure, os_words
from nacre.base.text import printable
from nacre.cli.terminal import OutputError, flush, write_json
from nacre.errors import code_of

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "USER_ERROR",
    "Failure",
    "complain",
    "explain",
    "failure_of",
    "guarded",
    "warn",
]

INTERRUPTED = 130
PIPE_CLOSED = 141
_PANIC = "PanicException"
"""Name of the PyO3 exception for a panic of the core, e.g. a failed assertion."""

P = ParamSpec("P")


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Wraps a command so that exceptions give an exit status and a message, and no traceback.

    With `--json`, also prints the message and the problems as a JSON document to standard output.
    """

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_: warn(str(message))
                command(*args, **kwargs)
            flush()
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
                raise
            raise typer.Exit(explain(error, as_json=bool(kwargs.get("as_json")))) from None

    return wrapper


def explain(error: BaseException, *, as_json: bool = False) -> int:
    """Prints an error, and returns the exit status."""
    if isinstance(error, OutputError):
        _drop_stdout()
    failure = failure_of(error)
    complain(*failure.lines)
    if as_json and failure.lines and not isinstance(error, OutputError):
        try:
            write_json(failure.document())
            flush()
        except OutputError as unwritten:
            return explain(unwritten)
    return failure.status


def failure_of(error: BaseException) -> Failure:
    """Converts any exception, including exceptions of the command line, to a failure."""
    match error:
        case typer.Exit():
            return Failure(error.exit_code)
        case OutputError(cause=BrokenPipeError()):
            return Failure(PIPE_CLOSED)
        case OutputError():
            code, data = code_of(error.cause)
            words = f"standard output: {os_words(error.cause, named=False)}"
            return Failure(FAILED, [words], code, data)
    return failures.failure_of(error)


def complain(*lines: str) -> None:
    """Writes error lines to standard error. Ignores write errors."""
    with suppress(OSError):
        for line in lines:
            sys.stderr.write(f"error: {printable(line)}\n")
        sys.stderr.flush()


def warn(line: str) -> None:
    """Writes a warning to standard error. Ignores write errors."""
    with suppress(OSError):
        sys.stderr.write(f"warning: {printable(line)}\n")
        sys.stderr.flush()


def _drop_stdout() -> None:
    """Redirects standard output to /dev/null, so that flushing it at exit cannot fail."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
