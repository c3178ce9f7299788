"""Loads results of any command, analyzes traces, and creates reports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from nacre import kinds, traces
from nacre.base.table import Table
from nacre.base.text import printable
from nacre.errors import ConfigError, Error, invalid
from nacre.kinds.comparisons import side_by_side
from nacre.pages.page import titled
from nacre.results.base import Result
from nacre.results.record import Record

_HINT = (
    "give a trace, or a directory that `nacre run`, `study`, `mixes`, or `crash` wrote with --out"
)
_SEALS = {known.seal: known for known in kinds.KINDS if known.seal}
"""Maps the file that identifies a result directory to its kind. The first file that exists
determines the kind."""
EXPLORED = "study"
"""Name of the folder in which the explorer saves the points of a study."""


def load(
    path: str | os.PathLike[str],
    progress: Callable[[int, int | None], bool | None] | None = None,
) -> Result:
    """Loads a result from a directory or a JSON file, or analyzes a trace.

    Accepts the output of `save` and `--out`. Also accepts the output of `--json` if it is a single
    document with a result. Raises `ConfigError` for any other file or directory.
    """
    path = Path(path)
    if path.name in _SEALS and path.is_file():
        path = path.parent
    elif path.is_file() and path.suffix == ".toml":
        hint = f"give what `nacre run {path} --out results` writes"
        raise invalid("invalid-content", "", f"{path} is a scenario, not a result", hint=hint)
    if (path / EXPLORED / "study.json").is_file():
        path /= EXPLORED
    try:
        known = _kind_of_saved(path)
        if known is None:
            return traces.info(path, progress=progress)
        found: Result = kinds.at(known.place).read(path)
        return found
    except ConfigError:
        raise
    except Error as error:
        raise invalid(error.code, "", str(error), hint=_HINT) from None


def _kind_of_saved(path: Path) -> kinds.Known | None:
    """Returns the kind of a saved result, or None for a file that may be a trace."""
    if path.is_dir():
        for seal, known in _SEALS.items():
            if (path / seal).is_file():
                return known
        raise Error(f"{path} holds no results of these", "invalid-content")
    if path.suffix != ".json":
        return None
    fields = kinds.fields(path)
    return next((known for known in kinds.KINDS if known.field in fields), _SEALS["record.json"])


def files_of(results: Iterable[Path]) -> list[Path]:
    """Returns the input files of results.

    For a directory, these are all of its files except report pages.
    """
    found: list[Path] = []
    for path in results:
        folder = path.parent if path.name in _SEALS else path
        if folder.is_dir():
            found += (file for file in folder.rglob("*") if file.suffix != ".html")
        found.append(path)
    return found


def name_of(path: Path, among: Sequence[Path]) -> str:
    """Returns the name of the result's directory, or its path if several results have that name."""
    names = [_result_directory(other).resolve().name for other in among]
    place = _result_directory(path)
    name = place.resolve().name
    return printable(name if names.count(name) == 1 else str(place))


def _result_directory(path: Path) -> Path:
    """Returns the result directory, given the directory or the file that identifies it."""
    return path.parent if path.name in _SEALS else path


def report(results: Mapping[str, Result], title: str = "Nacre report") -> str:
    """Creates a report page.

    It first compares the results of each kind and then shows every result.
    """
    from nacre.pages.page import document

    records = {name: result for name, result in results.items() if isinstance(result, Record)}
    parts = [f"<h1>{escape(title)}</h1>", side_by_side(records), _others_side_by_side(results)]
    parts += (kinds.of(result).report(name, result) for name, result in results.items())
    return document(title, "".join(parts))


def _others_side_by_side(results: Mapping[str, Result]) -> str:
    """Returns a table for each kind with several results, except for records.

    Each result is a row.
    """
    shown = []
    for known in kinds.KINDS:
        alike = {
            name: each for name, each in results.items() if type(each).__name__ == known.result
        }
        line = kinds.at(known.place).line if len(alike) > 1 else None
        if line is not None:
            rows = [[printable(name), *line.cells(each)] for name, each in alike.items()]
            numeric = [False, *(column not in line.words for column in line.columns)]
            shown.append(titled(line.title, Table("", ["", *line.columns], numeric, rows)))
    return "".join(shown)
