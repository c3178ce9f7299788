"""Compares imported jobs with fio: number of requests, sizes, directions, and addresses.

fio runs each job with its engine `null`, which does nothing, and logs the requests.
"""

from __future__ import annotations

import math
import subprocess
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from nacre.interop import fio
from serving import needs

_UNITS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}
Kind = tuple[str, int]


class Asked(NamedTuple):
    """Requests by direction and size, with their range of addresses."""

    number: int
    kinds: dict[Kind, float]
    start: int
    end: int


JOBS = {
    "plain": "rw=read\nbs=16k\nsize=4m\n",
    "units": "rw=write\nbs=4KiB\nsize=4MiB\n",
    "true units": "kb_base=1000\nrw=write\nbs=4KiB\nsize=4MB\n",
    "uneven": "rw=read\nbs=4096\nsize=100000\n",
    "amount": "rw=randwrite\nnorandommap\nbs=4k\nsize=1m\nio_size=2500000\n",
    "loops": "rw=read\nbs=4k\nsize=1m\nloops=3\n",
    "number": "rw=randread\nbs=4k\nsize=4m\nnumber_ios=100\nloops=2\n",
    "mixed": "rw=randrw\nrwmixread=70\nnorandommap\nbs=4k\nsize=16m\n",
    "mixed in turn": "rw=rw\nrwmixwrite=30\nbs=4k\nsize=16m\n",
    "sizes by direction": "rw=randrw\nnorandommap\nbs=4k,16k\nsize=64m\n",
    "sizes by direction in turn": "rw=rw\nbs=8k,\nsize=16m\n",
    "split": "rw=randread\nnorandommap\nbssplit=4k/10:64k/50:32k/\nsize=256m\n",
    "split by direction": "rw=randrw\nnorandommap\nbssplit=4k/60:8k/40,16k/100\nsize=64m\n",
    "range": "rw=randwrite\nnorandommap\nbsrange=4k-18k\nsize=64m\n",
    "range of one": "rw=write\nbsrange=4k-4k\nsize=4m\n",
    "trims": "rw=randtrim\nnorandommap\nbs=64k\nsize=64m\n",
    "stride that ends": "rw=read:8k\nbs=4k\nsize=1m\n",
    "stride that begins anew": "rw=read:4k\nbs=4k\nsize=1m\n",
    "offset": "rw=randread\noffset=3m\nbs=4k\nsize=1m\n",
    "files": "rw=read\nfilesize=1m\nnrfiles=3\nbs=4k\n",
    "file larger than size": "rw=read\nfilesize=4m\nsize=1m\nbs=4k\n",
    "zones": "rw=randread\nnorandommap\nbs=4k\nsize=64m\nrandom_distribution=zoned:60/10:40/\n",
    "comments": "rw=read;write\nbs=4k # blocks\nsize=1m\t; region\n",
    "later one counts": "rw=read\nreadwrite=write\nbs=4k\nblocksize=8k\nsize=1m\n",
}


@pytest.mark.parametrize("name", JOBS)
def test_an_imported_job_sends_the_requests_of_fio(tmp_path: Path, name: str) -> None:
    asked, scenario = of_fio(tmp_path, JOBS[name]), of_scenario(tmp_path, JOBS[name])
    spread = len(scenario.kinds) > 1
    # If there are several sizes, fio stops after a number of bytes, so the number of requests is
    # random.
    sizes = {size for _, size in scenario.kinds}
    slack = 5 * math.sqrt(asked.number) if len(sizes) > 1 else 0
    assert abs(asked.number - scenario.number) <= slack
    assert set(asked.kinds) == set(scenario.kinds)
    for kind, share in scenario.kinds.items():
        error = math.sqrt(share * (1 - share) / asked.number) if spread else 0
        assert asked.kinds[kind] == pytest.approx(share, abs=5 * error + 1e-9), kind
    assert scenario.start <= asked.start
    assert asked.end <= scenario.end
    # Reads and writes each access their share of the region.
    if "in turn" not in name:
        assert asked.end - asked.start > 0.9 * (scenario.end - scenario.start)


