"""One piece of work carried out to its end, wherever that happens."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nacre import _core
from nacre.errors import Code, Error, code_of
from nacre.scenario.source import Source, parsed

if TYPE_CHECKING:
    import numpy as np

Columns: TypeAlias = "Mapping[str, np.ndarray[Any, Any]]"

DIED = (
    "the process that ran this point died of it, whenever it was tried;"
    " does its stack need more memory than there is?"
)
"""The error of a point that takes its worker with it, the same for every engine."""


@dataclass(frozen=True)
class Base:
    """What all tasks have in common: the Nacre that is to carry them out."""

    nacre: str
    folder: str | None = None
    """Where workers of one machine keep what preconditioning leads to, and what is theirs alone."""


@dataclass(frozen=True, slots=True)
class Task:
    """A scenario to run, of which the record is wanted without what can be asked for again."""

    key: str
    source: Source
    settings: tuple[tuple[str, str], ...]
    is_prepared: bool = False
    """Whether others are preconditioned alike, so that it is worth keeping what that leads to."""

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:
        """The document as JSON text, and the columns that are wanted next to it."""
        # Where each value came from can be asked of the scenario at any time, and is long.
        data, _ = self.ran(base, origins=False)
        del data["origins"]
        return compact(data), None

    def ran(
        self, base: Base, *, origins: bool = True
    ) -> tuple[dict[str, Any], Callable[[], Columns]]:
        """The record of the run, without the origins of its values if not wanted, and its columns.

        The second makes the columns arrays when it is called.
        """
        source = self.source
        with source.cited():
            text, columns = parsed(source).run(
                list(self.settings), base.folder if self.is_prepared else None, origins
            )
        return source.placed(json.loads(text)), columns.arrays


@dataclass(frozen=True, slots=True)
class Part(Task):
    """A part of a run that is split; its text becomes a record with those of the other parts."""

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:  # noqa: ARG002 (none is common)
        """The text of the part."""
        return self.source.call(_core.run_part, self.settings), None


class Outcome(NamedTuple):
    """What became of a task: its document as JSON text, or the error; and how long it took."""

    key: str
    record: str | None
    error: str | None
    seconds: float
    columns: Columns | None = None
    code: Code | None = None
    """What kind of error it is."""


def died(task: Task) -> Outcome:
    """The outcome of a point that takes its worker with it."""
    return Outcome(task.key, None, DIED, 0.0, code="process-failed")


def evaluate(base: Base, tasks: Sequence[Task]) -> list[Outcome]:
    """Carries out tasks, one after the other."""
    if base.nacre != identity():
        raise Error(f"a worker has another Nacre: {identity()}, not {base.nacre}", "wrong-version")
    return [_evaluated(base, task) for task in tasks]


@cache
def identity() -> str:
    """The version of this Nacre and of its models."""
    return f"{_core.__version__} ({hashlib.sha256(_core.rooms().encode()).hexdigest()[:12]})"


def compact(data: Mapping[str, Any]) -> str:
    """A document as JSON text without blanks."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _evaluated(base: Base, task: Task) -> Outcome:
    began = time.perf_counter()
    record = error = columns = code = None
    try:
        record, columns = task.carried_out(base)
    except (Error, OSError) as failure:
        error, (code, _) = str(failure), code_of(failure)
    except Exception as failure:
        error, (code, _) = f"{type(failure).__name__}: {failure}", code_of(failure)
    return Outcome(task.key, record, error, time.perf_counter() - began, columns, code)
