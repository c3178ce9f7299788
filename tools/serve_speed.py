"""Measures the speed of a served device and of nbdkit, and the accuracy of modeled latencies.

    python tools/serve_speed.py --pairs 7 --seconds 1

First, the program serves devices with `--timing none`, and equal data with `nbdkit memory` and
`nbdkit file`. fio reads and writes 4 KiB at random addresses of each server in turn, once per pair.
The program prints the median rate of each server. Below the rate, the program prints the median
ratio to the adjacent run of `nbdkit memory`, with minimum and maximum. It then prints the median
processor time per request of server and fio, and fio's share of one processor. If this share is
nearly 100 %, fio limits the rate, and no server could be faster. A server of Nacre polls for the
next request before it sleeps, which also takes processor time. The devices are a device with
constant latency, a flash drive with data in mapped locations, a disk, and a device with a cache.

Then the program serves a device with a constant latency of 100 us, with `--timing emulated` and
`--timing compensated`. It prints fio's minimum and median latencies with one outstanding request.
Each line ends with the load average of the last minute. On a busy machine, ratios of adjacent runs
are still valid, but latencies are not.

Requires nbdkit, and fio with its nbd engine (Debian packages: fio, nbdkit).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

MIB = 256
LATENCY_US = 100
HEAD = f"""schema = 1
[workload]
kind = "uniform"
requests = 1
footprint = "{MIB} MiB"
"""
CONSTANT = f"""kind = "measured"
capacity = "{MIB} MiB"
read = "{LATENCY_US} us"
write = "{LATENCY_US} us"
"""
DEVICES = {
    "measured": f"[stack]\n{CONSTANT}",
    "ssd": """[stack]
preset = "tlc_nvme"
ways = 1
planes = 1
blocks = 48
spare_blocks = 2
over_provisioning = "20 %"
""",
    "hdd": '[stack]\npreset = "disk_15k"\n',
    "cache": f"""[stack]
kind = "server_cache"
[[stack.level]]
policy = "lru"
device = {{ kind = "measured", capacity = "{MIB // 4} MiB", read = "1 us", write = "1 us" }}
[stack.backing]
{CONSTANT}""",
}


class Server(NamedTuple):
    """A running server."""

    uri: str
    process: int

    def used_s(self) -> float:
        """Returns the processor time of the server in seconds."""
        stat = Path(f"/proc/{self.process}/stat").read_text()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Seen(NamedTuple):
    """Results of fio for one run."""

    rate: float
    requests: int
    median_us: float
    shortest_us: float
    used_us: float
    """Processor time per request in fio, in microseconds."""


class Turn(NamedTuple):
    """Results of one run of fio with one server, and the processor time of the server."""

    seen: Seen
    used_us: float
    """Processor time per request in the server, in microseconds."""


@contextmanager
def running(command: list[str], socket: Path) -> Iterator[Server]:
    """Runs a server while the block runs, and waits until it is ready."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(500):
                if socket.exists() or server.poll() is not None:
                    break
                time.sleep(0.02)
            time.sleep(0.2)
            if server.poll() is not None:
                sys.exit(f"{command[0]} did not start")
            yield Server(f"nbd+unix:///?socket={socket}", server.pid)
        finally:
            server.terminate()


def nacre(folder: Path, name: str, device: str, *options: str) -> tuple[list[str], Path]:
    """Returns the command that serves a device with Nacre, and the path of its socket."""
    scenario, socket = folder / f"{name}.toml", folder / f"{name}.sock"
    scenario.write_text(HEAD + device)
    command = [str(Path(sys.executable).with_name("nacre")), "serve", str(scenario)]
    command += [str(folder / f"{name}.img"), "--listen", f"unix:{socket}", *options]
    return command, socket


def nbdkit(folder: Path, name: str, *plugin: str) -> tuple[list[str], Path]:
    """Returns the command that serves data with nbdkit, and the path of its socket."""
    socket = folder / f"{name}.sock"
    return ["nbdkit", "-f", "-U", str(socket), *plugin], socket


def fio(uri: str, pattern: str, depth: int, *more: str) -> Seen:
    """Runs fio with a server. Returns its results."""
    command = ["fio", "--name=load", "--ioengine=nbd", f"--uri={uri}", f"--rw={pattern}"]
    command += [f"--iodepth={depth}", f"--size={MIB}M", "--output-format=json"]
    # Latency includes the time of the submitting call, because a program also waits for this call.
    command += ["--lat_percentiles=1", *more]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    told = job["read" if "read" in pattern else "write"]
    latency, requests = told["lat_ns"], told["total_ios"]
    used_s = job["job_runtime"] / 1e3 * (job["usr_cpu"] + job["sys_cpu"]) / 100
    middle, shortest = latency["percentile"]["50.000000"] / 1e3, latency["min"] / 1e3
    return Seen(told["iops"], requests, middle, shortest, 1e6 * used_s / requests)


