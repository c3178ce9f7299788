"""Computes the numbers of Roberts et al. that are not fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nacre.results.record import Record
from nacre.scenario.catalog import entries


def _spent_us(operation: str, activity: str) -> Callable[[Record], float]:
    """Returns a function for the mean time of a cache activity per request, in microseconds.

    The cache is the first component.
    """

    def spent(record: Record) -> float:
        path = record.components[0].path
        parts = [
            part
            for part in record.time_spent[operation]
            if part.activity == activity and part.component == path
        ]
        return float(sum(part.mean_ns for part in parts)) / 1000

    return spent


def _watts(record: Record, *, disk: bool) -> float:
    """Returns the mean power in watts of the disk, or of all memories."""
    kinds = {component.path: component.kind for component in record.components}
    joules = sum(
        energy for path, energy in record.energy_j.items() if (kinds[path] == "hdd") == disk
    )
    return float(joules / record.drained_s)


_MICRO_PAGES = 32_768
"""Number of 2 KiB pages in the 64 MiB of the small workloads."""

_READING = {"read", "correct"}
_IDLE = {"idle"}


def _units(record: Record) -> float:
    """Returns the number of completed units of work, e.g. transactions."""
    return (record.throughput.units_per_s or 0.0) * record.simulated_s


def _joules_per_unit(record: Record) -> float:
    """Returns the energy of memories and disk per unit of work, in joules."""
    return float(sum(record.energy_j.values()) / _units(record))


def _disk_accesses_per_unit(record: Record) -> float:
    """Returns the number of disk reads and writes per unit of work."""
    (disk,) = (component for component in record.components if component.kind == "hdd")
    return float(disk.counters["reads"] + disk.counters["writes"]) / _units(record)


def _pages_growth(record: Record) -> float:
    """Returns the number of pages in the secondary cache at the end per page at the start."""
    path = record.components[1].path
    names = ("flash.pages_valid", "pages.held")
    (name,) = (f"{path}.{name}" for name in names if f"{path}.{name}_before" in record.columns)
    return float(record.columns[name][0]) / float(record.columns[f"{name}_before"][0])


_IDLE_MW_PER_CHIP = 80.0
"""Idle power of a DRAM chip in milliwatts, as in server.toml."""
_CHIP = 128 * 2**20
"""Size of a DRAM chip in bytes."""
_TABLES = ("hash", "page_status", "block_status", "global_status")


def _tables_mw(record: Record) -> float:
    """Returns the idle power in milliwatts of the DRAM that holds the flash cache's tables."""
    path = _flash(record).path
    tables = sum(float(record.columns[f"{path}.tables.{name}_bytes"][0]) for name in _TABLES)
    return tables / _CHIP * _IDLE_MW_PER_CHIP


def _tables_joules_per_unit(record: Record) -> float:
    """Returns the energy of the tables of the PCRAM cache per unit of work, in joules."""
    (cache,) = (part for part in record.components if part.kind == "pcm_disk_cache")
    return float(record.columns[f"{cache.path}.tables.energy_j"][0]) / _units(record)


def _memory_watts(kind: str) -> Callable[[Record], float]:
    """Returns a function for the mean power of all memories in watts, for one kind of activity.

    The kinds are `read`, `idle`, and `write`. All other activities count as `write`.
    """

    def is_of(activity: str) -> bool:
        known = {"read": _READING, "idle": _IDLE}
        return activity in known[kind] if kind in known else activity not in _READING | _IDLE

    def watts(record: Record) -> float:
        energies = [c.energy_j for c in record.components if c.kind != "hdd" and c.energy_j]
        joules = sum(
            joules for energy in energies for activity, joules in energy.items() if is_of(activity)
        )
        return float(joules / record.drained_s)

    return watts


def _flash(record: Record) -> Any:
    """Returns the only flash cache of a record."""
    (flash,) = (c for c in record.components if c.kind == "flash_disk_cache")
    return flash


def _counter(name: str) -> Callable[[Record], float]:
    """Returns a function that reads a counter of the flash cache."""

    def count(record: Record) -> float:
        flash = _flash(record)
        return float(flash.counters[name])

    return count


def _read_hits(record: Record) -> float:
    """Returns the share of reads that hit in the flash cache."""
    hits, misses = (_counter(name)(record) for name in ("read_hits", "read_misses"))
    return hits / (hits + misses)


def _hits_over_held(record: Record) -> float:
    """Returns the hit ratio of reads divided by the share of the workload's pages in the flash."""
    flash = _flash(record)
    held = float(record.columns[f"{flash.path}.flash.pages_valid"][0])
    return _read_hits(record) * _MICRO_PAGES / held


def _collections_per_write(record: Record) -> float:
    """Returns the number of pages moved by garbage collection per page written by the host."""
    return _counter("collected_programs")(record) / _counter("host_programs")(record)


def _life(name: str) -> Callable[[Record], float]:
    """Returns a function for the number of pages written until an event in the flash's lifetime."""

    def pages(record: Record) -> float:
        flash = _flash(record)
        return float(record.columns[f"{flash.path}.life.{name}"][0])

    return pages


