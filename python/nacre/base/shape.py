"""Checks that a JSON document has the fields that its view class declares."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from nacre.base.view import View

_KINDS: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("bool", bool, "true or false"),
    ("int", int, "a whole number"),
    ("float", (int, float), "a number"),
    ("str", str, "text"),
    ("tuple", list, "a list"),
)


def faults(data: Mapping[str, Any], kind: type[View], path: str = "") -> Iterator[str]:
    """Yields a message for each field of `kind` that is missing in `data` or has a wrong type."""
    for name, written in declared(kind).items():
        place = f"{path}{name}"
        if name not in data:
            yield f"{place} is missing"
            continue
        value = data[name]
        if value is None and written.endswith("| None"):
            continue
        if wrong := _mismatch(value, written):
            yield f"{place} is not {wrong}"
        elif part := kind.parts.get(name):
            yield from _parts(value, part, place)


def _parts(value: Any, part: type[View], place: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from faults(value, part, f"{place}.")
        return
    for index, item in enumerate(value):
        if isinstance(item, Mapping):
            yield from faults(item, part, f"{place}[{index}].")
        else:
            yield f"{place}[{index}] is not a table"


def _mismatch(value: Any, written: str) -> str | None:
    """Returns a description of the expected type if `value` has another type, otherwise None."""
    if written == "Any":
        return None
    for word, types, said in _KINDS:
        if written.startswith(word):
            number_given_as_truth = isinstance(value, bool) and types is not bool
            return None if isinstance(value, types) and not number_given_as_truth else said
    return None if isinstance(value, Mapping) else "a table"


def declared(kind: type[View]) -> dict[str, str]:
    """Returns the fields that a class and its bases declare, with their annotations."""
    return {
        name: str(written)
        for each in reversed(kind.__mro__)
        for name, written in inspect.get_annotations(each).items()
        if not str(written).startswith("ClassVar")
    }
