"""Uses a database in a file system: commits rows and prints each result, or checks existing rows.

    python3 tools/database_worker.py ENGINE make|work|check FOLDER SOCKETS [ACKNOWLEDGED]

Used by `databases_under_faults.py`. The text of row N depends only on N. `work` prints one line for
each row, `ok N SECONDS` or `error TEXT`. After an error, it continues with the next row. `check`
reads the numbers of acknowledged rows from a file. It prints one JSON object with missing rows,
wrong rows, and failures. Requires `plyvel` for LevelDB, and the programs of PostgreSQL.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

AGAIN_S = 0.05
"""Time in seconds between an error and the next attempt."""
STARTS_WITHIN_S = 60.0
"""Maximum time in seconds for the start of the PostgreSQL server."""


def text_of(number: int) -> str:
    """Returns the content of row `number`."""
    return f"{number:08d}" * 60


class FailedError(Exception):
    """The database reported that an operation failed."""


class Engine(Protocol):
    """An open database."""

    def insert(self, number: int) -> None:
        """Commits row `number`. Raises `FailedError` if the database reports an error."""

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yields all rows with their content."""

    def whole(self) -> str:
        """Runs the database's check. Returns the reported damage, or an empty string."""


class Sqlite:
    """SQLite with a write-ahead log. Every commit syncs this log."""

    def __init__(self, folder: Path) -> None:
        self.base = sqlite3.connect(folder / "base", isolation_level=None, timeout=1)
        self.base.execute("pragma journal_mode=wal")
        self.base.execute("pragma synchronous=full")
        self.base.execute("create table if not exists rows (number integer primary key, text)")

    def insert(self, number: int) -> None:
        """Commits a row."""
        try:
            self.base.execute("insert into rows values (?, ?)", (number, text_of(number)))
        except sqlite3.Error as error:
            raise FailedError(str(error)) from None

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yields all rows with their content."""
        yield from self.base.execute("select number, text from rows")

    def whole(self) -> str:
        """Runs SQLite's integrity check. Returns the reported damage, or an empty string."""
        (said,) = self.base.execute("pragma integrity_check(1)").fetchone()
        return "" if said == "ok" else str(said)


class Leveldb:
    """LevelDB with synced writes and verified blocks."""

    def __init__(self, folder: Path) -> None:
        import plyvel

        self.error = plyvel.Error
        self.base = plyvel.DB(
            str(folder / "base"),
            create_if_missing=True,
            paranoid_checks=True,
            write_buffer_size=1 << 20,
        )

    def insert(self, number: int) -> None:
        """Writes a row."""
        try:
            self.base.put(b"%08d" % number, text_of(number).encode(), sync=True)
        except self.error as error:
            raise FailedError(str(error)) from None

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yields all rows with their content, and verifies checksums."""
        for key, value in self.base.iterator(verify_checksums=True):
            yield int(key), value.decode(errors="replace")

    def whole(self) -> str:
        """Returns an empty string, because `rows` already does LevelDB's only check."""
        return ""


