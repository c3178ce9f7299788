"""Kinds of results. A kind defines how results are saved, loaded, plotted, and summarized.

A kind is a module of this package with a `Kind`, and a line in `KINDS`. No other code depends on
specific kinds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nacre.errors import Error
from nacre.files.atomic import write_file
from nacre.files.staging import Staging

if TYPE_CHECKING:
    from nacre.kinds.kind import Kind
    from nacre.results.base import Result


class Known(NamedTuple):
    """A class of results, the module of its kind, and the names that identify a saved result."""

    result: str
    place: str
    seal: str | None = None
    """Name of the file that identifies a result directory."""
    field: str | None = None
    """Name of the field that identifies the JSON document of a result."""


KINDS = (
    Known("Reproduction", "nacre.papers.kind:KIND", "rows.json"),
    Known("Plan", "nacre.kinds.plans:KIND", "plan.json"),
    Known("StudyResult", "nacre.kinds.studies:KIND", "study.json"),
    Known("Record", "nacre.kinds.records:KIND", "record.json"),
    Known("Mixes", "nacre.kinds.mixes:KIND", "mixes.json"),
    Known("Crash", "nacre.kinds.crashes:KIND", "crash.json", "blocks_audited"),
    Known("Comparison", "nacre.kinds.comparisons:KIND", "comparison.json"),
    Known("TraceInfo", "nacre.kinds.traces:KIND", field="first_bad"),
    Known("FittedWorkload", "nacre.kinds.traces:FITTED"),
    Known("MissRatioCurve", "nacre.kinds.curves:MISS_RATIO", field="curve"),
    Known("CacheCurves", "nacre.kinds.curves:CACHES", field="caches"),
    Known("CheckedScenario", "nacre.kinds.checked:KIND", field="capacity"),
    Known("Statistics", "nacre.kinds.served:SERVER", field="exports"),
    Known("ExportStatistics", "nacre.kinds.served:EXPORT", field="answered"),
    Known("Outage", "nacre.kinds.served:OUTAGE", field="acknowledged_lost"),
)
"""All kinds. If a directory has the files of several kinds, the first kind is used."""
_PLACES = {known.result: known.place for known in KINDS}


def of(result: Result) -> Kind:
    """Returns the kind of a result. Raises `TypeError` for other objects."""
    return of_class(type(result))


def of_class(kind: type) -> Kind:
    """Returns the kind of a class of results. Raises `TypeError` for other classes."""
    for each in kind.__mro__:
        if each.__name__ in _PLACES:
            return at(_PLACES[each.__name__])
    raise TypeError(f"{kind.__name__} is not a kind of results")


@cache
def at(place: str) -> Kind:
    """Returns the kind at `place` (MODULE:NAME). The module is loaded on first use."""
    module, _, name = place.partition(":")
    found: Kind = getattr(import_module(module), name)
    return found


def fields(path: Path) -> set[str]:
    """Returns the field names of the JSON object in a file. The set is empty for other content."""
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        return set()
    return set(document) if isinstance(document, dict) else set()


def save(result: Result, path: Path, *, figures: bool, replace: bool) -> Path:
    """Saves a result to a directory or to a file, depending on its kind."""
    kind = of(result)
    if kind.encode is not None:
        write_file(path, kind.encode(result, path), replace=replace)
    elif kind.write is not None:
        with Staging(path, kind.names, replace=replace) as staging:
            kind.write(staging, result)
            if figures:
                draw(result, staging.put)
    else:
        raise Error(f"a {type(result).__name__} cannot be saved", "not-supported")
    return path


def draw(
    result: Result, put: Callable[[str, bytes], object], stop: Callable[[], bool] = lambda: False
) -> bool:
    """Plots the figures of a result, and passes each file to `put` immediately.

    Calls `stop` between files. If `stop` returns true, this function stops and returns False.
    """
    if stop():
        return False
    from nacre.figures.export import drawn_once

    kind = of(result)
    for name, make in kind.figures(result).items():
        for suffix, drawn in drawn_once(make, kind.suffixes):
            if stop():
                return False
            put(f"{name}.{suffix}", drawn())
    return True
