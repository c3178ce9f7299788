"""Functions that check image files, and recover the intact data of damaged image files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import ClassVar

from nacre import _core
from nacre.base.view import View


class Superblocks(View):
    """Whether each of the two copies of the superblock is intact.

    One intact copy is sufficient to open the image.
    """

    first: bool
    second: bool


class CheckpointCopies(View):
    """Whether each copy of the checkpoint is intact.

    If there is no checkpoint, both copies count as intact.
    """

    first: bool
    second: bool


class ImagePages(View):
    """Number of pages in the checkpoint, and number of damaged pages.

    `named` lists the numbers of the first damaged pages. If the pages have no checksums
    (`are_checked` is false), damage cannot be detected.
    """

    programmed: int
    are_checked: bool
    damaged: int
    named: tuple[int, ...]


class ImageJournal(View):
    """Journal of requests since the checkpoint.

    `records` is the number of records that can be replayed. If the server was killed, the last
    record may be incomplete (`is_torn`), but all flushed data is intact. Damage to a record after
    the last flush may look like such an incomplete record. `damage` explains why later records
    cannot be replayed, and `lost` is the number of these records that are intact.
    """

    records: int
    is_torn: bool
    damage: str | None
    lost: int


class ImageCheck(View):
    """Result of checking an image.

    `identity` contains the settings of the device. `raw_bytes` is the data size of an image without
    a device (`--timing none`). Such an image has no checksums.
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
    """Checks the image at `path`. The scenario is not needed.

    Raises `Error` if the file is not an image, if another process has opened it, or if no copy of
    the superblock is intact.
    """
    return ImageCheck(json.loads(_core.check_image(os.fspath(path))))


def repair(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> ImageCheck:
    """Writes a usable image with the intact data to `out`. The original is not changed.

    Damaged pages keep their current bytes, and the journal ends before the first damaged record.
    Returns the result of the check. Raises `Error` for the same reasons as `check`, and also if
    `out` exists or the state of the device is lost.
    """
    return ImageCheck(json.loads(_core.repair_image(os.fspath(path), os.fspath(out))))
