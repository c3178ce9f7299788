"""Measures libCacheSim on the request streams of the benchmarks.

Prints requests per second of processor time, the best of three, as JSON.

usage: rivals.py FOLDER     FOLDER holds the streams that `nacre-bench streams` wrote
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import libcachesim as lcs  # type: ignore[import-not-found]

POLICIES = {
    "lru": lcs.LRU,
    "fifo": lcs.FIFO,
    "clock": lcs.Clock,
    "two_q": lcs.TwoQ,
    "arc": lcs.ARC,
    "lirs": lcs.LIRS,
    "s3_fifo": lcs.S3FIFO,
    "sieve": lcs.Sieve,
    "w_tinylfu": lcs.WTinyLFU,
}
CACHE_BLOCKS = {"zipf1.0-1M": 100_000, "zipf0.8-8M": 800_000}
REPEATS = 3
RECORD_BYTES = 24


def rate(policy: str, trace: Path) -> float:
    """Return the requests per second of processor time for a policy on a stream."""
    requests = trace.stat().st_size // RECORD_BYTES
    best = float("inf")
    for _ in range(REPEATS):
        parameters = lcs.ReaderInitParam(ignore_obj_size=True)
        reader = lcs.TraceReader(str(trace), lcs.TraceType.ORACLE_GENERAL_TRACE, parameters)
        cache = POLICIES[policy](CACHE_BLOCKS[trace.stem])
        start = time.process_time()
        cache.process_trace(reader)
        best = min(best, time.process_time() - start)
    return requests / best


def main(folder: Path) -> None:
    """Measure every policy on every stream."""
    traces = sorted(folder.glob("*.oracleGeneral"))
    rates = {
        f"{policy}/{trace.stem}": rate(policy, trace) for trace in traces for policy in POLICIES
    }
    sys.stdout.write(json.dumps(rates, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
