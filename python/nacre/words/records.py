"""Summarizes records as tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nacre.base.table import Table
from nacre.base.text import (
    NOTHING,
    amount,
    count,
    duration,
    numbered,
    percent,
    plural,
    si,
    significant,
    with_unit,
)
from nacre.results.origins import assumed
from nacre.results.record import IDLE
from nacre.results.tables import OPS

if TYPE_CHECKING:
    from nacre.base.view import View
    from nacre.results._record import Caution
    from nacre.results.record import Component, Record, WornOut

_PERCENTILES = ("mean", "p50", "p95", "p99", "p999", "p9999", "max")
_SMALL = 0.005
_YEAR = 365.25
_DAY = 86_400


def facts(record: Record) -> list[str]:
    """Returns sentences about the whole run."""
    requests = record.requests
    if unmeasured := _unmeasured(record):
        lines = [f"nothing was measured: {unmeasured}"]
    else:
        lines = [
            f"{numbered(requests.completed, 'request')} in {duration(record.simulated_s * 1e9)}"
            f" of simulated time, seed {record.seed}",
            f"{si(record.throughput.iops)} requests/s,"
            f" {with_unit(record.throughput.bytes_per_s, 'B/s')}{_units(record)}",
        ]
    if not record.complete:
        lines[0] += "; stopped early, finished runs are shown"
    if requests.issued != requests.completed:
        never = numbered(requests.issued - requests.completed, "request")
        lines.append(f"{never} never completed")
    if requests.errors:
        failed = numbered(requests.errors, "request")
        lines.append(f"{failed} failed with a device error")
    if (ratio := record.find_hit_ratio()) is not None:
        lines.append(f"{percent(ratio)} of the blocks read were cache hits")
    lines += [f"{name} {value}" for name, value in _totals(record)]
    return _silent(record) + lines + _split(record) + _steady(record) + _cautions(record)


def _silent(record: Record) -> list[str]:
    """Returns sentences about silent corruption by faults. Summaries start with these sentences."""
    return [
        f"{numbered(fault.silent_bytes, 'byte')} corrupted without an error by {fault.path}"
        f" ({fault.kind})"
        for part in record.components
        for fault in part.get("faults", ())
        if fault.silent_bytes
    ]


def faults(record: Record) -> Table:
    """Returns a table of the effects of each fault that the scenario adds to a device."""
    rows = [
        [
            fault.path,
            fault.kind,
            count(fault.matching),
            count(fault.touched),
            duration(fault.added_s * 1e9),
            count(fault.errors),
            count(fault.silent_bytes),
        ]
        for part in record.components
        for fault in part.get("faults", ())
    ]
    columns = ["fault", "kind", "matching", "touched", "added", "errors", "silent bytes"]
    return Table("", columns, [False] * 2 + [True] * 5, rows)


def latencies(record: Record) -> Table:
    """Returns a table of latencies by kind of request."""
    rows = []
    for op in OPS:
        if summary := record.latency.get(op):
            error = summary.mean_ci95_ns
            cells = [duration(summary[f"{name}_ns"]) for name in _PERCENTILES]
            within = NOTHING if error is None else f"+- {duration(error)}"
            rows.append([plural(op), count(summary.count), cells[0], within, *cells[1:]])
    columns = [
        "latency",
        "count",
        "mean",
        "within (95 %)",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "p99.99",
        "max",
    ]
    return Table("", columns, [False] + [True] * 9, rows)


def tenants(record: Record) -> Table:
    """Returns a table of latency and throughput of each tenant."""
    rows = []
    for tenant in record.tenants:
        read, write = tenant.latency.read, tenant.latency.write
        shown = [
            text
            for summary in (read, write)
            for text in (
                [duration(summary.mean_ns), duration(summary.p99_ns)] if summary else [NOTHING] * 2
            )
        ]
        rows.append(
            [tenant.name, count(tenant.requests), si(tenant.throughput.iops) + "/s", *shown]
        )
    columns = ["tenant", "requests", "rate", "read mean", "p99", "write mean", "p99"]
    return Table("", columns, [False] + [True] * 6, rows)


def time_spent(record: Record) -> Table:
    """Returns a table with the latency breakdown of an average request, by kind of request."""
    rows = []
    for op in OPS:
        parts = sorted(record.time_spent.get(op, ()), key=lambda part: -part.share)
        rows += [
            [plural(op), part.component, part.activity, duration(part.mean_ns), percent(part.share)]
            for part in parts
            if part.share >= _SMALL
        ]
    columns = ["time of", "component", "activity", "mean", "share"]
    return Table("", columns, [False] * 3 + [True] * 2, rows)


def time_split(record: Record) -> Table:
    """Returns a table with the utilization of the resources of media that wear.

    Idle time is last.
    """
    rows = []
    for part in record.components:
        if not part.get("wear"):
            continue
        for resource in part.resources:
            there_is = record.drained_s * resource.servers
            taken = sorted(resource.busy.items(), key=lambda item: -item[1])
            shown = [*taken, (IDLE, max(0.0, there_is - sum(resource.busy.values())))]
            rows += [
                [part.path, resource.name, activity, duration(seconds * 1e9), percent(share)]
                for activity, seconds in shown
                if (share := seconds / there_is if there_is else 0) >= _SMALL
            ]
    columns = ["all time of", "resource", "activity", "time", "share"]
    return Table("", columns, [False] * 3 + [True] * 2, rows)


def tables(record: Record) -> list[Table]:
    """Returns all tables of a run that have rows."""
    made = (latencies, tenants, faults, time_spent, time_split, components)
    return [table for make in made if (table := make(record)).rows]


def components(record: Record) -> Table:
    """Returns a table of components with utilization, cost, and counters."""
    rows = []
    one = len(record.cost_by_basis) <= 1
    for part in record.components:
        counted = ", ".join(
            f"{name} {count(value)}" for name, value in part.counters.items() if value
        )
        energy = None if part.energy_j is None else sum(part.energy_j.values())
        rows.append(
            [
                part.path,
                part.kind,
                percent(part.utilization),
                NOTHING if part.cost is None else amount(part.cost) + _in_basis(part, one=one),
                NOTHING if energy is None else f"{significant(energy)} J",
                counted,
            ]
        )
    priced = f"cost, {record.cost_basis}" if record.cost_basis else "cost"
    columns = ["component", "kind", "busy", priced, "energy", "counters"]
    return Table("", columns, [False] * 2 + [True] * 3 + [False], rows, prose=["counters"])


def _in_basis(part: Component, *, one: bool) -> str:
    """Returns the currency of a component's cost if components have different currencies."""
    return f" {part.cost_basis}" if part.cost_basis and not one else ""


