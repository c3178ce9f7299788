"""Points of a study, i.e. settings with the key of their result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from nacre import _core
from nacre.errors import Code, ConfigError, Problem
from nacre.results import record
from nacre.scenario.prices import Prices, priced
from nacre.scenario.source import Source, assignments, parsed
from nacre.studies.spec.axis import Axis, Choice, Label

_NOT_OF_THE_MODEL = ("schema", "name", "summary")
_TRACES = Path(__file__).parents[2] / "traces"
_FILES = "workload.file"
_CHUNK = 1 << 20
_KEY_DIGITS = 32


@dataclass(frozen=True)
class Point:
    """One run of a study.

    `design` is the number of the combination of labels. The points of a design differ only in their
    seed.
    """

    index: int
    design: int
    labels: Mapping[str, Label | None] = field(hash=False)
    seed: int
    settings: tuple[tuple[str, str], ...]
    key: str
    error: str | None = None
    code: Code | None = None
    """Code of the error, or None if there is no error."""

    @property
    def refused(self) -> dict[str, str | None]:
        """Error and error code of a rejected point, as columns of its row."""
        return {"error": self.error, "error_code": self.code}


def merged(base: Mapping[str, object], chosen: Iterable[Choice]) -> dict[str, object]:
    """Merges common settings with settings of the axes.

    If a path occurs several times, the last value applies.
    """
    together = dict(base)
    for choice in chosen:
        for path, value in choice.settings.items():
            together.pop(path, None)
            together[path] = value
    return together


class Points:
    """Creates the points of a scenario."""

    def __init__(
        self, source: Source, settings: Mapping[str, object], prices: Prices | None = None
    ) -> None:
        self._source, self._base, self._prices = source, settings, prices
        self._files: dict[str, str] = {}

    def settings(self, chosen: Iterable[Choice], seed: int | None) -> tuple[tuple[str, str], ...]:
        """Returns the settings in order: common settings, settings of the axes, and the seed."""
        together = merged(self._base, chosen)
        if seed is not None:
            together["run.seed"] = seed
        settings = assignments(together)
        priced(self._source, settings, self._prices)
        return tuple(settings)

    def resolved(self, settings: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Resolves all values of the scenario. Raises `ConfigError` for errors."""
        with self._source.cited():
            text = parsed(self._source).resolve(list(settings))
        document: dict[str, Any] = json.loads(text)
        return document

    def built(self, settings: Sequence[tuple[str, str]]) -> None:
        """Builds the stack as a run does.

        Raises `ConfigError` if the workload does not fit the stack.

        Ignores missing trace files, because they may exist only where the points run.
        """
        source = self._source
        try:
            with source.cited():
                parsed(source).build(list(settings))
        except ConfigError as error:
            if not all(problem["path"].startswith(_FILES) for problem in error.problems):
                raise

    def point(
        self,
        index: int,
        design: int,
        labels: Mapping[str, Label | None],
        settings: tuple[tuple[str, str], ...],
    ) -> Point:
        """Creates a point with these settings. Raises `ConfigError` if they are invalid."""
        resolved = self.resolved(settings)
        return Point(index, design, labels, resolved["run"]["seed"], settings, self._key(resolved))

    def rejected(
        self,
        index: int,
        design: int,
        labels: Mapping[str, Label | None],
        settings: tuple[tuple[str, str], ...],
        error: ConfigError,
    ) -> Point:
        """Creates a point that cannot be run, with the error."""
        seed = dict(settings).get("run.seed", "0")
        text = json.dumps([self._source.text, settings])
        key = hashlib.sha256(text.encode()).hexdigest()[:_KEY_DIGITS]
        return Point(index, design, labels, int(seed), settings, key, str(error), error.code)

    def _key(self, resolved: dict[str, Any]) -> str:
        """Returns the key of a point, a hash of all inputs that determine its record.

        The inputs are values, files, versions of models, and the version of Nacre.
        """
        values = {key: value for key, value in resolved.items() if key not in _NOT_OF_THE_MODEL}
        identity = {
            "scenario": values,
            "models": _versions(frozenset(_kinds(values))),
            "files": {name: self._file(name) for name in _named_files(values)},
            "version": _core.__version__,
            "record": record.SCHEMA,
        }
        text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:_KEY_DIGITS]

    def _file(self, name: str) -> str:
        """Returns the hash of a file's content, or "missing" if the file does not exist."""
        if name not in self._files:
            shipped = _TRACES / f"{name}.nacre.zst"
            own = Path(self._source.directory, name)
            path = own if own.is_file() or not shipped.is_file() else shipped
            self._files[name] = _hash(path) if path.is_file() else "missing"
        return self._files[name]


