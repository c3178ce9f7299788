"""Headlines of results. A headline consists of two or three sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nacre.base.text import amount, count, duration, percent, si, size
from nacre.results.tables import OPS
from nacre.words.traces import missed_by_lru

if TYPE_CHECKING:
    from nacre.base.view import View
    from nacre.results._record import LatencySummary
    from nacre.results.crash import Crash
    from nacre.results.curves import CacheCurves
    from nacre.results.mixes import Mixes
    from nacre.results.record import Component, Record
    from nacre.simulate.planning import Plan
    from nacre.studies.result import StudyResult

_NS = 1e9
_SMALL = 0.1
"""Capacity of the small cache whose hit ratio a headline reports, as a share of the footprint."""
_ALIKE = 0.01
"""Headlines do not mention relative differences between records or caches below this value."""
_ENOUGH = 0.9
"""A cache is sufficient if it has at least this share of the hits of the largest cache."""
_IDLE = 0.1
"""Minimum utilization at which a component is mentioned as the bottleneck."""


def of_record(record: Record) -> list[str]:
    """Returns sentences about throughput, bottleneck, and latency breakdown."""
    done = record.requests.completed
    if not done or not record.simulated_s:
        return ["Nothing was measured."]
    said = [f"{si(record.throughput.iops).strip()} requests per second.", *_latencies(record)]
    return [*said, *_limit(record), *_spent(record)]


def of_records(records: Mapping[str, Record]) -> list[str]:
    """Returns sentences about the record with the lowest mean latency and the saturated records."""
    known = {
        name: latency.mean_ns
        for op in ("write", "read")
        for name, record in records.items()
        if (latency := record.latency[op]) and all(each.latency[op] for each in records.values())
    }
    if len(known) < 2:
        return overloaded(records)
    op = "read" if all(record.latency["read"] for record in records.values()) else "write"
    order = sorted(known, key=lambda name: known[name])
    (first, second), last = order[:2], order[-1]
    if known[last] < known[first] * (1 + _ALIKE):
        them = "Both" if len(order) == 2 else f"All {len(order)}"
        said = f"{them} have the same mean {op} latency, {duration(known[first])}."
        return [said, *overloaded(records)]
    said = f"{first} has the lowest mean {op} latency, {duration(known[first])}"
    said += f"; {second} follows with {duration(known[second])}"
    if last != second:
        said += f", and {last} is last with {duration(known[last])}"
    return [f"{said}.", *overloaded(records)]


def overloaded(records: Mapping[str, Record]) -> list[str]:
    """Returns a sentence about the records whose stack is saturated, if any."""
    names = [
        name
        for name, record in records.items()
        if any(finding.kind == "saturated" for finding in record.findings)
    ]
    grown = (
        "requests arrive faster than they are served, so latencies grow with the length of the run"
    )
    verb = "is" if len(names) == 1 else "are"
    return [f"{', '.join(names)} {verb} saturated: {grown}."] if names else []


def limits(records: Mapping[str, Record]) -> list[str]:
    """Returns sentences about the saturated or busiest component of the best designs."""
    used = {name: max(record.components, key=_use) for name, record in records.items()}
    if not used:
        return []
    said = overloaded(records)
    name = max(used, key=lambda each: _use(used[each]))
    part = used[name]
    where = f"{part.path} of {name} is the busiest component, {percent(_use(part))} of the time"
    if said:
        return [f"Among the best designs, {said[0]}", f"Among the best designs, {where}."]
    return [f"None of the best designs is overloaded: {where}."]


def of_study(result: StudyResult) -> list[str]:
    """Returns sentences about the best design, and about the axes with the largest influence."""
    from nacre.words.studies import cell, counted, title

    objectives = result.questions.objectives
    front = result.pareto()
    said = [f"{result.designs.height:,} designs."]
    if objectives and front.height:
        first, best = objectives[0], front.row(0, named=True)
        axes = [axis.name for axis in result.questions.axes if best[axis.name] is not None]
        chosen = " and ".join(f"{name} {best[name]}" for name in axes)
        reached = cell(first.column, best[first.column])
        if paid := counted(first.column, result).removeprefix(f"{title(first.column)}, "):
            reached += f" ({paid})" if paid != title(first.column) else ""
        said.append(f"The best {title(first.column)} is {reached}, with {chosen}.")
        shares = result.sensitivity().filter(objective=first.column).sort("share", descending=True)
        if shares.height and shares["share"][0] is not None:
            share = percent(shares["share"][0])
            said.append(f"{shares['axis'][0]} has the largest influence: {share} of the variance.")
    return said


def of_mixes(mixes: Mixes) -> list[str]:
    """Returns sentences about the best mix of tiers."""
    if not len(mixes):
        return [f"No mix of these tiers costs at most {amount(mixes.budget or 0.0)} per GiB."]
    score = mixes.ordered_by
    best = mixes.best(1, score).row(0, named=True)
    parts = [f"{percent(best[name])} {name}" for name in mixes.names if best[name]]
    said = f"The best of {count(len(mixes))} mixes is {', '.join(parts)}:"
    said += f" {duration(best['mean_ns'])} per request"
    if best["cost"] is not None:
        said += f", {amount(round(best['cost'], 4))} per GiB{_in(mixes)}"
    return [f"{said}, with serial accesses on idle devices."]


def of_crash(found: Crash) -> list[str]:
    """Returns sentences about silent corruption, durability, and recovery times."""
    from nacre.words.crashes import silently

    said = [f"{silently(found)}."] if found.silent else []
    times = f"Power was cut {count(found.points)} times"
    if found.finding is not None:
        said.append(f"{times}, and a durability guarantee was violated: {found.finding.problem}.")
    elif found.silent:
        said.append(f"{times}; the device has no guarantee for those faults.")
    else:
        said.append(f"{times}, and every durability guarantee held.")
    mean_s, max_s = found.recovery.mean_s, found.recovery.max_s
    if mean_s and max_s:
        took = f"{duration(mean_s * _NS)} on average, and {duration(max_s * _NS)} at most"
        said.append(f"Recovery took {took}.")
    return said


def of_trace(info: View) -> list[str]:
    """Returns sentences about request counts, rates, and the hit ratio of a small cache."""
    if not info.reads + info.writes:
        return ["The trace has neither reads nor writes."]
    span = f" in {duration(info.duration_s * _NS)}" if info.duration_s else ""
    said = [
        f"{count(info.records)} requests{span}, {percent(info.read_share)} of them reads,"
        f" to {size(info.footprint_bytes)}."
    ]
    room, missed = missed_by_lru(info, _SMALL)
    part = f"10 % of that, {size(room)}"
    return [*said, f"An LRU cache of {part}, would miss {percent(missed)} of the accesses."]


def of_caches(curves: CacheCurves, prices: Mapping[str, float], basis: str) -> list[str]:
    """Returns sentences about the smallest cache that saves nearly as much as the largest.

    `prices` are prices per GiB of each device in the currency `basis`.
    """
    sizes, policies = sorted(curves.sizes), curves.policies
    missed = {
        room: {policy: curves.miss_ratio(policy, room) for policy in policies} for room in sizes
    }
    least = min(missed[sizes[-1]].values())
    if least > 1 - _ALIKE:
        return [
            f"No cache helps: a cache of {size(sizes[-1])} misses {percent(least)} of the blocks."
        ]
    enough = next(room for room in sizes if 1 - min(missed[room].values()) >= _ENOUGH * (1 - least))
    there = missed[enough]
    # Among equal results, select the first, because the simplest policies come first.
    lowest = percent(min(there.values()))
    policy = next(each for each in policies if percent(there[each]) == lowest)
    said = f"A cache of {size(enough)} with {policy} misses {percent(there[policy])} of the blocks"
    others = [f"{percent(there[each])} with {each}" for each in policies if each != policy]
    said += f" ({', '.join(others)})" if others else ""
    if enough != sizes[-1]:
        said += f"; a cache of {size(sizes[-1])} still misses {percent(least)}"
    costs = [
        f"{amount(round(price * enough / 2**30, 4))} as {name}" for name, price in prices.items()
    ]
    paid = [f"It costs {', '.join(costs)}, in {basis}."] if costs else []
    return [f"{said}.", *paid]


def of_plan(plan: Plan, budget: float | None = None) -> list[str]:
    """Returns sentences about the caches (see `of_caches`), and the best mix within the budget."""
    cache = of_caches(plan.caches, plan.prices, plan.currency)
    return [*cache, *of_mixes(plan.within(budget))]


def _in(mixes: Mixes) -> str:
    return (
        f" in {mixes.bases[0]}" if len(mixes.bases) == 1 and mixes.bases[0] != "not stated" else ""
    )


def _latencies(record: Record) -> list[str]:
    said = []
    for op in OPS:
        if latency := record.latency.get(op):
            said.append(f"A {op} takes {_tail(latency)}.")
    return said


def _tail(latency: LatencySummary) -> str:
    mean, slow, most = map(duration, (latency.mean_ns, latency.p99_ns, latency.max_ns))
    if mean == most:
        return mean
    if slow in (mean, most):
        return f"{mean} on average, and {most} at most"
    return f"{mean} on average, with a 99th percentile of {slow}"


def _limit(record: Record) -> list[str]:
    """Returns a sentence about the saturated resource, or about the busiest component."""
    for finding in record.findings:
        if finding.kind == "saturated":
            where = f" {finding.paths[0]} is the busiest component." if finding.paths else ""
            return [
                f"Requests arrive faster than they are served, so latencies keep growing.{where}"
            ]
    busiest = max(record.components, key=_use, default=None)
    if busiest is None or not _use(busiest):
        return []
    share = percent(_use(busiest))
    if _use(busiest) < _IDLE:
        return [f"No component is busy for more than {share} of the time."]
    return [f"The busiest component is {busiest.path}, {share} of the time."]


def _use(part: Component) -> float:
    return float(part.utilization or 0.0)


def _spent(record: Record) -> list[str]:
    said = []
    for op in ("read", "write"):
        if parts := record.time_spent[op]:
            most = max(parts, key=lambda part: part.share)
            where = f"{most.component} ({most.activity.replace('_', ' ')})"
            said.append(f"A {op} spends {percent(most.share)} of its time in {where}.")
    return said
