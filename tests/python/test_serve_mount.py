"""Tests a database in a file system on a served device. The server is killed during
transactions."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from nacre.devices.control import Control
from serving import NACRE, Server, missing, needs, needs_mounts, run, scenario, until

WRITER = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
base.execute(f"pragma journal_mode={sys.argv[2]}")
base.execute("pragma synchronous=extra")  # FULL may lose the last one: it does not sync the folder
base.execute("create table if not exists rows (number integer primary key, text blob)")
number = base.execute("select coalesce(max(number), 0) from rows").fetchone()[0]
while True:
    base.execute("begin")
    for _ in range(5):
        number += 1
        base.execute("insert into rows values (?, ?)", (number, b"%d" % number * 300))
    base.execute("commit")
    print(number, flush=True)
"""


@pytest.fixture
def tools() -> None:
    """Skips the tests if programs for mounting are missing."""
    for program, package in (
        ("nbdfuse", "libnbd-bin"),
        ("fusermount3", "fuse3"),
        ("losetup", "mount"),
        ("mkfs.ext4", "e2fsprogs"),
        ("e2fsck", "e2fsprogs"),
    ):
        needs(program, package)
    needs_mounts()


@contextmanager
def looped(server: Server, folder: Path) -> Iterator[str]:
    """Attaches the served device to a loop device, and detaches it even if the server has ended."""
    place = folder / "fuse"
    place.mkdir(exist_ok=True)
    with subprocess.Popen(["nbdfuse", str(place), server.uri], stderr=subprocess.DEVNULL) as fuse:
        loop = ""
        try:
            until((place / "nbd").exists)
            found = subprocess.run(
                ["losetup", "--find", "--show", "--direct-io=on", str(place / "nbd")],
                capture_output=True,
                text=True,
                check=False,
            )
            if found.returncode:
                missing(f"there is no loop device: {found.stderr}")
            loop = found.stdout.strip()
            yield loop
        finally:
            if loop and is_over(loop, place / "nbd"):
                subprocess.run(["losetup", "--detach", loop], capture_output=True, check=False)
            subprocess.run(["fusermount3", "-u", "-z", place], capture_output=True, check=False)
            fuse.terminate()


def is_over(loop: str, file: Path) -> bool:
    """Returns whether the loop device is still attached to this file, and not to that of another
    program."""
    found = subprocess.run(
        ["losetup", "--noheadings", "--output", "BACK-FILE", loop],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() == str(file)


@contextmanager
def mounted(loop: str, folder: Path) -> Iterator[Path]:
    """Mounts the file system of a loop device while the block runs."""
    place = folder / "mounted"
    place.mkdir(exist_ok=True)
    run(["mount", loop, place])
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], capture_output=True, check=False)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_committed_rows_survive_a_killed_server(tmp_path: Path, journal: str) -> None:
    device = scenario(tmp_path, mib=48)
    server = Server(tmp_path, "--timing", "none", device=device)
    try:
        with looped(server, tmp_path) as loop:
            run(["mkfs.ext4", "-q", loop])
            with mounted(loop, tmp_path) as place:
                committed = written_until_killed(server, place / "base", journal)
        assert committed >= 50
        server.start()
        with looped(server, tmp_path) as loop:
            # The first check replays the journal. The second check finds no errors.
            assert subprocess.run(["e2fsck", "-p", loop], capture_output=True).returncode in (0, 1)
            run(["e2fsck", "-f", "-n", loop])
            with mounted(loop, tmp_path) as place:
                base = sqlite3.connect(place / "base")
                assert base.execute("pragma integrity_check").fetchall() == [("ok",)]
                rows = dict(base.execute("select number, text from rows"))
                base.close()
        assert set(rows) >= set(range(1, committed + 1))
        assert len(rows) % 5 == 0
        assert all(text == b"%d" % number * 300 for number, text in rows.items())
    finally:
        server.close()


RECIPE = Path(__file__).parents[2] / "examples" / "remount.sh"


@contextmanager
def remounted(place: Path) -> Iterator[None]:
    """At the end of the block, unmounts the file system that the example mounted at `place`, and
    ends the program that serves it."""
    try:
        yield
    finally:
        # Find the loop device before unmounting, because the mount names it.
        found = subprocess.run(
            ["findmnt", "-n", "-o", "SOURCE", place], capture_output=True, text=True, check=False
        )
        subprocess.run(["umount", "-l", place], capture_output=True, check=False)
        for loop in found.stdout.split():
            subprocess.run(["losetup", "--detach", loop], capture_output=True, check=False)
        fuse = f"{place}.fuse"
        subprocess.run(["fusermount3", "-u", "-z", fuse], capture_output=True, check=False)
        until(lambda: not running("nbdfuse", fuse))


def running(name: str, argument: str) -> list[int]:
    """Returns the IDs of the processes of a program that have this argument."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().decode().split("\0")
            if process.name.isdecimal() and name in words[0] and argument in words:
                found.append(int(process.name))
    return found


@pytest.mark.usefixtures("tools")
def test_the_recipe_remounts_after_a_power_loss(tmp_path: Path) -> None:
    needs("findmnt", "util-linux")
    device = scenario(tmp_path, mib=48, latency="2 us")
    server = Server(tmp_path, "--dilate", "1", device=device)
    place = tmp_path / "mounted"
    try:
        with looped(server, tmp_path) as loop:
            run(["mkfs.ext4", "-q", loop])
            with mounted(loop, tmp_path), remounted(place):
                (place / "kept").write_text("synced")
                run(["sync", "-f", place / "kept"])
                said = run([RECIPE, server.image, place], env={**os.environ, "NACRE": str(NACRE)})
                assert "mounted again" in said
                assert (place / "kept").read_text() == "synced"
                with Control(server.image) as control:
                    control.power_fail()
                    recipe: list[str | Path] = [RECIPE, server.image, place, "--no-power-fail"]
                    said = run(recipe, env={**os.environ, "NACRE": str(NACRE)})
                    assert "mounted again" in said
                    assert (place / "kept").read_text() == "synced"
                    assert control.stats().export().unsafe_shutdowns == 2
    finally:
        server.close()


def written_until_killed(server: Server, base: Path, journal: str) -> int:
    """Commits rows until the server is killed at a random time. Returns the number of the last
    committed row."""
    choose = random.Random(journal)
    committed = 0
    command = [sys.executable, "-c", WRITER, str(base), journal]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            committed = int(line)
            if committed >= 50:
                break
        time.sleep(choose.uniform(0.0, 0.3))
        server.kill()
        for line in writer.stdout:
            committed = int(line)
    return committed
