"""Stores the results of a study's points by key, in Parquet files that are never changed.

A directory contains derived files, and `study.json`, which describes the study. Each file in
`points/*.parquet` contains the results of several points, and is written completely or not at all.
Only one process can write at a time. If this process is killed, the points of the last seconds are
lost, and a resumed study runs them again.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from nacre import _core
from nacre.errors import invalid
from nacre.files.atomic import unfinished, write_file
from nacre.studies.engines.task import Outcome
from nacre.studies.keep.lock import LOCK, ForeignLockError, HeldError, Lock
from nacre.studies.keep.parquet import POINTS, frame, outcomes, parts, record, table
from nacre.studies.spec.metrics import Value, measured

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "nacre-study-1"
STUDY_FILE = "study.json"
TABLE_FILE = "results.parquet"
FIGURE_FILES = tuple(
    f"{name}.{suffix}" for name in ("by_axis", "pareto", "sensitivity") for suffix in ("svg", "png")
)
FLUSH_S = (0.25, 2.0)
"""Time in seconds for which points are collected before they are written: initially, and after many
files."""
FLUSH_POINTS = 256
POINT_BYTES = 1024
"""Approximate compressed size of a point in bytes."""
MARGIN_BYTES = 1 << 20

Row = dict[str, Value]


class Memory:
    """Keeps outcomes in memory.

    `paths` are additional columns of the rows. If `paths` is None, rows contain only the errors of
    points.
    """

    def __init__(self, paths: Mapping[str, str] | None) -> None:
        self.rows: dict[str, Row] = {}
        self.found: frozenset[str] = frozenset()
        """Keys of points that were completed in an earlier session, for this or another version of
        the study."""
        self._paths = paths
        self._ended: dict[str, Outcome] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Does nothing, because there are no files to close."""

    def add(self, outcome: Outcome) -> None:
        """Adds the outcome of a point."""
        self._note(outcome)
        self._ended[outcome.key] = outcome

    def flush(self, *, at_once: bool = False) -> None:
        """Does nothing, because the outcomes are only in memory."""

    def has(self, key: str) -> bool:
        """Returns whether the point completed without an error and need not run again."""
        return key in self.rows and self.rows[key]["error"] is None

    def record(self, key: str) -> dict[str, Any] | None:
        """Returns the record of a point, or None if there is none."""
        found = self._ended.get(key)
        return None if found is None or found.record is None else json.loads(found.record)

    def ended(self) -> Iterator[Outcome]:
        """Yields the outcomes of all points, with the requested columns."""
        yield from self._ended.values()

    def _note(self, outcome: Outcome) -> None:
        row: Row = {"error": outcome.error, "error_code": outcome.code}
        if outcome.record is not None and self._paths is not None:
            row |= measured(json.loads(outcome.record), self._paths)
        self.rows[outcome.key] = row


