"""Summarizes traces as tables."""

from __future__ import annotations

from nacre.base.table import Table
from nacre.base.text import count, duration, percent, significant, size
from nacre.base.view import View

_NS = 1e9


def trace_facts(found: View) -> Table:
    """Returns a table of counts and amounts."""
    rows = [
        ["format", found.format + (f", times in {found.time_unit}" if found.time_unit else "")],
        ["requests", count(found.records)],
        ["reads", f"{count(found.reads)} ({percent(found.read_share)})"],
        ["writes", count(found.writes)],
        ["trims", count(found.trims)],
        ["flushes", count(found.flushes)],
        ["read", size(found.bytes_read)],
        ["written", size(found.bytes_written)],
        ["footprint", f"{size(found.footprint_bytes)} in blocks of 4 KiB"],
        ["4 KiB accesses", count(found.blocks_4k_accessed)],
        ["duration", duration(found.duration_s * _NS)],
        ["volumes", count(found.volumes)],
        ["sequential", percent(found.sequential_share)],
        ["not requests", count(found.skipped)],
        ["damaged", count(found.bad_records)],
    ]
    return Table("", ["", ""], [False, False], rows)


def trace_shape(found: View) -> Table:
    """Returns a table of popularity, reuse, misses, and arrival times."""
    profile = found.profile
    if not found.reads + found.writes:
        return Table("", ["", ""], [False, False], [])
    rows = []
    for share in (0.01, 0.1, 0.2):
        taken = percent(_share(profile.blocks, share))
        rows.append([f"hottest {percent(share)} of blocks", f"{taken} of accesses"])
    rows.append(
        ["hottest 10.0 % of extents", f"{percent(_share(profile.extents, 0.1))} of accesses"]
    )
    if profile.zipf_theta is not None:
        rows.append(["Zipf exponent", significant(profile.zipf_theta, 2)])
    for part in (0.01, 0.1):
        room, ratio = missed_by_lru(found, part)
        rows.append([f"LRU cache of {percent(part)}", f"{percent(ratio)} misses ({size(room)})"])
    if (reuse := profile.reuse) is not None and reuse.time_s:
        half = next(t for t, s in zip(reuse.time_s, reuse.share, strict=True) if s >= 0.5)
        rows.append(["median time to reuse", duration(half * _NS)])
    if (gaps := profile.gaps) is not None:
        rows.append(["mean time between arrivals", duration(gaps.mean_s * _NS)])
        variation = f"{significant(gaps.variation)} (Poisson: 1)"
        rows.append(["coefficient of variation", variation])
    if (sets := profile.working_set) is not None:
        rows += [
            [f"working set of {duration(window * _NS)}", size(amount)]
            for window, amount in zip(sets.window_s, sets.bytes, strict=True)
            if window in (1.0, 60.0, 3600.0, 86_400.0)
        ]
    if profile.sample_rate < 1:
        rows.append(["counted on", f"{percent(profile.sample_rate)} of the blocks"])
    return Table("", ["shape", ""], [False, False], rows)


def missed_by_lru(found: View, part: float) -> tuple[int, float]:
    """Returns the size in bytes of an LRU cache for the share `part` of the blocks.

    Also returns the miss ratio of this cache.
    """
    profile = found.profile
    misses = profile.misses
    # The smallest cache has one block. A share of a few blocks may be smaller.
    room = max(1, round(part * profile.blocks.count)) * profile.block_bytes
    # The curve is constant past its last size; a trace without reuse has no sizes.
    beyond = misses["all"][-1] if misses["all"] else 1.0
    curve = zip(misses.bytes, misses["all"], strict=True)
    return room, next((miss for upto, miss in curve if upto >= room), beyond)


def request_sizes(found: View) -> Table:
    """Returns a table of the most frequent request sizes."""
    rows = [
        [size(row.bytes), count(row.count), percent(row.count / found.records)]
        for row in found.sizes[:8]
    ]
    return Table("", ["request size", "requests", "share"], [True] * 3, rows)


def _share(popularity: View, hottest: float) -> float:
    """Returns the share of accesses to the most accessed blocks, interpolated linearly."""
    x0, y0 = 0.0, 0.0
    for x, y in zip(popularity.hottest, popularity.accesses, strict=True):
        if x >= hottest:
            return float(y0 + (y - y0) * (hottest - x0) / (x - x0))
        x0, y0 = x, y
    return 1.0
