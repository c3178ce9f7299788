"""Running and checking scenarios."""

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
"""Called about ten times a second with requests done, requests in all (or None) and seconds
simulated; returning True ends the run there, with what is finished so far."""


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
    """Simulates a scenario in virtual time.

    `scenario` is a shipped name, the path of a TOML file, a table, or a typed configuration.
    `overrides` maps dotted paths to values: `{"workload.rate": "20 kHz"}`; where a policy belongs,
    a value may be one of yours: a function that cleans or places, a class that keeps a cache. What
    they are called with and return is in `nacre.policies`. `progress` shows a
    bar on standard error, or calls your own function.

    `until` runs on until the mean latencies are known so well: `"1 %"` is what half of a 95 %
    confidence interval may be of its mean. A workload that is drawn, and whose requests or
    transactions are counted, continues past its number then, a thousand times as far at most; where
    that is not enough, or a trace ends before, a finding of the record says so.

    `prices` converts prices that are counted in different things: `{"USD 2009": "1.42 USD 2023"}`
    says what one of a basis is.

    `save_state` is a file for the state behind the last request, and `start` the file, or the
    record of the run, whose state this one continues from: with the next request of the same
    workload, or with another workload when the stack is quiet. `start` may be an image too, of a
    memory or of a served device that nobody has open. Stack and seed have to be the same. What
    was saved before in `save_state` is replaced, and nothing else is.

    Raises `ConfigError` naming every error at once, `TypeError` for what is not a scenario, and
    whatever your own function raises.
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
    """Every value a scenario resolves to, with its origin; raises `ConfigError` otherwise.

    A scenario without a workload is enough to serve its stack, to step through it and to crash it.
    `run` needs one: `needs_workload` says that it has to be there.
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
"""How many times as far as it says a workload may go until its means are known."""
_COUNTS = ("requests", "transactions")


def _going_on(source: Source, settings: list[tuple[str, str]], until: str) -> list[tuple[str, str]]:
    """What sets a run to continue until its means are known."""
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
    """The file of a state."""
    if not isinstance(start, Record):
        return None if start is None else os.fspath(start)
    if start.state is None:
        hint = "run it with save_state, which names a file for it"
        raise invalid("no-data", "start", "the state of this record was not saved", hint=hint)
    return str(start.state)
