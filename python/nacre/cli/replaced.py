"""What a setting takes away that stands instead of a whole table."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from nacre.errors import ConfigError
from nacre.scenario.source import read

_NAMES = ("kind", "preset")
"""What a table is called by: another name is what was requested."""


def replaced(scenario: str, overrides: Mapping[str, object]) -> list[str]:
    """A line for each setting that leaves out what a table of the scenario has.

    What is wrong with the scenario or with a setting is told by whoever checks them.
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
    """The settings of a table that its successor does not have."""
    if not isinstance(old, dict):
        return []
    kept = new if isinstance(new, dict) else {}
    return [key for key in old if key not in kept and key not in _NAMES]


def _inside(place: object, step: str) -> object:
    """What a table or a list has there; a table that is not there is made."""
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
