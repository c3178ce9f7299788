"""Results and errors of the runs of a reproduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from nacre.papers.running.served import NotRunError, Served
from nacre.papers.running.transacted import Transacted
from nacre.papers.spec.plan import Job, Point
from nacre.results.mixes import Mixes
from nacre.results.record import Record

Result: TypeAlias = Record | Mixes | Served | Transacted
"""Result of a run."""


class UnknownError(Exception):
    """Reason for a missing simulated number. The text is for the user."""


class UnmadeError(UnknownError):
    """The runs lack a requirement on this machine."""


@dataclass(frozen=True)
class Outcomes:
    """Results and exceptions by run.

    A run without a result and without an exception has not ended.
    """

    ended: Mapping[Job, Result | Exception]

    def result(self, point: Point) -> Result:
        """Returns the result of a point. Raises `UnknownError` if there is none."""
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
        """Returns the result of a point, or None if there is none."""
        found = self.ended.get(point.job)
        return None if isinstance(found, Exception) else found

    def why_not_run(self, point: Point) -> str | None:
        """Returns the requirement that a point's run lacks on this machine, or None."""
        found = self.ended.get(point.job)
        return str(found) if isinstance(found, NotRunError) else None
