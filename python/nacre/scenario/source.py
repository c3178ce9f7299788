"""Converts any form of a scenario to the TOML text that the core reads."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

from nacre import _core
from nacre.base import toml
from nacre.base.text import printable
from nacre.errors import ConfigError, Problem, config_error, invalid, unknown

_STUDY = re.compile(r"^\[\[axis\]\]", re.MULTILINE)
_STACK = re.compile(r"^(\[stack\]|stack\b)", re.MULTILINE)


T = TypeVar("T")


class Configuration(Protocol):
    """A typed configuration, e.g. an object of a class in `nacre.config`."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the configuration as a table for TOML."""
        ...


Policy: TypeAlias = Callable[..., Any]
"""A policy written in Python (see `nacre.policies`)."""

Scenario: TypeAlias = "str | os.PathLike[str] | Mapping[str, object] | Configuration | Source"


_TABLE = "<dict>"
"""Name that errors use for a scenario that was given as a table. The TOML text and line numbers of
such a scenario are generated."""
_LINES = re.compile(rf"{re.escape(_TABLE)}:\d+")


class Source(NamedTuple):
    """Text of a scenario, with its name and directory."""

    text: str
    name: str
    directory: str

    @contextmanager
    def cited(self) -> Iterator[None]:
        """Removes line numbers from errors in the block if the scenario was given as a table."""
        try:
            yield
        except ConfigError as error:
            told = [_with_remedy(problem) for problem in error.problems]
            if self.name == _TABLE:
                places = (_LINES.sub(_TABLE, problem["where"]) for problem in told)
                told = [
                    Problem(**{**problem, "where": place})
                    for problem, place in zip(told, places, strict=True)
                ]
            elif told == error.problems:
                raise
            raise config_error(told) from None

    def call(
        self, function: Callable[..., T], settings: Sequence[tuple[str, str]], *more: Any
    ) -> T:
        """Calls a function of the core with the scenario and the settings.

        Removes generated line numbers from errors, as `cited` does.
        """
        with self.cited():
            return function(self, list(settings), *more)

    def placed(self, document: dict[str, Any]) -> dict[str, Any]:
        """Adds the scenario's name to a document of the core. Removes generated line numbers."""
        if self.name == _TABLE:
            for origin in document["origins"]:
                origin["place"] = _LINES.sub(_TABLE, origin["place"])
        if document["name"].strip() in ("", _TABLE):
            document["name"] = "scenario" if self.name == _TABLE else Path(self.name).name
        return document


@lru_cache(maxsize=8)
def parsed(source: Source) -> _core.Parsed:
    """Parses the scenario, and caches the result. Raises `ConfigError` for invalid TOML."""
    return _core.Parsed(source)


def _with_remedy(problem: Problem) -> Problem:
    """Adds a hint to the error for `capacity` if the device has no such setting."""
    hint = problem["hint"]
    is_unknown = problem["code"] == "unknown-setting" and problem["path"].endswith(".capacity")
    if is_unknown and {"planes", "blocks", "pages"} <= set(problem["data"].get("known", ())):
        hint = f"its capacity follows from its flash: change the number of blocks; {hint}"
    return {**problem, "hint": hint}


_NO_WORKLOAD = '{ kind = "uniform", requests = 9_000_000_000_000_000_000, footprint = "4 KiB" }'


