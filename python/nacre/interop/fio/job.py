"""Converts a job of a fio job file into a scenario."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from nacre.base.text import printable
from nacre.base.text import size as shown_size
from nacre.errors import config_error, invalid, unknown
from nacre.interop.fio.engine import io_engine
from nacre.interop.fio.grammar import Section, sections, shown
from nacre.interop.fio.pace import check_limits, pace
from nacre.interop.fio.parts import workload
from nacre.interop.fio.pattern import Pattern, pattern
from nacre.interop.fio.reader import Reader
from nacre.interop.fio.write import text
from nacre.interop.fio.zones import zone_log
from nacre.scenario.catalog import entries
from nacre.simulate.running import check

STACK = "tlc_nvme"


@dataclass(frozen=True)
class FioScenario:
    """Scenario in TOML that was converted from a job, and the options without an equivalent."""

    text: str
    job: str
    without: tuple[str, ...]


def scenario(
    path: str | os.PathLike[str], *, job: str | None = None, stack: str = STACK
) -> FioScenario:
    """Converts one job of a file into a scenario on a device of the catalog.

    `job` is the name of a section, or its number (from 1) if names are not unique. If the file has
    only one job, `job` is not needed. Percentages refer to the capacity of the device. Raises
    `ConfigError` with all errors of the job.
    """
    devices = [entry.name for entry in entries().values() if entry.family == "device"]
    if stack not in devices:
        raise config_error([unknown("no device called", stack, devices)])
    section = _chosen(sections(Path(path)), job, shown(Path(path)))
    reader = Reader(shown(Path(path)), section, _capacity(stack))
    engine = io_engine(reader)
    asked = pattern(reader, engine)
    if asked is None:
        check_limits(reader)
    log = None if asked is None or reader.problems else zone_log(reader, asked)
    found = None if asked is None else pace(reader, asked, engine)
    made = None if asked is None or reader.problems else workload(reader, asked, log)
    if reader.problems or asked is None or found is None or made is None:
        raise config_error(reader.problems)
    if log is not None:
        found.requests = log.with_resets(found.requests)
    _reach(reader, asked, stack)
    reader.leftovers()
    name = printable(section.name)
    return FioScenario(text(reader, name, made, found, stack), name, tuple(reader.without))


def _chosen(jobs: list[Section], job: str | None, path: str) -> Section:
    """Returns the job with this name or number."""
    named = [each for each in jobs if job in (None, each.name)]
    if len(named) == 1:
        return named[0]
    if job is not None and not named and job.isdigit() and 0 < int(job) <= len(jobs):
        return jobs[int(job) - 1]
    names = [printable(each.name) for each in jobs]
    if not named:
        raise config_error([unknown("no job called", job or "", names)])
    if len(set(names)) == len(names):
        listed, hint = ", ".join(names), f"give one, as --job {names[0]}"
    else:
        listed = ", ".join(f"{number} {name}" for number, name in enumerate(names, 1))
        hint = f"give the number of one, as --job {1 + jobs.index(named[0])}"
    problem = f"it has {len(jobs)} jobs: {listed}"
    raise invalid("missing-setting", path, problem, hint=hint)


def _capacity(stack: str) -> int | None:
    """Returns the capacity of the device in bytes, or `None` if it is unlimited."""
    least = {"kind": "uniform", "requests": 1, "footprint": "64 KiB", "request": "64 KiB"}
    found: int | None = check({"workload": least, "stack": {"preset": stack}}).capacity
    return found


def _reach(reader: Reader, asked: Pattern, stack: str) -> None:
    end = asked.start + asked.bytes
    if reader.capacity is not None and end > reader.capacity:
        what = (
            f"the job reaches to {shown_size(end)}, and {stack} has {shown_size(reader.capacity)}"
        )
        reader.no("size", f"{what}: nacre run rejects it; choose a larger --stack")
