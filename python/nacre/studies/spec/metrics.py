"""Columns of a study that are computed from a record, and columns that users define by path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

from nacre.base.shape import declared
from nacre.base.view import View
from nacre.errors import nearest
from nacre.results.record import Record

Value: TypeAlias = "float | int | str | bool | None"
Goal = Literal["max", "min"]
Data: TypeAlias = Mapping[str, Any]

_OPS = ("read", "write")
_TIMED = (*_OPS, "flush")
_STATISTICS = ("mean", "mean_ci95", "p50", "p95", "p99", "p999", "p9999", "max")
_PART = re.compile(r'\[(\d+)\]|\["([^"\]]*)"\]|\.?([^.\[\]]+)')


def _latency(op: str, name: str) -> Callable[[Data], float | None]:
    def value(record: Data) -> float | None:
        summary = record["latency"].get(op)
        return None if summary is None else _number(summary.get(f"{name}_ns"))

    return value


def _worst(name: str) -> Callable[[Data], float | None]:
    def value(record: Data) -> float | None:
        found = [_latency(op, name)(record) for op in _OPS]
        return max((each for each in found if each is not None), default=None)

    return value


def _mean(record: Data) -> float | None:
    summaries = [record["latency"][op] for op in _OPS if record["latency"][op]]
    count = sum(summary["count"] for summary in summaries)
    total = sum(summary["count"] * summary["mean_ns"] for summary in summaries)
    return total / count if count else None


def _energy(record: Data) -> float | None:
    energy = record["energy_j"]
    return float(sum(energy.values())) if energy else None


def _iops_per_cost(record: Data) -> float | None:
    cost = record["cost"]
    return record["throughput"]["iops"] / cost if cost else None


def _at(*keys: str) -> Callable[[Data], Any]:
    def value(record: Data) -> Any:
        found: Any = record
        for key in keys:
            found = found[key]
        return found

    return value


METRICS: Mapping[str, Callable[[Data], Any]] = {
    "iops": _at("throughput", "iops"),
    "bytes_per_s": _at("throughput", "bytes_per_s"),
    "units_per_s": _at("throughput", "units_per_s"),
    "mean_ns": _mean,
    "p99_ns": _worst("p99"),
    "p999_ns": _worst("p999"),
    "p9999_ns": _worst("p9999"),
    **{f"{op}_{name}_ns": _latency(op, name) for op in _TIMED for name in _STATISTICS},
    "hit_ratio": lambda record: Record(record).find_hit_ratio(),
    "write_amplification": _at("write_amplification"),
    "cleaning_cost": _at("cleaning_cost"),
    "erases": _at("erases"),
    "energy_j": _energy,
    "cost": _at("cost"),
    "area_mm2": _at("area_mm2"),
    "iops_per_cost": _iops_per_cost,
    "lifetime_days": _at("lifetime_days"),
    "simulated_s": _at("simulated_s"),
    "requests": _at("requests", "completed"),
    "request_errors": _at("requests", "errors"),
}
"""Maps each column to a function of the record, which returns None if the record lacks the
value."""

REMARKS: Mapping[str, Callable[[Data], str | None]] = {
    "cost_basis": lambda record: _basis(record),
    "findings": lambda record: ", ".join(found["kind"] for found in record["findings"]) or None,
}
"""Maps columns with remarks about the numbers to functions of the record."""


def _basis(record: Data) -> str | None:
    """Returns the currency of the costs, or None if there are no costs."""
    return " and ".join(record["cost_by_basis"]) or None


_UNITS = {"_ns": ("s", 1e9), "_days": ("s", 1 / 86400), "_s": ("s", 1.0), "_j": ("j", 1.0)}
_PER_S = {"bytes_per_s": ("bytes_per_s", 1.0), "iops": ("per_s", 1.0)}
_BY_NAME = {"bandwidth": "bytes_per_s"}
_LARGER_IS_BETTER = {
    "iops",
    "bytes_per_s",
    "units_per_s",
    "hit_ratio",
    "iops_per_cost",
    "lifetime_days",
}
_NEITHER = {"simulated_s", "requests"}


def column(name: str) -> str | None:
    """Returns the column for a name without unit, e.g. `p99_ns` for `p99`.

    Returns None for an unknown name.
    """
    if name in METRICS:
        return name
    if name in _BY_NAME:
        return _BY_NAME[name]
    return next((known for known in METRICS if known in {f"{name}{u}" for u in _UNITS}), None)


def names() -> Iterator[str]:
    """Yields the shortest name of each column."""
    for known in METRICS:
        yield next(
            (
                known.removesuffix(unit)
                for unit in _UNITS
                if known.endswith(unit) and not known.endswith("per_s")
            ),
            known,
        )


def unit_of(known: str) -> tuple[str, float] | None:
    """Returns the base unit of a column, and the divisor that converts values to this unit.

    Returns None if the column has no unit.
    """
    if known in _PER_S:
        return _PER_S[known]
    if known.endswith("_per_s"):
        return None
    return next((found for suffix, found in _UNITS.items() if known.endswith(suffix)), None)


def usual_goal(known: str) -> Goal | None:
    """Returns the default direction of an objective, or None if there is none."""
    if known in _LARGER_IS_BETTER:
        return "max"
    return "min" if known in METRICS and known not in _NEITHER else None


def measured(record: Data, paths: Mapping[str, str]) -> dict[str, Value]:
    """Computes the standard columns of a record, and the columns that are defined by paths."""
    row: dict[str, Value] = {name: value(record) for name, value in METRICS.items()}
    row |= {name: value(record) for name, value in REMARKS.items()}
    return row | {name: at(record, path) for name, path in paths.items()}


def at(record: Data, path: str) -> Value:
    """Returns the value at a dotted path of a record, or None if it is absent.

    A component can be selected by its path, e.g. `components["stack.level[0].device"].utilization`.
    A tenant can be selected by its name, e.g. `tenants["logs"].latency.write.p99_ns`.
    """
    found: Any = record
    for index, quoted, key in _PART.findall(path):
        if isinstance(found, list) and index:
            found = found[int(index)] if int(index) < len(found) else None
        elif isinstance(found, list) and quoted:
            found = next((part for part in found if quoted in _names(part)), None)
        elif isinstance(found, Mapping):
            found = found.get(quoted or key)
        else:
            return None
    return found if isinstance(found, int | float | str | bool) else None


def _names(part: object) -> tuple[object, ...]:
    """Returns the names by which an item of a list can be selected."""
    return (part.get("path"), part.get("name")) if isinstance(part, Mapping) else ()


def fault_of(path: str) -> str | None:
    """Returns the reason why no record can have this path, or None if a record may have it."""
    parts = _PART.findall(path)
    if not parts or "".join(match.group(0) for match in _PART.finditer(path)) != path:
        return "it is not a path in a record"
    kind: type[View] | None = Record
    for index, quoted, key in parts:
        if kind is None or index or quoted:
            continue
        known = declared(kind)
        if key not in known:
            meant = nearest(key, known)
            hint = f', did you mean "{meant}"?' if meant else f"; it has {', '.join(known)}"
            return f'a record has no "{key}" there{hint}'
        kind = kind.parts.get(key)
    return None


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
