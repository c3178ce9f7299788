"""Functions that check image files, and recover the intact data of damaged image files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import ClassVar

from nacre import _core
from nacre.base.view import View


class Superblocks(View):
    """State of the two copies of the superblock; one intact copy is sufficient."""

    first: bool
    second: bool


class CheckpointCopies(View):
    """State of the copies of the checkpoint; both are intact if there is no checkpoint."""

    first: bool
    second: bool


class ImagePages(View):
    """Number of pages and of damaged pages in the checkpoint.

    `named` lists the numbers of the first damaged pages. If the image has no checksums
    (`are_checked`), damage cannot be detected.
    """

    programmed: int
    are_checked: bool
    damaged: int
    named: tuple[int, ...]


class ImageJournal(View):
    """Journal of requests since the checkpoint.

    `records` is the number of records that can be replayed. If the server was killed, the journal
    may be torn (`is_torn`), but all flushed data is intact. A damaged record after the last flush
    may have the same effect. `damage` explains why later records cannot be replayed, and `lost` is
    the number of intact records among them.
    """

    records: int
    is_torn: bool
    damage: str | None
    lost: int


class ImageCheck(View):
    """Result of checking an image.

    `identity` has the settings of the device. `raw_bytes` is the data size of an image without a
    device (`--timing none`). Such an image has no checksums.
    """

    parts: ClassVar[Mapping[str, type[View]]] = {
        "superblocks": Superblocks,
        "checkpoint_copies": CheckpointCopies,
        "pages": ImagePages,
        "journal": ImageJournal,
    }

    is_good: bool
    can_be_repaired: bool
    identity: tuple[str, ...]
    page_bytes: int
    raw_bytes: int
    superblocks: Superblocks
    cut_short: int
    checkpoint: str | None
    checkpoint_copies: CheckpointCopies
    pages: ImagePages
    journal: ImageJournal


def check(path: str | os.PathLike[str]) -> ImageCheck:
    """Checks the image at `path`, without its scenario.

    Raises `Error` if the file is not an image, if another process has opened it, or if no
    superblock is intact.
    """
    return ImageCheck(json.loads(_core.check_image(os.fspath(path))))


def repair(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> ImageCheck:
    """Writes a usable image with the intact data to `out`; the original is not changed.

    Damaged pages keep their current bytes, and the journal ends before its first damaged record.
    Returns the result of the check. Raises `Error` for the same reasons as `check`, if `out`
    exists, or if the state of the device is lost.
    """
    return ImageCheck(json.loads(_core.repair_image(os.fspath(path), os.fspath(out))))
