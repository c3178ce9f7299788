"""What directories and files of results hold, whichever command wrote them; and traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nacre import traces
from nacre.base.text import printable
from nacre.errors import Error, Problem, config_error
from nacre.files.saving import RECORD_FILE
from nacre.pages.page import document
from nacre.results.record import Record
from nacre.results.shown import TraceInfo
from nacre.simulate.power_loss import CRASH_FILE, Crash

if TYPE_CHECKING:
    from nacre.simulate.mixing import Mixes
    from nacre.studies.result import StudyResult

    Result: TypeAlias = Record | StudyResult | Mixes | Crash | TraceInfo

_HINT = "give a trace, or what `nacre run`, `study`, `mixes` or `crash` wrote with --out"
_SEALS = ("study.json", RECORD_FILE, "mixes.json", CRASH_FILE)
"""By which file a directory of results is known: the first of these that it has."""
EXPLORED = "study"
"""Where the explorer keeps the points of a study, in the folder that it names."""


def load(path: Path, progress: Callable[[int, int | None], bool | None] | None = None) -> Result:
    """The result in a directory, the record of a file, or what a trace is like.

    Raises `ConfigError` for what is none of them.
    """
    if path.name in _SEALS and path.is_file():
        path = path.parent
    seal = next((name for name in _SEALS if (path / name).is_file()), None)
    if seal is None and (path / EXPLORED / "study.json").is_file():
        path, seal = path / EXPLORED, "study.json"
    if seal == "study.json":
        from nacre.studies.result import StudyResult

        return StudyResult.load(path)
    if seal == "mixes.json":
        from nacre.simulate.mixing import Mixes

        return Mixes.load(path)
    if path.is_dir() and seal is None:
        hint = _HINT
        if (path / "rows.html").is_file():
            hint = f"it holds what papers published, recomputed; a page of it is {path}/rows.html"
        raise config_error(
            [
                Problem(
                    code="invalid-content", problem=f"{path} holds no results of these", hint=hint
                )
            ]
        )
    if path.is_file() and path.suffix == ".toml":
        hint = f"give what `nacre run {path} --out results` writes"
        raise config_error(
            [
                Problem(
                    code="invalid-content",
                    problem=f"{path} is a scenario, and no result",
                    hint=hint,
                )
            ]
        )
    try:
        if seal == CRASH_FILE:
            return Crash.load(path)
        if seal == RECORD_FILE or path.suffix == ".json":
            return Record.load(path)
        return traces.info(path, progress=progress)
    except Error as error:
        raise config_error([Problem(code=error.code, problem=str(error), hint=_HINT)]) from None


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
    folder = path.parent if path.suffix == ".json" else path
    same = [other for other in among if other.name == path.name]
    return printable(folder.resolve().name if len(same) == 1 else str(folder))


def report(results: Mapping[str, Result], title: str = "Nacre report") -> str:
    """A page with results of a kind side by side, then every result on its own."""
    from html import escape

    from nacre.kinds.side_by_side import others_side_by_side
    from nacre.pages.crashes import crash_section
    from nacre.pages.records import section, side_by_side
    from nacre.pages.studies import mixes_section, study_section
    from nacre.pages.traces import trace_section
    from nacre.studies.result import StudyResult

    records = {name: result for name, result in results.items() if isinstance(result, Record)}
    parts = [f"<h1>{escape(title)}</h1>", side_by_side(records), others_side_by_side(results)]
    for name, result in results.items():
        if isinstance(result, Record):
            parts.append(section(name, result))
        elif isinstance(result, StudyResult):
            parts.append(study_section(name, result))
        elif isinstance(result, Crash):
            parts.append(crash_section(name, result))
        elif isinstance(result, TraceInfo):
            parts.append(trace_section(name, result))
        else:
            parts.append(mixes_section(name, result, result.simulated))
    return document(title, "".join(parts))
