"""How fast a served device answers beside nbdkit, and how exactly it keeps the time of a model.

    python tools/serve_speed.py --pairs 7 --seconds 1

serves devices with `--timing none` and the same bytes with `nbdkit memory` and `nbdkit file`, and
has fio read and write 4 KiB at random addresses of each, one after the other, so often as there are
pairs. It prints the median rate of each and, below it, the median of the ratios of neighbours, it
over `nbdkit memory`. The devices are one of constant latency, a flash drive whose bytes lie where
its mapping says, a disk, and a cache before a device.

Then a device of a constant 100 us is served, as it is and with `--timing compensated`, and fio's
shortest and median latencies at one request at a time are set beside it. With each line stands the
load average of the last minute: on a busy machine ratios of neighbours still say something,
latencies do not.

Needs fio with its nbd engine and nbdkit (Debian: fio, nbdkit).
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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

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


@contextmanager
def running(command: list[str], socket: Path) -> Iterator[str]:
    """A server that is ready; its URI."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(500):
                if socket.exists() or server.poll() is not None:
                    break
                time.sleep(0.02)
            time.sleep(0.2)
            if server.poll() is not None:
                sys.exit(f"{command[0]} did not start")
            yield f"nbd+unix:///?socket={socket}"
        finally:
            server.terminate()


def nacre(folder: Path, name: str, device: str, *options: str) -> tuple[list[str], Path]:
    """The command that serves, and its socket."""
    scenario, socket = folder / f"{name}.toml", folder / f"{name}.sock"
    scenario.write_text(HEAD + device)
    command = [str(Path(sys.executable).with_name("nacre")), "serve", str(scenario)]
    command += [str(folder / f"{name}.img"), "--listen", f"unix:{socket}", *options]
    return command, socket


def nbdkit(folder: Path, name: str, *plugin: str) -> tuple[list[str], Path]:
    """The command that serves, and its socket."""
    socket = folder / f"{name}.sock"
    return ["nbdkit", "-f", "-U", str(socket), *plugin], socket


def fio(uri: str, pattern: str, depth: int, *more: str) -> tuple[float, float, float]:
    """Requests a second, and the median and the shortest latency in microseconds."""
    command = ["fio", "--name=load", "--ioengine=nbd", f"--uri={uri}", f"--rw={pattern}"]
    command += [f"--iodepth={depth}", f"--size={MIB}M", "--output-format=json"]
    # From the call that submits, not from its return: sending is part of what a program waits for.
    command += ["--lat_percentiles=1", *more]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    told = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    told = told["read" if "read" in pattern else "write"]
    latency = told["lat_ns"]
    return told["iops"], latency["percentile"]["50.000000"] / 1e3, latency["min"] / 1e3


def compare(folder: Path, pairs: int, seconds: float) -> None:
    """Prints rates and ratios at three queue depths."""
    file = folder / "file.img"
    with file.open("wb") as made:
        made.truncate(MIB << 20)
    served = {name: nacre(folder, name, of, "--timing", "none") for name, of in DEVICES.items()}
    served["nbdkit memory"] = nbdkit(folder, "memory", "memory", f"{MIB}M")
    served["nbdkit file"] = nbdkit(folder, "kit", "file", str(file))
    timed = ("--bs=4k", "--time_based", f"--runtime={seconds}", "--norandommap")
    with ExitStack() as stack:
        uris = {name: stack.enter_context(running(*how)) for name, how in served.items()}
        for uri in uris.values():
            fio(uri, "write", 4, "--bs=1m")
        os.sync()
        say(f"{'4 KiB':14}" + "".join(f"{name:>15}" for name in uris))
        for depth in (1, 8, 32):
            for pattern in ("randread", "randwrite"):
                rates: dict[str, list[float]] = {name: [] for name in uris}
                for turn in range(pairs):
                    order = list(uris) if turn % 2 else list(uris)[::-1]
                    for name in order:
                        rates[name].append(fio(uris[name], pattern, depth, *timed)[0])
                cells = "".join(f"{median(of):15,.0f}" for of in rates.values())
                say(f"QD {depth:2} {pattern[4:]:8}{cells}  {load()}")
                memory = rates["nbdkit memory"]
                ratios = [
                    median(own / its for own, its in zip(of, memory, strict=True))
                    for of in rates.values()
                ]
                say(" " * 14 + "".join(f"{ratio:15.2f}" for ratio in ratios))


def punctual(folder: Path, rounds: int, seconds: float) -> None:
    """Prints the latency a client sees of a device of constant latency."""
    timed = ("--bs=4k", "--time_based", f"--runtime={seconds}", "--norandommap")
    # What the rates wrote is on its way to the disk, and would be in the way.
    os.sync()
    for timing in ("emulated", "compensated"):
        device = nacre(folder, timing, DEVICES["measured"], "--timing", timing)
        with running(*device) as uri:
            fio(uri, "write", 4, "--bs=1m")
            for pattern in ("randread", "randwrite"):
                found = [fio(uri, pattern, 1, *timed) for _ in range(rounds)]
                seen = median(of[1] for of in found)
                off = 100 * (seen / LATENCY_US - 1)
                seen_of = f"median {seen:.1f} us of {LATENCY_US} us, {off:+.1f} %"
                shortest = f"shortest {min(of[2] for of in found):.1f} us"
                say(f"{timing:12} QD 1 {pattern[4:]:6} {seen_of}, {shortest}  {load()}")


def load() -> str:
    """How busy the machine is, fio and the server included."""
    return f"load {os.getloadavg()[0]:.1f}"


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    """Runs both measurements."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--only", choices=["rates", "latency"])
    parser.add_argument("--folder", help="where the images lie; default: a temporary one")
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