def _totals(record: Record) -> list[tuple[str, str]]:
    """Returns the names and values of totals over all components."""
    erased = _is_erased(record)
    worn_out = _worn_out(record.worn_out)
    lifetime = _days(record.lifetime_days)
    if lifetime and worn_out:
        lifetime += " with even wear"
    if lifetime:
        lifetime += _without(record.lifetime_unknown, "endurance")
    shown = [
        ("cost", _cost(record)),
        ("area", f"{significant(record.area_mm2)} mm2 of cells" if record.area_mm2 else None),
        ("energy", _energy(record)),
        ("write amplification", _maybe(record.write_amplification)),
        ("cleaning cost", _maybe(record.cleaning_cost) if erased else None),
        ("erases", count(record.erases) + _per_block(record) if erased else None),
        ("host CPU", _cpu(record.host_cpu_ns)),
        ("fairness", _fairness(record.fairness)),
        ("lifetime", lifetime),
        ("first worn out", worn_out),
    ]
    return [(name, value) for name, value in shown if value is not None]


def _fairness(index: float | None) -> str | None:
    return None if index is None else f"{significant(index)} of 1, of the tenants' requests/s"


def _unmeasured(record: Record) -> str | None:
    """Returns the reason why there are no latencies, or None."""
    completed = record.requests.completed
    if not completed:
        return "no request completed"
    if not record.simulated_s:
        return f"{count(completed)} requests took no simulated time, so there is no rate"
    return None


def _cost(record: Record) -> str | None:
    """Formats the cost of all devices with its currency.

    Different currencies have separate sums.
    """
    costs = record.cost_by_basis
    if not costs:
        return None
    unnamed = "in the currency of the given prices"
    sums = [
        f"{amount(cost)} {unnamed if basis == 'not stated' else f'in {basis}'}"
        for basis, cost in costs.items()
    ]
    return " and ".join(sums) + _without(record.cost_unknown, "price")


