"""A database on a device whose power is pulled: no row that was committed may be missing.

As root, since it mounts, with libnbd's tools, e2fsprogs and the database installed:

    nacre crash ssd.toml --ready --times 100 --within 5 \
        --check "python crash_database.py sqlite check /tmp/crash" \
        -- python crash_database.py sqlite work /tmp/crash

`work` makes an ext4 file system on the device and a database in it, where there is none yet, and
commits one row after the other. It notes in a file of the host how many were said to be committed.
`check` mounts what the device kept, and fails if a row is missing or the database is not whole.
With `postgresql` instead of `sqlite` it is that one. `--without-barriers` mounts the file system
so that it never flushes the device: an error that a device with a volatile cache punishes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

PATIENCE_S = 20.0
"""Seconds until a device or a server has to be there."""


class Base(Protocol):
    """A database in a folder of the device."""

    def make(self) -> None:
        """Makes it, with a table of rows in it, durably."""

    def rows(self) -> Iterator[int]:
        """Commits one row after the other and gives their numbers, until the device is gone."""

    def check(self) -> int:
        """How many rows there are; ends the program where the database is not whole."""


class Sqlite:
    """SQLite, in one file."""

    def __init__(self, mounted: Path, _: Path) -> None:
        self.path = mounted / "base"

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        base = sqlite3.connect(self.path, isolation_level=None)
        try:
            # FULL may lose the last row: it does not sync the folder of the journal it removes.
            base.execute("pragma synchronous=extra")
            yield base
        finally:
            base.close()

    def make(self) -> None:
        """Makes it."""
        with self._open() as base:
            base.execute("create table if not exists rows (number integer primary key, text blob)")

    def rows(self) -> Iterator[int]:
        """Commits rows."""
        with self._open() as base:
            (number,) = base.execute("select coalesce(max(number), 0) from rows").fetchone()
            while True:
                number += 1
                try:
                    base.execute("insert into rows values (?, ?)", (number, b"%d" % number * 100))
                except sqlite3.OperationalError as error:
                    sys.exit(f"the database ends: {error}")
                yield number

    def check(self) -> int:
        """Counts rows."""
        with self._open() as base:
            (whole,) = base.execute("pragma integrity_check").fetchone()
            (found,) = base.execute("select count(*) from rows").fetchone()
        if whole != "ok":
            sys.exit(f"the database says: {whole}")
        return int(found)


class Postgresql:
    """PostgreSQL, whose server runs as its own user and is stopped again."""

    def __init__(self, mounted: Path, folder: Path) -> None:
        versions = Path("/usr/lib/postgresql").glob("*/bin")
        self.programs = max(versions, key=lambda path: int(path.parent.name))
        self.data = mounted / "base"
        self.socket = folder / "socket"

    def make(self) -> None:
        """Makes it."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        shutil.chown(self.data, "postgres")
        said(*self._as("initdb", "--auth=trust", "--data-checksums", "-D", self.data))
        with self._running():
            said(*self._psql(), "-c", "create table rows (number integer primary key, text text)")

    def rows(self) -> Iterator[int]:
        """Commits rows."""
        row = "insert into rows select coalesce(max(number), 0) + 1, repeat('x', 500) from rows"
        with self._running():
            while True:
                yield int(said(*self._psql(), "-c", f"{row} returning number"))

    def check(self) -> int:
        """Counts rows, those that only the log has included."""
        with self._running():
            return int(said(*self._psql(), "-c", "select count(text) from rows"))

    @contextmanager
    def _running(self) -> Iterator[None]:
        """The server, until it listens and as long as it is needed."""
        self.socket.mkdir(exist_ok=True)
        shutil.chown(self.socket, "postgres")
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={self.socket}"]
        command = self._as("postgres", "-D", self.data, *options)
        with (
            (self.socket / "log").open("w") as log,
            subprocess.Popen(command, stderr=log) as server,
        ):
            try:
                until = time.monotonic() + PATIENCE_S
                while not quietly(*self._as("pg_isready", "-q", "-h", self.socket)):
                    if server.poll() is not None or time.monotonic() > until:
                        sys.exit(f"the server: {(self.socket / 'log').read_text()}")
                    time.sleep(0.05)
                yield
            finally:
                server.terminate()
                try:
                    server.wait(PATIENCE_S)
                except subprocess.TimeoutExpired:
                    server.kill()

    def _as(self, program: str, *arguments: str | Path) -> list[str | Path]:
        """A command of the server's user: the server refuses root."""
        # setpriv becomes the program, so that signals reach it.
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        return [*user, self.programs / program, *arguments]

    def _psql(self) -> list[str | Path]:
        quiet: list[str | Path] = [
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            self.socket,
            "postgres",
        ]
        return self._as("psql", *quiet)


