"""From the name of a paper to its reproduction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

from nacre.reproduce.execute import Ended, Watch, execute
from nacre.reproduce.outcome import Result
from nacre.reproduce.paper import SHIPPED, figure_of, find, papers
from nacre.reproduce.plan import Job
from nacre.reproduce.result import Reproduction, Target

Progress: TypeAlias = Callable[[int, int, float], bool | None]
"""Called about ten times a second with runs ended, runs in all and the share of all work that is
done; returning True ends the reproduction there, with what is finished so far."""


def reproduce(
    paper: str | None = None, figure: str | None = None, *, progress: bool | Progress = False
) -> Reproduction:
    """Recomputes what a paper published by running the model, on all cores.

    `paper` is the name of one, also as `"envy/fig8"`; None takes all there are. `figure` takes
    only what one figure needs. `progress` shows a bar on standard error, or calls a function of
    yours.

    Raises `ConfigError` for a name nobody knows. A run that fails is a row that fails.
    """
    name = paper if figure is None else f"{paper}/{figure}"
    if paper is None and figure is not None:
        raise TypeError(f"which paper's {figure}? give its name, too")
    if not (isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is True, False or a function; given {progress!r}")
    chosen = targets(name)
    with ExitStack() as stack:
        tick: Progress | None
        if progress is True:
            from nacre.reproduce.progress import RunsBar

            tick = stack.enter_context(RunsBar())
        else:
            tick = progress or None
        return conduct(chosen, watch=tick)


def targets(name: str | None, folder: Path = SHIPPED) -> list[Target]:
    """What a name on the command line asks for: nothing, `envy`, or `envy/fig8`."""
    if name is None:
        return [_whole(each, folder) for each in papers(folder)]
    paper, slash, figure = name.partition("/")
    if not slash:
        return [_whole(paper, folder)]
    found = find(paper, folder)
    return [Target(found, [figure_of(found, figure)])]


def conduct(
    chosen: Sequence[Target], *, ended: Ended = lambda _job, _outcome: None, watch: Progress | None
) -> Reproduction:
    """Runs what the targets need, each run once, and judges the outcome."""
    jobs = _jobs(chosen)
    outcomes: dict[Job, Result | BaseException] = {}

    def note(job: Job, outcome: Result | BaseException) -> None:
        outcomes[job] = outcome
        ended(job, outcome)

    execute(jobs, note, _watching(watch, len(jobs)))
    return Reproduction(chosen, outcomes)


def _whole(name: str, folder: Path) -> Target:
    paper = find(name, folder)
    return Target(paper, paper.figures)


def _jobs(chosen: Iterable[Target]) -> dict[Job, float]:
    """The runs, with about the seconds each takes."""
    jobs: dict[Job, float] = {}
    for target in chosen:
        for point in target.points:
            seconds = target.paper.plan[point.group].seconds
            jobs[point.job] = max(seconds, jobs.get(point.job, 0.0))
    return jobs


def _watching(watch: Progress | None, runs: int) -> Watch:
    if watch is None:
        return lambda _finished, _share: False
    call = watch
    return lambda finished, share: bool(call(finished, runs, share))
