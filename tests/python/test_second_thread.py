"""Tests runs that use a second thread to generate requests and compute statistics.

The record equals the record of a run with one thread, and a run ends without waiting for the second
thread.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from serving import NACRE

CACHE = """
[workload]
kind = "zipf"
requests = 200_000
footprint = "64 MiB"
read_share = "70 %"
arrival = { kind = "poisson", rate = "10 kHz" }
[run]
warm_up = 50_000
[stack]
kind = "server_cache"
backing = { preset = "network_store" }
[[stack.level]]
device = { preset = "pcm_ssd", capacity = "8 MiB" }
"""

PIPE = """
[workload]
kind = "trace"
file = "pipe.csv"
format = "nacre_csv"
placement = "as_recorded"
[stack]
kind = "measured"
capacity = "1 GiB"
read = "1 us"
write = "1 us"
"""

ON_ONE = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Program that runs a command on a single processor."""


def test_a_record_is_the_same_on_one_processor_and_on_several(tmp_path: Path) -> None:
    (tmp_path / "cache.toml").write_text(CACHE)
    several = [str(NACRE), "run", "cache.toml", "--seed", "7", "--out", "several"]
    one = [sys.executable, "-c", ON_ONE, *several[:-1], "one"]
    for command in (one, several):
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60, stdout=subprocess.DEVNULL)
    records = [(tmp_path / name / "record.json").read_bytes() for name in ("one", "several")]
    assert b'"completed": 150000' in records[0]
    assert records[0] == records[1]


def test_an_error_in_a_pipe_is_reported_while_the_pipe_is_open(tmp_path: Path) -> None:
    (tmp_path / "replay.toml").write_text(PIPE)
    os.mkfifo(tmp_path / "pipe.csv")
    run = subprocess.Popen(
        [str(NACRE), "run", "replay.toml"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        stdout=subprocess.DEVNULL,
    )
    # The address follows the first batches, but is so close to the end that the second thread would
    # wait for input.
    offsets = [1 << 40 if number == 36_000 else number % 4096 * 4096 for number in range(50_000)]
    lines = "".join(f"{number},read,{at},4096\n" for number, at in enumerate(offsets))
    with run, (tmp_path / "pipe.csv").open("wb", buffering=0) as pipe:
        with suppress(BrokenPipeError):
            pipe.write(f"timestamp_us,op,offset,length\n{lines}".encode())
        _, said = run.communicate(timeout=60)
    assert run.returncode == 2
    assert "request 36001 reaches to byte" in said
