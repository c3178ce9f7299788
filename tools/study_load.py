"""Measures the processor utilization of a study, and its overhead per point.

    python tools/study_load.py --points 2000 --seconds 1

The program runs the given number of points, of about the given duration, on all cores. It prints
the processor time of all processes divided by wall time and cores. It also prints the share of the
workers' time that is spent in points, and how the remaining time is spent. The program then repeats
this with very short points, which shows the overhead per point. Other load on the machine reduces
the first number, but not the second.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nacre
import polars as pl
from nacre.studies.engines.local import cores

TRIAL = 200_000


def scenario(requests: int) -> dict[str, Any]:
    """Returns a small scenario with this number of requests."""
    return {
        "workload": {
            "kind": "zipf",
            "footprint": "64 MiB",
            "requests": requests,
            "arrival": {"kind": "closed", "queue_depth": 4},
        },
        "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
    }


def measured(points: int, requests: int, engine: str) -> None:
    """Runs a study, and prints its processor times."""
    study = {
        "scenario": scenario(requests),
        "axis": [{"path": "workload.theta", "range": {"from": 0.0, "to": 1.2, "points": points}}],
    }
    marks: dict[str, float] = {}

    def watch(done: int, total: int) -> None:
        marks.setdefault("planned", time.monotonic())
        if done:
            marks.setdefault("first", time.monotonic())
        if done == total:
            marks.setdefault("last", time.monotonic())

    with tempfile.TemporaryDirectory() as folder:
        began, used = time.monotonic(), processor_s()
        nacre.study(study, engine=engine, out=folder, progress=watch)  # type: ignore[arg-type]
        ended, used = time.monotonic(), processor_s() - used
        seconds = pl.read_parquet(Path(folder, "points"))["seconds"]
    wall, number = ended - began, cores()
    inside, mean = float(seconds.sum()), float(seconds.mean() or 0.0)  # type: ignore[arg-type]
    sys.stdout.write(
        f"{points} points of {1000 * mean:.2f} ms: {wall:.1f} s;"
        f" processors {100 * used / wall / number:.1f} % busy,"
        f" workers in points {100 * inside / wall / number:.1f} % of the time,"
        f" {1000 * (wall * number - inside) / points:.3f} ms next to each point\n"
        f"  {marks['planned'] - began:.2f} s until the points are known,"
        f" {max(marks['first'] - marks['planned'] - mean, 0.0):.2f} s until workers have begun,"
        f" {ended - marks['last']:.2f} s behind the last point;"
        f" between, workers in points"
        f" {100 * inside / number / (marks['last'] - marks['planned']):.1f} % of the time\n"
    )


def processor_s() -> float:
    """Returns the processor time of this process and its workers in seconds."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> int:
    """Measures long points, and then short points. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--short", type=int, default=5000)
    parser.add_argument("--engine", default="local")
    options = parser.parse_args()
    nacre.run(scenario(TRIAL))
    began = time.process_time()
    nacre.run(scenario(10 * TRIAL))
    requests = round(10 * TRIAL * options.seconds / (time.process_time() - began))
    measured(options.points, requests, options.engine)
    measured(options.short, 100, options.engine)
    return 0


if __name__ == "__main__":
    sys.exit(main())
