"""Mounts a file system on a served device without root, using NBD, nbdfuse, and fuse2fs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from nacre.errors import Error

_NEEDED = {
    "nbdfuse": "libnbd-bin",
    "mkfs.ext4": "e2fsprogs",
    "fuse2fs": "fuse2fs",
    "fusermount3": "fuse3",
}
"""Required programs, and the Debian packages that contain them."""
_WITHIN_S = 30.0
"""Timeout in seconds for mounting and unmounting."""
_SBIN = ("/usr/sbin", "/sbin")
"""Directories that contain mkfs, but are not in the PATH of ordinary users."""


def cannot_mount() -> str | None:
    """Returns the reason why this machine cannot mount file systems, or None if it can."""
    lacking = [name for name in _NEEDED if _found(name) is None]
    if lacking:
        packages = " ".join(sorted({_NEEDED[name] for name in lacking}))
        return f"{', '.join(lacking)} not installed; install {packages} (names of Debian)"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse is missing, or this user has no permission to open it"
    return None


@contextmanager
def mounted(uri: str, *, make: bool = True) -> Iterator[Path]:
    """Mounts the file system of the device at `uri` in a temporary folder while the block runs.

    With `make`, an ext4 file system is created first. The creation discards nothing, so a full
    drive stays full. Without `make`, the existing file system is mounted. fuse2fs does not replay
    the journal of ext4. Therefore run `e2fsck -fy` after a power loss, before mounting again.

    Raises `Error` if a required program is missing, or the file system cannot be mounted.
    """
    if why := cannot_mount():
        raise Error(f"a file system cannot be mounted: {why}", "not-supported")
    folder = Path(tempfile.mkdtemp(prefix="nacre-mount-"))
    fuse, place = folder / "fuse", folder / "mounted"
    fuse.mkdir()
    place.mkdir()
    try:
        with _running("nbdfuse", "-C", "4", fuse, uri, at=fuse):
            _until((fuse / "nbd").exists, "nbdfuse did not reach the device")
            if make:
                _run("mkfs.ext4", "-q", "-F", "-E", "nodiscard", fuse / "nbd")
            with _running("fuse2fs", "-f", "-o", "fakeroot", fuse / "nbd", place, at=place):
                _until(lambda: os.path.ismount(place), "fuse2fs did not mount the file system")
                yield place
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(name: str, *arguments: str | Path, at: Path) -> Iterator[None]:
    """Runs a program that serves a mount point during the block, and unmounts it afterwards."""
    program = subprocess.Popen(  # noqa: S603  (programs of this module)
        _command(name, arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        # If a mount is busy, `-z` detaches it as soon as it is idle.
        for how in (("-u",), ("-u", "-z")):
            if (
                subprocess.run(  # noqa: S603
                    _command("fusermount3", (*how, at)), capture_output=True, check=False
                ).returncode
                == 0
            ):
                break
        try:
            program.wait(_WITHIN_S)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()


def _until(is_there: Callable[[], bool], failed: str) -> None:
    """Waits until `is_there` returns true. Raises `Error` after the timeout."""
    until = time.monotonic() + _WITHIN_S
    while True:
        with suppress(OSError):
            if is_there():
                return
        if time.monotonic() > until:
            raise Error(f"{failed} within {_WITHIN_S:.0f} s", "process-failed")
        time.sleep(0.02)


def _run(name: str, *arguments: str | Path) -> None:
    done = subprocess.run(  # noqa: S603
        _command(name, arguments), text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise Error(f"{name} ended with status {done.returncode}: {done.stderr.strip()}", "failed")


def _command(name: str, arguments: Sequence[str | Path]) -> list[str]:
    return [_found(name) or name, *(os.fspath(of) for of in arguments)]


def _found(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(_SBIN))
