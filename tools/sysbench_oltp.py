"""Sysbench's OLTP benchmark, read only, on MariaDB on served devices, in dilated time.

    python tools/sysbench_oltp.py --dilate 300 --transactions 20

    scenario -> nacre serve -> nbdfuse -> loop device -> ext4 -> mariadbd -> sysbench oltp_read_only

The devices are those of `nacre reproduce pcm-enterprise/sysbench`, of 256 MiB: eMLC, PCM, and a PCM
cache over eMLC. The database is laid out in real time and shut down; then the device is served in
dilated time, the database begins with a small buffer pool and reads past the page cache.
Transactions a second are in the device's own time, that is, times the dilation.

Needs what tools/sysbench_served.py needs, and mariadbd (Debian: mariadb-server).
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nacre.errors import Error
from nacre.papers.running.served import (
    CAGE,
    NotRunError,
    caged,
    check_here,
    device_file,
    make_ext4,
    mounted,
    ran,
    started,
)
from nacre.papers.spec.paper import find

FLASH = '{ preset = "emlc_ssd", capacity = "256 MiB" }'
PCM = '{ preset = "pcm_ssd", capacity = "256 MiB" }'
CACHE = (
    '{ kind = "server_cache", level = [{ device = { preset = "pcm_ssd", capacity = "16 MiB" }, '
    f'policy = "lru" }}], backing = {FLASH} }}'
)
STACKS = {"eMLC": FLASH, "PCM cache over eMLC": CACHE, "PCM": PCM}
THREADS = (1, 8)
LIMIT_S = 900.0
POOL = "8M"


def main() -> int:
    """Runs every device, or one, in namespaces of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dilate", type=float, default=300.0, help="how much slower devices are")
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the one table")
    parser.add_argument("--transactions", type=int, default=20, help="for each thread")
    parser.add_argument("--caged", nargs=2, metavar=("FOLDER", "LOAD"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.caged:
        folder, load = options.caged
        sys.stdout.write(json.dumps(measured(Path(folder), json.loads(load))))
        return 0
    try:
        check_here()
        if not shutil.which("mariadbd"):
            raise NotRunError("needs mariadbd (apt install mariadb-server)")
    except NotRunError as error:
        sys.stderr.write(f"not run: {error}\n")
        return 2
    scenario = next(iter(find("pcm-enterprise").plan["sysbench"].points({}))).job.scenario
    for name, stack in STACKS.items():
        load = {
            "scenario": str(scenario),
            "settings": [f"stack={stack}"],
            "dilation": options.dilate,
            "rows": options.rows,
            "transactions": options.transactions,
        }
        with tempfile.TemporaryDirectory(prefix="nacre-") as place:
            command = [*CAGE, sys.executable, __file__, "--caged", place, json.dumps(load)]
            found = json.loads(caged(command, LIMIT_S))
        for threads, rate in found.items():
            sys.stdout.write(f"{name:24}{threads:>3} threads {rate:12,.0f} transactions/s\n")
            sys.stdout.flush()
    return 0


def measured(folder: Path, load: Mapping[str, Any]) -> dict[str, float]:
    """Transactions a second of the device's time, by threads; in the namespaces only."""
    ran("mount", "-t", "tmpfs", "-o", "size=700M", "nacre", folder)
    table = ["--tables=1", f"--table-size={load['rows']}"]
    with device_file(folder, load, 1.0) as disk:
        make_ext4(disk)
        with mounted(disk, folder) as place:
            data = place / "data"
            ran("mariadb-install-db", "--user=root", f"--datadir={data}", "--skip-test-db")
            with database(folder, data) as sysbench:
                ran("mariadb", f"--socket={folder}/sql", "-uroot", "-e", "create database sbtest")
                ran(*sysbench, *table, "prepare")
    found = {}
    for threads in THREADS:
        events = f"--events={load['transactions'] * threads}"
        wanted = [f"--threads={threads}", events, "--time=0", "--rand-type=uniform", "run"]
        with (
            device_file(folder, load, load["dilation"]) as disk,
            mounted(disk, folder) as place,
            database(folder, place / "data") as sysbench,
        ):
            said = ran(*sysbench, *table, *wanted)
        rate = re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", said)
        if not rate:
            raise Error(f"sysbench said: {said}")
        found[str(threads)] = float(rate[1]) * load["dilation"]
    return found


@contextmanager
def database(folder: Path, data: Path) -> Iterator[list[str]]:
    """A server on `data` with hardly any memory; gives the beginning of sysbench's command line."""
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
        f"--innodb-buffer-pool-size={POOL}",
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
    sys.exit(main())
