"""Writes files atomically. A file is written next to its target and then renamed.

Never replaces links or files that are not regular files.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

READ = "it is also an input file and would be overwritten; choose another name"
USED = "it is in use by a server or a memory; choose another name"
TAKEN = "the file already exists; choose another name, or overwrite it with --force"


def look(target: Path, *, replace: bool = True) -> bool:
    """Returns whether a file exists at `target`, and checks that such a file may be replaced.

    Raises `OSError` for a link, for anything other than a regular file, and for a file that must
    not be replaced. Without `replace`, no existing file may be replaced.
    """
    try:
        found = target.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISLNK(found):
        what = "it is a symbolic link; name the target file"
        raise FileExistsError(errno.EEXIST, what, str(target))
    if not stat.S_ISREG(found):
        raise IsADirectoryError(errno.EISDIR, "it is not a file", str(target))
    if not replace:
        raise FileExistsError(errno.EEXIST, TAKEN, str(target))
    with _locked(target):
        return True


def look_apart(target: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raises `OSError` if an output file is also an input file, even under another name.

    Without this check, `--force` would replace the input with the output.
    """
    place = _identity(target)
    if place is not None and place in map(_identity, inputs):
        raise FileExistsError(errno.EEXIST, READ, str(target))


def _identity(name: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Returns device and inode of a file, which do not depend on its name.

    Returns None if there is no file.
    """
    try:
        found = os.stat(name)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Locks a file while the block runs, as servers and memories lock their images.

    Raises `OSError` if another process has locked the file.
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
    """Gives the block a temporary path next to `target`.

    If the block succeeds, the file at this path replaces `target`.

    Raises `OSError` if the directory does not exist or if the target must not be replaced.
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
            with _locked(target):
                path.replace(target)
        else:
            _move_to_free(path, target)
    except OSError as error:
        if error.filename in (None, name):
            error.filename = str(target)
        raise
    finally:
        # A temporary file that remains is harmless.
        with suppress(OSError):
            path.unlink(missing_ok=True)


def write_file(target: Path, data: bytes, *, replace: bool = True) -> None:
    """Writes `target` atomically. Without `replace`, raises `OSError` if the file exists."""
    with replacing(target, replace=replace) as path:
        write_through(path, data, target)


_DRAWN = "[a-z0-9_]" * 8
"""Pattern of the random part of the names that `tempfile` generates."""


def unfinished(directory: Path, *names: str) -> list[Path]:
    """Returns temporary files in `directory` that were left behind by killed processes.

    These are files that `replacing` created for targets with one of the `names`. A name may be an
    `fnmatch` pattern. Ignores linked directories and names that `tempfile` does not generate,
    because they belong to other programs.
    """
    if directory.is_symlink():
        return []
    patterns = [f".{Path(name).stem}-{_DRAWN}{Path(name).suffix}" for name in names]
    found = (path for pattern in patterns for path in directory.glob(pattern))
    return [path for path in found if path.is_file() and not path.is_symlink()]


def _move_to_free(path: Path, target: Path) -> None:
    """Renames a file to an unused name. Raises `FileExistsError` if the name is in use."""
    try:
        os.link(path, target, follow_symlinks=False)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, TAKEN, str(target)) from None
    except OSError:
        # Without hard links, another process can create the file between check and rename.
        look(target, replace=False)
        path.replace(target)


def write_through(path: Path, data: bytes, target: Path) -> None:
    """Writes a file to the disk and not only to the page cache. An error names `target`."""
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
