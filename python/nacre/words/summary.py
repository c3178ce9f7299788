"""Summary of any result, shared by terminals, reports, notebooks, and pages."""

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
    """The main findings in a few sentences."""
    facts: Sequence[str] = ()
    """Sentences about the result, and limitations of its numbers."""
    tables: Sequence[Table] = ()
    """Tables with rows: `title`, `columns`, `rows`; `numeric` marks numeric columns."""
    figures: Figures = field(default_factory=dict)
    """Plot functions of the figures with data, by name."""
    assumed: Sequence[str] = ()
    """Paths of assumed values."""


def filled(*tables: Table) -> list[Table]:
    """Tables with rows."""
    return [each for each in tables if each.rows]
