"""What is good in an image file and what is lost, and copies with what is left."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import ClassVar

from nacre import _core
from nacre.base.view import View


class Superblocks(View):
    """Whether the two copies of the superblock are good; one is enough."""

    first: bool
    second: bool


class CheckpointCopies(View):
    """Whether the copies of the checkpoint are good; one is enough. Without one both are."""

    first: bool
    second: bool


class ImagePages(View):
    """Pages of the medium that the checkpoint knows, and how many are not what was written.

    `named` has the numbers of the first damaged ones. Without checksums (`are_checked`) nothing
    is known of them.
    """

    programmed: int
    are_checked: bool
    damaged: int
    named: tuple[int, ...]


class ImageJournal(View):
    """Requests since the checkpoint.

    `records` can be played back. A journal `is_torn` after a kill: what was flushed is there. If a
    record behind the last flush was damaged, it may look the same.
    `damage` says why those behind cannot be, and `lost` how many good ones are among them.
    """

    records: int
    is_torn: bool
    damage: str | None
    lost: int


class ImageCheck(View):
    """Result of checking an image.

    `identity` has the settings of its device. `raw_bytes` are those of an image without a device
    (`--timing none`), and have no checksums.
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
    """Looks at everything in the image at `path`, without the scenario it is of.

    Raises `Error` if it is not an image, is open elsewhere, or neither superblock is good.
    """
    return ImageCheck(json.loads(_core.check_image(os.fspath(path))))


def repair(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> ImageCheck:
    """Makes a copy at `out` that opens, with what is left; the image stays as it is.

    Damaged pages keep the bytes that were found, and the journal ends where it is damaged.
    Returns what was found in the image. Raises `Error` as `check` does, if something is at `out`,
    and if the state of the device is lost.
    """
    return ImageCheck(json.loads(_core.repair_image(os.fspath(path), os.fspath(out))))
