"""A database on a device whose power is pulled: SQLite on ext4 on a served device.

As root, since it mounts, and with libnbd's tools and e2fsprogs installed:

    nacre crash ssd.toml --times 100 --within 5 \
        --check "python crash_sqlite.py check /tmp/crash" -- python crash_sqlite.py work /tmp/crash

`work` inserts rows, one transaction after the other, and notes in a file of the host how many
SQLite said were committed. `check` mounts what the device kept, and fails if rows are missing or
the database is not whole.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 10.0
"""Seconds until the device has to be there."""


def main() -> None:
    """Runs `work FOLDER` or `check FOLDER`."""
    _, word, place = sys.argv
    folder = Path(place)
    for name in ("fuse", "mounted"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    release(folder)
    committed = folder / "committed"
    # Until something was committed, the power may have failed before there was a file system.
    with mounted(folder, make=not committed.exists()) as path:
        if word == "work":
            work(path / "base", committed)
        else:
            check(path / "base", committed)


def work(base: Path, committed: Path) -> None:
    """Inserts rows until the device is gone."""
    with sqlite3.connect(base, isolation_level=None) as database:
        database.execute("pragma synchronous=extra")
        database.execute("create table if not exists rows (number integer primary key, text blob)")
        (number,) = database.execute("select coalesce(max(number), 0) from rows").fetchone()
        while True:
            number += 1
            database.execute("insert into rows values (?, ?)", (number, b"%d" % number * 100))
            committed.write_text(str(number))


def check(base: Path, committed: Path) -> None:
    """Ends with an error unless every row that was committed is there."""
    heard = int(committed.read_text()) if committed.exists() else 0
    if not base.exists():
        sys.exit(f"{heard} rows were committed, and there is no database" if heard else 0)
    with sqlite3.connect(base) as database:
        (whole,) = database.execute("pragma integrity_check").fetchone()
        tables = database.execute("select count(*) from sqlite_master").fetchone()[0]
        found = database.execute("select count(*) from rows").fetchone()[0] if tables else 0
    if whole != "ok" or found < heard:
        sys.exit(f"{heard} rows were committed, {found} are there; the database says: {whole}")


@contextmanager
def mounted(folder: Path, *, make: bool) -> Iterator[Path]:
    """The file system on the device; where there is none, it may be made."""
    with subprocess.Popen(["nbdfuse", folder / "fuse", os.environ["NACRE_URI"]]):  # noqa: S603, S607
        try:
            device = folder / "fuse" / "nbd"
            until = time.monotonic() + PATIENCE_S
            while not device.exists() and time.monotonic() < until:
                time.sleep(0.02)
            loop = said("losetup", "--find", "--show", "--direct-io=on", device)
            (folder / "loop").write_text(loop)
            if make and not quietly("mount", loop, folder / "mounted"):
                said("mkfs.ext4", "-q", "-F", loop)
            quietly("umount", folder / "mounted")
            said("mount", loop, folder / "mounted")
            yield folder / "mounted"
        finally:
            release(folder)


def release(folder: Path) -> None:
    """Takes away what is mounted, also what a program left behind that was killed."""
    quietly("umount", "--lazy", folder / "mounted")
    if (folder / "loop").exists():
        quietly("losetup", "--detach", (folder / "loop").read_text())
        (folder / "loop").unlink()
    quietly("fusermount3", "-u", "-z", folder / "fuse")


def said(*command: str | Path) -> str:
    """What a program that has to succeed prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()  # noqa: S603


def quietly(*command: str | Path) -> bool:
    """Runs a program that may fail; whether it did well."""
    done = subprocess.run(  # noqa: S603
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return done.returncode == 0


if __name__ == "__main__":
    main()
