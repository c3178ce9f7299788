"""Helpers for tests of simulated memories: a small memory, and a digest of its image."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import nacre

SMALL: dict[str, object] = {
    "stack": {
        "kind": "envy",
        "segments": 4,
        "segment": "128 B",
        "page": "16 B",
        "banks": 1,
        "buffer": "64 B",
        "utilization": "50 %",
        "threshold": "25 %",
        "cleaning": "greedy",
        "wear_swap_gap": 3,
    }
}
CAPACITY = 192
"""Capacity in bytes, i.e. half the size of the three segments that hold data."""


def small(
    image: Path | None = None, settings: Mapping[str, object] | None = None
) -> nacre.devices.Memory:
    return nacre.open(SMALL, settings, image=image)


def digest(path: Path) -> str:
    """Returns a digest of the nonzero bytes of an image and their offsets. Most of an image
    consists of holes."""
    found, end = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as file:
        start = 0
        while start < end:
            try:
                start = os.lseek(file.fileno(), start, os.SEEK_DATA)
            except OSError:
                break
            stop = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            file.seek(start)
            while start < stop:
                # The file system determines whether reserved space counts as a hole.
                part = file.read(min(stop - start, 4096 - start % 4096))
                if part.strip(b"\0"):
                    found.update(f"{start} ".encode() + part)
                start += len(part)
    return f"{end} {found.hexdigest()}"
