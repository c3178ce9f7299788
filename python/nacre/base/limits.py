"""Checks that the limits of the process suffice for tables, figures, and pages.

If a limit is too low, the libraries for tables and figures abort the process or fail with an
unclear message. These functions check the limits first; their errors name the limit to raise.
"""

from __future__ import annotations

import os
import re
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from nacre.errors import Error, SystemLimitError

_GIB = 1 << 30
_OF_TABLES = (1 * _GIB, 4)
_OF_FIGURES = (66 * _GIB, 15)
"""Address space in bytes (mostly untouched) and number of open files that figures need in addition
to the current use. Measured with Polars 2.1 and vl-convert 1.9."""
_FILES_OF_PAGES = 16
"""Number of open files that the explorer needs: listening and wake-up sockets, six browser
connections, and two results that are read or written at the same time."""
_OF_PROCESSOR = _GIB // 4
"""Additional address space in bytes per processor, for the threads of libraries."""
_SYSTEM_ERROR = re.compile(r"Os \{ code: ([0-9]+)|\(os error ([0-9]+)\)")
"""Finds the number of a system error in a message of Rust. Rust panics report the number only as
text."""


def for_tables() -> None:
    """Raises `SystemLimitError` if the limits are too low to write tables."""
    _check("tables", *_OF_TABLES)
    _check_threads("tables", _THREADS + (os.cpu_count() or 1))


@cache
def for_figures() -> None:
    """Raises `SystemLimitError` if the limits are too low to plot figures.

    The first figure loads all libraries, so one check is sufficient.
    """
    _check("figures", *_OF_FIGURES)


def for_pages() -> None:
    """Raises `SystemLimitError` if the limits are too low to serve pages to a browser."""
    _check_files("pages", _FILES_OF_PAGES)


@contextmanager
def as_limit_errors(what: str) -> Iterator[None]:
    """Converts system errors of libraries in the block into `SystemLimitError`.

    If the library's exception has no error number, the limits are checked again.
    """
    try:
        yield
    except BaseException as error:
        denied = denial(error)
        if denied is None:
            if not isinstance(error, OSError | Error):
                _check(what, *_OF_FIGURES)
                _check_threads(what, _THREADS + (os.cpu_count() or 1))
            raise
        raise SystemLimitError(f"{what}: {denied}", "system-limit") from None


def denial(error: BaseException) -> str | None:
    """Returns a message if a library's exception reports a system error, otherwise None."""
    if isinstance(error, OSError | Error):
        return None
    number = _SYSTEM_ERROR.search(str(error))
    if number is None:
        return None
    words = os.strerror(int(next(filter(None, number.groups()))))
    return f"the system denied what this needs ({words}); see the limits of ulimit -a"


def _check(what: str, addresses: int, files: int) -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = addresses + _OF_PROCESSOR * (os.cpu_count() or 1)
    if most != resource.RLIM_INFINITY and most < needed:
        raise SystemLimitError(
            f"{what} need {needed / _GIB:.1f} GiB of addresses, most of them never used, and"
            f" ulimit -v allows {most / _GIB:.1f} GiB: raise it",
            "system-limit",
        )
    _check_files(what, files)


def _check_files(what: str, files: int) -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY or most > _MANY:
        return
    # Ignore inherited descriptors above the limit. Listing /proc/self/fd uses one descriptor
    # itself.
    is_open = sum(int(handle.name) < most for handle in Path("/proc/self/fd").iterdir()) - 1
    if most < is_open + files:
        raise SystemLimitError(
            f"{what} need {files} more open files, and ulimit -n allows {most}, of which"
            f" {is_open} are open: raise it",
            "system-limit",
        )


def _check_threads(what: str, count: int) -> None:
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if most == resource.RLIM_INFINITY or most > _MANY:
        return
    over = threading.Event()
    begun: list[threading.Thread] = []
    try:
        for _ in range(count):
            thread = threading.Thread(target=over.wait)
            thread.start()
            begun.append(thread)
    except RuntimeError:
        raise SystemLimitError(
            f"{what} need {count} threads, and ulimit -u allows {most} processes and threads of"
            " this user: raise it",
            "system-limit",
        ) from None
    finally:
        over.set()
        for thread in begun:
            thread.join()


_THREADS = 16
"""Threads of the libraries for tables and figures, in addition to one per processor."""
_MANY = 256
"""If a limit is above this number, it is not checked."""
