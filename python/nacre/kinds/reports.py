"""What directories and files of results hold, whichever command wrote them; and traces."""

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
"""The kinds by the file by which a directory of results is known; the first that it has counts."""
EXPLORED = "study"
"""Where the explorer keeps the points of a study, in the folder that it names."""


def load(
    path: str | os.PathLike[str],
    progress: Callable[[int, int | None], bool | None] | None = None,
) -> Result:
    """The result in a directory or in a JSON file, or what a trace is like.

    Reads what `save` and `--out` write, and what `--json` prints of a result in one document.
    Raises `ConfigError` for anything else.
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
        known = _known(path)
        if known is None:
            return traces.info(path, progress=progress)
        found: Result = kinds.at(known.place).read(path)
        return found
    except ConfigError:
        raise
    except Error as error:
        raise invalid(error.code, "", str(error), hint=_HINT) from None


def _known(path: Path) -> kinds.Known | None:
    """The kind of what is saved there; None for a file that may be a trace."""
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
    """The files that are read of results: all of a directory, but pages of earlier reports."""
    found: list[Path] = []
    for path in results:
        folder = path.parent if path.name in _SEALS else path
        if folder.is_dir():
            found += (file for file in folder.rglob("*") if file.suffix != ".html")
        found.append(path)
    return found


def name_of(path: Path, among: Sequence[Path]) -> str:
    """The shortest name that tells the results apart."""
    names = [_place(other).resolve().name for other in among]
    place = _place(path)
    name = place.resolve().name
    return printable(name if names.count(name) == 1 else str(place))


def _place(path: Path) -> Path:
    """The directory of a result whose file was named."""
    return path.parent if path.name in _SEALS else path


def report(results: Mapping[str, Result], title: str = "Nacre report") -> str:
    """A page with results of a kind side by side, then every result on its own."""
    from nacre.pages.page import document

    records = {name: result for name, result in results.items() if isinstance(result, Record)}
    parts = [f"<h1>{escape(title)}</h1>", side_by_side(records), _others_side_by_side(results)]
    parts += (kinds.of(result).report(name, result) for name, result in results.items())
    return document(title, "".join(parts))


def _others_side_by_side(results: Mapping[str, Result]) -> str:
    """Each other kind of which there are several, in a table with a line for each."""
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
