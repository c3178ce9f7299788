"""Sysbench on a file system on served devices: eMLC, PCM, and a PCM cache over eMLC.

    python tools/sysbench_served.py --dilate 100 --requests 2000 --set workload.footprint="32 MiB"

makes the runs of `nacre reproduce pcm-enterprise/sysbench` with another dilation, more requests or
other settings, and prints reads a second in the device's own time, that is, times the dilation.
sysbench reads its files uniformly, regardless of --rand-type.

Needs root, /dev/fuse, loop devices and some programs; it says which of them are missing.
"""

from __future__ import annotations

import argparse
import sys
import threading
from dataclasses import replace

from nacre.papers.running.served import NotRunError, run
from nacre.papers.spec.paper import find

GROUP = "sysbench"


def main() -> int:
    """Runs every device with every number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dilate", type=float, help="how many times slower devices are")
    parser.add_argument("--requests", type=int, help="reads of each run")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    options = parser.parse_args()
    given = dict(assignment.partition("=")[::2] for assignment in options.set)
    if options.requests:
        given["workload.requests"] = str(options.requests)
    for point in find("pcm-enterprise").plan[GROUP].points({}):
        settings = tuple(sorted({**dict(point.job.settings), **given}.items()))
        dilate = options.dilate or point.job.dilate
        try:
            found = run(replace(point.job, settings=settings, dilate=dilate), threading.Event())
        except NotRunError as error:
            sys.stderr.write(f"not run: {error}\n")
            return 2
        if found:
            late = f"{found.server.late} of {found.server.answered} answers late"
            rate = f"{found.throughput.iops:10,.0f} reads/s"
            sys.stdout.write(f"{point.name:40}{rate}   {late}\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
