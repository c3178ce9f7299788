"""Arrivals of requests: queue depth, rates, pauses, duration, and number of requests.

Sources: fio's `backend.c` (synchronous engines have a depth of one, and a job waits for all of its
requests before its think time) and `rate_ddir` in `io_u.c` (each direction has its own rate).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from nacre.base.text import numbered
from nacre.interop.fio.engine import Engine
from nacre.interop.fio.pattern import READ, TRIM, WRITE, Pattern
from nacre.interop.fio.reader import Reader

ENDLESS = 1_000_000_000
"""Number of requests of a job whose duration is given instead of its amount."""
_NAMES = {READ: "reads", WRITE: "writes", TRIM: "trims"}


@dataclass
class Pace:
    """Arrivals, number of requests, and settings of the run."""

    arrival: dict[str, object]
    requests: int
    run: dict[str, object] = field(default_factory=dict)


def pace(job: Reader, asked: Pattern, engine: Engine) -> Pace:
    """Converts the arrivals of a job's requests, their number, and the duration of the run.

    If reads and writes have separate rates, sets the shares of reads and writes in `asked`
    accordingly.
    """
    jobs = job.count("numjobs", 1)
    depth = _depth(job, asked, engine) * jobs
    runtime = job.time("runtime", "s")
    is_timed = job.flag("time_based")
    if is_timed and runtime is None and not job.problems:
        job.no("time_based", "without a runtime, fio also ignores it")
    rate = _rate(job, asked)
    requests = ENDLESS if is_timed and runtime else _requests(job, asked) * jobs
    if is_timed and runtime:
        # fio continues until the time has elapsed, even if the amount has been transferred.
        for key in ("io_size", "number_ios", "loops"):
            job.take(key)
    if jobs > 1:
        job.no(
            "numjobs", f"{jobs} jobs become one loop with the sum of their depths, in one region"
        )
    if "offset_increment" in job.settings and jobs == 1:
        job.take("offset_increment")
    arrival = _closed(job, depth, jobs) if rate is None else _open(job, rate * jobs, depth)
    run: dict[str, object] = {} if runtime is None else {"duration": f"{runtime.normalize():f} s"}
    return Pace(arrival, requests, run)


def check_limits(job: Reader) -> None:
    """Records errors in the arrival settings of a job whose pattern is invalid."""
    for key in ("numjobs", "iodepth", "loops", "number_ios", "thinktime_blocks"):
        job.count(key, 1)
    job.time("runtime", "s")
    job.time("thinktime", "us")
    job.each("rate_iops", "a number of requests", "e.g. rate_iops=20000")
    job.each("rate", "a number of bytes", "e.g. rate=100m")


def _depth(job: Reader, asked: Pattern, engine: Engine) -> int:
    """Returns the queue depth of one process of the job."""
    depth = job.count("iodepth", 1)
    if depth == 1:
        return 1
    if engine.is_synchronous:
        default = ", the default of fio," if engine.is_default else ""
        job.no(
            "iodepth", f"{engine.name}{default} is synchronous: its queue depth is 1, not {depth}"
        )
        return 1
    if engine.trims_in_turn and set(asked.directions) == {TRIM}:
        job.no("iodepth", f"{engine.name} trims synchronously: its queue depth is 1, not {depth}")
        return 1
    return depth


def _rate(job: Reader, asked: Pattern) -> Fraction | None:
    """Returns the requests per second over all directions, or `None` if the rate is unlimited."""
    by_count = job.each("rate_iops", "a number of requests", "e.g. rate_iops=20000")
    by_bytes = job.each("rate", "a number of bytes", "e.g. rate=100m")
    if any(by_count) and any(by_bytes):
        job.wrong(
            "conflicting-settings",
            "rate",
            "fio allows either rate or rate_iops",
            "remove one of them",
        )
        return None
    rates: dict[int, Fraction] = {}
    for at in asked.directions:
        if count := by_count[at]:
            rates[at] = Fraction(count)
        elif found := by_bytes[at]:
            rates[at] = found / asked.mean(at)
    key = "rate_iops" if any(by_count) else "rate"
    if not rates:
        return None
    if missing := [_NAMES[at] for at in asked.directions if at not in rates]:
        problem = f"the rate of {' and '.join(missing)} is unlimited, and other rates are limited"
        job.wrong(
            "conflicting-settings",
            key,
            problem,
            "give a rate for each direction, e.g. rate_iops=1000,500",
        )
        return None
    total = sum(rates.values(), Fraction(0))
    if len(rates) > 1:
        asked.directions = {at: rate / total for at, rate in rates.items()}
        both = " and ".join(f"{float(rate):g} {_NAMES[at]}" for at, rate in rates.items())
        job.no(key, f"{both} per second are mixed at random; fio issues each kind at its own rate")
    return total


def _open(job: Reader, rate: Fraction, depth: int) -> dict[str, object]:
    kind = "poisson" if job.word("rate_process") == "poisson" else "periodic"
    at_once = f"{numbered(depth, 'request')} at once"
    job.no("iodepth", f"{at_once}: with a rate, the number of outstanding requests is unlimited")
    return {"kind": kind, "rate": f"{_decimal(rate)} Hz"}


def _decimal(number: Fraction) -> str:
    """Formats a number as decimal text.

    Integers are exact, and fractions have up to twelve digits.
    """
    whole = number.denominator == 1
    return str(number.numerator) if whole else f"{float(number):.12g}"


def _closed(job: Reader, depth: int, jobs: int) -> dict[str, object]:
    job.take("rate_process")
    think = job.time("thinktime", "us")
    if think is None:
        job.take("thinktime_blocks")
        return {"kind": "closed", "queue_depth": depth}
    blocks = job.count("thinktime_blocks", 1)
    if depth > jobs:
        what = "fio waits for all requests of a job before it pauses, so the depth is 1"
        job.no("iodepth", what)
    if blocks > 1:
        each = think / blocks
        job.no(
            "thinktime_blocks", f"a pause after {blocks} requests is {_s(each)} after each request"
        )
        think = each
    return {"kind": "closed", "queue_depth": jobs, "think": _s(think)}


def _s(seconds: Decimal) -> str:
    return f"{seconds.normalize():f} s"


def _requests(job: Reader, asked: Pattern) -> int:
    """Returns the number of requests of one process of the job.

    Each pass transfers the bytes of the job, or `io_size` if it is smaller. There are `loops`
    passes, or more until `io_size` is reached. `number_ios` limits the requests of each pass.
    """
    loops = job.count("loops", 1)
    amount = job.size("io_size", asked.bytes, "the job")
    limit = job.count("number_ios", 0)
    only, mean = asked.only_size, asked.mean_request
    found = asked.bytes // only if only is not None else math.ceil(asked.bytes / mean)
    if only is not None and asked.stride is not None:
        # fio returns to the start at the end of the region. A request that ends at the end of the
        # region is the last.
        strides, rest = divmod(asked.bytes // only - 1, asked.stride // only)
        found = found if rest else 1 + strides
    whole = 0 if amount is None else math.ceil(amount / mean)
    total = max(min(found, whole or found) * loops, whole)
    return max(1, min(total, limit * loops or total))
