"""Converts the requests of a job into a workload, i.e. one pattern or a mix of patterns."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from nacre.interop.fio import numbers
from nacre.interop.fio.grammar import Setting
from nacre.interop.fio.numbers import exactly
from nacre.interop.fio.pattern import READ, TRIM, Pattern
from nacre.interop.fio.reader import Reader
from nacre.interop.fio.zones import ZoneLog

PARTS_MAX = 256
"""Maximum number of parts of a mix."""


@dataclass(frozen=True)
class _Zone:
    """A part of the region, and its share of the requests."""

    share: Fraction
    start: int
    bytes: int


def workload(job: Reader, asked: Pattern, log: ZoneLog | None) -> dict[str, object]:
    """Returns the table of the workload, without arrivals and number of requests."""
    if log is not None:
        return log.table()
    common, zones = _distribution(job, asked)
    _notes(job, asked, is_uniform=not common and len(zones) == 1)
    if asked.kind == "sequential":
        common = _stride(job, asked)
    tables = [
        (zone.share * share, _table(asked, zone, size, ops) | common)
        for zone in zones
        for share, size, ops in _kinds(asked)
    ]
    if len(tables) > PARTS_MAX:
        problem = f"its sizes, directions, and zones give {len(tables)} kinds of requests"
        job.wrong(
            "over-limit",
            "rw",
            problem,
            f"reduce them to at most {PARTS_MAX}, e.g. with fewer sizes in bssplit",
        )
    used = {zone.bytes // size * size for zone in zones for _, size, _ in _kinds(asked)}
    if 0 in used:
        job.wrong(
            "conflicting-settings",
            "random_distribution",
            "a zone is smaller than a request",
            "make the zone larger",
        )
    elif len(tables) == 1 and used != {asked.bytes}:
        job.no("size", f"{used.pop()} of its bytes are used, in whole requests")
    elif len(zones) == 1 and used != {asked.bytes}:
        job.no("size", f"{asked.bytes} B are a whole number of requests for some of the sizes only")
    if len(tables) == 1:
        return tables[0][1]
    if asked.kind == "sequential" and any(len(asked.sizes[at]) > 1 for at in asked.directions):
        job.no("bssplit", "in Nacre, each size has a separate position; in fio, all share one")
    *most, (_, last) = tables
    parts = [{"share": percent(share), "pattern": table} for share, table in most]
    return {"kind": "mix", "part": [*parts, {"pattern": last}]}


def percent(share: Fraction) -> str:
    """Formats a share as a percentage for a scenario."""
    return f"{float(100 * share):.12g} %"


def _kinds(asked: Pattern) -> list[tuple[Fraction, int, dict[int, Fraction]]]:
    """Returns share, size, and directions of each part.

    Random reads and writes with equal sizes form one part.
    """
    ops, sizes = asked.directions, asked.sizes
    first = next(iter(ops))
    together = asked.kind != "sequential" and all(sizes[at] == sizes[first] for at in ops)
    if len(ops) == 1 or together:
        return [(share, size, ops) for share, size in sizes[first]]
    return [
        (weight * share, size, {at: Fraction(1)})
        for at, weight in ops.items()
        for share, size in sizes[at]
    ]


def _table(asked: Pattern, zone: _Zone, size: int, ops: dict[int, Fraction]) -> dict[str, object]:
    start = asked.start + zone.start
    table: dict[str, object] = {
        "kind": asked.kind,
        "footprint": exactly(zone.bytes // size * size or size),
        "request": exactly(size),
        "read_share": percent(ops.get(READ, Fraction(0))),
    }
    if start:
        table["start"] = exactly(start)
    if TRIM in ops:
        table["trim_share"] = "100 %"
    return table


def _distribution(job: Reader, asked: Pattern) -> tuple[dict[str, object], list[_Zone]]:
    """Converts the distribution of random requests.

    Returns the settings of the pattern, and the zones with their shares of the requests.
    """
    all_of_it = [_Zone(Fraction(1), 0, asked.bytes)]
    setting = job.take("random_distribution")
    if setting is None or asked.kind != "uniform":
        return {}, all_of_it
    name, _, parameter = setting.value.strip().partition(":")
    if name == "zipf" and _is_number(parameter):
        return {"kind": "zipf", "theta": float(parameter)}, all_of_it
    if name in ("zoned", "zoned_abs") and "," not in parameter:
        zones = _zones(parameter, setting, asked.bytes, absolute=name == "zoned_abs")
        if zones is not None:
            return {}, zones
        hint = "write shares of accesses that add up to 100 and sizes, e.g. zoned:60/10:40/90"
        job.wrong(
            "invalid-value", "random_distribution", "it is not a list of zones", hint, setting
        )
    elif name != "random":
        job.no(
            "random_distribution",
            f'"{setting.value.strip()}": all blocks are equally likely in Nacre',
        )
    return {}, all_of_it


def _zones(text: str, setting: Setting, total: int, *, absolute: bool) -> list[_Zone] | None:
    """Parses zones from the start of the region.

    Zones have the form `60/10:40/`, or, with sizes in bytes, `60/10g:40/`. Returns `None` for other
    text.
    """
    shares, sizes = [], []
    for entry in text.split(":"):
        share_text, _, size_text = entry.partition("/")
        found = numbers.size(size_text, setting.kb_base) if size_text else None
        if not share_text.isdigit() or (size_text and found is None):
            return None
        shares.append(int(share_text))
        sizes.append(found if found is None or absolute else total * int(found) // 100)
    left = total - sum(size for size in sizes if size is not None)
    open_ = sizes.count(None)
    if sum(shares) != 100 or left < 0:
        return None
    zones, at = [], 0
    for share, size in zip(shares, sizes, strict=True):
        length = left // open_ if size is None else size
        if share and length:
            zones.append(_Zone(Fraction(share, 100), at, length))
        at += length
    return zones


def _stride(job: Reader, asked: Pattern) -> dict[str, object]:
    """Returns the stride of a sequential job that skips bytes (`rw=write:8k`)."""
    if not asked.modifier:
        return {}
    if asked.stride is not None:
        return {"stride": exactly(asked.stride)}
    what = "in Nacre, requests follow each other without a gap"
    job.no("rw", f'":{asked.modifier}" is not a whole number of requests to skip: {what}')
    return {}


def _notes(job: Reader, asked: Pattern, *, is_uniform: bool) -> None:
    if asked.kind == "sequential":
        return
    if asked.modifier:
        job.no("rw", f'":{asked.modifier}": in Nacre, every request goes to a new address')
    has_map = not job.flag("norandommap") and "ba" not in job.settings and is_uniform
    if not has_map:
        return
    job.no("norandommap", "not given: fio accesses each block once; in Nacre, blocks may repeat")
    if asked.only_size is None:
        job.no("norandommap", "fio shortens requests that overlap accessed blocks; Nacre does not")


def _is_number(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
