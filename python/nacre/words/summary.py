"""What any result says to people: one definition for terminals, reports, notebooks and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from nacre.base.table import Table

if TYPE_CHECKING:
    import altair as alt

Figures: TypeAlias = "Mapping[str, Callable[[], alt.TopLevelMixin]]"


@dataclass(frozen=True)
class Summary:
    """A result in words, in tables and in figures."""

    headline: Sequence[str] = ()
    """What a person would say aloud, in a few sentences."""
    facts: Sequence[str] = ()
    """Sentences about the whole, and what keeps its numbers from being taken at their face."""
    tables: Sequence[Table] = ()
    """Tables of text that have rows: `title`, `columns`, `rows`; `numeric` says which columns."""
    figures: Figures = field(default_factory=dict)
    """What draws the figures that there are data for, by name."""
    assumed: Sequence[str] = ()
    """The paths of values that nobody measured or published."""


def filled(*tables: Table) -> list[Table]:
    """Those that have rows."""
    return [each for each in tables if each.rows]
