"""Tests PostgreSQL in a file system on a served drive, with a power loss during transactions."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from nacre.devices.control import Control
from serving import Server, missing, run
from test_serve_mount import looped, mounted, tools

__all__ = ["tools"]

USER = "postgres"
DRIVE = """\
schema = 1
name = "drive"
[workload]
kind = "uniform"
footprint = "1 MiB"
requests = 1
[stack]
preset = "tlc_nvme"
channels = 4
ways = 1
planes = 1
pages = 16
power_protected = false
"""
# linux/prctl.h
PR_SET_CHILD_SUBREAPER = 36
SEEN = 50
"""Number of rows that are committed before the power loss."""


@pytest.fixture
def programs() -> Path:
    """Folder of PostgreSQL's programs. Its name contains the version of PostgreSQL in Debian."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found or os.geteuid() != 0:
        missing("PostgreSQL is not installed, or its user is not available: apt install postgresql")
    return found[-1].parent


class Database:
    """A database in a folder. Its server runs as PostgreSQL's user, and its socket is next to the
    folder."""

    def __init__(self, programs: Path, folder: Path, socket: Path) -> None:
        self._programs, self._data, self._socket = programs, folder / "data", socket
        self._to = ("-h", str(socket), "-U", USER)

    def make(self) -> None:
        """Creates the database."""
        run(["chown", USER, self._data.parent])
        options = ("--auth=trust", f"--username={USER}", "--no-instructions", "--no-locale")
        self._as_user("initdb", "-D", self._data, *options, "--no-sync")
        run(["sync", "-f", self._data])

    @contextmanager
    def running(self) -> Iterator[None]:
        """Runs the server during the block, and ends it even if its disk has failed. Fails if the
        server does not start."""
        log = self._socket / "log"
        options = f"-k {self._socket} -h '' -c shared_buffers=16MB"
        start = ("-w", "-t", "50", "-l", log, "-o", options, "start")
        adopt_orphans()
        self._as_user("pg_ctl", "-D", self._data, *start)
        master = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{master}/task/{master}/children")
        try:
            yield
        finally:
            processes = [master, *map(int, children.read_text().split())]
            for process in processes:
                # A child may have exited after it was listed.
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            # At the next start, a zombie would look like a running server.
            for process in processes:
                with suppress(ChildProcessError):
                    os.waitpid(process, 0)

    def bench(self, *options: str) -> str:
        """Runs `pgbench`. Returns its output."""
        return self._as_user("pgbench", *self._to, *options, "postgres")

    def ask(self, query: str) -> str:
        """Runs a query. Returns the lines of the result."""
        return self._as_user("psql", *self._to, "-Atqc", query).strip()

    def commits(self) -> subprocess.Popen[str]:
        """Starts a client that commits one row after another and reports each row."""
        rows = "".join(f"insert into seen values ({row});\n" for row in range(1, 100_000))
        (self._socket / "rows.sql").write_text(rows)
        script = ("-f", str(self._socket / "rows.sql"))
        command = [str(self._programs / "psql"), *self._to, *script]
        return subprocess.Popen(
            command, user=USER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def _as_user(self, program: str, *words: str | Path) -> str:
        return run([self._programs / program, *words], user=USER, cwd="/")


def adopt_orphans() -> None:
    """Makes this process the parent of descendants that become orphans."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, os.strerror(ctypes.get_errno())


BALANCES = (
    "select (select sum(abalance) from pgbench_accounts), (select sum(tbalance) from"
    " pgbench_tellers), (select sum(bbalance) from pgbench_branches), (select sum(delta) from"
    " pgbench_history), (select count(*) from pgbench_history)"
)


@pytest.mark.usefixtures("tools")
def test_rows_committed_by_postgresql_survive_a_power_loss(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text(DRIVE)
    server = Server(tmp_path, "--timing", "emulated", device=tmp_path / "drive.toml")
    with tempfile.TemporaryDirectory(prefix="nacre-") as name:
        # Other users can enter this folder, unlike folders of tests.
        open_to_all, socket = Path(name), Path(name, "socket")
        open_to_all.chmod(0o755)
        socket.mkdir()
        socket.chmod(0o777)
        database = Database(programs, open_to_all / "mounted", socket)
        try:
            with looped(server, tmp_path) as loop:
                run(["mkfs.ext4", "-q", "-E", "nodiscard", loop])
                with mounted(loop, open_to_all):
                    database.make()
                    with database.running():
                        database.bench("--initialize", "--quiet", "--scale=1")
                        said = database.bench("--no-vacuum", "--client=2", "--transactions=50")
                        assert "number of transactions actually processed: 100/100" in said
                        database.ask("create table seen (row integer)")
                        lost = fail_amid(database.commits(), server)
            assert lost >= SEEN
            with looped(server, tmp_path) as loop:
                found = subprocess.run(["e2fsck", "-p", loop], capture_output=True, check=False)
                assert found.returncode in (0, 1)
                with mounted(loop, open_to_all), database.running():
                    rows = database.ask("select count(*), max(row) from seen").split("|")
                    *sums, count = database.ask(BALANCES).split("|")
            assert int(rows[0]) == int(rows[1]) >= lost, "what was committed is there, in its order"
            assert len(set(sums)) == 1, "a transaction is there as a whole"
            assert int(count) == 100
        finally:
            server.close()


def fail_amid(client: subprocess.Popen[str], server: Server) -> int:
    """Cuts power after `SEEN` committed rows. Returns the number of acknowledged rows."""
    told = 0
    with client:
        assert client.stdout is not None
        for line in client.stdout:
            told += line.startswith("INSERT")
            if told == SEEN:
                break
        with Control(server.image) as control:
            control.power_fail()
        client.kill()
        return told + sum(line.startswith("INSERT") for line in client.stdout)
