"""Runs databases on a served device with every fault, and reports missing and wrong rows.

    python tools/databases_under_faults.py docs/databases.md [--engines sqlite,leveldb,postgresql]

Requires root, /dev/fuse, loop devices, nbdfuse (libnbd-bin), e2fsprogs, PostgreSQL, and, for
Debian's Python, python3-plyvel. Each engine has a separate ext4 file system. The engine commits
rows of 480 B one after another, and acknowledged rows are recorded. After 40 rows, the fault is
added. After another 10 s, power is cut. The fault is cleared, unless it affects reads. The file
system is mounted again, and every acknowledged row is read.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import nacre.devices

TEMPLATE = Path(__file__).with_suffix(".txt")
"""Template of the page, without its tables."""
WORKER = Path(__file__).with_name("database_worker.py")
PYTHON = "/usr/bin/python3"
"""Debian's Python, which has plyvel."""
ENGINES = {
    "sqlite": "SQLite",
    "leveldb": "LevelDB",
    "postgresql": "PostgreSQL",
}
SETTINGS = {
    "sqlite": "`journal_mode=wal`, `synchronous=full`; checksums only in the log",
    "leveldb": "`sync=True`, `paranoid_checks`, reads verify checksums",
    "postgresql": "`fsync=on`, `full_page_writes=on`, `--data-checksums`",
}
STACK = {
    "schema": 1,
    "workload": {"kind": "uniform", "requests": 1, "footprint": "1 MiB"},
    "stack": {
        "kind": "hdd",
        "capacity": "160 MiB",
        "rotation": "15000 /min",
        "heads": 2,
        "track_to_track_seek": "0.2 ms",
        "average_seek": "3.4 ms",
        "full_stroke_seek": "6.6 ms",
        "outer_rate": "200 MB/s",
        "inner_rate": "120 MB/s",
        "write_cache": "1 MiB",
    },
}
"""A disk with a volatile write cache."""
SETTLED_ROWS = 40
OBSERVED_S = 10.0
HUNG_S = 3.0
"""If a program reports neither an acknowledgment nor an error for this time in seconds, it is
hung."""
CHECK_S = 120.0


@dataclass(frozen=True)
class Fault:
    """A fault of the device, with settings, or a fault of the medium, without settings."""

    name: str
    said: str
    settings: Mapping[str, Any] | None = None
    of_reads: bool = False
    """Whether the fault is still active while rows are read."""


FAULTS = (
    Fault("none", "power cut alone", None),
    Fault("delay", "every reply is delayed by 20 ms", {"latency": "20 ms"}),
    Fault("slow", "every request takes 20 times as long", {"factor": 20.0}),
    Fault("stall", "no replies for 5 s", {"start": "1 s", "duration": "5 s"}),
    Fault("limit", "at most 20 requests per second", {"iops": "20 Hz"}),
    Fault("error", "5 % of writes fail", {"operations": ["write"], "share": "5 %"}),
    Fault("error", "every write fails for 2 s", {"operations": ["write"], "duration": "2 s"}),
    Fault(
        "error",
        "5 % of writes are performed but return an error",
        {"operations": ["write"], "share": "5 %", "at": "transport"},
    ),
    Fault("failing_flush", "one flush fails", {"lasting": "once"}),
    Fault("failing_flush", "every flush fails", {"lasting": "for_good"}),
    Fault(
        "disconnect",
        "unreachable for 3 s, and requests time out after 1 s",
        {"duration": "3 s", "timeout": "1 s"},
    ),
    Fault("lost_write", "2 % of writes", {"share": "2 %"}),
    Fault("torn_write", "2 % of writes", {"share": "2 %"}),
    Fault("misdirected_write", "2 % of writes go to an address 64 KiB higher", {"share": "2 %"}),
    Fault("bit_rot", "2 % of writes", {"share": "2 %"}),
    Fault("stale_read", "half of the reads", {"share": "50 %"}, of_reads=True),
    Fault("lying_flush", "every flush"),
    Fault("lost_program", "1 in 40 program operations"),
    Fault("torn_program", "1 in 40 program operations"),
    Fault("misdirected_program", "1 in 40 program operations"),
    Fault(
        "bit_rot",
        "random reads have bit errors, mostly in pages with many writes",
        of_reads=True,
    ),
    Fault("stuck_block", "1 in 16 groups of pages"),
)


