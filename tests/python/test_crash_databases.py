"""Tests databases with power losses: committed rows survive, unless flushes are disabled."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import NACRE, missing, needs, needs_mounts

EXAMPLE = Path(__file__).parents[2] / "examples" / "crash_database.py"

CACHED = """
schema = 1
[workload]
kind = "uniform"
requests = 1
footprint = "1 MiB"
[stack]
kind = "hdd"
capacity = "160 MiB"
rotation = "15000 /min"
heads = 2
track_to_track_seek = "0.2 ms"
average_seek = "3.4 ms"
full_stroke_seek = "6.6 ms"
outer_rate = "200 MB/s"
inner_rate = "120 MB/s"
write_cache = "1 MiB"
"""


@pytest.fixture
def work() -> Iterator[Path]:
    """Creates a folder that the user of the database server may enter. This user may not enter the
    folders of pytest."""
    with tempfile.TemporaryDirectory(prefix="nacre-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Returns the scenario of a disk with a volatile write cache. Skips the test if the disk cannot
    be mounted."""
    for program, package in (
        ("nbdfuse", "libnbd-bin"),
        ("fusermount3", "fuse3"),
        ("losetup", "mount"),
        ("mkfs.ext4", "e2fsprogs"),
    ):
        needs(program, package)
    needs_mounts()
    path = tmp_path / "disk.toml"
    path.write_text(CACHED)
    return path


def pulled(
    disk: Path, work: Path, base: str, times: int, *options: str
) -> subprocess.CompletedProcess[str]:
    """Runs `nacre crash` with the example database and its check."""
    program = [sys.executable, str(EXAMPLE), base]
    folder = [str(work), *options]
    check = " ".join([*program, "check", *folder])
    command = [str(NACRE), "crash", str(disk), "--json", "--ready", "--times", str(times)]
    command += ["--within", "0.5", "--check", check, "--", *program, "work", *folder]
    return subprocess.run(command, text=True, capture_output=True, timeout=120, check=False)


def committed(work: Path) -> int:
    """Returns the number of acknowledged commits."""
    return int((work / "committed").read_text())


def test_sqlite_keeps_every_row_that_it_committed(disk: Path, work: Path) -> None:
    done = pulled(disk, work, "sqlite", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    rounds = json.loads(done.stdout)["rounds"]
    assert [each["check"] for each in rounds] == [0, 0]
    assert [each["ended"] for each in rounds] == [None, None], f"before the power: {done.stderr}"
    assert committed(work) >= 20


def test_postgresql_keeps_every_row_that_it_committed(disk: Path, work: Path) -> None:
    if not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        missing("PostgreSQL is not installed: apt install postgresql")
    needs("setpriv", "util-linux")
    done = pulled(disk, work, "postgresql", 1)
    assert done.returncode == 0, done.stdout + done.stderr
    (only,) = json.loads(done.stdout)["rounds"]
    assert only["ended"] is None, f"before the power: {done.stderr}"
    assert only["check"] == 0
    assert committed(work) >= 10


def test_a_file_system_that_never_flushes_loses_rows_and_the_check_finds_it(
    disk: Path, work: Path
) -> None:
    done = pulled(disk, work, "sqlite", 10, "--without-barriers")
    assert done.returncode == 1, done.stdout + done.stderr
    document = json.loads(done.stdout)
    assert document["failed"] == 1
    assert document["rounds"][-1]["outage"]["acknowledged_lost"] > 0
    assert (Path(document["kept"]) / "device.img").exists()
    shutil.rmtree(document["kept"])
