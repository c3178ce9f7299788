"""What is known of a kind of results: how it is described, drawn, shown, saved and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nacre.errors import Error
from nacre.words.summary import Figures, Summary

if TYPE_CHECKING:
    import altair as alt

    from nacre.files.staging import Staging

    Plots: TypeAlias = Mapping[str, Callable[..., alt.TopLevelMixin]]


def _no_figures(_result: Any) -> Figures:
    return {}


def _no_plots() -> Plots:
    return {}


def _not_read(_path: Path) -> Any:
    raise Error("results of this kind are not read from files", "not-supported")


@dataclass(frozen=True)
class Line:
    """A kind in a table with a line for each of several results."""

    title: str
    columns: Sequence[str]
    cells: Callable[[Any], Sequence[str]]
    words: Sequence[str] = ()
    """The columns that hold words, not numbers."""


@dataclass(frozen=True)
class Kind:
    """A kind of results. What a kind does not have is left out."""

    summary: Callable[[Any], Summary]
    """What a result says."""
    html: Callable[[Any], str]
    """What a notebook shows of it."""
    figures: Callable[[Any], Figures] = _no_figures
    """What draws the figures that a result has data for, by file name; nothing is drawn yet."""
    suffixes: Sequence[str] = ("svg", "png")
    """The files of a figure."""
    plots: Callable[[], Plots] = _no_plots
    """What draws each figure, by name: functions that take the result, and then options."""
    section: Callable[[str, Any], str] | None = None
    """The result as a section of a report, under a name."""
    line: Line | None = None
    """Several of the kind side by side."""
    names: Sequence[str] = ()
    """The files of a directory that holds one."""
    write: Callable[[Staging, Any], None] | None = None
    """Stages its files in a directory, and commits them."""
    encode: Callable[[Any, Path], bytes] | None = None
    """Its content as a file of this name, where it is one file."""
    read: Callable[[Path], Any] = _not_read
    """Reads a saved one; raises `Error` for anything else."""
