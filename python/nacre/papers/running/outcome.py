"""Outcomes of the runs of a reproduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nacre.papers.running.served import NotRunError, Served
from nacre.papers.spec.plan import Job, Point
from nacre.results.mixes import Mixes
from nacre.results.record import Record

Result: TypeAlias = Record | Mixes | Served
"""Result of a run."""


class UnknownError(Exception):
    """Reason for a missing simulated number; the text is for the user."""


class UnmadeError(UnknownError):
    """The runs are impossible on this machine."""


@dataclass(frozen=True)
class Outcomes:
    """Records and failures by job; a job in neither has not ended."""

    ended: Mapping[Job, Result | Exception]

    def result(self, point: Point) -> Result:
        """Result of a point; raises `UnknownError` if there is none."""
        match self.ended.get(point.job):
            case None:
                raise UnknownError(f"not run to its end: {point.name}")
            case NotRunError() as error:
                raise UnmadeError(f"not run: {error}")
            case Exception() as error:
                raise UnknownError(f"{point.name} failed: {' / '.join(str(error).splitlines())}")
            case result:
                return result

    def get(self, point: Point) -> Result | None:
        """Result of a point; None if there is none."""
        found = self.ended.get(point.job)
        return None if isinstance(found, Exception) else found

    def why_not_run(self, point: Point) -> str | None:
        """Missing requirement of a point's run; None if it is possible."""
        found = self.ended.get(point.job)
        return str(found) if isinstance(found, NotRunError) else None
