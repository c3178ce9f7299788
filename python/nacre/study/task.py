"""One point run to its record, wherever that happens."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from nacre import _core
from nacre.errors import Error
from nacre.scenario import Source

DIED = (
    "the process that ran this point died of it, whenever it was tried;"
    " does its stack need more memory than there is?"
)
"""The error of a point that takes its worker with it, the same for every engine."""


@dataclass(frozen=True)
class Base:
    """What all points of a study have in common, and the Nacre that is to run them."""

    source: Source
    nacre: str
    preparations: str | None = None
    """The folder that keeps what preconditioning leads to, where workers share one."""


class Task(NamedTuple):
    """A point to run, or a part of a run that is split."""

    key: str
    settings: tuple[tuple[str, str], ...]
    is_part: bool = False
    is_prepared: bool = False
    """Whether others are preconditioned alike, so that it is worth keeping what that leads to."""


class Outcome(NamedTuple):
    """What became of it: the record as JSON text, or the error; and how long it took.

    Of a part, the record is the text that becomes a record with those of the other parts.
    """

    key: str
    record: str | None
    error: str | None
    seconds: float


def evaluate(base: Base, tasks: Sequence[Task]) -> list[Outcome]:
    """Runs points, one after the other."""
    if base.nacre != identity():
        raise Error(f"a worker has another Nacre: {identity()}, not {base.nacre}")
    return [_evaluated(base, task) for task in tasks]


@cache
def identity() -> str:
    """The version of this Nacre and of its models."""
    return f"{_core.__version__} ({hashlib.sha256(_core.rooms().encode()).hexdigest()[:12]})"


def _evaluated(base: Base, task: Task) -> Outcome:
    began = time.perf_counter()
    record = error = None
    source = base.source
    try:
        if task.is_part:
            settings = list(task.settings)
            with source.cited():
                text = _core.run_part(source.text, source.name, source.directory, settings)
            return Outcome(task.key, text, None, time.perf_counter() - began)
        with source.cited():
            text, _ = _core.run(
                source.text,
                source.name,
                source.directory,
                list(task.settings),
                preparations=base.preparations if task.is_prepared else None,
            )
        data = source.placed(json.loads(text))
        # Where each value came from can be asked of the scenario at any time, and is long.
        del data["origins"]
        record = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    except (Error, OSError) as failure:
        error = str(failure)
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    return Outcome(task.key, record, error, time.perf_counter() - began)
