"""What `nacre reproduce --out` leaves in a directory."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from nacre.files.saving import Staging
from nacre.papers.spec.plan import Job

if TYPE_CHECKING:
    from nacre.papers.result import Reproduction, Target

ROWS_FILE = "rows.json"
_FIGURE_SUFFIXES = ("svg", "png", "html")


class Output:
    """A directory of rows, records and figures; each file appears complete or not at all.

    `runs.json` says which record belongs to which points.
    """

    def __init__(self, directory: Path, targets: Sequence[Target]) -> None:
        self.directory = directory
        self._targets = targets
        self._places = _places(targets)
        self._staging = Staging(directory, (ROWS_FILE, "runs.json", "rows.parquet"))

    def __enter__(self) -> Output:
        self._staging.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._staging.__exit__(kind, error, trace)

    def write(self, reproduction: Reproduction) -> None:
        """Writes what every run gave, then the rows, a page of them and the list of runs.

        Figures of earlier rows go.
        """
        from nacre.papers.showing.page import page

        for job, result in reproduction.by_job.items():
            result.save(self.directory / self._places[job])
        parquet = io.BytesIO()
        reproduction.rows.write_parquet(parquet)
        self._staging.write("rows.parquet", parquet.getvalue())
        self._staging.write("runs.json", _json(self._runs(reproduction)))
        self._staging.write("rows.html", page(reproduction).encode())
        self._staging.write(ROWS_FILE, _json(reproduction.listed))
        self._staging.discard(
            f"{target.paper.name}-{figure}.{suffix}"
            for target in self._targets
            for figure in target.paper.drawings
            for suffix in _FIGURE_SUFFIXES
        )
        self._staging.commit()

    def figures(self, reproduction: Reproduction, stop: Callable[[], bool] = lambda: False) -> bool:
        """Draws the figures, each file committed when it is drawn; False if `stop` ended that."""
        if stop():
            return False
        from nacre.figures.export import drawn_once

        for name, make in reproduction.drawings().items():
            for suffix, draw in drawn_once(make, _FIGURE_SUFFIXES):
                if stop():
                    return False
                self._staging.write(f"{name.replace('/', '-')}.{suffix}", draw())
                self._staging.commit()
        return True

    def _runs(self, reproduction: Reproduction) -> list[dict[str, object]]:
        results = reproduction.results
        return [
            {
                "paper": target.paper.name,
                "runs": point.group,
                "labels": dict(point.labels),
                "scenario": Path(point.job.scenario).name,
                "settings": point.job.overrides(),
                "record": str(self._places[point.job])
                if f"{target.paper.name}/{point.name}" in results
                else None,
            }
            for target in self._targets
            for point in target.points
        ]


def _places(targets: Sequence[Target]) -> dict[Job, Path]:
    """A directory for each job, named after its first point."""
    places: dict[Job, Path] = {}
    for target in targets:
        for point in target.points:
            labels = [point.group, *(label for _, label in point.labels)]
            name = "-".join(re.sub(r"[^A-Za-z0-9.]+", "_", label).strip("_") for label in labels)
            place = Path("records", target.paper.name, name)
            while place in places.values() and point.job not in places:
                place = place.with_name(f"{place.name}+")
            places.setdefault(point.job, place)
    return places


def _json(document: object) -> bytes:
    return f"{json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)}\n".encode()