def _pages_until_left(share: float) -> Callable[[Record], float]:
    """Returns a function for the number of pages written until `share` of the flash is usable."""

    def pages(record: Record) -> float:
        flash = _flash(record)
        taken, usable = (
            record.columns[f"{flash.path}.wearing.{name}"]
            for name in ("pages_taken", "usable_share")
        )
        return float(taken[usable <= share][0])

    return pages


_NEW = (4_000, 20_000)
"""Numbers of requests that lifetime runs send after the new flash is full. Each number is a
multiple of the time interval."""

_SPAN = 0.05
"""Share of the requests in a lifetime over which throughput is averaged."""


def _pages_until_slower(record: Record, *, by: float = 0.05) -> float:
    """Returns the number of pages written until throughput has fallen by the share `by`."""
    import numpy as np

    flash = _flash(record)
    asked, taken = (
        np.concatenate([[0.0], record.columns[f"{flash.path}.wearing.{name}"]])
        for name in ("pages_asked", "pages_taken")
    )
    done = record.columns["time.reads"] + record.columns["time.writes"]
    # Cumulative number of requests, of one page each, at the end of each time interval.
    upto = np.concatenate([[0.0], np.cumsum(done, dtype=float)])
    is_new = (upto[:-1] >= _NEW[0]) & (upto[:-1] < _NEW[1])
    new = float(done[is_new].mean())
    within = int(np.searchsorted(upto, asked[-1]))
    width = max(1, round(_SPAN * within))
    mean = np.convolve(done[:within], np.full(width, 1 / width), "valid")
    (slower,) = np.nonzero(mean < (1 - by) * new)
    middle = slower[0] + width // 2
    return float(np.interp(upto[middle], asked, taken))


def _pages_after_half(record: Record) -> float:
    """Returns the number of pages written after half of the flash is lost, until all is lost."""
    return _life("pages_to_end")(record) - _life("pages_to_half")(record)


def _worn_at(share: float) -> Callable[[Record], float]:
    """Returns a function for the result of `_pages_until_left` as a share of the whole lifetime."""

    def life(record: Record) -> float:
        return _pages_until_left(share)(record) / _life("pages_to_end")(record)

    return life


def _density(of: str, over: str) -> Callable[[Any], float]:
    """Returns a function for the density ratio of two technologies in 2009, in bits per area."""

    def ratio(_: object) -> float:
        areas = {value.path: float(value.value) for value in entries()["itrs_2007"].values}
        return areas[f"y2009.{over}_um2_per_bit"] / areas[f"y2009.{of}_um2_per_bit"]

    return ratio


def _least_endurance(_: object) -> float:
    """Returns the smallest ratio of PCRAM's write endurance to that of flash, over all years."""
    cycles = {value.path: float(value.value) for value in entries()["itrs_2007"].values}
    years = {path.partition(".")[0] for path in cycles}
    known = [
        cycles[f"{year}.pcram_cycles"] / cycles[f"{year}.flash_cycles"]
        for year in years
        if f"{year}.pcram_cycles" in cycles
    ]
    return min(known)


def _slc_over_mlc_erases(record: Record) -> float:
    """Returns the ratio of the rated number of erases of SLC to that of MLC."""
    stack = record.scenario.stack
    return float(stack.slc_endurance) / float(stack.mlc_endurance)


MEASURES: Mapping[str, Callable[[Any], float | None]] = {
    "cell_read_us": _spent_us("read", "read"),
    "cell_write_us": _spent_us("write", "write"),
    "decode_us": _spent_us("read", "correct"),
    "disk_w": lambda record: _watts(record, disk=True),
    "memory_w": lambda record: _watts(record, disk=False),
    "total_w": lambda record: _watts(record, disk=True) + _watts(record, disk=False),
    "joules_per_unit": _joules_per_unit,
    "disk_accesses_per_unit": _disk_accesses_per_unit,
    "tables_mw": _tables_mw,
    "tables_joules_per_unit": _tables_joules_per_unit,
    "pages_growth": _pages_growth,
    "memory_read_w": _memory_watts("read"),
    "memory_write_w": _memory_watts("write"),
    "memory_idle_w": _memory_watts("idle"),
    "read_hits": _read_hits,
    "hits_over_held": _hits_over_held,
    "collections_per_write": _collections_per_write,
    "life_at_90_percent": _worn_at(0.9),
    "life_at_half": _worn_at(0.5),
    "pages_until_slower": _pages_until_slower,
    "pages_to_first_gone": _life("pages_to_first_gone"),
    "pages_to_first_lost": _life("pages_to_first_lost"),
    "pages_to_tenth": _pages_until_left(0.9),
    "pages_to_half": _life("pages_to_half"),
    "pages_to_nine_tenths": _pages_until_left(0.1),
    "pages_to_end": _life("pages_to_end"),
    "pages_after_half": _pages_after_half,
    "slc_over_pcram": _density("nand_slc", "pcram_slc"),
    "dram_over_pcram": _density("dram", "pcram_slc"),
    "mlc_over_dram": _density("nand_mlc", "dram"),
    "slc_over_dram": _density("nand_slc", "dram"),
    "slc_over_mlc_erases": _slc_over_mlc_erases,
    "pcram_over_flash_cycles": _least_endurance,
}
