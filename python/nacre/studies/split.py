"""Splits the trace of a scenario among workers, and merges their results into one record."""

from __future__ import annotations

import errno
import json
import os
import stat
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from nacre import _core
from nacre.base.progress import Bar, reporting
from nacre.base.text import printable
from nacre.errors import SEED_MAX, Error, Problem, config_error
from nacre.files.atomic import unfinished, write_file
from nacre.results.record import Record
from nacre.scenario.source import Scenario, Source, assignments, parsed, read
from nacre.studies.engines.engine import Engine, Name
from nacre.studies.engines.task import Base, Part, Task, identity
from nacre.studies.engines.tls import Files
from nacre.studies.points.point import Points
from nacre.studies.work import engine_called

Progress: TypeAlias = Callable[[int, int], bool | None]
"""Function that is called about ten times a second with the number of completed parts and the
total. If it returns true, the run stops."""

_SUFFIX = ".part"


class Plan(NamedTuple):
    """A checked scenario that is divided into parts. The largest parts run first."""

    source: Source
    settings: list[tuple[str, str]]
    way: str
    keys: Sequence[str]
    tasks: Sequence[Task]


def run_split(
    scenario: Scenario,
    split: str,
    overrides: Mapping[str, object] | None = None,
    *,
    seed: int | None = None,
    engine: Name = "local",
    address: str | None = None,
    tls: Files | None = None,
    workers: int | None = None,
    keep: str | os.PathLike[str] | None = None,
    progress: bool | Progress = False,
) -> Record:
    """Simulates the parts of a trace in parallel, each on a separate copy of the stack.

    With `split="volume"`, each volume of the trace is a part. With `"volume:4"`, the volumes are
    assigned to four parts in rotation. With `"hash:4"`, a hash of the address selects one of four
    parts, and each part has a quarter of every capacity in the stack. The record combines all
    parts. `engine`, `address`, `tls`, and `workers` have the same meaning as in `nacre.study`.
    `keep` is a directory for completed parts, from which a stopped run can be resumed. `progress`
    shows a bar on standard error, or calls your function.

    Raises `ConfigError` with all errors before any part runs, `Error` if a part fails, and
    `KeyboardInterrupt` if a progress function stops the run.
    """
    with ExitStack() as stack:
        tick = stack.enter_context(reporting(progress, Bar("simulating", "parts")))
        running = engine_called(engine, address, workers, tls)
        plan = planned(scenario, split, overrides, seed)
        kept = Kept(None if keep is None else Path(keep))
        found = conduct(plan, stack.enter_context(running), kept, tick)
    if found is None:
        raise KeyboardInterrupt
    kept.clear(plan)
    return found


def planned(
    scenario: Scenario,
    way: str,
    overrides: Mapping[str, object] | None = None,
    seed: int | None = None,
    watch: Callable[[int, int | None], bool] | None = None,
) -> Plan:
    """Returns the parts, each with the settings that differ from the whole scenario.

    Reads the trace once. Raises `ConfigError` for errors, and `KeyboardInterrupt` if `watch` stops
    the reading.
    """
    source, settings = read(scenario), assignments(overrides)
    if seed is not None:
        if not 0 <= seed <= SEED_MAX:
            raise ValueError(f"a seed is a whole number from 0 to {SEED_MAX}; given {seed}")
        settings = [*settings, ("run.seed", str(seed))]
    with source.cited():
        _read_again(source, settings)
    parts = source.call(_core.split_parts, settings, way, watch)
    if parts is None:
        raise KeyboardInterrupt
    points = Points(source, {})
    tasks = []
    for place, (own, _) in enumerate(parts):
        together = dict(settings)
        for path, value in own:
            together.pop(path, None)
            together[path] = value
        point = points.point(place, place, {}, tuple(together.items()))
        tasks.append(Part(point.key, source, point.settings))
    by_size = sorted(range(len(parts)), key=lambda place: -parts[place][1])
    return Plan(
        source, settings, way, [task.key for task in tasks], [tasks[place] for place in by_size]
    )