def without_workload(source: Source, settings: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns a setting with a placeholder workload if the scenario has no workload.

    The stack then receives requests from clients, or single requests.
    """
    try:
        given = "workload" in tomllib.loads(source.text)
    except tomllib.TOMLDecodeError:
        return []  # The core reports the location.
    given = given or any(path.split(".")[0] == "workload" for path, _ in settings)
    return [] if given else [("workload", _NO_WORKLOAD)]


def names_host(source: Source, settings: Sequence[tuple[str, str]]) -> bool:
    """Returns whether the scenario or the settings contain a table `[host]`."""
    try:
        given = "host" in tomllib.loads(source.text)
    except tomllib.TOMLDecodeError:
        return False  # the core reports the error
    return given or any(path.split(".")[0] == "host" for path, _ in settings)


def warn_of_host(source: Source, settings: Sequence[tuple[str, str]], why: str) -> None:
    """If the scenario contains a table `[host]`, warns that this table has no effect."""
    if names_host(source, settings):
        warnings.warn(f"{HOST_OF_RUNS}: {why}", stacklevel=3)


HOST_OF_RUNS = "host is only used by nacre run and nacre step"
"""Start of the warning that `[host]` has no effect."""


class Shipped(NamedTuple):
    """A built-in scenario: name, summary, and text."""

    name: str
    summary: str
    text: str


def scenarios() -> list[Shipped]:
    """Returns the built-in scenarios."""
    return [Shipped(*row) for row in _core.shipped_scenarios()]


def read(scenario: Scenario) -> Source:
    """Reads a scenario from a built-in name, a TOML file, a table, or a typed configuration.

    Raises `ConfigError` for an unknown name, and `FileNotFoundError` for a missing file.
    """
    if isinstance(scenario, Source):
        return scenario
    if isinstance(scenario, str | os.PathLike):
        return _named(os.fsdecode(scenario))
    to_dict = getattr(scenario, "to_dict", None)
    table = to_dict() if callable(to_dict) else scenario
    if not isinstance(table, Mapping):
        raise TypeError(
            "a scenario is a name, a path, a table or a typed configuration;"
            f" given {scenario!r} ({type(scenario).__name__})"
        )
    return Source(_utf8(toml.document(table), "the table"), _TABLE, str(Path.cwd()))


def assignments(overrides: Mapping[str, object] | None) -> list[tuple[str, str]]:
    """Converts overrides to the form of `--set`. Strings, e.g. `"20 kHz"`, remain unchanged."""
    if overrides is None:
        return []
    if not isinstance(overrides, Mapping):
        raise TypeError(
            'overrides are a table of paths and values, e.g. {"workload.rate": "20 kHz"};'
            f" given {overrides!r} ({type(overrides).__name__})"
        )
    return [_assignment(path, item) for path, item in overrides.items()]


def with_functions(
    overrides: Mapping[str, object] | None,
) -> tuple[list[tuple[str, str]], list[tuple[str, Policy]]]:
    """Converts overrides to the form of `--set`, and returns the overrides' functions by name.

    A function becomes a policy `{ kind = "external", function = NAME }` for garbage collection or
    placement. A class becomes such a policy for a cache. A table may contain a function as
    `function`, together with other settings.
    """
    if not isinstance(overrides, Mapping):
        return assignments(overrides), []
    functions: dict[str, Policy] = {}
    plain: dict[str, object] = {}
    for path, item in overrides.items():
        external: Mapping[str, object] = {"kind": "external"}
        if isinstance(item, Mapping) and _is_policy(item.get("function")):
            external, item = {**external, **item}, item["function"]
        if _is_policy(item):
            name = getattr(item, "__name__", type(item).__name__)
            if name in functions:
                name = f"{name} of {path}"
            functions[name] = cast("Policy", item)
            item = {**external, "function": name}
        plain[path] = item
    return assignments(plain), list(functions.items())


def imported(name: str) -> Policy:
    """Imports the function `module:function` from the working directory or Python's path.

    Raises `ConfigError` if the function does not exist.
    """
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        hint = "name a module in the working directory, or one that is installed"
        raise invalid("no-function", "function", str(error), given=f'"{name}"', hint=hint) from None
    finally:
        sys.path.remove(here)
    if not callable(found):
        raise invalid("no-function", "function", "it is not a function", given=name)
    return cast("Policy", found)


def by_name(item: object) -> object:
    """Replaces functions in `item` with `{ kind = "external", function = "module:name" }`.

    Other processes can then import the function. Raises `ConfigError` for a function that is not at
    the top level of a module.
    """
    if isinstance(item, Mapping) and _is_policy(item.get("function")):
        named = cast("Mapping[str, object]", by_name(item["function"]))
        return {**named, **item, "function": named["function"]}
    if isinstance(item, Mapping):
        return {key: by_name(each) for key, each in item.items()}
    if isinstance(item, list | tuple):
        return [by_name(each) for each in item]
    if not _is_policy(item):
        return item
    module, name = getattr(item, "__module__", "__main__"), getattr(item, "__qualname__", "")
    if module == "__main__" or not name.isidentifier():
        raise invalid(
            "no-function",
            "policy",
            "a study runs in other processes, which cannot import this function",
            given=repr(item),
            hint="put it into its own module, and import it from there",
        )
    return {"kind": "external", "function": f"{module}:{name}"}


def _is_policy(item: object) -> bool:
    """Returns whether the value is a policy: a function, or a class for a cache."""
    if isinstance(item, type):
        return hasattr(item, "evict")
    return callable(item) and not hasattr(item, "to_dict")


def _assignment(path: object, item: object) -> tuple[str, str]:
    if not isinstance(path, str):
        raise TypeError(f"the path of an override is text; given {path!r} ({type(path).__name__})")
    value = item if isinstance(item, str) else toml.value(item)
    value = _from_here(path, value)
    return _utf8(path, "--set"), _utf8(value, f"--set {path}")


def _from_here(path: str, value: str) -> str:
    """Replaces names of files in the working directory with absolute paths.

    In a scenario, file names are relative to the scenario. In overrides, they are relative to the
    working directory.
    """
    name = path.rpartition(".")[2]
    if name == "file":
        found = _whole(value.strip("\"'"))
        return value if found is None else toml.value(found)
    if not value.lstrip().startswith(("{", "[")):
        return value
    try:
        given = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value  # the core reports the error
    moved = _files_from_here(name, given)
    return value if moved == given else toml.value(moved)


def _files_from_here(name: str, item: object) -> object:
    """Returns the setting with absolute paths of files in the working directory."""
    if isinstance(item, dict):
        return {key: _files_from_here(key, each) for key, each in item.items()}
    if isinstance(item, list):
        return [_files_from_here("file" if name == "files" else "", each) for each in item]
    found = _whole(item) if name == "file" and isinstance(item, str) else None
    return item if found is None else found


def _whole(name: str) -> str | None:
    """Returns the absolute path of a file in the working directory, or None if there is none."""
    if not name or "\0" in name or Path(name).is_absolute() or not Path(name).is_file():
        return None
    return str(Path(name).absolute())


def _utf8(text: str, what: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise invalid(
            "invalid-content",
            printable(what),
            "it is not UTF-8 text",
            given=f'"{printable(text)}"' if len(text) < 100 else "",
            hint="write it in UTF-8",
        ) from None
    return text


def _named(name: str) -> Source:
    if not name:
        hint = "give a TOML file, the name of a built-in scenario, or - for standard input"
        raise invalid("missing-setting", "", "no scenario is named", given='""', hint=hint)
    path = Path(name)
    if name == "-":
        return Source(standard_input(), STDIN, str(Path.cwd()))
    shipped = {row.name: row for row in scenarios()}
    if path.suffix == ".toml" or path.is_file() or (path.name != name and path.exists()):
        if name.removesuffix(".toml") in shipped and not path.exists():
            raise invalid(
                "file-not-found",
                name,
                "there is no such file",
                hint=f"the scenario that ships with Nacre is called {path.stem}",
            )
        return _file(path)
    if name in shipped:
        return Source(shipped[name].text, name, str(Path.cwd()))
    problem = unknown("no scenario called", printable(name), shipped, ", or a TOML file")
    entries = json.loads(_core.catalog())
    if any((entry["name"], entry["family"]) == (name, "device") for entry in entries):
        problem["hint"] = f"it is a device of the catalog: nacre new {name} writes a scenario"
    elif path.with_name(f"{path.name}.toml").is_file():
        problem["hint"] = f'did you mean "{printable(name)}.toml"? {problem["hint"]}'
    raise config_error([problem])


STDIN = "<stdin>"
"""Name of standard input in messages."""


@cache
def standard_input() -> str:
    """Reads standard input once and caches the text, because several functions read it."""
    return _utf8(sys.stdin.read(), "standard input")


def _file(path: Path) -> Source:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise invalid(
            "invalid-content",
            "",
            f'"{printable(str(path))}" is not a TOML text: byte {error.start} is not UTF-8',
            hint="check that this is the intended file",
        ) from None
    name = printable(str(path))
    if _STUDY.search(text) and not _STACK.search(text):
        raise invalid(
            "invalid-content", name, "it is a study", hint=f"run it with: nacre study {name}"
        )
    return Source(text, name, str(path.resolve().parent))