@pytest.mark.parametrize(
    ("job", "reads", "writes"),
    [
        ("rw=randrw\nrate_iops=400\n", 400, 400),
        ("rw=randrw\nrwmixread=70\nrate_iops=400,200\n", 400, 200),
        ("rw=randrw\nbs=4k,8k\nrate=1m\n", 256, 128),
        ("rw=randread\nrate_iops=,400\nthinktime=2000\niodepth=32\n", 500, 0),
    ],
)
def test_rates_are_those_of_fio(tmp_path: Path, job: str, reads: int, writes: int) -> None:
    """Compares the imported rates with the rates that fio reaches. A busy host reaches lower
    rates."""
    job = f"{job}norandommap\nsize=64m\ntime_based\nruntime=1\n"
    found = of_fio(tmp_path, job)
    counted = Counter(dict.fromkeys(("read", "write"), 0))
    for (op, _), share in found.kinds.items():
        counted[op] += round(share * found.number)
    # A host under load sends fewer requests, but never many more.
    assert counted["read"] <= reads * 1.1 + 2
    assert counted["write"] <= writes * 1.1 + 2
    table = tomllib.loads(imported(tmp_path, job).text)["workload"]
    arrival = table["arrival"]
    if "rate" in arrival:
        assert float(arrival["rate"].removesuffix(" Hz")) == reads + writes
    else:
        assert arrival["queue_depth"] / float(arrival["think"].removesuffix(" s")) == reads


def of_fio(tmp_path: Path, job: str) -> Asked:
    """Runs a job in fio with the engine `null`. Requests are serial, so that the log contains each
    request once."""
    fio, log = needs("fio", "fio"), tmp_path / "asked.log"
    (tmp_path / "run.fio").write_text(f"[job]\n{job}ioengine=null\niodepth=1\nwrite_iolog={log}\n")
    done = subprocess.run(
        [fio, "run.fio"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    kinds: Counter[Kind] = Counter()
    files: dict[str, int] = {}
    start, end = 1 << 62, 0
    for line in log.read_text().splitlines()[1:]:
        fields = line.split()
        if fields[-1] in ("add", "open", "close"):
            continue
        name, op, offset, size = fields[-4:]
        # The job uses its files one after another.
        place = files.setdefault(name, len(files) << 20) + int(offset)
        kinds[op, int(size)] += 1
        start, end = min(start, place), max(end, place + int(size))
    number = kinds.total()
    return Asked(number, {kind: count / number for kind, count in kinds.items()}, start, end)


def imported(tmp_path: Path, job: str) -> fio.FioScenario:
    file = tmp_path / "job.fio"
    file.write_text(f"[job]\n{job}")
    return fio.scenario(file)


def of_scenario(tmp_path: Path, job: str) -> Asked:
    """Returns the requests that the imported scenario describes."""
    table: dict[str, Any] = tomllib.loads(imported(tmp_path, job).text)["workload"]
    parts = table.get("part", [{"pattern": table}])
    given = sum(ratio(part["share"]) for part in parts if "share" in part)
    kinds: dict[Kind, float] = defaultdict(float)
    start, end = 1 << 62, 0
    for part in parts:
        share, pattern = ratio(part["share"]) if "share" in part else 1 - given, part["pattern"]
        reads, trims = ratio(pattern["read_share"]), ratio(pattern.get("trim_share", "0 %"))
        for op, of_part in (("read", reads), ("trim", trims), ("write", 1 - reads - trims)):
            if of_part > 0:
                kinds[op, in_bytes(pattern["request"])] += share * of_part
        first = in_bytes(pattern.get("start", "0 B"))
        start, end = min(start, first), max(end, first + in_bytes(pattern["footprint"]))
    return Asked(table["requests"], dict(kinds), start, end)


def ratio(text: str) -> float:
    return float(text.removesuffix(" %")) / 100


def in_bytes(size: str) -> int:
    number, unit = size.split()
    return int(number) << _UNITS[unit]
