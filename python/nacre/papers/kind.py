"""Defines how reproductions of papers are summarized, plotted, and saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.errors import config_error, unknown
from nacre.kinds.kind import Kind, Plots
from nacre.pages.html import paragraphs, table
from nacre.papers import output
from nacre.papers.judging.evidence import summed
from nacre.papers.result import Reproduction
from nacre.papers.showing.table import claims, notes
from nacre.words.summary import Figures, Summary

if TYPE_CHECKING:
    import altair as alt


def _lines(found: Reproduction) -> list[str]:
    return [*summed(found.listed), *map(str, found.fits), *notes(found.listed)]


def _words(found: Reproduction) -> Summary:
    return Summary((), _lines(found), [claims(found.listed)])


def _html(found: Reproduction) -> str:
    return table(claims(found.listed)) + paragraphs(_lines(found))


def _figures(found: Reproduction) -> Figures:
    return {name.replace("/", "-"): make for name, make in found.drawings().items()}


def _figure(found: Reproduction, figure: str) -> alt.TopLevelMixin:
    """Plots a published figure, with simulated next to published values.

    `figure` is the name of the figure, e.g. `fig8` or `envy/fig8`.
    """
    drawings = found.drawings()
    meant = {name for name in drawings if figure in (name, name.partition("/")[2])}
    if len(meant) != 1:
        raise config_error([unknown("no drawing of a figure called", figure, drawings)])
    return drawings[meant.pop()]()


def _plots() -> Plots:
    return {"figure": _figure}


KIND = Kind(
    words=_words,
    plots=_plots,
    drawings=_figures,
    suffixes=output.SUFFIXES,
    notebook=_html,
    names=output.NAMES,
    write=output.write,
    read=output.read,
)
