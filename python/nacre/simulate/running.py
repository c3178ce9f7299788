"""Runs and checks scenarios."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from nacre import _core
from nacre.base import toml
from nacre.base.progress import Bar, answering, reporting
from nacre.errors import SEED_MAX, in_range, invalid
from nacre.results.checked import CheckedScenario
from nacre.results.record import Late, Record
from nacre.scenario.prices import Prices, priced
from nacre.scenario.source import Scenario, Source, read, with_functions, without_workload

Progress: TypeAlias = Callable[[int, int | None, float], bool | None]
"""Function that is called about ten times a second with the number of requests done, the total (or
None), and simulated seconds. If it returns true, the run stops and keeps the results so far."""


def run(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    seed: int | None = None,
    until: str | None = None,
    prices: Prices | None = None,
    progress: bool | Progress = False,
    start: str | os.PathLike[str] | Record | None = None,
    save_state: str | os.PathLike[str] | None = None,
) -> Record:
    """Simulates a scenario in simulated time.

    `scenario` is a built-in name, the path of a TOML file, a table, or a typed configuration.
    `overrides` maps dotted paths to values, e.g. `{"workload.rate": "20 kHz"}`. A value can be a
    policy written in Python: a function (garbage collection, placement), or a class (cache
    replacement). `nacre.policies` documents their arguments and results. `progress` shows a bar on
    standard error, or calls your function.

    `until` extends the run until the mean latencies are precise. For example, `"1 %"` limits the
    half-width of the 95 % confidence interval to 1 % of the mean. A random workload then exceeds
    its number of requests or transactions, by a factor of up to a thousand. If the intervals are
    still too wide, or if a trace ends earlier, the record has a finding.

    `prices` converts prices in different currencies, e.g. `{"USD 2009": "1.42 USD 2023"}`.

    `save_state` is a file for the state after the last request. `start` is such a file, or the
    record of a run that saved its state. The new run starts from this state, with the next request
    of the same workload, or with another workload when the stack is idle. `start` can also be the
    image of a memory or of a served device, unless it is open. The stack and the seed must be
    unchanged. If the file `save_state` exists, it is replaced only if it contains a saved state.

    Raises `ConfigError` with all errors at once, `TypeError` for an invalid type of scenario, and
    any exceptions of your functions.
    """
    source, (settings, cleaners), seed = read(scenario), with_functions(overrides), _seed(seed)
    priced(source, settings, prices)
    if until is not None:
        settings += _going_on(source, settings, until)
    begin, place = state_of(start), None if save_state is None else os.fspath(save_state)
    with reporting(progress, Bar("simulating", "requests")) as tick:
        document, columns = source.call(
            _core.run, settings, seed, answering(tick), cleaners, begin, place
        )
    record = Record(source.placed(json.loads(document)), Late(columns.arrays))
    if place is not None and record.complete:
        record.state = Path(place)
    return record


def check(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    needs_workload: bool = False,
) -> CheckedScenario:
    """Resolves every value of a scenario, with its origin. Raises `ConfigError` with all errors.

    Only `run` requires a workload; serving, single requests, and power-loss tests do not. If
    `needs_workload` is true, a missing workload is an error.
    """
    source, (settings, cleaners) = read(scenario), with_functions(overrides)
    none = [] if needs_workload else without_workload(source, settings)
    text = source.call(_core.check, [*none, *settings], cleaners)
    document = source.placed(json.loads(text))
    if none:
        del document["scenario"]["workload"]
        document["origins"] = [
            origin for origin in document["origins"] if not origin["path"].startswith("workload")
        ]
    return CheckedScenario(document)


_FURTHER = 1000
"""Maximum factor by which a run may exceed its number of requests to narrow confidence
intervals."""
_COUNTS = ("requests", "transactions")


def _going_on(source: Source, settings: list[tuple[str, str]], until: str) -> list[tuple[str, str]]:
    """Returns the settings that extend a run until its confidence intervals are narrow enough."""
    if "%" not in until:
        hint = 'give a share with its sign, as "1 %"'
        raise invalid("needs-unit", "until", "it is not a share", given=until, hint=hint)
    asked = ("run.until", toml.value(until))
    resolved = json.loads(source.call(_core.resolve, [*settings, asked]))
    counts = [key for key in _COUNTS if isinstance(resolved["workload"].get(key), int)]
    most = (1 << 63) // _FURTHER
    further = [
        (f"workload.{key}", str(min(resolved["workload"][key], most) * _FURTHER)) for key in counts
    ]
    return [asked, *further]


def _seed(seed: int | None) -> int | None:
    return None if seed is None else in_range("seed", seed, 0, SEED_MAX)


def state_of(start: str | os.PathLike[str] | Record | None) -> str | None:
    """Returns the file of a saved state, or None if `start` is None."""
    if not isinstance(start, Record):
        return None if start is None else os.fspath(start)
    if start.state is None:
        hint = "run it with save_state, which names a file for it"
        raise invalid("no-data", "start", "the state of this record was not saved", hint=hint)
    return str(start.state)