def _read_again(source: Source, settings: Sequence[tuple[str, str]]) -> None:
    """Raises `ConfigError` if the trace cannot be read several times, i.e. once per part."""
    workload = json.loads(parsed(source).resolve(list(settings)))["workload"]
    names = {"workload.file": [workload.get("file")], "workload.files": workload.get("files") or []}
    problems = []
    for path, files in names.items():
        for name in filter(None, files):
            place = Path(source.directory, name)
            with suppress(OSError):
                mode = place.stat().st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    problem = (
                        "it is read once for the split and once by each part, and is not a file"
                    )
                    hint = "write it to a file first, or remove --split"
                    given = f'"{printable(str(name))}"'
                    problems.append(
                        Problem(
                            code="not-a-file", path=path, problem=problem, given=given, hint=hint
                        )
                    )
    if problems:
        raise config_error(problems)


class Kept:
    """Results of parts by key.

    The results are in memory and, if a directory is given, also in this directory.
    """

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._texts: dict[str, str] = {}
        self._is_ours = False
        if directory is not None:
            directory.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):
                directory.mkdir()
                self._is_ours = True
            if not directory.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(directory))

    def __getitem__(self, key: str) -> str:
        return self._texts[key]

    def has(self, key: str) -> bool:
        """Returns whether a part was completed in this run or in an earlier, stopped run."""
        if key not in self._texts and self._directory is not None:
            with suppress(FileNotFoundError, zlib.error, UnicodeDecodeError):
                packed = (self._directory / f"{key}{_SUFFIX}").read_bytes()
                self._is_ours = True
                self._texts[key] = zlib.decompress(packed).decode()
        return key in self._texts

    def add(self, key: str, text: str) -> None:
        """Stores the result of a part. If there is a directory, the result is durable on return."""
        self._texts[key] = text
        if self._directory is not None:
            write_file(self._directory / f"{key}{_SUFFIX}", zlib.compress(text.encode()))

    def clear(self, plan: Plan) -> None:
        """Removes the saved parts of a completed run.

        Also removes the directory if it is empty and was created by this run or by an earlier,
        stopped run.
        """
        if self._directory is not None:
            for key in plan.keys:
                (self._directory / f"{key}{_SUFFIX}").unlink(missing_ok=True)
            for cut_short in unfinished(self._directory, *(f"{key}{_SUFFIX}" for key in plan.keys)):
                cut_short.unlink(missing_ok=True)
                self._is_ours = True
            if self._is_ours:
                with suppress(OSError):
                    self._directory.rmdir()


def conduct(plan: Plan, engine: Engine, kept: Kept, watch: Progress | None = None) -> Record | None:
    """Runs the parts that have no result yet.

    Returns the merged record, or None if `watch` stopped the run.
    """
    left = [task for task in plan.tasks if not kept.has(task.key)]
    total, number = len(plan.keys), {key: place for place, key in enumerate(plan.keys)}
    done = total - len(left)
    outcomes = engine.outcomes(Base(identity()), left) if left else iter(())
    try:
        if watch is not None and watch(done, total):
            return None
        for outcome in outcomes:
            if outcome is not None and outcome.record is None:
                text = f"part {number[outcome.key]} of {total}: {outcome.error}"
                raise Error(text, outcome.code or "failed")
            if outcome is not None and outcome.record is not None:
                kept.add(outcome.key, outcome.record)
                done += 1
            if watch is not None and watch(done, total) and done < total:
                return None
    finally:
        if isinstance(outcomes, Generator):
            outcomes.close()
    source = plan.source
    parts = [kept[key] for key in plan.keys]
    document, columns = source.call(_core.split_together, plan.settings, plan.way, parts)
    return Record(source.placed(json.loads(document)), columns)
