"""Turns whatever names a scenario into the TOML text the model reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from nacre import _core, toml
from nacre.errors import Problem, config_error, unknown


class Configuration(Protocol):
    """A typed configuration, as in `nacre.config`."""

    def to_dict(self) -> dict[str, Any]:
        """The configuration as the table that stands for it in TOML."""
        ...


Scenario: TypeAlias = "str | os.PathLike[str] | Mapping[str, object] | Configuration"


class Source(NamedTuple):
    """A scenario's text, and where it comes from."""

    text: str
    name: str
    directory: str


class Shipped(NamedTuple):
    """A scenario that comes with Nacre."""

    name: str
    summary: str
    text: str


def scenarios() -> list[Shipped]:
    """The scenarios `run` knows by name."""
    return [Shipped(*row) for row in _core.shipped_scenarios()]


def read(scenario: Scenario) -> Source:
    """The source of a scenario: a shipped name, a TOML file, a table or a typed configuration.

    Raises `ConfigError` for an unknown name, `FileNotFoundError` for a missing file.
    """
    if isinstance(scenario, str | os.PathLike):
        return _named(os.fspath(scenario))
    table = scenario if isinstance(scenario, Mapping) else scenario.to_dict()
    name = table.get("name")
    return Source(
        toml.document(table), name if isinstance(name, str) else "scenario", str(Path.cwd())
    )


def assignments(overrides: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """The overrides as `--set` would give them. Strings stay as they are: `"20 kHz"`."""
    return [
        (path, item if isinstance(item, str) else toml.value(item))
        for path, item in (overrides or {}).items()
    ]


def _named(name: str) -> Source:
    path = Path(name)
    if path.suffix == ".toml" or path.is_file() or (path.name != name and path.exists()):
        return _file(path)
    shipped = {row.name: row for row in scenarios()}
    if name in shipped:
        return Source(shipped[name].text, name, str(Path.cwd()))
    raise config_error(
        [unknown("no scenario called", name, shipped, ", or the path of a TOML file")]
    )


def _file(path: Path) -> Source:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        problem = Problem(
            problem=f'"{path}" is not a TOML text: byte {error.start} is not UTF-8',
            hint="is it the right file?",
        )
        raise config_error([problem]) from None
    return Source(text, str(path), str(path.resolve().parent))
