"""Summary of a result, which terminals, reports, notebooks, and pages show."""

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
    """Summary of a result: sentences, tables, and figures."""

    headline: Sequence[str] = ()
    """The main results in a few sentences."""
    facts: Sequence[str] = ()
    """Sentences about the result, and limitations of its numbers."""
    tables: Sequence[Table] = ()
    """Tables that have rows. Each has `title`, `columns`, and `rows`; `numeric` marks numeric
    columns."""
    figures: Figures = field(default_factory=dict)
    """Plot functions by name, for the figures for which the result has data."""
    assumed: Sequence[str] = ()
    """Paths of assumed values."""


def filled(*tables: Table) -> list[Table]:
    """Returns the tables that have rows."""
    return [each for each in tables if each.rows]