@dataclass
class Seen:
    """Output of a program: rows with their times, errors, and the time of the last line."""

    acknowledged: list[int] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    last: float = 0.0


def run(engine: str, fault: Fault, folder: Path, image: Path) -> dict[str, Any]:
    """Runs one engine with one fault, on a copy of a prepared image. Returns the result."""
    copy = folder / "device.img"
    subprocess.run(["cp", "--sparse=always", image, copy], check=True)
    place = folder / "mounted"
    with nacre.devices.served(STACK, image=copy) as device:
        seen, hung, struck = worked(engine, fault, folder, place, device)
        if not fault.of_reads:
            device.control.clear_fault()
        result = checked(engine, folder, place, device, seen)
    copy.unlink()
    return {
        "engine": engine,
        "fault": fault.name,
        "said": fault.said,
        "hung": hung,
        "struck": struck,
        "acknowledged": len(seen.acknowledged),
        "errors": len(seen.errors),
        "error": seen.errors[0] if seen.errors else "",
        "slowest_s": max(seen.times_s, default=0.0),
        "p50_s": quantile(seen.times_s, 0.5),
        "p99_s": quantile(seen.times_s, 0.99),
        **result,
    }


def worked(
    engine: str, fault: Fault, folder: Path, place: Path, device: nacre.devices.Served
) -> tuple[Seen, bool, int]:
    """Runs the engine with the fault, and cuts power.

    Returns the output of the engine, whether the engine hung, and the number of affected requests.
    """
    seen = Seen()
    with mounted(device.uri, folder):
        command = [PYTHON, WORKER, engine, "work", place, folder / "sockets"]
        process = subprocess.Popen(
            command,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        reader = threading.Thread(target=listen, args=(process, seen), daemon=True)
        reader.start()
        until = time.monotonic() + 30
        while len(seen.acknowledged) < SETTLED_ROWS and time.monotonic() < until:
            time.sleep(0.01)
        began = len(seen.times_s)
        add(fault, device)
        time.sleep(OBSERVED_S)
        hung = process.poll() is None and time.monotonic() - seen.last > HUNG_S
        # Ignore later output.
        counted = Seen(list(seen.acknowledged), seen.times_s[began:], list(seen.errors), seen.last)
        struck = told(fault, device)
        device.control.power_fail()
        end(process)
    return counted, hung, struck


def end(process: subprocess.Popen[str]) -> None:
    """Kills the program and its server, as a power loss would."""
    with_all(process.pid, signal.SIGKILL)
    process.wait()


def with_all(group: int, number: signal.Signals) -> None:
    """Sends a signal to a session and to all descendant processes."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    stack, found = [group], []
    while stack:
        pid = stack.pop()
        found.append(pid)
        stack += children.get(pid, [])
    for pid in found:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def listen(process: subprocess.Popen[str], seen: Seen) -> None:
    """Records the output of a program."""
    assert process.stdout is not None  # noqa: S101  (it has a pipe)
    for line in process.stdout:
        word, _, rest = line.strip().partition(" ")
        seen.last = time.monotonic()
        if word == "ok":
            number, took_s = rest.split()
            seen.acknowledged.append(int(number))
            seen.times_s.append(float(took_s))
        elif word == "error":
            seen.errors.append(rest)


def add(fault: Fault, device: nacre.devices.Served) -> None:
    """Adds the fault to the device."""
    if fault.settings is not None:
        device.control.add_fault(fault.name, fault.settings)
    elif fault.name != "none":
        device.control.medium_fault(fault.name, seed=1)


def told(fault: Fault, device: nacre.devices.Served) -> int:
    """Returns the number of requests or medium operations that the fault affected."""
    if fault.settings is not None:
        return sum(each.touched for each in device.control.faults())
    if fault.name == "none":
        return 0
    struck = device.control.medium_fault()
    if fault.of_reads:
        device.control.medium_fault(fault.name, seed=1)
    return struck


def checked(
    engine: str, folder: Path, place: Path, device: nacre.devices.Served, seen: Seen
) -> dict[str, Any]:
    """Mounts the file system, and reads every acknowledged row. Returns the result."""
    rows = folder / "acknowledged"
    rows.write_text("\n".join(map(str, seen.acknowledged)))
    try:
        with mounted(device.uri, folder):
            command = [PYTHON, WORKER, engine, "check", place, folder / "sockets", rows]
            done = subprocess.run(
                command, text=True, capture_output=True, timeout=CHECK_S, check=False
            )
            return dict(json.loads(done.stdout.strip().splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return {"failed": "the check did not end", "missing": 0, "wrong": 0, "rows": 0}
    except (RuntimeError, IndexError, ValueError) as error:
        return {"failed": f"not readable: {error}", "missing": 0, "wrong": 0, "rows": 0}


def outcome(of: Mapping[str, Any]) -> str:
    """Returns the worst outcome of the rows, e.g. `corrupted`, `lost`, or `survived`."""
    if of["failed"] or of["wrong"]:
        return "corrupted"
    if of["missing"]:
        return "lost"
    if of["hung"]:
        return "hung"
    return "failed, nothing lost" if of["errors"] else "survived"


@contextmanager
def mounted(uri: str, folder: Path) -> Iterator[None]:
    """Mounts the existing ext4 file system of the device while the block runs."""
    fuse, place = folder / "fuse", folder / "mounted"
    for each in (fuse, place):
        each.mkdir(parents=True, exist_ok=True)
    loop = ""
    with subprocess.Popen(
        ["nbdfuse", fuse, uri], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            until = time.monotonic() + 20
            while not (fuse / "nbd").exists():
                if time.monotonic() > until:
                    raise RuntimeError("nbdfuse did not reach the device")
                time.sleep(0.02)
            loop = asked("losetup", "--find", "--show", "--direct-io=on", fuse / "nbd")
            if not (folder / "made").exists():
                asked("mkfs.ext4", "-q", "-F", "-E", "nodiscard", loop)
                (folder / "made").touch()
            asked("mount", "-o", "errors=remount-ro", loop, place)
            yield
        finally:
            quietly("umount", "--lazy", place)
            if loop:
                quietly("losetup", "--detach", loop)
            quietly("fusermount3", "-u", "-z", fuse)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def asked(*command: str | Path) -> str:
    """Runs a command and returns its output. Raises `RuntimeError` if it fails."""
    done = subprocess.run(command, text=True, capture_output=True, timeout=CHECK_S, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()


def quietly(*command: str | Path) -> None:
    """Runs a program that may fail."""
    subprocess.run(command, capture_output=True, timeout=CHECK_S, check=False)


def quantile(values: Sequence[float], share: float) -> float:
    """Returns the quantile `share` of the values, or 0 if there are none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def prepared(engine: str, folder: Path) -> Path:
    """Creates an image with a file system and a database without rows.

    Returns the path of the image.
    """
    image = folder / f"{engine}.img"
    with nacre.devices.served(STACK, image=image) as device, mounted(device.uri, folder):
        command = [PYTHON, WORKER, engine, "make", folder / "mounted", folder / "sockets"]
        subprocess.run(command, check=True)
        os.sync()
    return image


def all_of(engine: str, faults: Sequence[Fault]) -> list[dict[str, Any]]:
    """Runs one engine with these faults, one after another."""
    found = []
    folder = Path(tempfile.mkdtemp(prefix=f"nacre-{engine}-"))
    folder.chmod(0o755)
    try:
        image = prepared(engine, folder)
        for fault in faults:
            of = run(engine, fault, folder, image)
            tell(json.dumps(of))
            found.append(of)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def tell(line: str) -> None:
    """Prints a line, and flushes standard output."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Runs all engines with all faults, and writes the page."""
    parser = argparse.ArgumentParser(description="Databases under every fault.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--faults", default="", help="fault numbers from 0, e.g. 0,3; default: all")
    parser.add_argument("--from-lines", type=Path, help="saved results to use instead of runs")
    given = parser.parse_args()
    engines = given.engines.split(",")
    if given.from_lines:
        lines = given.from_lines.read_text().splitlines()
        found = [json.loads(line) for line in lines if line.startswith("{")]
    else:
        with ThreadPoolExecutor(len(engines)) as pool:
            numbers = [int(number) for number in given.faults.split(",") if number]
            faults = [FAULTS[number] for number in numbers or range(len(FAULTS))]
            runs = pool.map(lambda engine: all_of(engine, faults), engines)
            found = [of for each in runs for of in each]
    given.page.write_text(page(found, engines))


def page(found: Sequence[Mapping[str, Any]], engines: Sequence[str]) -> str:
    """Returns the documentation page."""
    by = {(of["engine"], of["fault"], of["said"]): of for of in found}
    tables = {
        "engines": [f"| {ENGINES[engine]} | {SETTINGS[engine]} |" for engine in engines],
        "outcomes": outcomes(by, engines),
        "stall": stalled(by, engines),
        "said": [],
    }
    # If a run was repeated, the last result is used.
    for of in by.values():
        said = of["failed"] or (of["errors"] and of["error"])
        if said and of["engine"] in engines:
            text = first_words(said)
            tables["said"].append(
                f"| {ENGINES[of['engine']]} | {of['fault']}, {of['said']} | {text} |"
            )
    text = TEMPLATE.read_text()
    for name, lines in tables.items():
        text = text.replace(f"@{name}@", "\n".join(lines))
    return text


Runs: TypeAlias = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Results by engine, fault, and description of the fault."""


def first_words(said: str) -> str:
    """Returns the first sentence of a message, without the folders of this run."""
    text = re.sub(r"/\S*/nacre-[^/ ]*/", "", said.partition("\n")[0])
    text = re.sub(r"\S+: cannot mount", "cannot mount", text.partition(" on /dev/")[0])
    return text.replace("b'", "'").replace("|", "/").replace("`", "'")[:160]


def outcomes(by: Runs, engines: Sequence[str]) -> list[str]:
    """Returns the lines of the table of results."""
    names = " | ".join(ENGINES[engine] for engine in engines)
    head = f"| fault | effect or affected requests | {names} |"
    lines = [head, "|---|---|" + "---|" * len(engines)]
    for fault in FAULTS:
        found = [by.get((engine, fault.name, fault.said)) for engine in engines]
        cells = ["not run" if of is None else cell(of) for of in found]
        name = "" if fault.name == "none" else f"`{fault.name}`"
        lines.append(f"| {name} | {fault.said} | {' | '.join(cells)} |")
    return lines


def stalled(by: Runs, engines: Sequence[str]) -> list[str]:
    """Returns the lines of the table of commit times with and without a stall."""
    lines = []
    for engine in engines:
        for name, said in (("none", "power cut alone"), ("stall", "no replies for 5 s")):
            if of := by.get((engine, name, said)):
                what = "without a fault" if name == "none" else "with the stall"
                times = " | ".join(milliseconds(of[key]) for key in ("p50_s", "p99_s", "slowest_s"))
                lines.append(f"| {ENGINES[engine]}, {what} | {of['acknowledged']:,} | {times} |")
    return lines


def cell(of: Mapping[str, Any]) -> str:
    """Formats one result with its details."""
    detail = []
    if of["missing"]:
        detail.append(f"{of['missing']:,} of {of['acknowledged']:,} rows missing")
    if of["wrong"]:
        detail.append(f"{of['wrong']:,} rows wrong")
    if of["failed"]:
        detail.append("reported" if not of["wrong"] else "also reported")
    elif of["wrong"]:
        detail.append("**not reported**")
    if of["errors"]:
        detail.append(f"{of['errors']:,} errors")
    if of["fault"] != "none" and not of["struck"]:
        detail.append("no request affected")
    word = outcome(of)
    return f"{word} ({', '.join(detail)})" if detail else word


def milliseconds(seconds: float) -> str:
    """Formats a time in milliseconds."""
    return f"{seconds * 1e3:,.1f} ms"


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("this mounts file systems: run it as root")
    main()