def _energy(record: Record) -> str | None:
    """Formats the energy of all devices with energy data."""
    energy = sum(record.energy_j.values())
    return f"{significant(energy)} J{_without(record.energy_unknown, 'energy')}" if energy else None


def _without(missing: Sequence[str], what: str) -> str:
    """Returns text that lists the components that a total omits."""
    if not missing:
        return ""
    shown = ", ".join(missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return f" (without {shown}{more}: {what} not known)"


def _maybe(value: float | None) -> str | None:
    return None if value is None else significant(value)


def _units(record: Record) -> str:
    """Formats the rate of workload events other than requests, e.g. of transactions."""
    unit, rate = record.workload.get("unit"), record.throughput.get("units_per_s")
    return f", {si(rate)} {unit}/s" if unit and rate is not None else ""


def _block_erases(record: Record) -> list[View]:
    """Returns the erase counts of the blocks of each medium."""
    worn = [wear for part in record.components if (wear := part.get("wear"))]
    return [blocks for wear in worn if (blocks := wear.get("block_erases"))]


def _is_erased(record: Record) -> bool:
    """Returns whether a medium has erases. Media with in-place writes have none."""
    return bool(record.erases or _block_erases(record))


def _split(record: Record) -> list[str]:
    """Returns a sentence about the parts of a split trace."""
    found = record.split
    if not found:
        return []
    shared = f" with its share of {', '.join(found.shared)}" if found.shared else ""
    parts = "1 part" if len(found.copies) == 1 else f"{count(len(found.copies))} parts"
    return [f"{parts} by {found.by}, each on a copy of the stack{shared}"]


def _steady(record: Record) -> list[str]:
    """Returns a sentence about whether the precondition reached the steady state."""
    found = record.steadiness
    if not found:
        return []
    amplification = [value for value in found.write_amplification if value is not None]
    last = f": write amplification {significant(amplification[-1])}" if amplification else ""
    state = "in its steady state" if found.reached else "not in a steady state"
    return [f"{state} after {count(found.writes)} writes before the run{last}"]


def _of(finding: Caution) -> str:
    """Returns text that names the busiest component if the stack is saturated."""
    return f"; busiest: {finding.paths[0]}" if finding.kind == "saturated" and finding.paths else ""


def _per_block(record: Record) -> str:
    """Formats the range of erase counts over the blocks of all media."""
    blocks = _block_erases(record)
    if not blocks:
        return ""
    low, high = min(block.min for block in blocks), max(block.max for block in blocks)
    return f" ({count(low)} to {count(high)} per block over its lifetime)"


def _days(value: float | None) -> str | None:
    if value is None:
        return None
    years = f" ({significant(value / _YEAR)} years)" if value >= 2 * _YEAR else ""
    return f"{significant(value)} days{years}"


def _cpu(nanoseconds: float | None) -> str | None:
    """Formats the CPU time of drivers per request."""
    return None if nanoseconds is None else f"{duration(nanoseconds)} per request"


def _worn_out(worn: WornOut | None) -> str | None:
    """Formats the time until the first block or row is worn out."""
    if worn is None:
        return None
    if worn.seconds < 2 * _DAY:
        after = (
            duration(1e9 * worn.seconds) if worn.seconds < 1 else f"{significant(worn.seconds)} s"
        )
    else:
        after = str(_days(worn.seconds / _DAY))
    if worn.simulated or worn.writes is None:
        return f"after {after}"
    return f"after {after} and {count(worn.writes)} writes, at the rate of this run"


_TOTALS = ("cost_incomplete", "energy_incomplete", "lifetime_incomplete")
"""Findings that are shown next to the totals to which they apply."""


def _cautions(record: Record) -> list[str]:
    lines = [
        f"note: {finding.text}{_of(finding)}"
        for finding in record.findings
        if finding.kind not in _TOTALS
    ]
    lines += [f"note: {note}" for note in record.workload.notes]
    if bad := record.workload.bad_records:
        lines.append(f"note: skipped damaged trace records: {count(bad)}")
    if paths := assumed(record.origins):
        lines.append(
            f"note: assumed values, not measured or published: {', '.join(paths[:3])}"
            f"{f' and {len(paths) - 3} more values' if len(paths) > 3 else ''}"
        )
    return lines
