"""Runs sysbench on an ext4 file system on a served device, in dilated time.

scenario -> nacre serve -> nbdfuse -> loop device -> ext4 -> sysbench

The workload of the scenario determines the parameters of sysbench. All processes and mounts are in
separate mount and process namespaces, and the image is in memory. When the first process of the
namespace ends, the kernel ends the other processes, unmounts the file systems, and frees the loop
device. The first process is killed when its parent ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nacre.base import quantity
from nacre.base.view import View
from nacre.errors import Error
from nacre.papers.spec.plan import Job
from nacre.simulate.running import check

PROGRAMS = {
    "sysbench": "sysbench",
    "nbdfuse": "libnbd-bin",
    "fusermount3": "fuse3",
    "mkfs.ext4": "e2fsprogs",
    "mount": "mount",
    "losetup": "mount",
    "findmnt": "util-linux",
    "unshare": "util-linux",
    "setpriv": "util-linux",
}
"""Maps required programs to their Debian packages."""

DEVICES = ("/dev/fuse", "/dev/loop-control")
LIMIT_S = 180.0
"""Timeout of a run in seconds."""

CAGE = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")
"""Prefix of a command that runs in separate namespaces. The namespaces end with the command."""
_READY_S = 30.0
_CONNECTIONS = "128"
_IMAGE_TIMES = 4
"""Maximum image size as a multiple of the size of the files. A cache holds a second copy of its
pages."""
_FILE_SYSTEM_MIB = 16
"""Extra space in MiB for the metadata of ext4, and for the state of the device in the image."""


SERVED_FILE = "served.json"


class NotRunError(Exception):
    """The run lacks a requirement on this machine. The text names the requirement."""


@dataclass(frozen=True)
class Missing:
    """A requirement that this machine lacks.

    `package` is the Debian package of a missing program.
    """

    name: str
    package: str = ""


class Served(View):
    """Results of sysbench on a served device, in device time, and statistics of the server.

    `throughput` and `latency` are values that sysbench measured, so they include the serving
    machine. `server` covers only the requests of the benchmark. It contains the number of replies
    and of late replies, and the number and mean latency of each kind of request. Latencies are
    given as modeled and as measured by the wall clock.
    """

    name: str
    threads: int
    requests: int
    """Number of file reads, or of transactions of a database."""
    dilation: float
    wall_s: float
    throughput: View
    latency: View
    server: View

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Saves the result to served.json in a directory."""
        from nacre.files.staging import Staging

        with Staging(Path(directory)) as staging:
            text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
            staging.write(SERVED_FILE, f"{text}\n".encode())
        return Path(directory)


def missing() -> list[Missing]:
    """Returns the requirements of a run that this machine lacks."""
    found = absent(PROGRAMS)
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        found.append(Missing("root"))
    found += [Missing(name) for name in DEVICES if not os.access(name, os.R_OK | os.W_OK)]
    return found or _forbidden()


def absent(programs: Mapping[str, str]) -> list[Missing]:
    """Returns the programs that are not installed. `programs` maps programs to Debian packages."""
    return [Missing(name, package) for name, package in programs.items() if not shutil.which(name)]


def _forbidden() -> list[Missing]:
    """Returns operations that root may not perform on this machine, e.g. in some containers."""
    with tempfile.TemporaryDirectory(prefix="nacre-") as folder:
        operations = {
            "the right to mount": [*CAGE, "mount", "-t", "tmpfs", "nacre", folder],
            "a free loop device": ["losetup", "--find"],
        }
        for operation, command in operations.items():
            done = _finished(command)
            if done.returncode:
                return [Missing(f"{operation} ({' '.join(done.stderr.split())})")]
    return []


def check_here(more: Sequence[Missing] = ()) -> None:
    """Raises `NotRunError` if this machine lacks a requirement.

    `more` lists missing requirements that were already detected.
    """
    found = [*missing(), *more]
    if not found:
        return
    names = ", ".join(each.name for each in found)
    packages = " ".join(dict.fromkeys(each.package for each in found if each.package))
    hint = f" (apt install {packages})" if packages else ""
    raise NotRunError(f"{names} {'is' if len(found) == 1 else 'are'} missing{hint}")


