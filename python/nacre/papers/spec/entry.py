"""Reads the tables of a paper's files. Raises the first error, with file, entry, and key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from nacre.errors import Code, Error
from nacre.studies.spec import entry as studies

T = TypeVar("T")
_REQUIRED: Any = object()
_WHAT: Mapping[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
}


class _AtOnce(studies.Errors):
    def add(
        self,
        code: Code,
        path: str,
        problem: str,
        hint: str = "",
        *,
        given: object = None,
        where: str = "",
    ) -> NoReturn:
        """Raises an `Error` for this problem."""
        shown = "" if given is None else f", given {studies.brief(given)}"
        told = f"{where or self.name}: {path}: {problem}{shown}" + (f"; {hint}" if hint else "")
        raise Error(told, "invalid-content" if code == "wrong-type" else code)


class Entry(studies.Entry):
    """One table of a file. Each key must be read exactly once."""

    def value(self, key: str, kind: type[T] | tuple[type[T], ...], default: Any = _REQUIRED) -> T:
        """Returns the value of a key. If a float is expected, an integer is also accepted."""
        kinds: Any = (int, float) if kind is float else kind
        what = _WHAT.get(kind, "a value of another type")
        if default is _REQUIRED:
            found = self.need(key, kinds, what)
        else:
            found = self.take(key, kinds, what, default)
        taken: Any = float(found) if kind is float and isinstance(found, int) else found
        return cast("T", taken)

    def one_of(self, key: str, allowed: Sequence[str], default: str = _REQUIRED) -> str:
        """Returns the value of a key, which must be one of the allowed words."""
        word = self.value(key, str, default)
        if word not in allowed:
            self.wrong("unknown-name", key, f"it is one of: {', '.join(allowed)}", given=word)
        return word

    def error(self, what: str) -> Error:
        """Returns an error about the whole entry."""
        told = [self.where() or self.errors.name, self.path, what]
        return Error(": ".join(filter(None, told)), "invalid-content")


def file(path: Path) -> Entry:
    """Reads a TOML file as one entry."""
    try:
        text = path.read_text(encoding="utf-8")
        return Entry(tomllib.loads(text), _AtOnce(f"{path.parent.name}/{path.name}", text))
    except tomllib.TOMLDecodeError as error:
        raise Error(f"{path}: {error}", "invalid-syntax") from None
