"""Runs sysbench's read-only OLTP benchmark with MariaDB on a served device in dilated time.

    scenario -> nacre serve -> nbdfuse -> loop device -> ext4 -> mariadbd -> sysbench oltp_read_only

First, the database is created in real time and shut down. Then the device is served in dilated
time. The database restarts with a small buffer pool and bypasses the page cache.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nacre.errors import Error
from nacre.papers.running.served import (
    Missing,
    absent,
    counted,
    device_file,
    make_ext4,
    mounted,
    ran,
    since,
    started,
)

LIMIT_S = 600.0
"""Timeout of a run in seconds."""
_PROGRAMS = {
    "mariadbd": "mariadb-server",
    "mariadb-install-db": "mariadb-server",
    "mariadb": "mariadb-client",
    "mariadb-admin": "mariadb-client",
}
_ROWS = 200_000
"""Number of rows of the only table. The table and its index take about 60 MiB."""
_POOL = "8M"
_IMAGE_MIB = 700
"""Memory in MiB for the image, which also contains the state of the device."""


def missing() -> list[Missing]:
    """Returns requirements of databases that this machine lacks.

    Does not include the requirements of every served device (`served.missing`).
    """
    return absent(_PROGRAMS)


def _measured(folder: Path, load: Mapping[str, Any]) -> dict[str, Any]:
    """Creates the database in real time and queries it in dilated time.

    This function must run in separate mount and process namespaces.
    """
    ran("mount", "-t", "tmpfs", "-o", f"size={_IMAGE_MIB}M", "nacre", folder)
    table = ["--tables=1", f"--table-size={_ROWS}"]
    with device_file(folder, load, 1.0) as disk:
        make_ext4(disk)
        with mounted(disk, folder) as place:
            data = place / "data"
            ran("mariadb-install-db", "--user=root", f"--datadir={data}", "--skip-test-db")
            with _database(folder, data) as sysbench:
                ran("mariadb", f"--socket={folder}/sql", "-uroot", "-e", "create database sbtest")
                ran(*sysbench, *table, "prepare")
    wanted = [f"--threads={load['threads']}", f"--events={load['transactions'] * load['threads']}"]
    wanted += ["--time=0", "--rand-type=uniform", "--rand-seed=1", "run"]
    with (
        device_file(folder, load, load["dilation"]) as disk,
        mounted(disk, folder) as place,
        _database(folder, place / "data") as sysbench,
    ):
        before = counted(folder)
        said = ran(*sysbench, *table, *wanted)
        server = since(before, counted(folder))
    return document(load, said, server)


def document(load: Mapping[str, Any], said: str, server: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the results of sysbench to device time. Raises `Error` for unexpected output."""
    found = re.search(r"transactions:\s+(\d+)\s+\(([\d.]+) per sec", said)
    if not found or not float(found[2]):
        raise Error(f"unexpected output of sysbench: {said}", "process-failed")
    count, rate = int(found[1]), float(found[2])
    return {
        **{key: load[key] for key in ("name", "threads", "dilation")},
        "server": server,
        "requests": count,
        "wall_s": count / rate,
        "throughput": {"units_per_s": rate * load["dilation"]},
        "latency": {},
    }


@contextlib.contextmanager
def _database(folder: Path, data: Path) -> Iterator[list[str]]:
    """Runs MariaDB with little memory on `data`. Yields the start of sysbench's command line."""
    socket = folder / "sql"
    server = [
        "mariadbd",
        "--no-defaults",
        "--user=root",
        f"--datadir={data}",
        f"--socket={socket}",
        f"--pid-file={folder}/sql.pid",
        f"--tmpdir={folder}",
        "--skip-networking",
        "--innodb-flush-method=O_DIRECT",
        f"--innodb-buffer-pool-size={_POOL}",
        "--innodb-log-file-size=16M",
        "--innodb-doublewrite=0",
        "--innodb-flush-log-at-trx-commit=0",
        "--innodb-read-ahead-threshold=0",
        "--innodb-buffer-pool-dump-at-shutdown=0",
        "--innodb-buffer-pool-load-at-startup=0",
        "--innodb-stats-auto-recalc=0",
    ]
    with started(server, socket.exists):
        sysbench = ["sysbench", "oltp_read_only", f"--mysql-socket={socket}", "--mysql-user=root"]
        yield sysbench
        ran("mariadb-admin", f"--socket={socket}", "-uroot", "shutdown")


if __name__ == "__main__":
    try:
        sys.stdout.write(json.dumps(_measured(Path(sys.argv[1]), json.loads(sys.argv[2]))))
    except Error as error:
        # Programs that still run end with this process, because it is the first of its namespace.
        sys.stderr.write(str(error))
        sys.stderr.flush()
        os._exit(1)
