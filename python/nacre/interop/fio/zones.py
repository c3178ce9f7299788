"""Converts writes of zones (`zonemode=zbd`) to a log workload.

The workload resets and fills zones sequentially.

Sources: `zonemode`, `zonesize`, and `max_open_zones` in the fio manual, and `zbd.c`. fio starts
each write at the write pointer of a zone, and resets a full zone before it rewrites the zone.
"""

from __future__ import annotations

from dataclasses import dataclass

from nacre.base.text import numbered
from nacre.interop.fio.numbers import exactly
from nacre.interop.fio.pattern import WRITE, Pattern
from nacre.interop.fio.reader import Reader

_LEAST = 2
"""Minimum number of zones of a log workload."""


@dataclass(frozen=True)
class ZoneLog:
    """Zones that a job writes, with sizes in bytes."""

    start: int
    zone: int
    count: int
    open_zones: int
    """Number of zones that are written at the same time."""
    request: int

    def table(self) -> dict[str, object]:
        """Returns the table of the workload, without arrivals and number of requests."""
        table: dict[str, object] = {
            "kind": "log",
            "footprint": exactly(self.count * self.zone),
            "zone": exactly(self.zone),
            "request": exactly(self.request),
        }
        if self.open_zones > 1:
            table["open_zones"] = self.open_zones
        if self.start:
            table["start"] = exactly(self.start)
        return table

    def with_resets(self, writes: int) -> int:
        """Returns the number of requests for `writes` writes, including resets.

        Each zone is reset before its first write.
        """
        groups, rest = divmod(writes, self.zone // self.request * self.open_zones)
        return writes + groups * self.open_zones + min(rest, self.open_zones)


def zone_log(job: Reader, asked: Pattern) -> ZoneLog | None:
    """Converts a job that writes zones to a log workload.

    Returns `None` if the job does not write zones, or if a log workload cannot represent it.
    """
    mode = job.settings.get("zonemode")
    if mode is None or mode.value.strip() != "zbd" or set(asked.directions) != {WRITE}:
        return None
    request, zone = asked.only_size, job.size("zonesize", None, "a zone")
    if job.problems:
        return None
    problem = _problem(asked, request, zone)
    if request is None or zone is None or problem:
        job.no("zonesize", problem or "it is not given: here the zones of the device are unknown")
        return None
    first = -(-asked.start // zone)
    count = (asked.start + asked.bytes) // zone - first
    if count < _LEAST:
        job.no("zonesize", f"the job has {numbered(max(count, 0), 'whole zone')}, and a log two")
        return None
    job.take("zonemode")
    open_zones = min(_open_zones(job, asked), count)
    count -= count % open_zones
    log = ZoneLog(first * zone, zone, count, open_zones, request)
    if (log.start, log.count * zone) != (asked.start, asked.bytes):
        job.no("size", f"{numbered(count, 'zone')} of its bytes are used: whole zones")
    return log


def _problem(asked: Pattern, request: int | None, zone: int | None) -> str:
    """Returns why a log workload cannot represent the writes of a job, or an empty string."""
    if request is None:
        return "its requests have several sizes, and those of a log have one"
    if asked.modifier:
        return f'rw has ":{asked.modifier}", and a log has no gaps'
    if zone is not None and (not zone or zone % request):
        return "it is not a whole number of requests"
    return ""


def _open_zones(job: Reader, asked: Pattern) -> int:
    """Returns the number of zones that are written at the same time.

    This number is one for a sequential job, and `max_open_zones` for other jobs.
    """
    limit = job.count("max_open_zones", 0, least=0)
    if asked.kind == "sequential":
        return 1
    job.flag("norandommap")
    if not limit:
        job.no("max_open_zones", "it is not given: fio writes any zone, here one after the other")
        return 1
    job.no("max_open_zones", f"fio writes a random one of {limit} zones, here they take turns")
    return limit
