"""Runs a study from its file to its result."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from nacre.base.progress import Bar, reporting
from nacre.errors import Problem, config_error, invalid, unknown
from nacre.files.atomic import look, write_file
from nacre.results.checked import CheckedStudy
from nacre.studies.engines.engine import Engine, Name
from nacre.studies.engines.task import Base, Task, identity
from nacre.studies.engines.tls import Files, tls_of
from nacre.studies.keep.store import FIGURE_FILES, TABLE_FILE, Memory, Store
from nacre.studies.live import LiveStudy
from nacre.studies.points.planner import Planner, sound
from nacre.studies.points.point import Point
from nacre.studies.points.preparations import prepared_alike
from nacre.studies.result import StudyResult
from nacre.studies.spec.design import Design
from nacre.studies.spec.document import Given
from nacre.studies.spec.metrics import Value

Progress: TypeAlias = Callable[[int, int], bool | None]
"""Function that is called about ten times a second with the number of completed points and the
total. If it returns true, the study stops and keeps the results so far."""

_ENGINES = ("local", "dask")


class End(Enum):
    """Reason for the end of a study."""

    DONE = "done"
    STOPPED = "stopped"
    SPENT = "budget spent"


def study(
    study: Given,
    *,
    engine: Name = "local",
    address: str | None = None,
    tls: Files | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    workers: int | None = None,
    figures: bool = False,
    progress: bool | Progress = False,
    begun: Callable[[LiveStudy], object] | None = None,
) -> StudyResult:
    """Runs every point of a study, which is a sweep over axes or a search.

    `study` is the path of a TOML file, or a table. With the engine `"local"`, the study uses one
    process per core, or `workers` processes. With `"dask"`, it uses the cluster at `address`, or a
    temporary local cluster. For a cluster with certificates, `tls` contains three PEM files: the CA
    certificate, the client certificate, and its key. The directory `out` receives the record of
    each point when it completes, then the table, and, if `figures` is true, the figures. `resume`
    continues the study in this directory. `progress` shows a bar on standard error, or calls your
    function. `begun` is called once, before the first point runs, with an object that returns the
    results so far.

    Raises `ConfigError` with all errors at once, before any point runs. If a point fails, its row
    contains the error.
    """
    with ExitStack() as stack:
        tick = stack.enter_context(reporting(progress, Bar("studying", "points")))
        design, planner = sound(study)
        running = stack.enter_context(engine_called(engine, address, workers, tls))
        kept = stack.enter_context(keeping(design, planner, out, resume=resume))
        live = LiveStudy(design, planner, kept)
        if begun is not None:
            begun(live)
        result, _ = conduct(design, live, running, kept, tick)
        if isinstance(kept, Store):
            save(result, kept)
            if figures:
                result.draw(kept.directory)
    return result


def check_study(study: Given) -> CheckedStudy:
    """Returns the name and the number of points of a study.

    Raises `ConfigError` with all errors.
    """
    design, planner = sound(study)
    return CheckedStudy(design.name, planner.total)


def keeping(
    design: Design, planner: Planner, out: str | os.PathLike[str] | None, *, resume: bool
) -> Memory:
    """Returns the store for the points of a study, in memory or in the directory `out`."""
    if out is None:
        return keeping_nothing(design.paths, resume=resume)
    document = {**design.document, "name": design.name}
    return Store(Path(out), document, design.paths, points=planner.total, resume=resume)


def keeping_nothing(paths: Mapping[str, str] | None, *, resume: bool) -> Memory:
    """Returns a store in memory. Raises `ConfigError` if `resume` is true."""
    if resume:
        raise invalid(
            "missing-setting",
            "resume",
            "there is nothing to continue with",
            hint="give out, the directory that keeps what was run",
        )
    return Memory(paths)


def engine_called(
    name: str,
    address: str | None = None,
    workers: int | None = None,
    tls: Files | None = None,
) -> Engine:
    """Returns the engine with this name. Raises `ConfigError` for an unknown name."""
    if name not in _ENGINES:
        raise config_error([unknown("there is no engine called", name, _ENGINES)])
    if name != "dask":
        given = {"--address": (address, "an address"), "--tls-ca": (tls, "certificates")}
        problems = [
            Problem(
                code="conflicting-settings",
                path=path,
                problem=f"only the engine dask has {what}",
                given=value if isinstance(value, str) else "",
                hint="give --engine dask, too",
            )
            for path, (value, what) in given.items()
            if value not in (None, (None, None, None))
        ]
        if problems:
            raise config_error(problems)
    else:
        from nacre.studies.engines.cluster import Cluster

        return Cluster(address, tls_of(address, *(tls or (None, None, None))))
    from nacre.studies.engines.local import Local

    return Local(workers)


def conduct(
    design: Design,
    planner: Planner,
    engine: Engine,
    kept: Memory,
    watch: Progress | None = None,
) -> tuple[StudyResult, End]:
    """Runs the points that have no result yet.

    Returns the result and the reason for the end of the study.
    """
    points: list[Point] = []
    clock = _Clock(design.budget.seconds)
    end = End.DONE
    while end is End.DONE and (asked := planner.ask()):
        points += asked
        tasks = {
            point.key: Task(point.key, design.source, point.settings)
            for point in asked
            if point.error is None
        }
        told = _Watch(watch, len(points), planner.total, clock)
        end = carry_out(tasks, engine, kept, told)
        if end is End.DONE:
            planner.tell({point.key: _row(point, kept.rows) for point in asked})
    from nacre.studies.analysis import table as tables

    frame = tables.table(design, points, kept.rows)
    directory = kept.directory if isinstance(kept, Store) else None
    return StudyResult(design, frame, planner.total, kept, directory), end


def reused(result: StudyResult, kept: Memory) -> int:
    """Returns the number of points that were already complete when the study started."""
    return sum(key in kept.found for key in result.table["key"])


def foreign(result: StudyResult, kept: Memory) -> int:
    """Returns the number of stored points that do not belong to this study."""
    return len(kept.found.difference(result.table["key"]))


def save(result: StudyResult, kept: Store) -> None:
    """Saves the table. If the study is complete, also merges the files of the points.

    Removes the figures of an earlier table, because they do not match the new table.
    """
    kept.expect(result.total)
    if result.complete:
        kept.compact()
    parquet = io.BytesIO()
    result.table.write_parquet(parquet, metadata={"nacre": json.dumps({"study": result.name})})
    write_file(kept.directory / TABLE_FILE, parquet.getvalue())
    for stale in (kept.directory / name for name in FIGURE_FILES):
        if look(stale):
            stale.unlink()


def carry_out(
    tasks: Mapping[str, Task],
    engine: Engine,
    kept: Memory,
    watch: Callable[[Mapping[str, Task]], End],
) -> End:
    """Runs the tasks that have no result yet, in order.

    If several tasks have equal preconditions, the first of these tasks runs early and saves the
    state after the precondition. The others run last and start from this state. `watch` is called
    about ten times a second with the remaining tasks. It returns `End.DONE` to continue, or another
    reason to stop.
    """
    left = {key: task for key, task in tasks.items() if not kept.has(key)}
    end = watch(left)
    if not left or end is not End.DONE:
        return end
    alike = prepared_alike(left)
    for key in (key for keys in alike for key in keys):
        left[key] = replace(left[key], is_prepared=True)
    later = {key for keys in alike for key in keys[1:]}
    order = sorted(left.values(), key=lambda task: task.key in later)
    outcomes = engine.outcomes(Base(identity()), order)
    try:
        for outcome in outcomes:
            if outcome is not None:
                kept.add(outcome)
                left.pop(outcome.key, None)
            kept.flush()
            end = watch(left)
            if end is not End.DONE:
                return end if left else End.DONE
    finally:
        if isinstance(outcomes, Generator):
            outcomes.close()
    return End.DONE


def _row(point: Point, rows: Mapping[str, Mapping[str, Value]]) -> Mapping[str, Value]:
    return point.refused if point.error else rows[point.key]


class _Clock:
    """Clock that determines whether the time limit of a study is exceeded."""

    def __init__(self, seconds: float | None) -> None:
        self._ends = None if seconds is None else time.monotonic() + seconds

    def is_over(self) -> bool:
        return self._ends is not None and time.monotonic() > self._ends


class _Watch:
    """Reports progress, and determines whether to continue."""

    def __init__(self, call: Progress | None, asked: int, total: int, clock: _Clock) -> None:
        self._call, self._asked, self._total, self._clock = call, asked, total, clock
        self._told_s = 0.0

    def __call__(self, left: Mapping[str, Task]) -> End:
        now = time.monotonic()
        if self._call is not None and (now - self._told_s > 0.05 or not left):
            self._told_s = now
            if self._call(self._asked - len(left), self._total):
                return End.STOPPED
        return End.SPENT if self._clock.is_over() else End.DONE
