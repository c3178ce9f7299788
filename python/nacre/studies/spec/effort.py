"""Reads the tables of a study that limit its work: `search`, `study`, and `budget`."""

from __future__ import annotations

from typing import cast

from nacre.base import quantity
from nacre.errors import nearest
from nacre.studies.spec.design import Budget, Confidence, Method, Search
from nacre.studies.spec.entry import Entry

POINTS_MAX = 1_000_000
BATCH = 16
REPEATS = 5
"""Minimum number of runs of a design before the spread of its results determines the number of
runs. With this minimum, sequentially stopped 95 % intervals of normally distributed values contain
the mean in 93 to 95 % of the cases. With a minimum of 3, they do so in 92 %."""
REPEATS_MAX = 50
REPEATS_LIMIT = 10_000
_METHODS = ("nsga2", "tpe", "random")


def read_search(entry: Entry | None) -> Search | None:
    """Reads the table `search`. Returns None for a study of axes."""
    if entry is None:
        return None
    method = entry.take("method", str, f"one of {', '.join(_METHODS)}", "nsga2")
    if method not in _METHODS:
        meant = nearest(method, _METHODS)
        hint = (f'did you mean "{meant}"? ' if meant else "") + f"known: {', '.join(_METHODS)}"
        entry.wrong("unknown-name", "method", "there is no such method", hint, given=method)
    batch = entry.take("batch", int, "a whole number", BATCH)
    seed = entry.take("seed", int, "a whole number", 1)
    if batch < 1:
        entry.wrong("out-of-range", "batch", "at least one point is chosen at a time", given=batch)
    if not 0 <= seed < 2**32:
        entry.wrong(
            "out-of-range", "seed", "it is out of range", "give 0 to 4294967295", given=seed
        )
    entry.done()
    return Search(cast("Method", method), batch, seed)


def read_confidence(entry: Entry | None, *, searches: bool) -> Confidence | None:
    """Reads the table `study`. Returns None if every design runs once per seed."""
    if entry is None:
        return None
    given = entry.take("confidence", str, 'a share such as "2 %"')
    most = entry.take("repeats", int, "a whole number", REPEATS_MAX)
    least = entry.take("least", int, "a whole number", min(REPEATS, most))
    share = None if given is None else quantity.maybe(given)
    if given is None:
        entry.wrong(
            "missing-setting",
            "confidence",
            "it is missing",
            'give the precision of means, e.g. "2 %"',
        )
    elif share is None or share.base != "share" or not 0 < share.value < 1:
        entry.wrong("invalid-value", "confidence", 'it is not a share such as "2 %"', given=given)
        share = None
    if not 2 <= least <= most <= REPEATS_LIMIT:
        hint = f"give 2 <= least <= repeats <= {REPEATS_LIMIT}"
        entry.wrong(
            "out-of-range",
            "repeats",
            "invalid numbers of runs",
            hint,
            given={"least": least, "repeats": most},
        )
    if searches:
        entry.wrong(
            "conflicting-settings",
            "confidence",
            "a search runs each design with the same seeds",
            "give seeds = [1, 2, 3] instead",
        )
    entry.done()
    return None if share is None else Confidence(float(share.value), least, most)


def read_budget(entry: Entry | None) -> Budget:
    """Reads the table `budget`. If the table is missing, there are no limits."""
    if entry is None:
        return Budget(None, None)
    points = entry.take("points", int, "a whole number")
    if points is not None and not 1 <= points <= POINTS_MAX:
        entry.wrong("out-of-range", "points", f"it is not 1 to {POINTS_MAX}", given=points)
    given = entry.take("time", str, 'a time such as "2 h"')
    time = quantity.maybe(given)
    if given is not None and (time is None or time.base != "s" or time.value <= 0):
        entry.wrong("invalid-value", "time", 'it is not a time such as "2 h"', given=given)
        time = None
    entry.done()
    return Budget(points, None if time is None else float(time.value))