def run(
    load: Mapping[str, Any],
    folder: str | None = None,
    module: str = __name__,
    limit_s: float = LIMIT_S,
) -> str:
    """Serves a device and runs sysbench on it. Returns a `Served` as JSON text.

    `module` is the module that runs sysbench. By default, it is this module, in which sysbench
    reads files. Temporary files are in a directory within `folder`. Raises `Error` if the run
    fails.
    """
    with tempfile.TemporaryDirectory(prefix="nacre-", dir=folder) as place:
        return caged([*CAGE, sys.executable, "-m", module, place, json.dumps(load)], limit_s)


def caged(command: Sequence[str], limit_s: float = LIMIT_S) -> str:
    """Runs a program and returns its output.

    When this function returns or raises an exception, the program has ended.
    """
    with subprocess.Popen(  # noqa: S603 (our own interpreter)
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, wrong = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise Error(
                f"a served run did not end within {limit_s:g} s", "process-failed"
            ) from None
        finally:
            process.kill()
    if process.returncode:
        lines = " / ".join(wrong.strip().splitlines()[-4:])
        status = process.returncode
        text = f"a served run ended with {status}: {lines}"
        raise Error(text, "process-failed", status=status)
    return said


def load_of(job: Job) -> dict[str, Any]:
    """Returns parameters for server and sysbench.

    Raises `Error` if sysbench has no equivalent workload.
    """
    resolved = check(job.scenario, job.overrides())
    workload = resolved.scenario.workload
    wanted = {"kind": "uniform", "start": "0 B", "read_share": "100 %", "trim_share": "0 %"}
    unfit = [f"workload.{key}" for key, value in wanted.items() if workload.get(key) != value]
    if workload.arrival.kind != "closed" or workload.arrival.think != "0 s":
        unfit.append("workload.arrival")
    if unfit:
        raise Error(
            f"sysbench needs uniform reads in a closed loop; {unfit[0]} has others",
            "not-supported",
        )
    return {
        "name": resolved.name,
        "scenario": job.scenario,
        "settings": [f"{path}={value}" for path, value in job.settings],
        "dilation": job.dilate,
        "bytes": int(quantity.parse(workload.footprint).value),
        "request": int(quantity.parse(workload.request).value),
        "requests": workload.requests,
        "threads": workload.arrival.queue_depth,
        "transactions": job.transactions,
    }


def _measured(folder: Path, load: dict[str, Any]) -> dict[str, Any]:
    """Creates files in real time, and reads them in dilated time.

    This function must run in separate mount and process namespaces.
    """
    size = _IMAGE_TIMES * load["bytes"] + (_FILE_SYSTEM_MIB << 20)
    ran("mount", "-t", "tmpfs", "-o", f"size={size}", "nacre", folder)
    sysbench = ["sysbench", "fileio", "--file-num=16", f"--file-total-size={load['bytes']}"]
    sysbench += ["--file-extra-flags=direct", "--file-fsync-freq=0", "--rand-seed=1"]
    with device_file(folder, load, 1.0) as disk:
        make_ext4(disk)
        with mounted(disk, folder) as place:
            ran(*sysbench, "--file-block-size=1048576", "prepare", cwd=place)
    sysbench += [f"--file-block-size={load['request']}", "--file-test-mode=rndrd", "--time=0"]
    sysbench += [f"--events={load['requests']}", f"--threads={load['threads']}"]
    with device_file(folder, load, load["dilation"]) as disk, mounted(disk, folder) as place:
        before = counted(folder)
        said = ran(*sysbench, "run", cwd=place)
        server = since(before, counted(folder))
    return document(load, said, server)


def counted(folder: Path) -> dict[str, Any]:
    """Returns the statistics of the served device since the start of the server in `folder`."""
    server: dict[str, Any] = json.loads(ran(*_nacre("ctl", "stats", "--json", folder / "image")))
    export: dict[str, Any] = server["exports"][0]
    return export


def since(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Returns replies and latencies between two samples of an export's statistics.

    Latencies are given as numbers and means, because the difference of quantiles is not defined.
    """
    return {
        **{key: after[key] - before[key] for key in ("answered", "late")},
        **{
            clock: {
                kind: _between(before[clock].get(kind), latencies)
                for kind, latencies in after[clock].items()
            }
            for clock in ("modeled", "wall")
        },
    }


def _between(
    before: Mapping[str, float] | None, after: Mapping[str, float] | None
) -> dict[str, float] | None:
    """Returns number and mean of the latencies since `before`. Returns None if there are none."""
    old, new = before or {"count": 0, "mean_ns": 0.0}, after or {"count": 0, "mean_ns": 0.0}
    count = new["count"] - old["count"]
    if not count:
        return None
    total = new["count"] * new["mean_ns"] - old["count"] * old["mean_ns"]
    return {"count": count, "mean_ns": total / count}


def document(load: dict[str, Any], said: str, server: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the results of sysbench to device time. Raises `Error` for unexpected output."""
    found = {
        name: re.search(rf"{name}:\s+([\d.]+)", said)
        for name in ("total time", "total number of events", "avg")
    }
    numbers = {name: float(match[1]) for name, match in found.items() if match}
    if len(numbers) < len(found) or not numbers["total time"]:
        raise Error(f"unexpected output of sysbench: {said}", "process-failed")
    wall, count = numbers["total time"], numbers["total number of events"]
    return {
        **{key: load[key] for key in ("name", "threads", "dilation")},
        "server": server,
        "requests": int(count),
        "wall_s": wall,
        "throughput": {"iops": count / wall * load["dilation"]},
        "latency": {"read": {"mean_ns": numbers["avg"] * 1e6 / load["dilation"]}},
    }


@contextlib.contextmanager
def device_file(folder: Path, load: Mapping[str, Any], dilation: float) -> Iterator[Path]:
    """Exposes the device of `load` as a file with nbdfuse. The image is not removed at the end."""
    place, image = folder / "fuse", folder / "image"
    place.mkdir(exist_ok=True)
    settings = [part for setting in load["settings"] for part in ("--set", setting)]
    serve = _nacre("serve", load["scenario"], image, "--dilate", f"{dilation:g}", *settings)
    with started(serve, (folder / "image.sock").exists):
        # nbdfuse selects a connection at random, and a connection has one request at a time. Use
        # many connections.
        uri = f"nbd+unix:///?socket={folder}/image.sock"
        fuse = ["nbdfuse", "-C", _CONNECTIONS, str(place), uri]
        with started(fuse, (place / "nbd").exists):
            yield place / "nbd"
            ran("fusermount3", "-u", place)


def make_ext4(disk: Path) -> None:
    """Creates an ext4 file system with blocks of 4 KiB, so that a read is one block of the device.

    ext4 initializes its tables immediately and therefore does not write to them during the
    measurement.
    """
    made = ["-b", "4096", "-O", "^has_journal", "-E", "nodiscard,lazy_itable_init=0"]
    ran("mkfs.ext4", "-F", "-q", *made, disk)


@contextlib.contextmanager
def mounted(disk: Path, folder: Path) -> Iterator[Path]:
    """Mounts the ext4 file system that the file `disk` contains, and bypasses the page cache.

    Unmounting frees the loop device.
    """
    place = folder / "mounted"
    place.mkdir(exist_ok=True)
    ran("mount", "-t", "ext4", "-o", "loop,noatime", disk, place)
    loop = ran("findmnt", "-n", "-o", "SOURCE", place).strip()
    ran("losetup", "--direct-io=on", loop)
    if ran("losetup", "--list", "--noheadings", "--output", "DIO", loop).strip() != "1":
        raise Error(f"{loop} does not bypass the page cache", "not-supported")
    yield place
    ran("umount", place)


@contextlib.contextmanager
def started(command: Sequence[str | Path], ready: Callable[[], bool]) -> Iterator[None]:
    """Runs a program in the background.

    The program is ready when the block starts, and it is terminated after the block.
    """
    with subprocess.Popen(  # noqa: S603 (its parts are ours)
        list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as process:
        ends = time.monotonic() + _READY_S
        while not ready():
            if process.poll() is not None or time.monotonic() > ends:
                raise Error(f"{' '.join(map(str, command[:4]))} did not start", "process-failed")
            time.sleep(0.02)
        yield
        process.terminate()


def _nacre(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "nacre", *map(str, arguments)]


def ran(*command: str | Path, cwd: Path | None = None) -> str:
    """Runs a program and returns its output. Raises `Error` if the program fails."""
    done = _finished(command, cwd)
    if done.returncode:
        raise Error(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}", "process-failed")
    return done.stdout


def _finished(
    command: Sequence[str | Path], cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (its parts are ours)
        list(map(str, command)), capture_output=True, text=True, cwd=cwd, check=False
    )


if __name__ == "__main__":
    try:
        sys.stdout.write(json.dumps(_measured(Path(sys.argv[1]), json.loads(sys.argv[2]))))
    except Error as error:
        # Programs that still run end with this process, because it is the first of its namespace.
        sys.stderr.write(str(error))
        sys.stderr.flush()
        os._exit(1)
