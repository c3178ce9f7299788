"""Writes TOML for scenarios and overrides given as Python values."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import cast

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def document(table: Mapping[str, object]) -> str:
    """Encodes a table as a TOML document. Keys with the value `None` are omitted."""
    lines: list[str] = []
    _table(table, (), lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def value(item: object) -> str:
    """Encodes a TOML value on one line."""
    if isinstance(item, Enum):
        return value(item.value)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int | float):
        return repr(item)
    if isinstance(item, str | os.PathLike):
        return json.dumps(os.fspath(item), ensure_ascii=False).replace("\x7f", "\\u007f")
    if to_dict := getattr(item, "to_dict", None):
        return value(to_dict())
    if isinstance(item, Mapping):
        pairs = (f"{_key(k)} = {value(v)}" for k, v in item.items() if v is not None)
        return "{ " + ", ".join(pairs) + " }" if item else "{}"
    if isinstance(item, Sequence):
        return "[" + ", ".join(value(element) for element in item) + "]"
    if number := getattr(item, "item", None):  # a NumPy scalar
        return value(number())
    raise TypeError(f"a scenario cannot hold {item!r} ({type(item).__name__})")


def _table(table: Mapping[str, object], path: tuple[str, ...], lines: list[str]) -> None:
    """Encodes a table. TOML requires that plain keys precede tables and lists of tables."""
    nested: list[tuple[str, object]] = []
    for key, item in table.items():
        if item is None:
            continue
        if to_dict := getattr(item, "to_dict", None):
            item = to_dict()
        if isinstance(item, Mapping) or _is_list_of_tables(item):
            nested.append((key, item))
        else:
            lines.append(f"{_key(key)} = {value(item)}")
    for key, item in nested:
        inner = (*path, _key(key))
        if isinstance(item, Mapping):
            lines += ["", f"[{'.'.join(inner)}]"]
            _table(item, inner, lines)
        elif isinstance(item, Sequence):
            for element in item:
                lines += ["", f"[[{'.'.join(inner)}]]"]
                _table(_mapping(element), inner, lines)


def _is_list_of_tables(item: object) -> bool:
    return (
        isinstance(item, Sequence)
        and not isinstance(item, str)
        and len(item) > 0
        and all(isinstance(e, Mapping) or hasattr(e, "to_dict") for e in item)
    )


def _mapping(item: object) -> Mapping[str, object]:
    to_dict = getattr(item, "to_dict", None)
    table = to_dict() if to_dict else item
    return cast("Mapping[str, object]", table)


def _key(key: object) -> str:
    text = str(key)
    return text if _BARE_KEY.match(text) else value(text)


def setting(item: object) -> str:
    """Encodes the value of a setting as in a scenario, except that strings have no quotes."""
    return item if isinstance(item, str) else value(item)