def turn(server: Server, pattern: str, depth: int, *more: str) -> Turn:
    """Runs fio once with a server, and measures the processor time of the server."""
    before = server.used_s()
    seen = fio(server.uri, pattern, depth, *more)
    return Turn(seen, 1e6 * (server.used_s() - before) / seen.requests)


def compare(folder: Path, pairs: int, seconds: float) -> None:
    """Prints rates and ratios for three queue depths."""
    file = folder / "file.img"
    with file.open("wb") as made:
        made.truncate(MIB << 20)
    served = {name: nacre(folder, name, of, "--timing", "none") for name, of in DEVICES.items()}
    served["nbdkit memory"] = nbdkit(folder, "memory", "memory", f"{MIB}M")
    served["nbdkit file"] = nbdkit(folder, "kit", "file", str(file))
    timed = ("--bs=4k", "--time_based", f"--runtime={seconds}", "--norandommap")
    with ExitStack() as stack:
        servers = {name: stack.enter_context(running(*how)) for name, how in served.items()}
        for server in servers.values():
            fio(server.uri, "write", 4, "--bs=1m")
        os.sync()
        say(f"{'4 KiB':16}" + "".join(f"{name:>18}" for name in servers))
        for depth in (1, 8, 32):
            for pattern in ("randread", "randwrite"):
                turns: dict[str, list[Turn]] = {name: [] for name in servers}
                for number in range(pairs):
                    order = list(servers) if number % 2 else list(servers)[::-1]
                    for name in order:
                        turns[name].append(turn(servers[name], pattern, depth, *timed))
                tell(f"QD {depth:2} {pattern[4:]}", turns)


def tell(what: str, turns: dict[str, list[Turn]]) -> None:
    """Prints the results of all servers."""
    memory = [each.seen.rate for each in turns["nbdkit memory"]]

    def row(name: str, cell: Callable[[list[Turn]], str], after: str = "") -> None:
        say(f"{name:16}" + "".join(f"{cell(of):>18}" for of in turns.values()) + after)

    def over(of: list[Turn]) -> str:
        ratios = [own.seen.rate / its for own, its in zip(of, memory, strict=True)]
        return f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"

    row(what, lambda of: f"{median(each.seen.rate for each in of):,.0f}", f"  {load()}")
    row("  over memory", over)
    row("  us in server", lambda of: f"{median(each.used_us for each in of):.1f}")
    row("  us in fio", lambda of: f"{median(each.seen.used_us for each in of):.1f}")
    row("  fio busy", lambda of: f"{median(busy(each) for each in of):.0%}")


def busy(of: Turn) -> float:
    """Returns the share of one processor that fio used."""
    return of.seen.used_us * of.seen.rate / 1e6


def punctual(folder: Path, rounds: int, seconds: float) -> None:
    """Prints the latencies that a client measures for a device with constant latency."""
    timed = ("--bs=4k", "--time_based", f"--runtime={seconds}", "--norandommap")
    # Earlier measurements wrote data. Sync it now, because its writeback would interfere.
    os.sync()
    for timing in ("emulated", "compensated"):
        device = nacre(folder, timing, DEVICES["measured"], "--timing", timing)
        with running(*device) as server:
            fio(server.uri, "write", 4, "--bs=1m")
            for pattern in ("randread", "randwrite"):
                found = [fio(server.uri, pattern, 1, *timed) for _ in range(rounds)]
                seen = median(of.median_us for of in found)
                off = 100 * (seen / LATENCY_US - 1)
                seen_of = f"median {seen:.1f} us of {LATENCY_US} us, {off:+.1f} %"
                shortest = f"shortest {min(of.shortest_us for of in found):.1f} us"
                say(f"{timing:12} QD 1 {pattern[4:]:6} {seen_of}, {shortest}  {load()}")


def load() -> str:
    """Formats the load average of the machine, which includes fio and the server."""
    return f"load {os.getloadavg()[0]:.1f}"


def say(line: str) -> None:
    """Prints a line, and flushes standard output."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Runs both measurements. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", choices=["rates", "latency"])
    parser.add_argument("--folder", help="folder for the images; default: a temporary folder")
    options = parser.parse_args()
    for program in ("fio", "nbdkit"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed; on Debian: apt install {program}")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if options.only != "latency":
            compare(Path(folder), options.pairs, options.seconds)
        if options.only != "rates":
            punctual(Path(folder), options.pairs, options.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
