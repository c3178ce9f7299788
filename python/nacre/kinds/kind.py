"""Defines how results of a kind are summarized, plotted, displayed, saved, and loaded."""

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
    """Encodes a result as JSON, as `--json` prints it.

    Raises `Error` if `path` does not end in .json.
    """
    if path.suffix != ".json":
        raise Error(
            f'a {type(result).__name__} is saved as JSON; end "{path}" in .json', "not-supported"
        )
    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def read_document(path: Path) -> dict[str, Any]:
    """Returns the JSON object in a file. Raises `Error` for other content."""
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise Error(f"{path} is not JSON: {error}", "invalid-content") from None
    if not isinstance(found, dict):
        raise Error(f"{path} is not a JSON object", "invalid-content")
    return found


def reader(result: type[Document]) -> Callable[[Path], Document]:
    """Returns a function that loads a result from one JSON document.

    It raises `Error` if a field is missing.
    """

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
    """Table that lists several results of a kind, with one row per result."""

    title: str
    columns: Sequence[str]
    cells: Callable[[Any], Sequence[str]]
    words: Sequence[str] = ()
    """Names of the columns that contain text instead of numbers."""


@dataclass(frozen=True)
class Kind:
    """A kind of results. A field for an unsupported feature has the default value."""

    words: Callable[[Any], Summary]
    """Returns the summary of a result, without figures."""
    plots: Callable[[], Plots] = dict
    """Returns the plot functions by name. Each function takes a result and options."""
    has: Callable[[Any], Iterable[str]] | None = None
    """Returns the names of the figures for which a result has data. By default, these are all of
    `plots`."""
    drawings: Callable[[Any], Figures] | None = None
    """Returns the figures of a result, if they differ from calls of `plots` without options."""
    suffixes: Sequence[str] = ("svg", "png")
    """Suffixes of the files of a figure."""
    notebook: Callable[[Any], str] | None = None
    """Returns the HTML for a notebook. By default, it contains facts and tables."""
    section: Callable[[str, Any], str] | None = None
    """Returns a section of a report with the given name. By default, it contains the summary."""
    line: Line | None = None
    """Compares several results of this kind in a table."""
    names: Sequence[str] = ()
    """Names of the files in a result directory."""
    write: Callable[[Staging, Any], None] | None = None
    """Stages the files of a result for a directory, and commits them."""
    encode: Callable[[Any, Path], bytes] | None = None
    """Encodes a result for the given file name, if results of this kind are single files."""
    read: Callable[[Path], Any] = _not_read
    """Loads a saved result. Raises `Error` for other content."""

    def drawable(self, result: Any) -> list[str]:
        """Returns the names of the `plots` for which a result has data."""
        return list(self.plots() if self.has is None else self.has(result))

    def figures(self, result: Any) -> Figures:
        """Returns functions that plot the figures for which a result has data, by file name."""
        if self.drawings is not None:
            return self.drawings(result)
        names = self.drawable(result)
        plots = self.plots() if names else {}
        return {name: partial(plots[name], result) for name in names}

    def summary(self, result: Any) -> Summary:
        """Returns the summary of a result, including figures."""
        return replace(self.words(result), figures=self.figures(result))

    def html(self, result: Any) -> str:
        """Returns the HTML of a result for a notebook."""
        from nacre.pages.html import fragment

        if self.notebook is not None:
            return self.notebook(result)
        said = self.words(result)
        return fragment(said.facts, said.tables)

    def report(self, name: str, result: Any) -> str:
        """Returns a section of a report with headline, facts, tables, and figures."""
        from nacre.pages import page

        if self.section is not None:
            return self.section(name, result)
        said = self.summary(result)
        return page.section(name, said, *page.shown(*said.tables))