BASES: dict[str, type[Sqlite] | type[Postgresql]] = {"sqlite": Sqlite, "postgresql": Postgresql}


def main() -> None:
    """Runs `work` or `check`."""
    parser = argparse.ArgumentParser(description="A database on a device whose power is pulled.")
    parser.add_argument("base", choices=BASES)
    parser.add_argument("word", choices=["work", "check"])
    parser.add_argument("folder", type=Path, help="of the host: mount points, and what is noted")
    parser.add_argument("--without-barriers", action="store_true", help="an error")
    asked = parser.parse_args()
    folder = asked.folder.absolute()
    for name in ("fuse", "mounted"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    committed = folder / "committed"
    if asked.word == "check" and not committed.exists():
        return
    release(folder)
    with mounted(folder, "nobarrier" if asked.without_barriers else "barrier") as path:
        base: Base = BASES[asked.base](path, folder)
        if asked.word == "check":
            heard, found = int(committed.read_text()), base.check()
            print(f"{heard} rows were committed, {found} are there")
            sys.exit(1 if found < heard else 0)
        if not committed.exists():
            base.make()
            committed.write_text("0")
        for number in base.rows():
            committed.write_text(str(number))
            if number % 10 == 0:
                Path(os.environ["NACRE_READY"]).touch()


@contextmanager
def mounted(folder: Path, barriers: str) -> Iterator[Path]:
    """The file system on the device, which is made once."""
    fuse: list[str | Path] = ["nbdfuse", folder / "fuse", os.environ["NACRE_URI"]]
    with subprocess.Popen(fuse, stderr=subprocess.DEVNULL):
        try:
            device = folder / "fuse" / "nbd"
            until = time.monotonic() + PATIENCE_S
            while not device.exists() and time.monotonic() < until:
                time.sleep(0.02)
            # Without direct I/O the host would answer from its own memory.
            loop = looped(device)
            (folder / "loop").write_text(loop)
            if not (folder / "made").exists():
                said("mkfs.ext4", "-q", "-F", loop)
                (folder / "made").touch()
            said("mount", "-o", f"{barriers},errors=remount-ro", loop, folder / "mounted")
            yield folder / "mounted"
        finally:
            release(folder)


def looped(device: Path) -> str:
    """The block device of the host that stands for it; others may take a free one in between."""
    command: list[str | Path] = ["losetup", "--find", "--show", "--direct-io=on", device]
    for _ in range(5):
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
        time.sleep(0.1)
    sys.exit(f"losetup ends with status {done.returncode}")


def release(folder: Path) -> None:
    """Takes away what is mounted, also what a program left behind that was killed."""
    quietly("umount", "--lazy", folder / "mounted")
    if (folder / "loop").exists():
        quietly("losetup", "--detach", (folder / "loop").read_text())
        (folder / "loop").unlink()
    quietly("fusermount3", "-u", "-z", folder / "fuse")


def said(*command: str | Path) -> str:
    """What a program that has to succeed prints."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ends with status {done.returncode}")
    return done.stdout.strip()


def quietly(*command: str | Path) -> bool:
    """Runs a program that may fail; whether it did well."""
    null = subprocess.DEVNULL
    done = subprocess.run(command, check=False, stdout=null, stderr=null)
    return done.returncode == 0


if __name__ == "__main__":
    main()
