"""Finds settings that are lost because an override replaces a whole table."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from nacre.errors import ConfigError
from nacre.scenario.source import read

_NAMES = ("kind", "preset")
"""Keys that identify the content of a table. If their value changes, the user intends the
replacement."""

_WITH_SOURCE = {"value", "source", "confidence", "note"}
"""Keys of a value with its source."""


def replaced(scenario: str, overrides: Mapping[str, object]) -> list[str]:
    """Returns a line for each override that removes settings from a table of the scenario.

    Ignores errors of the scenario and of overrides, because the core reports them.
    """
    with suppress(ConfigError, OSError, UnicodeError, tomllib.TOMLDecodeError):
        return list(_lines(tomllib.loads(read(scenario).text), overrides))
    return []


def _lines(document: dict[str, Any], overrides: Mapping[str, object]) -> Iterator[str]:
    for path, text in overrides.items():
        value = _value(str(text))
        *way, last = path.replace("[", ".").replace("]", "").split(".")
        place: Any = document
        for step in way:
            place = _inside(place, step)
        lost = _lost(_inside(place, last), value)
        if lost:
            names = ", ".join(f"{path}.{key}" for key in lost)
            yield (
                f"--set {path} replaces the whole table, which removes"
                f" {names}; to keep the rest of the table, set {path}.KEY=VALUE"
            )
        if isinstance(place, dict):
            place[last] = value


def _lost(old: object, new: object) -> list[str]:
    """Returns settings of the table `old` that its replacement `new` lacks.

    A value with its source is one setting, which the user means to replace.
    """
    while isinstance(old, dict) and {"value", "source"} <= old.keys() <= _WITH_SOURCE:
        old = old["value"]
    if not isinstance(old, dict):
        return []
    kept = new if isinstance(new, dict) else {}
    return [key for key in old if key not in kept and key not in _NAMES]


def _inside(place: object, step: str) -> object:
    """Returns an item of a table or list, or None. Creates the item if a table lacks it."""
    if isinstance(place, dict):
        return place.setdefault(step, {})
    if isinstance(place, list) and step.isdecimal() and int(step) < len(place):
        return place[int(step)]
    return None


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