class Store(Memory):
    """Stores outcomes in a directory. `what` names the kind of result in messages."""

    def __init__(
        self,
        directory: Path,
        study: Mapping[str, object],
        paths: Mapping[str, str] | None,
        *,
        points: int,
        resume: bool,
        what: str = "study",
        point_bytes: int = POINT_BYTES,
    ) -> None:
        super().__init__(paths)
        self.directory = directory
        self._what, self._point_bytes = what, point_bytes
        self._study, self._expected, self._resume = study, points, resume
        self._lock: Lock | None = None
        self._made: list[Path] = []
        self._pending: list[Outcome] = []
        self._since = time.monotonic()
        self._next = self._written = 0

    def __enter__(self) -> Self:
        try:
            self._open()
        except BaseException:
            self._remove_made()
            self._unlock()
            raise
        return self

    def __exit__(self, *about: object) -> None:
        _, error, _ = about
        try:
            if not isinstance(error, OSError):
                self.flush(at_once=True)
        finally:
            self._unlock()

    def add(self, outcome: Outcome) -> None:
        """Adds the outcome of a point. The outcome is durable after the next flush."""
        self._note(outcome)
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append(outcome)

    def flush(self, *, at_once: bool = False) -> None:
        """Writes the added outcomes to one file if there are many or if they have waited long.

        If `at_once` is true, writes them immediately.
        """
        first, later = FLUSH_S
        patience = min(later, first * 2 ** min(self._written, 10))
        waited = time.monotonic() - self._since
        if self._pending and (at_once or waited >= patience or len(self._pending) >= FLUSH_POINTS):
            self._write(frame(self._pending))
            self._pending = []

    def record(self, key: str) -> dict[str, Any] | None:
        """Returns the record of a point, or None if there is none."""
        return record(self.directory, key)

    def ended(self) -> Iterator[Outcome]:
        """Yields the outcomes of all points, with the requested columns."""
        self.flush(at_once=True)
        if files := parts(self.directory):
            yield from outcomes(table(files))

    def expect(self, points: int) -> None:
        """Sets the number of points if it was unknown when the study started."""
        if points != self._expected:
            self._expected = points
            _write(self.directory / STUDY_FILE, _json(self._identity()))

    def compact(self) -> None:
        """Merges all files into one. If the process is killed, some points may be in two files."""
        self.flush(at_once=True)
        files = parts(self.directory)
        if len(files) > 1:
            self._write(table(files))
            for file in files:
                file.unlink()

    def _open(self) -> None:
        for path in reversed([self.directory, *self.directory.parents]):
            if not path.exists():
                path.mkdir()
                self._made.insert(0, path)
        if _identity(self.directory) is None:
            # Check this before the lock is created, so that a foreign directory is not changed.
            self._check_empty()
        self._lock = self._take_lock()
        found = _identity(self.directory)
        self._check_lock(self._lock)
        if found is None:
            self._check_empty()
        elif not self._resume:
            raise invalid(
                "file-exists",
                "--out",
                f"{self.directory} holds a {self._what} already",
                hint="give --resume to continue with it, or another directory",
            )
        self._check_room()
        self._lock.sign()
        if not (self.directory / POINTS).exists():
            (self.directory / POINTS).mkdir()
            self._made.insert(0, self.directory / POINTS)
        self._load()
        _write(self.directory / STUDY_FILE, _json(self._identity()))

    def _take_lock(self) -> Lock:
        try:
            return Lock(self.directory)
        except HeldError as holder:
            raise invalid(
                "in-use",
                "--out",
                f"another {self._what} writes to {self.directory} (process {holder})",
                hint="wait for it, or give another directory",
            ) from None
        except ForeignLockError:
            raise self._foreign_lock() from None

    def _check_lock(self, lock: Lock) -> None:
        try:
            lock.check()
        except ForeignLockError:
            raise self._foreign_lock() from None

    def _foreign_lock(self) -> Exception:
        return invalid(
            "invalid-content",
            "--out",
            f"{self.directory / LOCK} is not the lock file of a {self._what}",
            hint="give another directory",
        )

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_empty(self) -> None:
        """Raises an error if the directory contains files that do not belong to a store."""
        points = self.directory / POINTS
        ours = {LOCK, *(path.name for path in unfinished(self.directory, LOCK))}
        found = {path.name for path in self.directory.iterdir()} - ours
        is_begun = found == {POINTS} and not points.is_symlink() and not any(points.iterdir())
        if found and not is_begun:
            raise invalid(
                "file-exists",
                "--out",
                f"{self.directory} has files that do not belong to a {self._what}",
                hint="give another directory",
            )

    def _check_room(self) -> None:
        free = shutil.disk_usage(self.directory).free
        needed = MARGIN_BYTES + self._point_bytes * self._expected
        if free < needed:
            raise invalid(
                "disk-full",
                "--out",
                f"{self.directory} is on a disk with {free >> 20} MiB left;"
                f" {self._expected:,} points need about {-(-needed >> 20)} MiB",
                hint="free space, or give another directory",
            )

    def _load(self) -> None:
        """Loads existing points, and removes incomplete files."""
        for path in unfinished(self.directory, LOCK, STUDY_FILE, TABLE_FILE):
            path.unlink()
        for path in unfinished(self.directory / POINTS, "*.parquet"):
            path.unlink()
        files = parts(self.directory)
        self._next = max((int(file.stem) for file in files), default=-1) + 1
        if not files:
            return
        for outcome in outcomes(table(files, with_columns=False)):
            self._note(outcome)
        self.found = frozenset(filter(self.has, self.rows))

    def _write(self, rows: pl.DataFrame) -> None:
        target = self.directory / POINTS / f"{self._next:06}.parquet"
        data = io.BytesIO()
        rows.write_parquet(data, compression="zstd", metadata={"nacre": SCHEMA})
        _write(target, data.getvalue())
        self._next += 1
        self._written += 1

    def _identity(self) -> dict[str, object]:
        return {
            "schema": SCHEMA,
            "version": _core.__version__,
            "points": self._expected,
            "study": self._study,
        }

    def _remove_made(self) -> None:
        """If no store was created, removes the lock and the new directories."""
        with suppress(OSError):
            if self._lock is not None and not (self.directory / STUDY_FILE).exists():
                self._lock.remove()
        for path in self._made:
            with suppress(OSError):
                path.rmdir()


def opened(directory: Path) -> dict[str, Any]:
    """Returns the content of `study.json` in a directory.

    Raises `ConfigError` if it is not a store.
    """
    found = _identity(directory)
    if found is None:
        raise invalid(
            "invalid-content",
            "--out",
            f"{directory} holds no study",
            hint="give the directory of one",
        )
    return found


def _identity(directory: Path) -> dict[str, Any] | None:
    path = directory / STUDY_FILE
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        found = None
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise invalid(
            "wrong-version",
            "--out",
            f"{directory} is a store of another version: {schema or 'an unknown one'},"
            f" and this Nacre {_core.__version__} writes {SCHEMA}",
            hint="continue with the Nacre that wrote it, or give another directory",
        )
    known: dict[str, Any] = found
    return known


def _write(target: Path, data: bytes) -> None:
    """Writes a file atomically and durably."""
    write_file(target, data)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _json(document: object) -> bytes:
    return f"{json.dumps(document, indent=2, ensure_ascii=False, default=str)}\n".encode()