def problems(
    ask: Callable[[Sequence[tuple[str, str]]], object],
    points: Points,
    trials: Iterable[tuple[Mapping[str, Choice | None], Sequence[Axis]]],
) -> list[Problem]:
    """Returns the errors of settings. Each error is reported once, with the axis that causes it.

    `ask` is the function that raises the errors: `Points.resolved`, or `Points.built`, which also
    builds the stack.
    """
    found: dict[tuple[str, str, str, str], Problem] = {}
    for chosen, axes in trials:
        try:
            ask(points.settings(filter(None, chosen.values()), None))
        except ConfigError as error:
            for problem in error.problems:
                placed = _placed(problem, chosen, axes)
                key = (placed["path"], placed["where"], placed["problem"], placed["given"])
                found.setdefault(key, placed)
    return list(found.values())


def _placed(problem: Problem, chosen: Mapping[str, Choice | None], axes: Sequence[Axis]) -> Problem:
    """Attributes an error to the axis that sets the path.

    The core attributes such an error to `--set`.
    """
    where, override = problem["where"], problem["override"]
    if not where and "." not in problem["path"]:
        # This error concerns the whole scenario, e.g. a workload that does not fit the stack.
        labels = (f"{name} is {choice.label}" for name, choice in chosen.items() if choice)
        return Problem(**{**problem, "where": f"where {', '.join(labels)}"})
    if not override:
        return problem
    for axis in reversed(axes):
        choice = chosen.get(axis.name)
        if choice is not None and override in choice.settings:
            return Problem(
                **{**problem, "where": ", ".join(filter(None, (axis.where, f"axis {axis.name}")))}
            )
    return Problem(**{**problem, "where": where.replace("--set ", "[set] ", 1)})


@cache
def _models_by_kind() -> Mapping[str, Sequence[tuple[str, int]]]:
    """Returns the family and the version of every model, by the kind of the model."""
    found: dict[str, list[tuple[str, int]]] = {}
    for family in json.loads(_core.models())["families"]:
        for model in family["models"]:
            found.setdefault(model["kind"], []).append((family["name"], model["model_version"]))
    return found


@cache
def _versions(kinds: frozenset[str]) -> Mapping[str, int]:
    models = _models_by_kind()
    return {
        f"{family}.{kind}": version for kind in kinds for family, version in models.get(kind, ())
    }


def _kinds(values: object) -> Iterable[str]:
    if isinstance(values, dict):
        if isinstance(kind := values.get("kind"), str):
            yield kind
        values = list(values.values())
    if isinstance(values, list):
        for value in values:
            if isinstance(value, dict | list):
                yield from _kinds(value)


def _named_files(values: object) -> Iterable[str]:
    """Yields the file names in `values`, i.e. the values of all keys `file` and `files`."""
    if isinstance(values, dict):
        if isinstance(name := values.get("file"), str):
            yield name
        if isinstance(names := values.get("files"), list):
            yield from (name for name in names if isinstance(name, str))
        values = list(values.values())
    if isinstance(values, list):
        for value in values:
            if isinstance(value, dict | list):
                yield from _named_files(value)


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
