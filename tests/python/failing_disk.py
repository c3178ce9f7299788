"""A simulated disk on which one operation fails."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

OPERATIONS = {
    "mkdir": os,
    "open": Path,
    "fsync": os,
    "link": os,
    "replace": os,
    "unlink": os,
}
"""Functions that change files, by module. `open` means opening a path for writing."""


class Disk:
    """Counts operations of one kind. The operation with the number `failing` fails."""

    def __init__(self, failing: int) -> None:
        self._failing, self._count = failing, 0

    @property
    def has_failed(self) -> bool:
        """Returns whether the operation with the number `failing` has been reached."""
        return self._count >= self._failing

    def tell(self) -> None:
        """Counts an operation, and raises `OSError` if it must fail."""
        self._count += 1
        if self._count == self._failing:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


@contextmanager
def failing(operation: str, number: int) -> Iterator[Disk]:
    """Makes the operation with this number fail while the block runs."""
    disk = Disk(number)
    place: Any = OPERATIONS[operation]
    real: Callable[..., Any] = getattr(place, operation)

    def instead(*given: Any, **named: Any) -> Any:
        if operation != "open" or given[1:2] == ("wb",):
            disk.tell()
        return real(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, operation, instead)
        yield disk
