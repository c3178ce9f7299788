"""Where the records of a study's points are kept: by key, in Parquet files that are only added.

A directory holds `study.json`, which says what it is; `points/*.parquet`, each with the records of
several points, complete or not there; and what was made of them. One process at a time writes.
A process that is killed loses the points of its last seconds; whoever comes next runs them again.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from nacre import _core
from nacre.errors import Problem, config_error
from nacre.saving import write_file
from nacre.study.metrics import Value, measured
from nacre.study.task import Outcome

if TYPE_CHECKING:
    import polars as pl

SCHEMA = "nacre-study-1"
STUDY_FILE = "study.json"
POINTS = "points"
LOCK = ".lock"
FLUSH_S = (0.25, 2.0)
"""How long points wait for others: at first, and later, when there are many files already."""
FLUSH_POINTS = 256
POINT_BYTES = 1024
"""What a point takes of the disk, about: records are alike, and compressed together."""
MARGIN_BYTES = 1 << 20

Row = dict[str, Value]


class Memory:
    """Keeps the columns of points, and nothing on a disk."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self.rows: dict[str, Row] = {}
        self.reused = 0
        self._paths = paths
        self._records: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is to be done."""

    def add(self, outcome: Outcome) -> None:
        """Takes what became of a point."""
        self._note(outcome)
        if outcome.record is not None:
            self._records[outcome.key] = outcome.record

    def flush(self, *, at_once: bool = False) -> None:
        """Makes what was added safe, if it is time."""

    def record(self, key: str) -> dict[str, Any] | None:
        """The record of a point."""
        text = self._records.get(key)
        return None if text is None else json.loads(text)

    def _note(self, outcome: Outcome) -> None:
        row: Row = {"error": outcome.error}
        if outcome.record is not None:
            row |= measured(json.loads(outcome.record), self._paths)
        self.rows[outcome.key] = row


class Store(Memory):
    """A directory of points."""

    def __init__(
        self,
        directory: Path,
        study: Mapping[str, object],
        paths: Mapping[str, str],
        *,
        points: int,
        resume: bool,
    ) -> None:
        super().__init__(paths)
        self.directory = directory
        self._study, self._expected, self._resume = study, points, resume
        self._lock: int | None = None
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not isinstance(error, OSError):
                self.flush(at_once=True)
        finally:
            self._unlock()

    def add(self, outcome: Outcome) -> None:
        """Takes what became of a point; it is on the disk after the next flush."""
        self._note(outcome)
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append(outcome)

    def flush(self, *, at_once: bool = False) -> None:
        """Writes what was added, if there is much of it or it has waited, as one file."""
        first, later = FLUSH_S
        patience = min(later, first * 2 ** min(self._written, 10))
        waited = time.monotonic() - self._since
        if self._pending and (at_once or waited >= patience or len(self._pending) >= FLUSH_POINTS):
            self._write(_frame(self._pending))
            self._pending = []

    def record(self, key: str) -> dict[str, Any] | None:
        """The record of a point."""
        return record(self.directory, key)

    def expect(self, points: int) -> None:
        """Says how many points the study has, where that was not known when it began."""
        if points != self._expected:
            self._expected = points
            _write(self.directory / STUDY_FILE, _json(self._identity()))

    def compact(self) -> None:
        """Makes one file of all; a kill in between leaves some points in two."""
        self.flush(at_once=True)
        parts = _parts(self.directory)
        if len(parts) > 1:
            self._write(_points(parts))
            for part in parts:
                part.unlink()

    def _open(self) -> None:
        for path in reversed([self.directory, *self.directory.parents]):
            if not path.exists():
                path.mkdir()
                self._made.insert(0, path)
        self._take_lock()
        found = _identity(self.directory)
        if found is None:
            self._check_empty()
        elif not self._resume:
            raise _mistake(
                f"{self.directory} holds a study already",
                "give --resume to go on with it, or another directory",
            )
        self._check_room()
        (self.directory / POINTS).mkdir(exist_ok=True)
        self._load()
        _write(self.directory / STUDY_FILE, _json(self._identity()))

    def _take_lock(self) -> None:
        path = self.directory / LOCK
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        lock = os.open(path, flags, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            holder = path.read_text().strip() or "?"
            raise _mistake(
                f"another study writes to {self.directory} (process {holder})",
                "wait for it, or give another directory",
            ) from None
        self._lock = lock
        if os.read(lock, 16).strip(b"0123456789\n"):
            os.close(lock)
            self._lock = None
            raise _mistake(f"{path} is no study's", "give another directory")
        os.truncate(lock, 0)
        os.lseek(lock, 0, os.SEEK_SET)
        os.write(lock, f"{os.getpid()}\n".encode())

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _check_empty(self) -> None:
        """Nobody's files are mixed with ours."""
        points = self.directory / POINTS
        found = {path.name for path in self.directory.iterdir()} - {LOCK}
        is_begun = found == {POINTS} and not points.is_symlink() and not any(points.iterdir())
        if found and not is_begun:
            raise _mistake(
                f"{self.directory} has files in it that are no study's", "give another directory"
            )

    def _check_room(self) -> None:
        free = shutil.disk_usage(self.directory).free
        needed = MARGIN_BYTES + POINT_BYTES * self._expected
        if free < needed:
            raise _mistake(
                f"{self.directory} is on a disk with {free >> 20} MiB left;"
                f" {self._expected:,} points need about {-(-needed >> 20)} MiB",
                "make room, or give another directory",
            )

    def _load(self) -> None:
        """Reads what is there; files that were never finished go."""
        for pattern in (f"{POINTS}/.[0-9]*", ".study-*", ".results-*"):
            for path in self.directory.glob(pattern):
                path.unlink()
        parts = _parts(self.directory)
        self._next = max((int(part.stem) for part in parts), default=-1) + 1
        if not parts:
            return
        for key, text, error, seconds in _points(parts).iter_rows():
            self._note(Outcome(key, text, error, seconds))
        self.reused = len(self.rows)

    def _write(self, frame: pl.DataFrame) -> None:
        target = self.directory / POINTS / f"{self._next:06}.parquet"
        data = io.BytesIO()
        frame.write_parquet(data, compression="zstd", metadata={"nacre": SCHEMA})
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
        """Leaves a directory that did not become ours as it was."""
        with suppress(OSError):
            if self._lock is not None and not (self.directory / STUDY_FILE).exists():
                (self.directory / LOCK).unlink()
        for path in self._made:
            with suppress(OSError):
                path.rmdir()


