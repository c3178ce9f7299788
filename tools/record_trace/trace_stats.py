"""Describes a trace: counts, sizes, footprint, and hit ratios of LRU caches.

Requests are split into blocks of 4 KiB. Every block that is read or written is inserted into the
cache, and trimmed blocks are removed. The hit ratio includes only reads of blocks.
"""

from __future__ import annotations

import argparse
import csv
import sys
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

BLOCK: Final = 4096
READ: Final = 0
WRITE: Final = 1
TRIM: Final = 2
CODES: Final = {"read": READ, "write": WRITE, "trim": TRIM}


class Requests(NamedTuple):
    """Requests that transfer or trim data, as columns to save memory."""

    codes: array[int]
    firsts: array[int]
    ends: array[int]


def _load(path: Path) -> tuple[Requests, Counter[str], Counter[str], int]:
    """Reads a trace.

    Returns the requests, counts and bytes by operation, and the duration in microseconds.
    """
    codes, firsts, ends = array("b"), array("q"), array("q")
    counts: Counter[str] = Counter()
    volume: Counter[str] = Counter()
    earlier = 0
    with path.open(newline="", encoding="ascii") as file:
        for row in csv.DictReader(file):
            now, op = int(row["timestamp_us"]), row["op"]
            offset, length = int(row["offset"]), int(row["length"])
            if now < earlier:
                raise ValueError(f"time runs backwards at {now} us")
            earlier = now
            counts[op] += 1
            volume[op] += length
            if op in CODES:
                codes.append(CODES[op])
                firsts.append(offset // BLOCK)
                ends.append(-(-(offset + length) // BLOCK))
    return Requests(codes, firsts, ends), counts, volume, earlier


def _spans(requests: Requests) -> Iterator[tuple[int, range]]:
    for code, first, end in zip(*requests, strict=True):
        yield code, range(first, end)


def _lru_read_hits(requests: Requests, capacity: int) -> tuple[int, int]:
    """Returns the number of block reads that hit in an LRU cache of `capacity` blocks.

    Also returns the number of all block reads.
    """
    cache: OrderedDict[int, None] = OrderedDict()
    hits = reads = 0
    for code, blocks in _spans(requests):
        if code == TRIM:
            for block in blocks:
                cache.pop(block, None)
            continue
        for block in blocks:
            if block in cache:
                cache.move_to_end(block)
                hits += code == READ
            else:
                cache[block] = None
                if len(cache) > capacity:
                    cache.popitem(last=False)
            reads += code == READ
    return hits, reads


def describe(path: Path) -> Iterator[str]:
    """Yields the lines of the description of a trace."""
    requests, counts, volume, duration_us = _load(path)
    touched: set[int] = set()
    read: set[int] = set()
    written: set[int] = set()
    for code, blocks in _spans(requests):
        if code != TRIM:
            touched.update(blocks)
            (read if code == READ else written).update(blocks)

    yield f"requests   {counts.total()} in {duration_us / 1e6:.1f} s"
    for op, count in counts.most_common():
        mean = volume[op] / count / 1024
        yield f"  {op:8} {count:9}  {volume[op] / 2**20:9.1f} MiB  mean {mean:.1f} KiB"
    transfers = counts["read"] + counts["write"]
    if transfers:
        yield f"reads      {100 * counts['read'] / transfers:.1f} % of reads and writes"
    for name, seen in (("footprint", touched), ("  read", read), ("  written", written)):
        yield f"{name:10} {len(seen) * BLOCK / 2**20:.1f} MiB, {len(seen)} blocks of 4 KiB"
    yield "LRU, read hit ratio by cache size in % of the footprint"
    for percent in (1, 2, 5, 10, 25, 50, 100):
        hits, reads = _lru_read_hits(requests, max(1, len(touched) * percent // 100))
        if reads:
            yield f"  {percent:3} %    {100 * hits / reads:5.1f} %"


def main() -> None:
    """Prints the description of a trace."""
    parser = argparse.ArgumentParser(description="Describe a trace in CSV.")
    parser.add_argument("trace", type=Path)
    arguments = parser.parse_args()
    for line in describe(arguments.trace):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
