"""Losing the power of a device anywhere, and saying what was lost."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from nacre import _core
from nacre.base.progress import answering
from nacre.errors import config_error, in_range, unknown
from nacre.results.crash import Crash
from nacre.scenario.source import (
    Scenario,
    Source,
    assignments,
    read,
    warn_of_host,
    without_workload,
)

Progress: TypeAlias = Callable[[int, int | None], bool | None]
"""Called about ten times a second with points tried and points in all; returning True ends it."""


CRASH_SEED_MAX = 2**64 - 1
"""The largest seed: all that is drawn follows from 64 bits, none of which stands in a scenario."""


def faults() -> list[str]:
    """The faults of a medium that can be put into a run."""
    return list(_core.crash_faults())


def crash(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    points: int = 10_000,
    seed: int = 1,
    faults: Sequence[str] = (),
    progress: Progress | None = None,
) -> Crash:
    """Loses the power of the stack of a scenario so often, each time at another moment.

    The workload is drawn: writes, reads, trims, flushes and transactions at a few places. In every
    second life of the device one of the `faults` strikes its medium, besides power losses; one
    that did not strike by then has up to 64 lives more.

    Raises `ConfigError` naming every error at once: among them a stack that carries no bytes.
    """
    source = read(scenario)
    known = _core.crash_faults()
    problems = [
        unknown("there is no fault called", name, known) for name in faults if name not in known
    ]
    if problems:
        raise config_error(problems)
    settings = assignments(overrides)
    warn_of_host(source, settings, "power-loss tests issue their own requests")
    settings = [*without_workload(source, settings), *settings]
    chosen = _points_and_seed(points, seed)
    document = source.call(_core.crash, settings, *chosen, list(faults), answering(progress))
    return _crash(document, source, settings, name=None, scenario=None, seed=seed)


def crash_random(seed: int, *, points: int = 10_000, progress: Progress | None = None) -> Crash:
    """Test power loss on a random stack, workload, and faults, all from `seed`."""
    points, seed = _points_and_seed(points, seed)
    text, document = _core.crash_drawn(seed, points, answering(progress))
    source = read(tomllib.loads(text))
    return _crash(document, source, [], name=f"drawn from {seed}", scenario=text, seed=seed)


def _crash(document: str, source: Source, settings: list[tuple[str, str]], **what: Any) -> Crash:
    """What was found, with where the values of the stack come from."""
    resolved = source.call(_core.check, settings)
    checked = source.placed(json.loads(resolved))
    of_stack = [origin for origin in checked["origins"] if origin["path"].startswith("stack")]
    name = what["name"] or checked["name"]
    return Crash({**what, "name": name, **json.loads(document), "origins": of_stack})


def _points_and_seed(points: int, seed: int) -> tuple[int, int]:
    limit = CRASH_SEED_MAX
    return in_range("points", points, 0, limit), in_range("seed", seed, 0, limit)
