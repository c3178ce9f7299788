"""Several results of a kind, in a table with a line for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nacre.base.table import Table
from nacre.base.text import (
    NOTHING,
    amount,
    count,
    duration,
    percent,
    printable,
    size,
)
from nacre.pages.html import table
from nacre.pages.page import part, wide
from nacre.results.shown import TraceInfo
from nacre.simulate.mixing import Mixes
from nacre.simulate.power_loss import Crash
from nacre.studies.result import StudyResult

if TYPE_CHECKING:
    Line = Callable[[Any], Sequence[str]]

_NS = 1e9


def others_side_by_side(results: Mapping[str, object]) -> str:
    """Studies, mixes, losses of power and traces, each kind of which there are several."""
    shown = []
    for kind, (title, columns, line) in _KINDS.items():
        of = {name: each for name, each in results.items() if isinstance(each, kind)}
        if len(of) > 1:
            rows = [[printable(name), *line(each)] for name, each in of.items()]
            numeric = [False, *(column not in _WORDS for column in columns)]
            shown.append(part(title, wide(table(Table("", ["", *columns], numeric, rows)))))
    return "".join(shown)


def _study(result: StudyResult) -> list[str]:
    from nacre.words.studies import cell, counted

    objectives, front = result.questions.objectives, result.pareto()
    designs = [count(result.designs.height), count(front.height) if objectives else NOTHING]
    if not objectives or not front.height:
        return [*designs, NOTHING, NOTHING, NOTHING]
    first, best = objectives[0].column, front.row(0, named=True)
    axes = [axis.name for axis in result.questions.axes if best[axis.name] is not None]
    chosen = ", ".join(f"{axis} {best[axis]}" for axis in axes)
    return [*designs, counted(first, result), cell(first, best[first]), printable(chosen)]


def _mixes(mixes: Mixes) -> list[str]:
    from nacre.words.mixes import by

    best = mixes.best(1, by(mixes)).row(0, named=True)
    parts = ", ".join(f"{percent(best[name])} {name}" for name in mixes.names if best[name])
    cost = NOTHING if best["cost"] is None else amount(round(best["cost"], 4))
    counted = ", ".join(mixes.bases) or NOTHING
    return [count(len(mixes)), parts, duration(best["mean_ns"]), cost, counted]


def _crash(found: Crash) -> list[str]:
    recovery = found.recovery
    times = [
        NOTHING if time is None else duration(time * _NS)
        for time in (recovery.mean_s, recovery.max_s)
    ]
    told = sum(tried.lost_and_told for tried in found.faults)
    promise = "broken" if found.finding else "kept" if found.is_good else "silent corruption"
    return [count(found.points), promise, count(told), count(found.silent), *times]


def _trace(info: TraceInfo) -> list[str]:
    from nacre.words.traces import missed_by_lru

    asked = info.reads + info.writes
    missed = percent(missed_by_lru(info, 0.1)[1]) if asked else NOTHING
    reads = percent(info.read_share) if asked else NOTHING
    took = duration(info.duration_s * _NS)
    return [count(info.records), reads, size(info.footprint_bytes), took, missed]


_KINDS: Mapping[type, tuple[str, Sequence[str], Line]] = {
    StudyResult: (
        "Studies side by side", ["designs", "on the front", "objective", "best", "with"], _study,
    ),
    Mixes: (
        "Mixes side by side",
        ["mixes", "the best", "a request takes", "a GiB costs", "counted in"], _mixes,
    ),
    Crash: (
        "Losses of power side by side",
        ["points", "promises", "lost, told", "lost, unseen", "mean recovery", "longest"], _crash,
    ),
    TraceInfo: (
        "Traces side by side",
        ["requests", "reads", "touched", "duration", "misses of an LRU cache of a tenth"], _trace,
    ),
}  # fmt: skip
_WORDS = {"objective", "with", "the best", "counted in", "promises"}
