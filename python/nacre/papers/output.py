"""What `nacre reproduce --out` leaves in a directory."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from nacre.files.staging import Staging
from nacre.papers.page import page
from nacre.papers.result import Reproduction
from nacre.papers.running.target import Target
from nacre.papers.spec.plan import Job

ROWS_FILE = "rows.json"
NAMES = (ROWS_FILE, "runs.json", "rows.parquet")
SUFFIXES = ("svg", "png", "html")


def write(staging: Staging, reproduction: Reproduction) -> None:
    """Writes what every run gave, then the rows, a page of them and the list of runs.

    Figures of earlier rows go.
    """
    places = _places(reproduction.targets)
    for job, result in reproduction.by_job.items():
        result.save(staging.directory / places[job])
    parquet = io.BytesIO()
    reproduction.rows.write_parquet(parquet)
    staging.write("rows.parquet", parquet.getvalue())
    staging.write("runs.json", _json(_runs(reproduction, places)))
    staging.write("rows.html", page(reproduction).encode())
    staging.write(ROWS_FILE, _json(reproduction.listed))
    staging.discard(
        f"{target.paper.name}-{figure}.{suffix}"
        for target in reproduction.targets
        for figure in target.paper.drawings
        for suffix in SUFFIXES
    )
    staging.commit()


def _runs(reproduction: Reproduction, places: Mapping[Job, Path]) -> list[dict[str, object]]:
    results = reproduction.results
    return [
        {
            "paper": target.paper.name,
            "runs": point.group,
            "labels": dict(point.labels),
            "scenario": Path(point.job.scenario).name,
            "settings": point.job.overrides(),
            "record": str(places[point.job])
            if f"{target.paper.name}/{point.name}" in results
            else None,
        }
        for target in reproduction.targets
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
