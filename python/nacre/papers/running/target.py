"""Targets of a reproduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nacre.papers.spec.paper import Paper
from nacre.papers.spec.plan import Point


@dataclass(frozen=True)
class Target:
    """Figures of a paper that are to be reproduced."""

    paper: Paper
    figures: Sequence[str]

    @cached_property
    def points(self) -> list[Point]:
        """Points that the figures need. Each point occurs once."""
        return self.paper.needed(self.figures)
