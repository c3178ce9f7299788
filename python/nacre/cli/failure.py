"""Exit statuses and last words: 1 ran but failed, 2 the user's mistake, 130 interrupted."""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import typer

from nacre.errors import ConfigError, Error, TraceError

FAILED = 1
MISTAKE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

_MISTAKES = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
_REMEDIES = {
    errno.ENOSPC: "the disk is full: make room, or choose another place",
    errno.EDQUOT: "the disk quota is used up: make room, or choose another place",
    errno.EFBIG: "the file would be larger than this system allows",
    errno.EACCES: "no permission: choose a place you may use",
    errno.EPERM: "not permitted: choose a place you may use",
    errno.EROFS: "the file system is read-only: choose another place",
}

P = ParamSpec("P")


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """The command, ending in an exit status and one clear message instead of a traceback."""

    @functools.wraps(command)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except Exception as error:
            raise typer.Exit(explain(error)) from None
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None

    return wrapper


def explain(error: Exception) -> int:
    """Says on standard error what went wrong; returns the exit status."""
    match error:
        case typer.Exit():
            return error.exit_code
        case ConfigError() | TraceError():
            complain(*str(error).splitlines())
            return MISTAKE
        case BrokenPipeError():
            _drop_stdout()
            return PIPE_CLOSED
        case OSError():
            complain(_os_words(error))
            if error.filename is None:
                _drop_stdout()
            return MISTAKE if isinstance(error, _MISTAKES) else FAILED
        case Error():
            complain(*str(error).splitlines())
            return FAILED
    complain(_bug_words(error))
    return FAILED


def complain(*lines: str) -> None:
    """Writes error lines to standard error."""
    for line in lines:
        sys.stderr.write(f"error: {line}\n")


def _os_words(error: OSError) -> str:
    what = _REMEDIES.get(error.errno or 0) or error.strerror or str(error)
    return f"{error.filename or 'standard output'}: {what}"


def _bug_words(error: Exception) -> str:
    from nacre import __version__

    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    code = trace.tb_frame.f_code.co_filename if trace else ""
    place = f" ({Path(code).name}:{trace.tb_lineno})" if trace else ""
    return (
        f"this is a bug in Nacre {__version__}: {type(error).__name__}: {error}{place};"
        " please report it with the command you ran"
    )


def _drop_stdout() -> None:
    """Nothing more can be written: keeps the interpreter from trying at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
