"""Tasks of studies, which any process can run."""

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
    "the process that ran this point crashed at every attempt;"
    " its stack may need more memory than is available"
)
"""Error message for a point that crashed its worker. All engines use it."""


@dataclass(frozen=True)
class Base:
    """Data that all tasks share, e.g. the version of Nacre that must run them."""

    nacre: str
    folder: str | None = None
    """Folder that the workers of a machine share, for preconditioned states and temporary files."""


@dataclass(frozen=True, slots=True)
class Task:
    """A scenario to run. Its record omits data that can be recomputed."""

    key: str
    source: Source
    settings: tuple[tuple[str, str], ...]
    is_prepared: bool = False
    """Whether to save the state after the precondition, because other tasks have an equal
    precondition."""

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:
        """Runs the task. Returns the document as JSON text, and the requested columns."""
        # Omit the origins of values, because they are long and can be recomputed from the scenario.
        data, _ = self.ran(base, origins=False)
        del data["origins"]
        return compact(data), None

    def ran(
        self, base: Base, *, origins: bool = True
    ) -> tuple[dict[str, Any], Callable[[], Columns]]:
        """Runs the scenario.

        Returns the record, and a function that converts its columns to arrays.

        The record contains the origins of values only if `origins` is true.
        """
        source = self.source
        with source.cited():
            text, columns = parsed(source).run(
                list(self.settings), base.folder if self.is_prepared else None, origins
            )
        return source.placed(json.loads(text)), columns.arrays


@dataclass(frozen=True, slots=True)
class Part(Task):
    """A part of a split run. The texts of all parts are combined into one record."""

    def carried_out(self, base: Base) -> tuple[str, Columns | None]:  # noqa: ARG002 (none is common)
        """Runs the part. Returns the text of the part."""
        return self.source.call(_core.run_part, self.settings), None


class Outcome(NamedTuple):
    """Outcome of a task: the document as JSON text or the error, and the duration in seconds."""

    key: str
    record: str | None
    error: str | None
    seconds: float
    columns: Columns | None = None
    code: Code | None = None
    """Code of the error, or None if there is no error."""


def died(task: Task) -> Outcome:
    """Returns the outcome of a task that crashed its worker."""
    return Outcome(task.key, None, DIED, 0.0, code="process-failed")


def evaluate(base: Base, tasks: Sequence[Task]) -> list[Outcome]:
    """Runs the tasks one after another. Raises `Error` if they need another version of Nacre."""
    if base.nacre != identity():
        raise Error(
            f"a worker has another version of Nacre: {identity()}, not {base.nacre}",
            "wrong-version",
        )
    return [_evaluated(base, task) for task in tasks]


@cache
def identity() -> str:
    """Version of Nacre and of its models."""
    return f"{_core.__version__} ({hashlib.sha256(_core.models().encode()).hexdigest()[:12]})"


def compact(data: Mapping[str, Any]) -> str:
    """Encodes a document as JSON text without spaces."""
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
