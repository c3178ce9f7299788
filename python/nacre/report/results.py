"""What directories and files of results hold, whichever command wrote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nacre.errors import Error, Problem, config_error
from nacre.record import Record
from nacre.report.page import document
from nacre.text import printable

if TYPE_CHECKING:
    from nacre.mixes import Mixes
    from nacre.study.result import StudyResult

    Result: TypeAlias = Record | StudyResult | Mixes

_HINT = (
    "give what `nacre run --out`, `nacre study --out` or `nacre mixes --out` wrote;"
    " for a trace, `nacre trace info TRACE --html FILE`"
)


def load(path: Path) -> Result:
    """The result in a directory, or the record of a file; raises `ConfigError` for another."""
    if path.is_dir() and (path / "study.json").is_file():
        from nacre.study.result import StudyResult

        return StudyResult.load(path)
    if path.is_dir() and not (path / "record.json").exists() and (path / "mixes.json").is_file():
        from nacre.mixes import Mixes

        return Mixes.load(path)
    try:
        return Record.load(path)
    except Error as error:
        raise config_error([Problem(problem=str(error), hint=_HINT)]) from None


def name_of(path: Path, among: Sequence[Path]) -> str:
    """The shortest name that tells the results apart."""
    folder = path.parent if path.suffix == ".json" else path
    same = [other for other in among if other.name == path.name]
    return printable(folder.resolve().name if len(same) == 1 else str(folder))


def report(results: Mapping[str, Result], title: str = "Nacre report") -> str:
    """A page with the records side by side, then every result on its own."""
    from html import escape

    from nacre.report.records import section, side_by_side
    from nacre.report.studies import mixes_section, study_section
    from nacre.study.result import StudyResult

    records = {name: result for name, result in results.items() if isinstance(result, Record)}
    parts = [f"<h1>{escape(title)}</h1>", side_by_side(records)]
    for name, result in results.items():
        if isinstance(result, Record):
            parts.append(section(name, result))
        elif isinstance(result, StudyResult):
            parts.append(study_section(name, result))
        else:
            parts.append(mixes_section(name, result))
    return document(title, "".join(parts))