def record(directory: Path, key: str) -> dict[str, Any] | None:
    """The record that a store has under a key, without the origins of its values."""
    import polars as pl

    for part in reversed(_parts(directory)):
        found = pl.scan_parquet(part).filter(pl.col("key") == key).collect()
        texts = [text for text in found["record"] if text is not None]
        if texts:
            data: dict[str, Any] = json.loads(texts[-1])
            return data | {"origins": []}
    return None


def is_final(row: Mapping[str, Value]) -> bool:
    """Whether running the point again would change nothing: it has a record."""
    return row["error"] is None


def opened(directory: Path) -> dict[str, Any]:
    """What `study.json` of a directory says; raises `ConfigError` where there is no store."""
    found = _identity(directory)
    if found is None:
        raise _mistake(f"{directory} holds no study", "give the directory of one")
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
        raise _mistake(
            f"{directory} is a store of another version: {schema or 'an unknown one'},"
            f" and this Nacre {_core.__version__} writes {SCHEMA}",
            "go on with the Nacre that wrote it, or give another directory",
        )
    known: dict[str, Any] = found
    return known


def _parts(directory: Path) -> list[Path]:
    return sorted((directory / POINTS).glob("[0-9]*.parquet"))


def _points(parts: Iterable[Path]) -> pl.DataFrame:
    """The points of several files, each once: what was written last."""
    import polars as pl

    frames = []
    for part in parts:
        try:
            frames.append(pl.read_parquet(part.read_bytes()).select(list(_schema())))
        except (pl.exceptions.PolarsError, OSError) as error:
            raise _mistake(
                f"{part} cannot be read: {' '.join(str(error).split())}",
                "remove it; its points are run again",
            ) from None
    return pl.concat(frames).unique("key", keep="last", maintain_order=True)


def _schema() -> dict[str, Any]:
    import polars as pl

    return {"key": pl.String, "record": pl.String, "error": pl.String, "seconds": pl.Float64}


def _frame(outcomes: Iterable[Outcome]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(list(outcomes), schema=_schema(), orient="row")


def _write(target: Path, data: bytes) -> None:
    """Writes a file completely or not at all; when this returns it is there to stay."""
    write_file(target, data)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _json(document: object) -> bytes:
    return f"{json.dumps(document, indent=2, ensure_ascii=False, default=str)}\n".encode()


def _mistake(problem: str, hint: str) -> Exception:
    return config_error([Problem(path="--out", problem=problem, hint=hint)])
