"""Power-loss test of a database. It fails if a committed row is missing.

Run it as root, because it mounts file systems. It requires the tools of libnbd, e2fsprogs, and the
database:

    nacre crash ssd.toml --ready --times 100 --within 5 \
        --check "python crash_database.py sqlite check /tmp/crash" \
        -- python crash_database.py sqlite work /tmp/crash

`work` creates an ext4 file system and a database on the device, unless both already exist. Then it
commits one row after another, and stores the number of acknowledged commits in a file on the host.
After the power loss, `check` mounts the file system, and fails if a row is missing or the database
is corrupted. Use `postgresql` instead of `sqlite` to test PostgreSQL. `--without-barriers` mounts
the file system without flushes. This loses data on a device with a volatile cache.
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
"""Maximum time in seconds until a device or a server must be ready."""


class Base(Protocol):
    """A database in a folder on the device."""

    def make(self) -> None:
        """Creates the database with an empty table, and makes it durable."""

    def rows(self) -> Iterator[int]:
        """Commits one row after another, until the device disconnects.

        Yields the number of each row.
        """

    def check(self) -> int:
        """Returns the number of rows. Exits if the database is corrupted."""


class Sqlite:
    """SQLite database, which consists of one file."""

    def __init__(self, mounted: Path, _: Path) -> None:
        self.path = mounted / "base"

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        base = sqlite3.connect(self.path, isolation_level=None)
        try:
            # With FULL, the last row may be lost, because SQLite does not sync the folder after it
            # removes the journal.
            base.execute("pragma synchronous=extra")
            yield base
        finally:
            base.close()

    def make(self) -> None:
        """Creates the database."""
        with self._open() as base:
            base.execute("create table if not exists rows (number integer primary key, text blob)")

    def rows(self) -> Iterator[int]:
        """Commits rows, and yields their numbers."""
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
        """Returns the number of rows. Exits if the database is corrupted."""
        with self._open() as base:
            (whole,) = base.execute("pragma integrity_check").fetchone()
            (found,) = base.execute("select count(*) from rows").fetchone()
        if whole != "ok":
            sys.exit(f"the database says: {whole}")
        return int(found)


class Postgresql:
    """PostgreSQL database. Its server runs as the user `postgres` and is stopped after each use."""

    def __init__(self, mounted: Path, folder: Path) -> None:
        versions = Path("/usr/lib/postgresql").glob("*/bin")
        self.programs = max(versions, key=lambda path: int(path.parent.name))
        self.data = mounted / "base"
        self.socket = folder / "socket"

    def make(self) -> None:
        """Creates the database."""
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        shutil.chown(self.data, "postgres")
        said(*self._as("initdb", "--auth=trust", "--data-checksums", "-D", self.data))
        with self._running():
            said(*self._psql(), "-c", "create table rows (number integer primary key, text text)")

    def rows(self) -> Iterator[int]:
        """Commits rows, and yields their numbers."""
        row = "insert into rows select coalesce(max(number), 0) + 1, repeat('x', 500) from rows"
        with self._running():
            while True:
                yield int(said(*self._psql(), "-c", f"{row} returning number"))

    def check(self) -> int:
        """Returns the number of rows, including rows that are only in the log."""
        with self._running():
            return int(said(*self._psql(), "-c", "select count(text) from rows"))

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Starts the server, waits until it is ready, and stops it at the end of the block."""
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
        """Returns a command that runs as the user `postgres`. The server refuses to run as root."""
        # setpriv is replaced by the program, so that signals reach the program.
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
    parser = argparse.ArgumentParser(description="Power-loss test of a database.")
    parser.add_argument("base", choices=BASES)
    parser.add_argument("word", choices=["work", "check"])
    parser.add_argument("folder", type=Path, help="folder on the host for mount points and state")
    parser.add_argument("--without-barriers", action="store_true", help="mount without flushes")
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
    """Mounts the file system of the device. Creates the file system if there is none."""
    fuse: list[str | Path] = ["nbdfuse", folder / "fuse", os.environ["NACRE_URI"]]
    with subprocess.Popen(fuse, stderr=subprocess.DEVNULL):
        try:
            device = folder / "fuse" / "nbd"
            until = time.monotonic() + PATIENCE_S
            while not device.exists() and time.monotonic() < until:
                time.sleep(0.02)
            # With the page cache of the host, reads would not reach the device.
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
    """Attaches a loop device. Retries if another process takes the free device first."""
    command: list[str | Path] = ["losetup", "--find", "--show", "--direct-io=on", device]
    for _ in range(5):
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
        time.sleep(0.1)
    sys.exit(f"losetup ends with status {done.returncode}")


def release(folder: Path) -> None:
    """Unmounts the file system, even if a killed program has left it mounted."""
    quietly("umount", "--lazy", folder / "mounted")
    if (folder / "loop").exists():
        quietly("losetup", "--detach", (folder / "loop").read_text())
        (folder / "loop").unlink()
    quietly("fusermount3", "-u", "-z", folder / "fuse")


def said(*command: str | Path) -> str:
    """Runs a program and returns its output. Exits if the program fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ends with status {done.returncode}")
    return done.stdout.strip()


def quietly(*command: str | Path) -> bool:
    """Runs a program that may fail. Returns whether it succeeded."""
    null = subprocess.DEVNULL
    done = subprocess.run(command, check=False, stdout=null, stderr=null)
    return done.returncode == 0


if __name__ == "__main__":
    main()
