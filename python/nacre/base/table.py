"""Tables of text for terminals, notebooks, and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table of text cells. Numeric columns are right-aligned.

    Output may wrap the cells of the columns in `prose`.
    """

    title: str
    columns: Sequence[str]
    numeric: Sequence[bool]
    rows: Sequence[Sequence[str]]
    prose: Sequence[str] = ()
