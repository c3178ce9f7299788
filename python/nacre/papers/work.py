"""Reproduces the results of papers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from nacre.base.progress import reporting
from nacre.papers.result import Reproduction
from nacre.papers.running.progress import RunsBar
from nacre.papers.running.runs import Runs, Watch
from nacre.papers.running.target import Target
from nacre.papers.spec.paper import SHIPPED, figure_of, find, papers
from nacre.papers.spec.plan import Job
from nacre.studies.engines.engine import Engine
from nacre.studies.engines.local import Local
from nacre.studies.keep.store import Memory, Store
from nacre.studies.work import keeping_nothing

Progress = Watch
_RUN_BYTES = 1 << 16
"""Approximate size of a saved run in bytes."""


def reproduce(
    paper: str | None = None,
    figure: str | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    figures: bool = True,
    progress: bool | Progress = False,
) -> Reproduction:
    """Reproduces the published results of a paper by running the model, on all cores.

    `paper` is the name of a paper, optionally with a figure, e.g. `"envy/fig8"`. None selects all
    papers. `figure` selects one figure. Each run is saved in the directory `out` when it completes.
    The rows, the records, and, if `figures` is true, the figures follow at the end. `resume` reuses
    the runs in this directory. `progress` shows a bar on standard error, or calls your function.

    Raises `ConfigError` for an unknown name. If a run fails, its claims do not hold.
    """
    name = paper if figure is None else f"{paper}/{figure}"
    if paper is None and figure is not None:
        raise TypeError(f"which paper's {figure}? give its name, too")
    with ExitStack() as stack:
        tick = stack.enter_context(reporting(progress, RunsBar()))
        chosen = targets(name)
        kept = stack.enter_context(keeping(chosen, out, resume=resume))
        found = conduct(chosen, kept=kept, watch=tick)
        if out is not None:
            found.save(out, figures=figures)
    return found


def targets(name: str | None, folder: Path = SHIPPED) -> list[Target]:
    """Returns the targets for a name, e.g. `envy` or `envy/fig8`. None means all papers."""
    if name is None:
        return [_whole(each, folder) for each in papers(folder)]
    paper, slash, figure = name.partition("/")
    if not slash:
        return [_whole(paper, folder)]
    found = find(paper, folder)
    return [Target(found, [figure_of(found, figure)])]


def keeping(
    chosen: Sequence[Target], out: str | os.PathLike[str] | None, *, resume: bool
) -> Memory:
    """Returns the store for the runs of targets.

    Raises `ConfigError` if there is nothing to resume.
    """
    if out is None:
        return keeping_nothing(None, resume=resume)
    document = {"reproduces": [f"{t.paper.name}/{name}" for t in chosen for name in t.figures]}
    return Store(
        Path(out), document, None, points=len(jobs_of(chosen)), resume=resume,
        what="reproduction", point_bytes=_RUN_BYTES,
    )  # fmt: skip


def conduct(
    chosen: Sequence[Target],
    *,
    engine: Engine | None = None,
    kept: Memory | None = None,
    watch: Watch | None,
) -> Reproduction:
    """Executes all runs of the targets, each once, and returns the result.

    Reuses saved runs. Without an engine, uses all cores.
    """
    jobs = jobs_of(chosen)
    with ExitStack() as stack:
        runs = Runs(stack.enter_context(engine or Local()), kept or Memory(None))
        runs.run(jobs, watch)
    return Reproduction(chosen, runs.ended(jobs))


def _whole(name: str, folder: Path) -> Target:
    paper = find(name, folder)
    return Target(paper, paper.figures)


def jobs_of(chosen: Iterable[Target]) -> dict[Job, float]:
    """Returns the runs of the targets, with their approximate durations in seconds."""
    jobs: dict[Job, float] = {}
    for target in chosen:
        for point in target.points:
            seconds = target.paper.plan[point.group].seconds
            jobs[point.job] = max(seconds, jobs.get(point.job, 0.0))
    return jobs
