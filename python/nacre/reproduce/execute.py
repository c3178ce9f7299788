"""Runs jobs on all cores: the model lets Python go while it simulates.

Served devices come last, one at a time, since their time is that of the wall.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from nacre.errors import Error
from nacre.mixes import mixes
from nacre.reproduce import served
from nacre.reproduce.outcome import Result
from nacre.reproduce.plan import Job
from nacre.run import run

_PATIENCE_S = 0.1
"""How long nobody asks whether to stop."""

Watch = Callable[[int, float], bool]
"""Told of runs ended and of the share of all work that is done; True ends everything."""
Ended = Callable[[Job, Result | BaseException], None]


def execute(jobs: Mapping[Job, float], ended: Ended, watch: Watch) -> bool:
    """Runs every job, the longest first; `jobs` says about how long each takes.

    `ended` and `watch` are called from this thread. Returns False if `watch` ended it early;
    what had not come to its end then is not reported.
    """
    stop = threading.Event()
    shares: dict[Job, float] = dict.fromkeys(jobs, 0.0)
    work = sum(jobs.values()) or 1.0
    finished = 0

    def note(job: Job, outcome: Result | BaseException) -> None:
        nonlocal finished
        shares[job] = 1.0
        finished += 1
        ended(job, outcome)

    def ends() -> bool:
        weighted = sum(share * jobs[job] for job, share in shares.items())
        return watch(finished, weighted / work)

    order = sorted(jobs, key=lambda job: (-jobs[job], job.settings))
    alone = [job for job in order if job.dilate]
    together = [job for job in order if not job.dilate]
    for wave, workers in ((together, _cores()), (alone, 1)):
        if wave and not stop.is_set():
            _wave(wave, workers, shares, stop, note, ends)
    return finished == len(jobs)


def _wave(
    order: Sequence[Job],
    workers: int,
    shares: dict[Job, float],
    stop: threading.Event,
    note: Ended,
    ends: Callable[[], bool],
) -> None:
    """Runs jobs side by side until all have ended, or `ends` has said so, which sets `stop`."""
    with ThreadPoolExecutor(workers, thread_name_prefix="nacre-run") as pool:
        pending = {pool.submit(_run, job, shares, stop): job for job in order}
        try:
            while pending:
                done, _ = wait(pending, timeout=_PATIENCE_S, return_when=FIRST_COMPLETED)
                for future in done:
                    job = pending.pop(future)
                    if (outcome := _outcome(future)) is not None:
                        note(job, outcome)
                if ends() and not stop.is_set():
                    stop.set()
                    pending = {f: job for f, job in pending.items() if not f.cancel()}
        except BaseException:
            stop.set()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _run(job: Job, shares: dict[Job, float], stop: threading.Event) -> Result | None:
    """The result; None for one that was told to stop."""
    if job.dilate:
        return served.run(job, stop)
    if job.mixes:
        return _mixes(job, shares, stop)
    was_prepared = False

    def tick(done: int, total: int | None, simulated_s: float) -> bool:
        nonlocal was_prepared
        share = min(done / total, 1.0) if total else 0.0
        if not simulated_s:
            was_prepared = True
        shares[job] = share if not was_prepared else share / 2 + (0.5 if simulated_s else 0.0)
        return stop.is_set()

    record = run(job.scenario, job.overrides(), progress=tick)
    return record if record.complete else None


def _mixes(job: Job, shares: dict[Job, float], stop: threading.Event) -> Result | None:
    def tick(done: int, total: int | None) -> bool:
        shares[job] = min(done / total, 1.0) if total else 0.0
        return stop.is_set()

    try:
        return mixes(job.scenario, job.overrides(), steps=job.mixes, progress=tick)
    except Error:
        if stop.is_set():
            return None
        raise


def _outcome(future: Future[Result | None]) -> Result | BaseException | None:
    """The result, or why there is none; None for a run that was told to stop."""
    return future.exception() or future.result()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
