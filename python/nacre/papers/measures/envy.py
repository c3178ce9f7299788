"""Computes the numbers of the eNVy paper that are not fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nacre.base import quantity
from nacre.base.view import View
from nacre.papers.running.transacted import Transacted
from nacre.results.record import Component, Record

_FLASH = {"cleaning": "clean", "flushing": "drain", "erasing": "erase"}
"""Maps the paper's names of flash activities to Nacre's names."""


def _array(record: Record) -> Component:
    """Returns the eNVy device, to which the times in the paper refer."""
    return next(part for part in record.components if part.kind == "envy")


def _reading(record: Record) -> float:
    """Returns the percentage of time in which the eNVy device serves reads."""
    busy = _array(record).busy
    return 100 * (_seconds(busy, "read") + _seconds(busy, "translate")) / record.simulated_s


def _flash(activity: str) -> Callable[[Record], float]:
    """Returns a function for the percentage of time that is spent on a flash activity.

    The device must not run operations concurrently.
    """
    return lambda record: 100 * _seconds(_array(record).busy, activity) / record.simulated_s


def _shared(activity: str) -> Callable[[Record], float]:
    """Returns a function like `_flash` that also includes a share of suspended time.

    Flash work is suspended while the controller serves the host. This time is divided among the
    activities in proportion to their work.
    """

    def share(record: Record) -> float:
        busy = _array(record).busy
        work = {each: _seconds(busy, each) for each in _FLASH.values()}
        done = sum(work.values())
        waiting = _seconds(busy, "suspend") * work[activity] / done if done else 0.0
        return 100 * (work[activity] + waiting) / record.simulated_s

    return share


def _cleaning_over_flushing(record: Record) -> float:
    busy = _array(record).busy
    return _seconds(busy, _FLASH["cleaning"]) / _seconds(busy, _FLASH["flushing"])


def _erase_spread(record: Record) -> float:
    """Returns the difference between the highest and the lowest erase count of segments."""
    wear = _array(record).wear
    if wear is None or wear.block_erases is None:
        raise KeyError("block_erases")
    return float(wear.block_erases.max - wear.block_erases.min)


def _seconds(busy: View, activity: str) -> float:
    return float(busy.get(activity, 0.0))


def _idle(record: Record) -> float:
    """Returns the percentage of time in which neither controller nor flash of the device works.

    Flash work is suspended while the controller serves the host, so controller and flash never work
    at the same time.
    """
    working_s = sum(
        _seconds(resource.busy, activity)
        for resource in _array(record).resources
        if resource.name in ("controller", "flash")
        for activity in resource.busy
    )
    return 100 * (1 - working_s / record.simulated_s)


def _flushes(record: Record) -> float:
    return float(_array(record).counters["pages_drained"])


def _flushes_per_s(record: Record) -> float:
    return _flushes(record) / record.simulated_s


def _flushed_per_byte(record: Record) -> float:
    """Returns the flushed bytes per byte that the host wrote."""
    array = _array(record)
    page = float(quantity.parse(record.scenario.stack.page).value)
    return _flushes(record) * page / float(array.counters["bytes_written"])


def _flush_ns(record: Record) -> float:
    """Returns the time per flushed page of a saturated device in nanoseconds, for any concurrency.

    The flash works in the controller time that is spent neither on the host nor on waiting.
    Flushing takes a part of this time that corresponds to its share of the flash work.
    """
    controller, flash = (
        next(resource for resource in _array(record).resources if resource.name == name)
        for name in ("controller", "flash")
    )
    left_s = record.simulated_s - sum(float(spent) for spent in controller.busy.values())
    work_s = sum(float(spent) for spent in flash.busy.values())
    return 1e9 * left_s * float(flash.busy["drain"]) / work_s / _flushes(record)


def _restored(found: Transacted) -> float | None:
    """Returns the percentage of words that have their old value after a rollback."""
    return None if found.restored is None else 100 * found.restored


MEASURES: Mapping[str, Callable[[Any], float | None]] = {
    "reading_percent": _reading,
    **{f"{name}_percent": _flash(activity) for name, activity in _FLASH.items()},
    **{f"{name}_shared_percent": _shared(activity) for name, activity in _FLASH.items()},
    "cleaning_over_flushing": _cleaning_over_flushing,
    "erase_spread": _erase_spread,
    "idle_percent": _idle,
    "flushes_per_s": _flushes_per_s,
    "flushed_per_byte": _flushed_per_byte,
    "flush_ns": _flush_ns,
    "restored_percent": _restored,
}
