"""Cuts the power of a device at many points, and checks its durability guarantees."""

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
"""Function that is called about ten times a second with the number of tested points and the total.
If it returns true, the tests stop."""


CRASH_SEED_MAX = 2**64 - 1
"""Largest seed, because the random streams have 64-bit seeds."""


def faults() -> list[str]:
    """Returns the names of the faults that can be injected into a medium."""
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
    """Tests power losses at many random points on the stack of a scenario.

    The workload is random: writes, reads, trims, flushes, and transactions at a few locations. In
    every second run of the device, one of the `faults` also affects the medium. If a fault did not
    occur in any run, up to 64 runs are added.

    Raises `ConfigError` with all errors at once, including a stack that cannot store data.
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
    """Tests power losses on a random stack. `seed` determines stack, workload, and faults."""
    points, seed = _points_and_seed(points, seed)
    text, document = _core.crash_random(seed, points, answering(progress))
    source = read(tomllib.loads(text))
    return _crash(document, source, [], name=f"random stack {seed}", scenario=text, seed=seed)


def _crash(document: str, source: Source, settings: list[tuple[str, str]], **what: Any) -> Crash:
    """Creates a result that includes the origins of the stack's values."""
    resolved = source.call(_core.check, settings)
    checked = source.placed(json.loads(resolved))
    of_stack = [origin for origin in checked["origins"] if origin["path"].startswith("stack")]
    name = what["name"] or checked["name"]
    return Crash({**what, "name": name, **json.loads(document), "origins": of_stack})


def _points_and_seed(points: int, seed: int) -> tuple[int, int]:
    limit = CRASH_SEED_MAX
    return in_range("points", points, 0, limit), in_range("seed", seed, 0, limit)
