"""Reads tables of studies and papers. Records each error with its location."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

from nacre.base import toml
from nacre.errors import Code, Problem, nearest

_SHOWN = 60


class Errors:
    """Errors so far, with their locations in the text."""

    def __init__(self, name: str, text: str | None) -> None:
        self.found: list[Problem] = []
        self.name = name
        self._lines = text.splitlines() if text else []

    def add(
        self,
        code: Code,
        path: str,
        problem: str,
        hint: str = "",
        *,
        given: object = None,
        where: str = "",
    ) -> None:
        """Records an error."""
        shown = "" if given is None else brief(given)
        self.found.append(
            Problem(code=code, path=path, where=where, given=shown, problem=problem, hint=hint)
        )

    def place(self, section: str, index: int, key: str = "") -> str:
        """Returns the location of a key in the given section, e.g. `study.toml:7`.

        If the study has no text, the location is empty.
        """
        if not self._lines:
            return ""
        start = self._start(section, index) if section else 0
        if start is None:
            return self.name
        found = start
        word = re.compile(rf'\s*(?:"{re.escape(key)}"|{re.escape(key)})\s*[=.]')
        for number, line in enumerate(self._lines[start:], start + 1):
            if line.lstrip().startswith("["):
                break
            if key and word.match(line):
                found = number
                break
        if not section and key:
            found = found or self._start(key, 0) or 0
        return f"{self.name}:{found}" if found else self.name

    def _start(self, section: str, index: int) -> int | None:
        header = re.compile(rf"\s*\[\[?\s*{re.escape(section)}\s*\]")
        starts = [number for number, line in enumerate(self._lines, 1) if header.match(line)]
        return starts[index] if index < len(starts) else None


class Entry:
    """A table of a document. Keys that are never read are errors."""

    def __init__(
        self, table: Mapping[str, Any], errors: Errors, section: str = "", index: int = -1
    ) -> None:
        self.table = table
        self.errors = errors
        self._section, self._index = section, index
        self._known: list[str] = []

    @property
    def path(self) -> str:
        """Path of the table, e.g. `axis[1]`."""
        return f"{self._section}[{self._index}]" if self._index >= 0 else self._section

    def where(self, key: str = "") -> str:
        """Returns the location of a key."""
        return self.errors.place(self._section, max(self._index, 0), key)

    def wrong(
        self, code: Code, key: str, problem: str, hint: str = "", *, given: object = None
    ) -> None:
        """Records an error in the value of a key."""
        path = ".".join(part for part in (self.path, key) if part) or "the study"
        self.errors.add(code, path, problem, hint, given=given, where=self.where(key))

    def take(self, key: str, kind: type | tuple[type, ...], what: str, default: Any = None) -> Any:
        """Returns the value of a key, or the default if the key is absent.

        Records an error for a wrong type.
        """
        self._known.append(key)
        value = self.table.get(key, default)
        if value is default:
            return default
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            self.wrong("wrong-type", key, f"it is not {what}", given=value)
            return default
        return value

    def need(self, key: str, kind: type | tuple[type, ...], what: str) -> Any:
        """Returns the value of a required key.

        If it is missing or invalid, records an error and returns None.
        """
        if key not in self.table:
            self._known.append(key)
            self.wrong("missing-setting", key, f"it is missing: give {what}")
            return None
        return self.take(key, kind, what)

    def entries(self, key: str) -> list[Self]:
        """Returns the tables of a list."""
        rows = self.take(key, (list, tuple), f"a list of tables, [[{key}]]", ())
        found = []
        for index, row in enumerate(rows):
            if isinstance(row, Mapping):
                found.append(type(self)(row, self.errors, key, index))
            else:
                self.wrong("wrong-type", key, "it is not a table", given=row)
        return found

    def entry(self, key: str) -> Self | None:
        """Returns a nested table, or None if it is absent."""
        table = self.take(key, Mapping, f"a table, [{key}]")
        return None if table is None else type(self)(table, self.errors, key)

    def belongs(self, key: str, place: str) -> None:
        """If the key is present, records an error that the key belongs in another table."""
        if key in self.table:
            self._known.append(key)
            self.wrong(
                "invalid-path", key, "it is not allowed in this table", f"move it to {place}"
            )

    def done(self) -> None:
        """Records an error for each key that was never read."""
        for key in self.table:
            if key not in self._known:
                meant = nearest(str(key), self._known)
                hint = f'did you mean "{meant}"? ' if meant else ""
                known = ", ".join(self._known)
                self.wrong(
                    "unknown-setting", str(key), "there is no such key", f"{hint}known: {known}"
                )


def brief(item: object) -> str:
    """Formats a value as in a scenario, and truncates long text."""
    try:
        text = toml.value(item)
    except TypeError:
        text = repr(item)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]} ..."


def listed(items: Sequence[object], most: int = 3) -> str:
    """Formats the first values of a sequence, and the number of other values."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(str(item) for item in items[:most]) + more
