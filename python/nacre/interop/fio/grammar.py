"""Reads the sections and settings of a job file according to fio's `parse.c`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from nacre.base.text import printable
from nacre.errors import invalid
from nacre.interop.fio.options import ALIASES
from nacre.scenario.source import STDIN

_OPTION = re.compile(r"[a-z_0-9-]+(:[a-z_]+)?")
_COMMENT = re.compile(r"[;#]")
_ENCODING = "surrogateescape"
"""Error handler for decoding. It accepts any bytes, because comments may be in any encoding."""


@dataclass(frozen=True)
class Setting:
    """Value of a setting, with its line number and its unit base (`kb_base`)."""

    value: str
    kb_base: int
    line: int


@dataclass
class Section:
    """A job with its name and settings. The settings include those of preceding global sections."""

    name: str
    settings: dict[str, Setting] = field(default_factory=dict)


@dataclass
class _Open:
    """A section whose lines are being read."""

    name: str
    lines: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def is_global(self) -> bool:
        # Compare only six letters, as fio does.
        return self.name.startswith("global")


def shown(path: Path) -> str:
    """Returns the file name for messages."""
    return STDIN if path == Path("-") else printable(str(path))


def sections(path: Path) -> list[Section]:
    """Returns the jobs of a file, in order. Raises `ConfigError` for lines that fio rejects."""
    opened: list[_Open] = []
    for number, line in _lines(path):
        if line.startswith("["):
            if not line.endswith("]") or not line[1:-1].strip():
                _refuse(path, number, line, "expected a section name in brackets", "write [job]")
            opened.append(_Open(_name(path, number, line)))
            continue
        key, _, value = line.partition("=")
        key = key.strip()
        if key == "include" or line.startswith("include "):
            hint = "replace it with the lines of the included file"
            _refuse(path, number, line, "included files are not read", hint)
        if not opened or not _OPTION.fullmatch(key):
            hint = "write [job], then name=value lines with names in lower case"
            _refuse(path, number, line, "not a line of a job file", hint)
        opened[-1].lines.append((number, key, value))
    found = _with_globals(opened)
    if not found:
        raise invalid("invalid-content", shown(path), "it has no job", hint="write [job]")
    return found


def _lines(path: Path) -> list[tuple[int, str]]:
    """Returns numbered lines without comments and empty lines.

    As in fio, a comment starts at the first `;` or `#`.
    """
    data = sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", _ENCODING)
    cut = ((n, _COMMENT.split(raw, maxsplit=1)[0].strip()) for n, raw in _numbered(text))
    return [(number, line) for number, line in cut if line]


def _numbered(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.split("\n"), 1))


def _name(path: Path, number: int, line: str) -> str:
    name = line[1:-1].strip()
    try:
        name.encode()
    except UnicodeEncodeError:
        hint = "save the file as UTF-8; comments may stay in another encoding"
        _refuse(path, number, line, "the name of the job is not UTF-8", hint)
    return name


def _with_globals(opened: list[_Open]) -> list[Section]:
    """Returns the jobs, each with the settings of all preceding global sections."""
    shared: dict[str, Setting] = {}
    found = []
    for each in opened:
        settings = shared if each.is_global else dict(shared)
        # As in fio, `kb_base` applies to all settings of its section, but not to earlier sections.
        bases = [value.strip() for _, key, value in each.lines if key == "kb_base"]
        inherited = shared["kb_base"].value if "kb_base" in shared else "1024"
        base = 1000 if (bases or [inherited])[-1] == "1000" else 1024
        for number, key, value in each.lines:
            name, said = _canonical(key, value)
            # If a setting is given several times, even under different names, the last value
            # applies.
            settings.pop(name, None)
            settings[name] = Setting(said, base, number)
        if not each.is_global:
            found.append(Section(each.name, settings))
    return found


def _canonical(key: str, value: str) -> tuple[str, str]:
    name = ALIASES.get(key, key)
    if name == "rwmixwrite" and value.strip().isdigit():
        return "rwmixread", str(100 - int(value))
    return name, value


def _refuse(path: Path, number: int, line: str, problem: str, hint: str) -> NoReturn:
    given = f'"{printable(line[:60])}"'
    place = f"{shown(path)}:{number}"
    raise invalid("invalid-syntax", place, problem, given=given, hint=hint)
