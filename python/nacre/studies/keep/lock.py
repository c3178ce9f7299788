"""Lock on a directory of points. It is a locked file with the process ID of the writer."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress
from pathlib import Path

from nacre.files.atomic import replacing

LOCK = ".lock"
_OURS = re.compile(rb"nacre ([0-9]{1,10})\n")
_LONGEST = 64
"""Maximum number of bytes to read. A lock file of Nacre is shorter."""


class ForeignLockError(Exception):
    """The file is not a lock file of Nacre."""


class HeldError(Exception):
    """Another process holds the lock. The text is its process ID, or "?"."""


class Lock:
    """Holds the lock of a directory until `close`, or until the process exits.

    An existing file is not changed before `sign`. Raises `HeldError`, `ForeignLockError`, or, if
    the file cannot be created, `OSError`.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOCK
        self._is_made = _make(self._path)
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._file = os.open(self._path, flags)
        try:
            self._take()
        except BaseException:
            os.close(self._file)
            raise

    def check(self) -> None:
        """Raises `ForeignLockError` unless the file is empty or a lock file of Nacre."""
        text = os.pread(self._file, _LONGEST, 0)
        if not _OURS.fullmatch(text):
            raise ForeignLockError

    def sign(self) -> None:
        """Writes the ID of this process into the file."""
        text = _signature()
        os.pwrite(self._file, text, 0)
        os.truncate(self._file, len(text))

    def remove(self) -> None:
        """Removes the file if this lock created it and the path still refers to it."""
        if self._is_made and self._is_at():
            self._path.unlink()

    def close(self) -> None:
        """Releases the lock."""
        os.close(self._file)

    def _take(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.pread(self._file, _LONGEST, 0)
            if found := _OURS.fullmatch(text):
                raise HeldError(found[1].decode() or "?") from None
            raise ForeignLockError from None
        if not self._is_at():
            # The creator has removed the file. Another process may hold a new lock file.
            raise HeldError("?")

    def _is_at(self) -> bool:
        """Returns whether the path still refers to the locked file."""
        with suppress(FileNotFoundError):
            return os.path.samestat(self._path.lstat(), os.fstat(self._file))
        return False


def _make(path: Path) -> bool:
    """Creates the lock file with its content. Returns False if a file exists."""
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    else:
        return False
    try:
        with replacing(path, replace=False) as made:
            made.write_bytes(_signature())
    except FileExistsError:
        return False
    except OSError as error:
        error.filename = str(path)
        raise
    return True


def _signature() -> bytes:
    return f"nacre {os.getpid()}\n".encode()
