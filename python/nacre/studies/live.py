"""A running study with the results so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nacre.studies.keep.store import Memory
from nacre.studies.points.planner import Planner, Row
from nacre.studies.points.point import Point
from nacre.studies.result import StudyResult
from nacre.studies.spec.design import Design


class LiveStudy:
    """A running study. Any thread can read the results so far."""

    def __init__(self, design: Design, planner: Planner, kept: Memory) -> None:
        self._design, self._planner, self._kept = design, planner, kept
        self._points: list[Point] = []

    @property
    def total(self) -> int:
        """Number of points of the study."""
        return self._planner.total

    def ask(self) -> Sequence[Point]:
        """Returns the next points to run."""
        asked = self._planner.ask()
        self._points = [*self._points, *asked]
        return asked

    def tell(self, rows: Mapping[str, Row]) -> None:
        """Processes the results of the points that `ask` returned last."""
        self._planner.tell(rows)

    def result(self) -> StudyResult:
        """Returns the result for the points that have completed."""
        from nacre.studies.analysis.table import table

        frame = table(self._design, self._points, self._kept.rows)
        return StudyResult(self._design, frame, self.total)
