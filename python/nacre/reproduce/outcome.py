"""What has become of the runs of a reproduction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nacre.record import Record
from nacre.reproduce.plan import Job, Point


class UnknownError(Exception):
    """Why there is no simulated number; the text is for the user."""


@dataclass(frozen=True)
class Outcomes:
    """Records and failures by job; a job in neither has not ended."""

    ended: Mapping[Job, Record | BaseException]

    def record(self, point: Point) -> Record:
        """The record of a point; raises `UnknownError` where there is none."""
        match self.ended.get(point.job):
            case None:
                raise UnknownError(f"not run to its end: {point.name}")
            case BaseException() as error:
                raise UnknownError(f"{point.name} failed: {' / '.join(str(error).splitlines())}")
            case record:
                return record

    def get(self, point: Point) -> Record | None:
        """The record of a point, if there is one."""
        found = self.ended.get(point.job)
        return found if isinstance(found, Record) else None