class Postgresql:
    """A psql session with PostgreSQL. After an error, a new session starts."""

    def __init__(self, sockets: Path) -> None:
        self.sockets = sockets
        self.session: subprocess.Popen[str] | None = None

    def insert(self, number: int) -> None:
        """Commits a row."""
        if self.session is None:
            self.session = subprocess.Popen(
                psql(self.sockets),
                text=True,
                bufsize=1,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        ask = f"insert into rows values ({number}, '{text_of(number)}') returning number;\n"  # noqa: S608  (a number and digits)
        said = ""
        with suppress(BrokenPipeError):
            assert self.session.stdin is not None  # noqa: S101  (it has pipes)
            assert self.session.stdout is not None  # noqa: S101
            self.session.stdin.write(ask)
            said = self.session.stdout.readline().strip()
        if said != str(number):
            self.session.kill()
            self.session.wait()
            self.session = None
            raise FailedError(said or "the server is gone")

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yields all rows with their content."""
        for line in self._asked("select number, text from rows").splitlines():
            number, _, text = line.partition("|")
            yield int(number), text

    def whole(self) -> str:
        """Verifies indexes against their tables. Returns an empty string if they are consistent."""
        self._asked("create extension if not exists amcheck")
        self._asked("select bt_index_check('rows_pkey', true)")
        return ""

    def _asked(self, question: str) -> str:
        done = subprocess.run(
            [*psql(self.sockets), "-v", "ON_ERROR_STOP=1", "-c", question],
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise FailedError(done.stderr.strip().partition("\n")[0])
        return done.stdout


def psql(sockets: Path) -> list[str]:
    """Returns the command of a psql session."""
    return [*as_postgres("psql"), "-X", "-q", "-A", "-t", "-h", str(sockets), "postgres"]


def as_postgres(program: str) -> list[str]:
    """Returns a command that runs a program of PostgreSQL as the user `postgres`.

    The server does not run as root.
    """
    found = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    return [*user, str(found / program)]


@contextmanager
def opened(engine: str, folder: Path, sockets: Path) -> Iterator[Engine]:
    """Opens the database in `folder`. Raises `FailedError` if it cannot be opened."""
    try:
        if engine == "sqlite":
            yield Sqlite(folder)
        elif engine == "leveldb":
            yield Leveldb(folder)
        else:
            with server(folder, sockets):
                yield Postgresql(sockets)
    except (sqlite3.Error, OSError) as error:
        raise FailedError(f"{type(error).__name__}: {error}") from None


@contextmanager
def server(folder: Path, sockets: Path) -> Iterator[None]:
    """Runs a PostgreSQL server while the block runs."""
    # After a reboot, a process with the ID in this file is not the server.
    (folder / "base" / "postmaster.pid").unlink(missing_ok=True)
    shutil.rmtree(sockets, ignore_errors=True)
    sockets.mkdir(parents=True)
    shutil.chown(sockets, "postgres")
    options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={sockets}"]
    with (sockets / "log").open("w") as log:
        command = [*as_postgres("postgres"), "-D", str(folder / "base"), *options]
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            until = time.monotonic() + STARTS_WITHIN_S
            ready = [*as_postgres("pg_isready"), "-q", "-h", str(sockets)]
            while subprocess.run(ready, check=False, capture_output=True).returncode:
                if process.poll() is not None or time.monotonic() > until:
                    said = (sockets / "log").read_text().strip().splitlines() or ["it said nothing"]
                    early = "is starting up"
                    bad = [line for line in said if "FATAL" in line and early not in line] or said
                    raise FailedError(f"the server does not start: {bad[-1]}")
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def make(engine: str, folder: Path, sockets: Path) -> None:
    """Creates a database without rows."""
    if engine == "postgresql":
        base = folder / "base"
        base.mkdir(mode=0o700)
        shutil.chown(base, "postgres")
        options = ["--auth=trust", "--data-checksums", "-D", str(base)]
        subprocess.run([*as_postgres("initdb"), *options], check=True, stdout=subprocess.DEVNULL)
        with server(folder, sockets):
            table = "create table rows (number integer primary key, text text)"
            subprocess.run([*psql(sockets), "-c", table], check=True)
        return
    with opened(engine, folder, sockets):
        pass


def work(engine: str, folder: Path, sockets: Path) -> None:
    """Commits rows until the process is terminated."""
    with opened(engine, folder, sockets) as base:
        number = 0
        while True:
            number += 1
            began = time.monotonic()
            try:
                base.insert(number)
                tell(f"ok {number} {time.monotonic() - began:.6f}")
            except FailedError as error:
                tell(f"error {error}")
                time.sleep(AGAIN_S)


def check(engine: str, folder: Path, sockets: Path, acknowledged: set[int]) -> dict[str, Any]:
    """Checks acknowledged rows.

    Returns the numbers of missing and wrong rows, and reported damage.
    """
    found: dict[int, str] = {}
    failed = ""
    try:
        with opened(engine, folder, sockets) as base:
            failed = base.whole()
            for number, text in base.rows():
                found[number] = text
    except Exception as error:
        # A database may raise any error for damaged data. Each error is a result.
        failed = (
            f"{error}" if isinstance(error, FailedError) else f"{type(error).__name__}: {error}"
        )
    wrong = [number for number, text in found.items() if text != text_of(number)]
    missing = acknowledged - found.keys()
    return {"failed": failed, "missing": len(missing), "wrong": len(wrong), "rows": len(found)}


def tell(line: str) -> None:
    """Prints a line, and flushes standard output."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Runs the command that the arguments name."""
    engine, word, folder, sockets = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    if word == "make":
        make(engine, folder, sockets)
    elif word == "work":
        try:
            work(engine, folder, sockets)
        except FailedError as error:
            tell(f"error {error}")
    else:
        acknowledged = {int(number) for number in Path(sys.argv[5]).read_text().split()}
        tell(json.dumps(check(engine, folder, sockets, acknowledged)))


if __name__ == "__main__":
    main()
