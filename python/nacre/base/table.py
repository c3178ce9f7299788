"""Tables of text for terminals, notebooks, and pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Rows of text under column names; numeric columns are right-aligned.

    Text in the columns named in `prose` may be wrapped.
    """

    title: str
    columns: Sequence[str]
    numeric: Sequence[bool]
    rows: Sequence[Sequence[str]]
    prose: Sequence[str] = ()
