"""Losing the power of a device anywhere, and saying what was lost."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from nacre import _core
from nacre.base.view import View
from nacre.errors import Error, Problem, config_error, unknown
from nacre.results._record import ValueOrigin
from nacre.scenario.source import (
    Scenario,
    Source,
    assignments,
    read,
    without_workload,
)

CRASH_FILE = "crash.json"

Progress: TypeAlias = Callable[[int, int | None], bool | None]
"""Called about ten times a second with points tried and points in all; returning True ends it."""


CRASH_SEED_MAX = 2**64 - 1
"""The largest seed: all that is drawn follows from 64 bits, none of which stands in a scenario."""


class Tried(View):
    """What became of the data under one class of faults.

    `lost_and_told` blocks had an acknowledged write that recovery counts as lost; `lost_unseen`
    devices returned something wrong, and have no means to see it.
    """

    fault: str
    promise: str
    points: int
    injected: int
    blocks_behind: int
    lost_and_told: int
    lost_unseen: int


class Recovery(View):
    """How long the device took to be ready; `bars` are pairs of seconds and how many."""

    count: int
    mean_s: float | None
    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    bars: tuple[tuple[float, int], ...]


class Finding(View):
    """A broken promise, and the fewest steps found that lead to it."""

    problem: str
    fault: str
    steps: tuple[str, ...]
    steps_drawn: int
    repeats: bool


class Crash(View):
    """What losing the power so often found; `finding` is None where every promise was kept."""

    parts = {  # noqa: RUF012
        "faults": Tried,
        "recovery": Recovery,
        "finding": Finding,
        "origins": ValueOrigin,
    }
    name: str
    scenario: str | None
    seed: int
    points: int
    lives: int
    restarts: int
    requests: int
    blocks_audited: int
    promises: View
    faults: tuple[Tried, ...]
    branches: View
    recovery: Recovery
    finding: Finding | None
    origins: tuple[ValueOrigin, ...]
    """Every value of the stack, with where it comes from; the workload is drawn."""

    @property
    def silent(self) -> int:
        """Lives of the device in which it returned corrupted data without an error.

        Faults that a device has no means to detect do that, and violate no guarantee.
        """
        return sum(tried.lost_unseen for tried in self.faults)

    @property
    def is_good(self) -> bool:
        """Whether every guarantee was kept, and no corrupted data were returned silently."""
        return self.finding is None and not self.silent

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Writes crash.json, a page, and the steps to a broken promise, as `nacre crash --out`."""
        from nacre.files.saving import Staging

        with Staging(Path(directory)) as staging:
            staging.crash(self)
        return Path(directory)

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Crash:
        """Reads what `nacre crash --out` left; raises `Error` for another directory."""
        file = Path(directory) / CRASH_FILE
        try:
            found = cls({"origins": [], **json.loads(file.read_bytes())})
            found.blocks_audited, found.recovery.bars  # noqa: B018 (they are there)
        except (OSError, ValueError, AttributeError, TypeError):
            raise Error(
                f"{directory} holds nothing that losses of power found", "invalid-content"
            ) from None
        return found


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
    second life of the device one of the `faults` strikes its medium, beside losses of power; one
    that did not strike by then has up to 64 lives more.

    Raises `ConfigError` naming every mistake at once: among them a stack that carries no bytes.
    """
    source = read(scenario)
    known = _core.crash_faults()
    problems = [
        unknown("there is no fault called", name, known) for name in faults if name not in known
    ]
    if problems:
        raise config_error(problems)
    settings = assignments(overrides)
    settings = [*without_workload(source, settings), *settings]
    with source.cited():
        document = _core.crash(
            source.text,
            source.name,
            source.directory,
            settings,
            _within("points", points),
            _within("seed", seed),
            list(faults),
            _answering(progress),
        )
    return _crash(document, source, settings, name=None, scenario=None, seed=seed)


def crash_drawn(seed: int, *, points: int = 10_000, progress: Progress | None = None) -> Crash:
    """The same for a stack, a workload and faults that are all drawn from `seed`."""
    text, document = _core.crash_drawn(
        _within("seed", seed), _within("points", points), _answering(progress)
    )
    source = read(tomllib.loads(text))
    return _crash(document, source, [], name=f"drawn from {seed}", scenario=text, seed=seed)


def _crash(document: str, source: Source, settings: list[tuple[str, str]], **what: Any) -> Crash:
    """What was found, with where the values of the stack come from."""
    resolved = _core.check(source.text, source.name, source.directory, settings)
    checked = source.placed(json.loads(resolved))
    of_stack = [origin for origin in checked["origins"] if origin["path"].startswith("stack")]
    name = what["name"] or checked["name"]
    return Crash({**what, "name": name, **json.loads(document), "origins": of_stack})


def _within(name: str, number: int) -> int:
    if not 0 <= number <= CRASH_SEED_MAX:
        hint = f"give a whole number from 0 to {CRASH_SEED_MAX}"
        problem = "it is out of range"
        raise config_error(
            [Problem(code="out-of-range", path=name, problem=problem, given=str(number), hint=hint)]
        )
    return number


def _answering(progress: Progress | None) -> Callable[[int, int | None], bool] | None:
    if progress is None:
        return None
    call = progress
    return lambda done, total: bool(call(done, total))
