"""Sysbench on a file system on served devices: eMLC, PCM, and a PCM cache over eMLC.

    python tools/sysbench_served.py --dilate 20 --seconds 20

serves each device, mounts an ext4 of it through nbdfuse and a loop device, lays out sysbench's
files, and reads them at random with 1 and with 8 threads, past the page cache and with some files
asked for more often. It prints reads a second in the device's own time, that is, times the
dilation. Which device is in front, and that the cache lies between, is what Kim et al. 2014
report of a read-only sysbench; their numbers are drawn only.

Needs root, /dev/fuse, loop devices, and of Debian: sysbench, libnbd-bin, fuse3, e2fsprogs.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STACKS = {
    "eMLC": 'preset = "emlc_ssd"\ncapacity = "1 GiB"',
    "PCM": 'preset = "pcm_ssd"\ncapacity = "1 GiB"',
    "PCM cache over eMLC": 'kind = "server_cache"\n'
    'backing = { preset = "emlc_ssd", capacity = "1 GiB" }\n'
    'level = [{ device = { preset = "pcm_ssd", capacity = "256 MiB" }, policy = "lru" }]',
}
PROGRAMS = {
    "sysbench": "sysbench",
    "nbdfuse": "libnbd-bin",
    "fusermount3": "fuse3",
    "mkfs.ext4": "e2fsprogs",
    "losetup": "mount",
}


def missing() -> list[str]:
    """What is missing to run this."""
    lacking = [
        f"{name} (apt install {of})" for name, of in PROGRAMS.items() if not shutil.which(name)
    ]
    if os.geteuid() != 0:
        lacking.append("root")
    return lacking + [
        name for name in ("/dev/fuse", "/dev/loop-control") if not Path(name).exists()
    ]


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What a program printed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def started(command: list[str], ready: Path) -> Iterator[None]:
    """A program in the background, from when a file of its is there."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            while not ready.exists():
                if process.poll() is not None:
                    sys.exit(f"{command[0]} ended")
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


@contextmanager
def mounted(device: Path, folder: Path) -> Iterator[Path]:
    """An ext4 on a file, which it does not go past."""
    place = folder / "mounted"
    place.mkdir()
    loop = run("losetup", "--find", "--show", "--direct-io=on", device).strip()
    try:
        run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", loop)
        run("mount", loop, place)
        try:
            yield place
        finally:
            run("umount", place)
    finally:
        run("losetup", "--detach", loop)


def measure(name: str, options: argparse.Namespace) -> list[float]:
    """Reads a second, in the device's time, of each number of threads."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        scenario, socket, fuse = folder / "device.toml", folder / "socket", folder / "fuse"
        fuse.mkdir()
        workload = '[workload]\nkind = "uniform"\nrequests = 1\nfootprint = "1 GiB"\n'
        scenario.write_text(f'schema = 1\nname = "device"\n{workload}[stack]\n{STACKS[name]}\n')
        nacre = str(Path(sys.executable).with_name("nacre"))
        serve = [nacre, "serve", str(scenario), str(folder / "image")]
        serve += ["--listen", f"unix:{socket}", "--dilate", str(options.dilate)]
        nbdfuse = ["nbdfuse", str(fuse), f"nbd+unix:///?socket={socket}"]
        with started(serve, socket), started(nbdfuse, fuse / "nbd"):
            with mounted(fuse / "nbd", folder) as place:
                rates = [load(place, threads, options) for threads in (1, 8)]
            subprocess.run(["fusermount3", "-u", "-z", fuse], check=False)
    return rates


def load(place: Path, threads: int, options: argparse.Namespace) -> float:
    """Reads a second, in the device's time."""
    sysbench = ["sysbench", "fileio", "--file-num=16", f"--file-total-size={options.mib}M"]
    sysbench += ["--file-block-size=4096", "--file-extra-flags=direct", "--rand-type=pareto"]
    if not (place / "test_file.0").exists():
        run(*sysbench, "prepare", cwd=place)
    sysbench += ["--file-test-mode=rndrd", "--file-fsync-freq=0", f"--threads={threads}"]
    said = run(*sysbench, f"--time={options.seconds}", "--rand-seed=1", "run", cwd=place)
    found = re.search(r"reads/s:\s*([\d.]+)", said)
    if not found:
        sys.exit(f"sysbench said: {said}")
    return float(found[1]) * options.dilate


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Measures the three devices and prints them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dilate", type=float, default=20.0)
    parser.add_argument("--seconds", type=int, default=20, help="of each measurement, wall time")
    parser.add_argument("--mib", type=int, default=256, help="of files that are read")
    options = parser.parse_args()
    if lacking := missing():
        sys.stderr.write(f"not run: needs {', '.join(lacking)}" + "\n")
        return 2
    say(f"{'reads/s, device time':24}{'1 thread':>12}{'8 threads':>12}")
    for name in STACKS:
        one, eight = measure(name, options)
        say(f"{name:24}{one:12,.0f}{eight:12,.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
