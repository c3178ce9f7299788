"""What eNVy's paper measures that is no field of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nacre.record import Component, Record

_SHARES = {
    "reading": ("read", "translate"),
    "cleaning": ("clean",),
    "flushing": ("drain",),
    "erasing": ("erase",),
}
"""The activities of the array that the paper counts as one, by its word."""


def _array(record: Record) -> Component:
    """The eNVy device, which the paper's times are about."""
    return next(part for part in record.components if part.kind == "envy")


def _percent(*activities: str) -> Callable[[Record], float]:
    """The share of time that an array without concurrency spends so."""

    def share(record: Record) -> float:
        busy = _array(record).busy
        spent = sum(float(busy.get(activity, 0.0)) for activity in activities)
        return 100 * spent / record.simulated_s

    return share


def _flushes(record: Record) -> float:
    return float(_array(record).counters["pages_drained"])


def _flushes_per_s(record: Record) -> float:
    return _flushes(record) / record.simulated_s


def _flush_ns(record: Record) -> float:
    """Time of a saturated array per page flushed, however many operations share it.

    What the controller does not spend on the host or on waiting is the flash's; flushing has the
    part of it that it has of the flash's work.
    """
    controller, flash = (
        next(resource for resource in _array(record).resources if resource.name == name)
        for name in ("controller", "flash")
    )
    left_s = record.simulated_s - sum(float(spent) for spent in controller.busy.values())
    work_s = sum(float(spent) for spent in flash.busy.values())
    return 1e9 * left_s * float(flash.busy["drain"]) / work_s / _flushes(record)


MEASURES: Mapping[str, Callable[[Record], float]] = {
    **{f"{name}_percent": _percent(*activities) for name, activities in _SHARES.items()},
    "flushes_per_s": _flushes_per_s,
    "flush_ns": _flush_ns,
}
