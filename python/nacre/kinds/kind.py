"""Defines how a kind of results is described, plotted, shown, saved, and read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from nacre.base.shape import faults
from nacre.base.view import View
from nacre.errors import Error
from nacre.words.summary import Figures, Summary

if TYPE_CHECKING:
    import altair as alt

    from nacre.files.staging import Staging

Plots: TypeAlias = "Mapping[str, Callable[..., alt.TopLevelMixin]]"
Document = TypeVar("Document", bound=View)


def _not_read(_path: Path) -> Any:
    raise Error("results of this kind are not read from files", "not-supported")


def document(result: Any, path: Path) -> bytes:
    """A result as the JSON document that `--json` prints."""
    if path.suffix != ".json":
        raise Error(
            f'a {type(result).__name__} is saved as JSON; end "{path}" in .json', "not-supported"
        )
    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def read_document(path: Path) -> dict[str, Any]:
    """The JSON object in a file; raises `Error` for other content."""
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise Error(f"{path} is not JSON: {error}", "invalid-content") from None
    if not isinstance(found, dict):
        raise Error(f"{path} is not a JSON object", "invalid-content")
    return found


def reader(result: type[Document]) -> Callable[[Path], Document]:
    """Reads a result that is one JSON document, and checks that no field is missing."""

    def read(path: Path) -> Document:
        found = read_document(path)
        if wrong := list(faults(found, result)):
            more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
            problem = f"{', '.join(wrong[:3])}{more}"
            raise Error(f"{path} is not a complete {result.__name__}: {problem}", "invalid-content")
        return result(found)

    return read


@dataclass(frozen=True)
class Line:
    """A line of a table with several results of a kind."""

    title: str
    columns: Sequence[str]
    cells: Callable[[Any], Sequence[str]]
    words: Sequence[str] = ()
    """Columns with text instead of numbers."""


@dataclass(frozen=True)
class Kind:
    """A kind of results. Fields without an equivalent are omitted."""

    words: Callable[[Any], Summary]
    """Makes the summary of a result, without figures."""
    plots: Callable[[], Plots] = dict
    """Plot functions by name; they take the result, then options."""
    has: Callable[[Any], Iterable[str]] | None = None
    """Returns the names of figures that a result has data for; default: all of `plots`."""
    drawings: Callable[[Any], Figures] | None = None
    """Returns the figures of a result, if they differ from `plots` without options."""
    suffixes: Sequence[str] = ("svg", "png")
    """The files of a figure."""
    notebook: Callable[[Any], str] | None = None
    """Returns the HTML for a notebook; default: facts and tables."""
    section: Callable[[str, Any], str] | None = None
    """Returns a section of a report with the given name; default: the summary."""
    line: Line | None = None
    """Compares several results of the kind."""
    names: Sequence[str] = ()
    """File names of a saved result directory."""
    write: Callable[[Staging, Any], None] | None = None
    """Stages the files of a result in a directory and commits them."""
    encode: Callable[[Any, Path], bytes] | None = None
    """Encodes the result for a file of this name, if results of this kind are single files."""
    read: Callable[[Path], Any] = _not_read
    """Reads a saved result; raises `Error` for other content."""

    def drawable(self, result: Any) -> list[str]:
        """The names of `plots` that a result has data for."""
        return list(self.plots() if self.has is None else self.has(result))

    def figures(self, result: Any) -> Figures:
        """Plot functions for the figures that a result has data for, by file name."""
        if self.drawings is not None:
            return self.drawings(result)
        names = self.drawable(result)
        plots = self.plots() if names else {}
        return {name: partial(plots[name], result) for name in names}

    def summary(self, result: Any) -> Summary:
        """Summary of a result, with figures."""
        return replace(self.words(result), figures=self.figures(result))

    def html(self, result: Any) -> str:
        """HTML of a result for a notebook."""
        from nacre.pages.html import fragment

        if self.notebook is not None:
            return self.notebook(result)
        said = self.words(result)
        return fragment(said.facts, said.tables)

    def report(self, name: str, result: Any) -> str:
        """A result as a section of a report: headline, facts, tables, and figures."""
        from nacre.pages import page

        if self.section is not None:
            return self.section(name, result)
        said = self.summary(result)
        return page.section(name, said, *page.shown(*said.tables))
