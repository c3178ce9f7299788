"""Reads the tables of a paper's files; a mistake in one names file, entry and key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from nacre.errors import Error, nearest

T = TypeVar("T")
_REQUIRED: Any = object()


class Entry:
    """One table of a file; every key is to be taken, once."""

    def __init__(self, table: Mapping[str, Any], place: str) -> None:
        self._table = table
        self._known: list[str] = []
        self.place = place

    def take(self, key: str, kind: type[T] | tuple[type[T], ...], default: Any = _REQUIRED) -> T:
        """The value of a key; whole numbers are given where fractions are asked for, too."""
        self._known.append(key)
        if key not in self._table:
            if default is _REQUIRED:
                raise self.wrong(f'"{key}" is missing')
            absent: T = default
            return absent
        value = self._table[key]
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.wrong(f'"{key}" is {value!r}')
        return value

    def one_of(self, key: str, allowed: Sequence[str], default: str = _REQUIRED) -> str:
        """The word of a key, one of those that are allowed."""
        word = self.take(key, str, default)
        if word not in allowed:
            raise self.wrong(f'"{key}" is {word!r}; it is one of: {", ".join(allowed)}')
        return word

    def entries(self, key: str) -> list[Entry]:
        """The tables of a list, as entries named by their number."""
        rows = self.take(key, list, [])
        return [Entry(row, f"{self.place}: {key} {i}") for i, row in enumerate(rows, 1)]

    def done(self) -> None:
        """Raises if the table has a key nobody asked for."""
        for key in self._table:
            if key not in self._known:
                hint = nearest(key, self._known)
                raise self.wrong(f'unknown key "{key}"' + (f', meant "{hint}"?' if hint else ""))

    def wrong(self, what: str) -> Error:
        """The mistake of this entry."""
        return Error(f"{self.place}: {what}", "invalid-content")


def file(path: Path) -> Entry:
    """A file as one entry."""
    try:
        return Entry(
            tomllib.loads(path.read_text(encoding="utf-8")), f"{path.parent.name}/{path.name}"
        )
    except tomllib.TOMLDecodeError as error:
        raise Error(f"{path}: {error}", "invalid-syntax") from None
