"""Summarizes server statistics as tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from nacre.base.table import Table
from nacre.base.text import NOTHING, count, duration, percent, plural, significant, size, with_unit

if TYPE_CHECKING:
    from nacre.base.view import View
    from nacre.results.record import Component
    from nacre.results.served import (
        ExportStatistics,
        Harm,
        Outage,
        Recorded,
        ServedFault,
        Statistics,
    )

_TIMED = ("read", "write", "flush", "forced_write")
_MARKS = ("mean", "p50", "p95", "p99", "p999", "p9999", "max")
_SHOWN = {"p999": "p99.9", "p9999": "p99.99"}
SECTOR = 512
"""Size of a sector in bytes. Media errors affect whole sectors."""
_HARMS: Mapping[Harm, tuple[str, str]] = {
    "reads": ("reads fail until it is written", "reads fail until they are written"),
    "writes": ("writes fail until it is healed", "writes fail until they are healed"),
    "heal": ("works again", "work again"),
}
_SLOW = 0.01
"""If the share of late replies exceeds this value, the machine is too slow."""
_FEW = 100
"""Minimum number of replies before a warning, because the first replies are slow (cold caches)."""
_SLOWER = 1.1
"""If the median latency of clients, relative to the modeled median, exceeds this value, the machine
is too slow."""


def server_facts(found: Statistics) -> list[str]:
    """Returns sentences about the whole server."""
    connections = found.connections
    lines = [
        f"serving for {duration(found.up_s * 1e9)};"
        f" {_number(connections.now, 'client')} now, {count(connections.ever)} ever"
    ]
    if connections.dropped:
        dropped = _number(connections.dropped, "client")
        lines.append(f"{dropped} dropped; the last: {connections.last_drop}")
    return lines


def sectors(offset: int, length: int) -> tuple[int, int]:
    """Extends a range to whole sectors. Returns the first byte and the number of bytes."""
    first = offset // SECTOR
    return first * SECTOR, (-(-(offset + length) // SECTOR) - first) * SECTOR


def harmed(offset: int, length: int, harm: Harm) -> str:
    """Returns the message about an injected or healed media error."""
    first, size_b = sectors(offset, length)
    sectors_hurt = size_b // SECTOR
    span = f"bytes {first:,} to {first + size_b - 1:,}"
    number = _number(sectors_hurt, "sector")
    return f"{span}, {number} of {SECTOR} bytes: {_HARMS[harm][sectors_hurt > 1]}"


def export_facts(export: ExportStatistics) -> list[str]:
    """Returns sentences about one device."""
    kind = "read-only, " if export.read_only else ""
    answers = "replies immediately"
    if export.dilation is not None:
        slower = "" if export.dilation == 1 else f", {significant(export.dilation)} times slower"
        simulated = duration(export.simulated_s * 1e9)
        answers = f"replies at the modeled time{slower}; {simulated} of simulated time"
    lines = [f"{export.name}: {kind}{size(export.bytes)}, {answers}"]
    if (amplification := export.write_amplification) is not None:
        lines.append(f"write amplification {significant(amplification)}")
    lines += health_facts(export)
    if energy := sum(export.energy_j.values()):
        lines.append(f"energy {significant(energy)} J")
    if recorded := export.recording:
        lines.append(recording(recorded))
    if late := too_late(export):
        lines.append(late)
    return lines


def health_facts(export: ExportStatistics) -> list[str]:
    """Returns sentences about the health of media that wear, and about power losses."""
    lines = [
        f"health of {part.path}: {', '.join(health_of(part.health))}"
        for part in export.components
        if part.health
    ]
    if export.unsafe_shutdowns:
        lines.append(_number(export.unsafe_shutdowns, "unsafe shutdown"))
    return lines


def health_of(health: View) -> list[str]:
    """Returns descriptions of the health of a medium."""
    said = ["worn out, read-only"] if health.read_only else []
    if health.used is not None:
        said.append(f"{percent(health.used)} of its endurance used")
    if health.spare_left is not None:
        said.append(f"{percent(health.spare_left)} of its spare blocks left")
    said.append(_number(health.media_errors, "media error"))
    if health.retries is not None:
        said.append(f"{count(health.retries)} read retries")
    if health.failed_members is not None:
        said.append(_number(health.failed_members, "failed member"))
    return said


def recording(recorded: Recorded) -> str:
    """Describes the status of a recording."""
    number = _number(recorded.requests, "request")
    if recorded.error:
        return f"recording into {recorded.path} failed after {number}: {recorded.error}"
    if recorded.is_under_way:
        return f"recording into {recorded.path}: {number} so far"
    lines = [f"{recorded.path}: {number}, {size(recorded.bytes)}"]
    for fault in recorded.faults:
        settings = (fault.settings or "").replace("\n", ", ")
        did = f"added: {settings}" if settings else "cleared"
        lines.append(f"at {duration(fault.at_s * 1e9)}, fault {fault.number} {did}")
    return "\n".join(lines)


def outage_facts(outage: Outage) -> list[str]:
    """Returns sentences about the effects of a power loss."""
    acknowledged = _number(outage.acknowledged_lost, "program")
    under_way = _number(outage.under_way, "write")
    ready = duration(outage.ready_after_s * 1e9) if outage.ready_after_s else "at once"
    return [
        f"power failed: {acknowledged} of acknowledged writes lost, {size(outage.bytes_lost)}",
        f"{under_way} in flight: old, new, or mixed data",
        f"ready again {'after ' if outage.ready_after_s else ''}{ready}",
    ]


def too_late(export: View) -> str | None:
    """Returns a warning if the machine is slower than the model, otherwise None.

    A reply is late if it is delayed by 50 us or more. If few replies are late, e.g. for a device
    that is much faster than 50 us, the median latencies that clients measure are compared with the
    modeled medians.
    """
    if export.answered < _FEW:
        return None
    dilation = export.get("dilation") or 1
    if export.answered and export.late / export.answered > _SLOW:
        further = max(2, round(dilation * 10))
        what = f"{percent(export.late / export.answered)} of the replies were late"
    else:
        slower = [
            (export.wall[op].p50_ns / (dilation * export.modeled[op].p50_ns), op)
            for op in ("read", "write")
            if export.wall[op] and export.modeled[op] and export.modeled[op].p50_ns
        ]
        ratio, op = max(slower, default=(1.0, ""))
        if ratio <= _SLOWER:
            return None
        further = max(2, math.ceil(dilation * ratio * 10))
        what = f"median {op} latency at the clients is {significant(ratio)} times the modeled one"
    return f"{what}: this machine cannot keep up; try --dilate {further}"


def request_table(export: ExportStatistics) -> Table:
    """Returns a table of requests by kind."""
    rows = [
        [kind, count(of.requests), with_unit(of.bytes, "B"), count(of.errors)]
        for kind, of in export.requests.items()
        if of.requests
    ]
    return Table("", ["requests", "count", "bytes", "errors"], [False] + [True] * 3, rows)


def latency_table(export: View, marks: Sequence[str] = _MARKS) -> Table:
    """Returns a table of modeled latencies, and of latencies that clients measured."""
    rows = []
    for name, seen in (("modeled", export.modeled), ("as seen", export.wall)):
        for op in _TIMED:
            if summary := seen.get(op):
                found = [summary.get(f"{mark}_ns") for mark in marks]
                cells = [NOTHING if value is None else duration(value) for value in found]
                rows.append(
                    [f"{plural(op).replace('_', ' ')}, {name}", count(summary.count), *cells]
                )
    shown = [_SHOWN.get(mark, mark) for mark in marks]
    columns = ["latency", "count", *shown]
    return Table("", columns, [False] + [True] * (1 + len(marks)), rows)


def fault_table(faults: Sequence[ServedFault]) -> Table:
    """Returns a table of the faults that were added to the served device, with their effects."""
    rows = [
        [
            str(fault.number),
            fault.settings.replace("\n", ", "),
            "cleared" if fault.cleared else "active" if fault.active else "waiting or over",
            count(fault.matching),
            count(fault.touched),
            duration(fault.added_s * 1e9),
            count(fault.errors),
            count(fault.silent_bytes),
        ]
        for fault in faults
    ]
    columns = ["fault", "settings", "state", "matching", "touched", "added", "errors"]
    numeric = [False] * 3 + [True] * 5
    return Table("", [*columns, "silent bytes"], numeric, rows, prose=["settings"])


def wear_table(components: Sequence[Component]) -> Table:
    """Returns a table of program and erase counts of the media."""
    rows = []
    for part in components:
        if not (wear := part.wear):
            continue
        worn = wear.block_erases or wear.row_programs
        spread = (
            [count(worn.min), significant(worn.mean), count(worn.max)] if worn else [NOTHING] * 3
        )
        amplification = wear.write_amplification
        rows.append(
            [
                part.path,
                count(wear.host),
                count(wear.programs - wear.host),
                count(wear.erases),
                NOTHING if amplification is None else significant(amplification),
                *spread,
                count(wear.endurance),
            ]
        )
    columns = [
        "wear of",
        "host pages",
        "others",
        "erases",
        "amplification",
        "least",
        "mean",
        "most",
        "rated cycles",
    ]
    return Table("", columns, [False] + [True] * 8, rows)


def _number(value: int, what: str) -> str:
    return f"{count(value)} {what}{'' if value == 1 else 's'}"
