"""Summarizes power-loss tests as tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base.table import Table
from nacre.base.text import NOTHING, count, duration, size

if TYPE_CHECKING:
    from nacre.devices.program import Pulled
    from nacre.results.crash import Crash

_NS = 1e9
_PERSISTENCE = {
    "on_acknowledgement": "a write survives once it is acknowledged",
    "on_flush_with_stored_energy": "a flushed write survives if the stored energy suffices",
    "with_stored_energy": "a write survives if the stored energy suffices",
    "on_flush": "a write survives once a later flush completes",
}


NOT_MEASURED = (
    "Power-loss tests report durability, data loss, and recovery time. For energy, wear, cost,"
    " and performance, use `nacre run` on the same scenario."
)


def silently(found: Crash) -> str:
    """Returns the number of silent corruptions, and the faults that caused them, as a sentence."""
    faults = [result.fault.replace("_", " ") for result in found.faults if result.lost_silently]
    return (
        f"In {count(found.silent)} of {_runs(found.device_runs)} the device returned corrupted data"
        f" without an error, through {', '.join(faults)}"
    )


def crash_facts(found: Crash) -> list[str]:
    """Returns sentences about all tests."""
    guarantee = found.guarantees
    lines = [
        *([silently(found)] if found.silent else []),
        f"{count(found.points)} power losses in {_runs(found.device_runs)}, seed {found.seed};"
        f" {count(found.blocks_audited)} blocks audited, {count(found.restarts)} restarts",
        f"durability guarantee: {_PERSISTENCE[guarantee.persistence]},"
        f" and {size(guarantee.atomic_unit)} units are atomic"
        + ("; transactions are atomic" if guarantee.transactions else ""),
    ]
    lines += [
        f"{result.fault.replace('_', ' ')} had no effect in {count(result.points)} power losses"
        for result in found.faults
        if result.fault != "power_loss" and result.points and not result.injected
    ]
    if found.finding is not None:
        lines += finding_facts(found)
    elif found.silent:
        lines.append("no durability guarantee was violated: the device cannot detect those faults")
    else:
        lines.append("every durability guarantee held")
    return lines


def finding_facts(found: Crash) -> list[str]:
    """Returns sentences about a violated guarantee, or an empty list."""
    finding = found.finding
    if finding is None:
        return []
    lines = [f"a durability guarantee was violated: {finding.problem}"]
    if not finding.reproducible:
        lines.append(
            "the same steps on a new device do not reproduce it: the saved state is incomplete"
        )
    return lines


def pulled_facts(pulled: Pulled) -> list[str]:
    """Returns sentences about power-loss tests with a program."""
    outages = [each.outage for each in pulled.rounds]
    ended = sum(each.ended is not None for each in pulled.rounds)
    lost = sum(outage.bytes_lost for outage in outages)
    lines = [
        *_silent_facts(pulled),
        f"power was cut {count(len(outages))} times, seed {pulled.seed};"
        f" {count(sum(outage.under_way for outage in outages))} writes were in flight,"
        f" {count(sum(outage.acknowledged_lost for outage in outages))} acknowledged ones"
        f" and {size(lost)} were lost",
    ]
    if ended:
        lines.append(f"{count(ended)} times the program had ended before")
    recovering = sum(each.recovering for each in pulled.rounds)
    under_check = sum(each.check_cut_s is not None for each in pulled.rounds)
    if recovering or under_check:
        lines.append(
            f"another {count(recovering)} power losses during recovery"
            f" and {count(under_check)} during the check, which was repeated"
        )
    lines += _struck_facts(pulled)
    checked = [each for each in pulled.rounds if each.check is not None]
    if pulled.failed:
        last = checked[-1]
        said = last.said.strip().splitlines() or ["it printed nothing"]
        lines.append(f"the check failed with status {last.check}: {said[0]}")
        lines += said[1:]
        lines.append(f"the image is kept in {pulled.kept}")
    elif checked:
        lines.append(f"the check passed {count(len(checked))} times")
    return lines


def _silent_facts(pulled: Pulled) -> list[str]:
    """Returns a sentence about the faults that corrupted data silently before a failed check."""
    if not pulled.failed:
        return []
    silent = [
        struck.kind.replace("_", " ")
        for struck in pulled.rounds[-1].faults
        if struck.touched and struck.silent_bytes != 0
    ]
    if not silent:
        return []
    return [f"Data was corrupted without an error, through {', '.join(silent)}"]


def _struck_facts(pulled: Pulled) -> list[str]:
    """Returns sentences with the number of occurrences of each fault over all rounds."""
    struck: dict[str, list[int]] = {}
    for each in pulled.rounds:
        for fault in each.faults:
            sums = struck.setdefault(fault.kind, [0, 0])
            sums[0] += fault.touched
            sums[1] += fault.errors
    return [
        f"{kind.replace('_', ' ')} occurred {count(touched)} times"
        + (f", with {count(errors)} errors" if errors else "")
        for kind, (touched, errors) in struck.items()
    ]


def fault_table(found: Crash) -> Table:
    """Returns a table of tests and losses by class of faults."""
    rows = [
        [
            result.fault.replace("_", " "),
            result.guarantee,
            _some(result.points),
            _some(result.injected),
            _some(result.stale_blocks),
            _some(result.lost_reported),
            _some(result.lost_silently),
        ]
        for result in found.faults
    ]
    columns = [
        "fault",
        "device",
        "points",
        "injected",
        "older data",
        "lost, reported",
        "lost silently",
    ]
    return Table("", columns, [False, False] + [True] * 5, rows)


def recovery_table(found: Crash) -> Table:
    """Returns a table of recovery times."""
    recovery = found.recovery
    times = [recovery[f"{name}_s"] for name in ("mean", "p50", "p95", "p99", "max")]
    shown = [NOTHING if time is None else duration(time * _NS) for time in times]
    columns = ["recoveries", "mean", "p50", "p95", "p99", "max"]
    return Table("", columns, [True] * 6, [[count(recovery.count), *shown]])


def branch_table(found: Crash) -> Table:
    """Returns a table with the number of occurrences of each event during the tests."""
    rows = [
        [name.replace("_", " "), count(times)] for name, times in found.branches.items() if times
    ]
    return Table("", ["event", "points"], [False, True], rows)


def _some(number: int) -> str:
    return count(number) if number else NOTHING


def _runs(number: int) -> str:
    return "1 device run" if number == 1 else f"{count(number)} device runs"
