"""Result directories. Their files appear together, and replace only files of earlier results."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from nacre.base import limits
from nacre.files.atomic import look, write_through

_RECORD_FILE = "record.json"
_SCHEMA = re.compile(r"nacre-[a-z-]+-[0-9]+")
_SEALS = {
    "mixes.json": {"reads", "writes", "extents", "tiers", "best", "pure", "mixes"},
    "crash.json": {
        "seed",
        "points",
        "device_runs",
        "restarts",
        "requests",
        "blocks_audited",
        "guarantees",
    },
    "rows.json": {"id", "paper", "figure", "metric", "published", "simulated", "pass"},
    "served.json": {"threads", "requests", "dilation", "wall_s", "throughput", "latency", "server"},
}
"""Fields that identify the JSON document of a result without a schema name. No other document has
all of these fields."""
HELD = "the directory already holds results; choose another one, or overwrite them with --force"
_FOREIGN = "it holds a file of this name but no results; choose another directory"


class Staging:
    """A directory for results. Its files appear together at `commit`, or when the block succeeds.

    At the start of the block, the directory must be writable, and files called `names` must not
    exist. With `replace`, these files may exist if they belong to an earlier result. If the block
    raises an exception, the staged files are removed. New directories are also removed if nothing
    was committed.
    """

    def __init__(self, directory: Path, names: Iterable[str] = (), *, replace: bool = True) -> None:
        self.directory = directory
        self._names = tuple(names)
        self._may_replace = replace
        self._is_ours = False
        self._committed: set[str] = set()
        self._made: list[Path] = []
        self._staged: list[str] = []
        self._stale: tuple[str, ...] = ()

    def __enter__(self) -> Staging:
        limits.for_tables()
        missing = [p for p in (self.directory, *self.directory.parents) if not p.exists()]
        try:
            for path in reversed(missing):
                path.mkdir()
                self._made.insert(0, path)
            self._stage = Path(tempfile.mkdtemp(prefix=".nacre-", dir=self.directory))
        except OSError as error:
            self._remove_made()
            error.filename = str(self.directory)
            raise
        named = (name for name in self._names if name.endswith(".json"))
        seals = (_RECORD_FILE, *_SEALS, *named)
        self._is_ours = any(_is_seal(self.directory / name) for name in seals)
        try:
            for name in self._names:
                self._check(name)
                if not self._may_replace and look(self.directory / name):
                    raise FileExistsError(errno.EEXIST, HELD, str(self.directory))
        except OSError:
            self._stage.rmdir()
            raise
        return self

    def write(self, name: str, data: bytes) -> None:
        """Stages a file. The file appears in the directory at the next commit."""
        write_through(self._stage / name, data, self.directory / name)
        self._staged.append(name)

    def put(self, name: str, data: bytes) -> None:
        """Stages a file and commits it."""
        self.write(name, data)
        self.commit()

    def discard(self, names: Iterable[str]) -> None:
        """Marks files of earlier results for removal at the next commit."""
        self._stale = tuple(names)

    def commit(self) -> None:
        """Moves the staged files into the directory. If this fails, restores the previous state."""
        names = (*self._staged, *self._stale)
        for name in names:
            self._check(name)
        before = {name: self._set_aside(name) for name in names if look(self.directory / name)}
        try:
            for name in self._stale:
                (self.directory / name).unlink(missing_ok=True)
            for name in self._staged:
                (self._stage / name).replace(self.directory / name)
        except BaseException:
            for name in names:
                if kept := before.get(name):
                    kept.replace(self.directory / name)
                else:
                    (self.directory / name).unlink(missing_ok=True)
            raise
        self._committed.update(self._staged)
        self._stale, self._staged = (), []

    def _set_aside(self, name: str) -> Path:
        """Copies a file to the stage, so that it can be restored.

        The copy is deleted with the stage.
        """
        kept = self._stage / f"before-{name}"
        kept.unlink(missing_ok=True)
        try:
            os.link(self.directory / name, kept, follow_symlinks=False)
        except OSError:
            shutil.copy2(self.directory / name, kept, follow_symlinks=False)
        return kept

    def _check(self, name: str) -> None:
        """Raises `OSError` if the file exists and is not part of a result."""
        place = self.directory / name
        if look(place) and not self._is_ours and name not in self._committed:
            raise FileExistsError(errno.EEXIST, _FOREIGN, str(place))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            shutil.rmtree(self._stage, ignore_errors=True)
            if kind is not None:
                self._remove_made()

    def _remove_made(self) -> None:
        for path in self._made:
            with suppress(OSError):
                path.rmdir()


def _is_seal(file: Path) -> bool:
    """Returns whether a file contains a document of Nacre or a list of such documents."""
    try:
        document = json.loads(file.read_bytes()) if stat.S_ISREG(file.lstat().st_mode) else None
    except (OSError, ValueError):
        return False
    if isinstance(document, dict) and _SCHEMA.fullmatch(str(document.get("schema"))):
        return True
    if file.name not in _SEALS:
        return False
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict):
        return False
    return _SEALS[file.name] <= first.keys()
