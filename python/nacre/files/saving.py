"""Files that are complete or not there: written beside their place, then renamed into it.

What somebody else has put there stays: links are not followed, and in a directory only the results
of an earlier run are replaced.
"""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from nacre.base import limits

if TYPE_CHECKING:
    from nacre.results.record import Record
    from nacre.simulate.mixing import Mixes
    from nacre.simulate.power_loss import Crash

RECORD_FILE = "record.json"
FIGURE_FILES = tuple(
    f"{name}.{suffix}"
    for name in (
        "latency",
        "throughput",
        "time_spent",
        "time_split",
        "wear",
        "cleaning",
        "blocks",
        "tiers",
    )
    for suffix in ("svg", "png")
)
RECORD_FILES = (RECORD_FILE, *FIGURE_FILES)
SIMULATED_FILE = "simulated.json"
"""Where the records of mixes that were run, too, lie: by what they are called."""
MIXES_FILES = (
    *(f"mixes.{suffix}" for suffix in ("json", "csv", "parquet", "svg", "png")),
    SIMULATED_FILE,
)
CRASH_FILES = ("crash.json", "crash.html", "crash.txt")
_RECORD_SCHEMA = re.compile(r"nacre-record-[0-9]+")
_SEALS = {
    "mixes.json": {"reads", "writes", "extents", "tiers", "best", "pure", "mixes"},
    "crash.json": {"seed", "points", "lives", "restarts", "requests", "blocks_audited", "promises"},
    "rows.json": {"id", "paper", "figure", "metric", "published", "simulated", "pass"},
    "served.json": {"threads", "requests", "dilation", "wall_s", "throughput", "latency", "server"},
}
"""Files by which a directory of results is known, beside a record, which says its schema: words
that no other document has together."""

READ = "it is a file that is read, and would be lost; name another file to write"
USED = "it is in use, as an image of a server or a memory is; name another file"
TAKEN = "there is already a file of this name; name another one, or replace it with --force"
HELD = "it holds results already; name another directory, or replace them with --force"
_FOREIGN = (
    "there is already a file of this name, and no results that it would belong to;"
    " give another directory"
)


class Staging:
    """A directory that receives files all together: at `commit`, or when the block ends well.

    Entering it proves that the directory can be written, before any long work, and that `names`
    are free there, or those of earlier results that it may `replace`. Leaving it by an exception
    removes what was staged since, and the directories that were made for it if nothing was
    committed.
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
        self._is_ours = any(_is_seal(self.directory / name) for name in (RECORD_FILE, *_SEALS))
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
        """Stages one file."""
        _write(self._stage / name, data, self.directory / name)
        self._staged.append(name)

    def record(self, record: Record) -> None:
        """Commits a record and its columns. record.json is last, and so seals the rest.

        Figures and tables of an earlier record go: they would be taken for this one's.
        """
        from nacre.results import columns, tables

        for name, data in columns.files(record).items():
            self.write(name, data)
        self.write(RECORD_FILE, record.to_json().encode())
        self._stale = (*FIGURE_FILES, *tables.files_of_saved(self.directory / RECORD_FILE))
        self.commit()

    def figures(self, record: Record, stop: Callable[[], bool] = lambda: False) -> bool:
        """Draws the figures of a record, and commits each file as soon as it is drawn.

        Between files `stop` is asked; returns False if it ended the drawing.
        """
        if stop():
            return False
        from nacre.figures import drawings

        for name, draw in drawings(record):
            if stop():
                return False
            self.write(name, draw())
            self.commit()
        return True

    def mixes(self, mixes: Mixes) -> None:
        """Commits the mixes of tiers as tables; the figure of earlier ones goes."""
        frame, parquet = mixes.frame(), io.BytesIO()
        frame.write_parquet(parquet)
        document = json.dumps(mixes.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        self.write("mixes.parquet", parquet.getvalue())
        self.write("mixes.csv", frame.write_csv().encode())
        self.write("mixes.json", f"{document}\n".encode())
        self.discard(["mixes.svg", "mixes.png", SIMULATED_FILE])
        self.commit()

    def simulated(self, records: Mapping[str, Record]) -> None:
        """Commits the records of mixes that were run, each in a folder of its own."""
        places = {name: f"simulated/{number}" for number, name in enumerate(records, 1)}
        for name, record in records.items():
            record.save(self.directory / places[name])
        self.write(SIMULATED_FILE, json.dumps(places, ensure_ascii=False).encode())
        self.commit()

    def figures_of_mixes(self, mixes: Mixes) -> None:
        """Draws the surface, and commits it."""
        from nacre.figures import export
        from nacre.words.mixes import by

        for suffix, data in export.images(mixes.plot(by(mixes))).items():
            self.write(f"mixes.{suffix}", data)
        self.commit()

    def crash(self, found: Crash) -> None:
        """Commits what losses of power found, as a page, as JSON, and the steps as text."""
        from nacre.pages.crashes import crash_page

        self.write("crash.html", crash_page(found).encode())
        if found.finding is not None:
            steps = "\n".join(found.finding.steps)
            self.write("crash.txt", f"{found.scenario or ''}---\n{steps}\n".encode())
        else:
            self.discard(["crash.txt"])
        document = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
        self.write("crash.json", f"{document}\n".encode())
        self.commit()

    def discard(self, names: Iterable[str]) -> None:
        """Files of earlier results that go at the next commit."""
        self._stale = tuple(names)

    def commit(self) -> None:
        """Moves what was staged into the directory; on an error all is as it was before."""
        names = (*self._staged, *self._stale)
        for name in names:
            self._check(name)
        before = {name: self._kept(name) for name in names if look(self.directory / name)}
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

    def _kept(self, name: str) -> Path:
        """A file of the directory, under another name that goes with the stage."""
        kept = self._stage / f"before-{name}"
        kept.unlink(missing_ok=True)
        try:
            os.link(self.directory / name, kept, follow_symlinks=False)
        except OSError:
            shutil.copy2(self.directory / name, kept, follow_symlinks=False)
        return kept

    def _check(self, name: str) -> None:
        """Raises `OSError` where a file is that is nobody's result."""
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


