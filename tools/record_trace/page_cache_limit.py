"""Keeps the page cache of the files in a folder below a limit, without a memory cgroup.

PostgreSQL reads through the kernel's page cache. If a machine has more memory than data, hardly any
reads reach the disk. This program repeatedly asks the kernel how many bytes of the folder's files
are cached (cachestat, Linux 6.5). While the number is above the limit, the program drops pieces of
files (posix_fadvise DONTNEED). A clock hand moves over all files and selects the pieces. Other
files on the machine are not affected.

The position of the hand, and not the last access to a page, determines which pages are dropped. The
result is therefore closer to FIFO than to the kernel's LRU. Dirty pages are not dropped
immediately. The kernel starts to write them, and they are dropped when the hand reaches them again.
Files below 256 KiB are ignored.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import threading
import time
from pathlib import Path
from typing import Final

CACHESTAT: Final = 451
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
PIECE: Final = 2 * 1024 * 1024
SMALL_FILE: Final = 256 * 1024
SECONDS_PER_LOOK: Final = 0.1
SECONDS_PER_LISTING: Final = 2.0


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _Counts(ctypes.Structure):
    _fields_ = (
        ("cached", ctypes.c_uint64),
        ("dirty", ctypes.c_uint64),
        ("writeback", ctypes.c_uint64),
        ("evicted", ctypes.c_uint64),
        ("recently_evicted", ctypes.c_uint64),
    )


_syscall = ctypes.CDLL(None, use_errno=True).syscall
_syscall.restype = ctypes.c_long


def cached_bytes(fd: int, offset: int = 0, length: int = 0) -> int:
    """Returns the number of bytes of a range that are in the page cache.

    With length 0, the range extends to the end of the file.
    """
    counts = _Counts()
    window = _Range(offset, length)
    answer = _syscall(
        ctypes.c_long(CACHESTAT),
        ctypes.c_uint(fd),
        ctypes.byref(window),
        ctypes.byref(counts),
        ctypes.c_uint(0),
    )
    if answer != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"cachestat: {os.strerror(number)}")
    return int(counts.cached) * PAGE


def list_files(folder: Path) -> list[str]:
    """Returns the files that are large enough, in a fixed order."""
    found = []
    for root, _, names in os.walk(folder):
        for path in (Path(root, name) for name in names):
            try:
                size = path.stat().st_size
            except FileNotFoundError:
                continue
            if size >= SMALL_FILE:
                found.append(str(path))
    return sorted(found)


class Clock:
    """The clock hand, which moves over the files."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._path = ""
        self._offset = 0

    def sweep(self, paths: list[str]) -> None:
        """Drops pieces of files from the cache until the cache is below the limit.

        Starts at the position of the clock hand. Stops after one round at the latest.
        """
        files: list[tuple[str, int]] = []
        try:
            for path in paths:
                try:
                    files.append((path, os.open(path, os.O_RDONLY | os.O_CLOEXEC)))
                except FileNotFoundError:
                    continue
            total = sum(cached_bytes(fd) for _, fd in files)
            if total > self._limit:
                self._drop(files, total - self._limit)
        finally:
            for _, fd in files:
                os.close(fd)

    def _drop(self, files: list[tuple[str, int]], excess: int) -> None:
        ahead = [entry for entry in files if entry[0] >= self._path]
        behind = [entry for entry in files if entry[0] < self._path]
        for path, fd in ahead + behind:
            if path != self._path:
                self._path, self._offset = path, 0
            size = os.fstat(fd).st_size
            while self._offset < size:
                before = cached_bytes(fd, self._offset, PIECE)
                if before:
                    os.posix_fadvise(fd, self._offset, PIECE, os.POSIX_FADV_DONTNEED)
                    excess -= before - cached_bytes(fd, self._offset, PIECE)
                self._offset += PIECE
                if excess <= 0:
                    return


def main() -> None:
    """Drops pieces repeatedly until the program is stopped."""
    parser = argparse.ArgumentParser(
        description="Hold the page cache of a folder's files below a limit."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mib", type=int, required=True, help="limit of the page cache in MiB")
    arguments = parser.parse_args()

    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())

    clock = Clock(arguments.mib << 20)
    paths: list[str] = []
    listed = float("-inf")
    while not stopped.wait(SECONDS_PER_LOOK):
        if time.monotonic() - listed >= SECONDS_PER_LISTING:
            paths = list_files(arguments.folder)
            listed = time.monotonic()
        clock.sweep(paths)


if __name__ == "__main__":
    main()