def look(target: Path, *, replace: bool = True) -> bool:
    """Whether there is a file that `replace` allows to replace.

    Raises `OSError` for a link, for what is not a file, and for a file that is to stay.
    """
    try:
        found = target.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISLNK(found):
        what = "it is a link, and links are not followed to write; name the file itself"
        raise FileExistsError(errno.EEXIST, what, str(target))
    if not stat.S_ISREG(found):
        raise IsADirectoryError(errno.EISDIR, "it is not a file", str(target))
    if not replace:
        raise FileExistsError(errno.EEXIST, TAKEN, str(target))
    with _held(target):
        return True


def look_apart(target: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raises `OSError` where a file to write is one that is read, by whatever name.

    It would be replaced by what was made of it, with `--force` or without.
    """
    place = _identity(target)
    if place is not None and place in map(_identity, inputs):
        raise FileExistsError(errno.EEXIST, READ, str(target))


def _identity(name: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Device and inode of what a name leads to, which every other name of it has, too."""
    try:
        found = os.stat(name)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _held(target: Path) -> Iterator[None]:
    """While the block runs nobody locks a file, as servers and memories lock their images.

    Raises `OSError` where somebody has.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    handle = os.open(target, flags)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise OSError(errno.EBUSY, USED, str(target)) from None
    finally:
        os.close(handle)


@contextmanager
def replacing(target: Path, *, replace: bool = True) -> Iterator[Path]:
    """A temporary path beside `target` that takes its place when the block ends well.

    Raises `OSError` where a file could not be: in no directory, or over what may not be replaced.
    """
    is_there = look(target, replace=replace)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such directory", str(target.parent))
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    path = Path(name)
    try:
        yield path
        path.chmod(0o666 & ~_umask())
        if is_there and look(target):
            with _held(target):
                path.replace(target)
        else:
            _move_to_free(path, target)
    except OSError as error:
        if error.filename in (None, name):
            error.filename = str(target)
        raise
    finally:
        # What cannot be removed is in nobody's way; the file is there, or the error says why not.
        with suppress(OSError):
            path.unlink(missing_ok=True)


def write_file(target: Path, data: bytes, *, replace: bool = True) -> None:
    """Writes `target` completely or not at all; over a file that is there if `replace` says so."""
    with replacing(target, replace=replace) as path:
        _write(path, data, target)


_DRAWN = "[a-z0-9_]" * 8
"""What `tempfile` puts between the beginning and the end of a name."""


def unfinished(directory: Path, *names: str) -> list[Path]:
    """The temporary files that a killed `replacing` of these names left in `directory`.

    A name may be a pattern of `fnmatch`. There are none in a linked directory, nor by another name
    than `tempfile` gives: those are somebody else's.
    """
    if directory.is_symlink():
        return []
    patterns = [f".{Path(name).stem}-{_DRAWN}{Path(name).suffix}" for name in names]
    found = (path for pattern in patterns for path in directory.glob(pattern))
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _move_to_free(path: Path, target: Path) -> None:
    """Gives a file a name that is free; raises `FileExistsError` where it is not any more."""
    try:
        os.link(path, target, follow_symlinks=False)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, TAKEN, str(target)) from None
    except OSError:
        # A file system without links: between look and rename another file may come.
        look(target, replace=False)
        path.replace(target)


def _is_seal(file: Path) -> bool:
    """Whether a file is a document of ours, or a list of them; a record is never in a list."""
    try:
        document = json.loads(file.read_bytes()) if stat.S_ISREG(file.lstat().st_mode) else None
    except (OSError, ValueError):
        return False
    if file.name == RECORD_FILE:
        schema = document.get("schema") if isinstance(document, dict) else None
        return _RECORD_SCHEMA.fullmatch(str(schema)) is not None
    first = document[0] if isinstance(document, list) and document else document
    if not isinstance(first, dict):
        return False
    return _SEALS[file.name] <= first.keys()


def _write(path: Path, data: bytes, target: Path) -> None:
    """Writes to the device, not just to its cache; an error names the target."""
    try:
        with path.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(target)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
