"""Saves and loads the output of `nacre reproduce --out`."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nacre.errors import Error, invalid
from nacre.files import records
from nacre.files.staging import Staging
from nacre.kinds import mixes
from nacre.papers.page import page
from nacre.papers.result import Reproduction
from nacre.papers.running.outcome import Result
from nacre.papers.running.served import SERVED_FILE, NotRunError, Served
from nacre.papers.running.target import Target
from nacre.papers.spec.paper import SHIPPED, find
from nacre.papers.spec.plan import Job

ROWS_FILE = "rows.json"
RUNS_FILE = "runs.json"
NAMES = (ROWS_FILE, RUNS_FILE, "rows.parquet")
SUFFIXES = ("svg", "png", "html")


def write(staging: Staging, reproduction: Reproduction) -> None:
    """Saves the result of every run, the rows, a page, and the list of runs.

    Removes figures of earlier rows from the directory.
    """
    places = _places(reproduction.targets)
    for job, result in reproduction.by_job.items():
        result.save(staging.directory / places[job])
    parquet = io.BytesIO()
    reproduction.rows.write_parquet(parquet)
    staging.write("rows.parquet", parquet.getvalue())
    staging.write(RUNS_FILE, _json(_runs(reproduction, places)))
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
            **_why(reproduction.failure(point.job)),
        }
        for target in reproduction.targets
        for point in target.points
    ]


def _why(failure: Exception | None) -> dict[str, str]:
    """Returns the reason for a missing record: a failure, or a missing requirement."""
    if failure is None:
        return {}
    return {"not_run" if isinstance(failure, NotRunError) else "failed": str(failure)}


def read(folder: Path) -> Reproduction:
    """Loads the output of `nacre reproduce --out`: rows with verdicts, and every result.

    Raises `ConfigError` for other content, or if this version of Nacre lacks the paper.
    """
    try:
        rows = json.loads((folder / ROWS_FILE).read_bytes())
        figures: dict[str, dict[str, None]] = {}
        for row in rows:
            figures.setdefault(row["paper"], {})[row["figure"]] = None
        runs = {_point_of(run): run for run in json.loads((folder / RUNS_FILE).read_bytes())}
        targets = [Target(find(name, SHIPPED), list(of)) for name, of in figures.items()]
        ended = {
            point.job: found
            for target in targets
            for point in target.points
            if (run := runs.get((target.paper.name, point.group, point.labels)))
            and run["settings"] == point.job.overrides()
            and (found := _ended(folder, run)) is not None
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"it holds no reproduction: {' '.join(str(error).split())}"
        hint = "give what `nacre reproduce --out` wrote"
        raise invalid("invalid-content", str(folder), problem, hint=hint) from None
    return Reproduction(targets, ended, rows)


def _point_of(run: Mapping[str, Any]) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    return run["paper"], run["runs"], tuple(run["labels"].items())


def _ended(folder: Path, run: Mapping[str, Any]) -> Result | Exception | None:
    """Returns the result or the error of a saved run, or None if the run has not ended."""
    if "not_run" in run:
        return NotRunError(run["not_run"])
    if "failed" in run:
        return Error(run["failed"], "failed")
    if run["record"] is None:
        return None
    place = folder / run["record"]
    if (place / "mixes.json").is_file():
        return mixes.read(place)
    if (place / SERVED_FILE).is_file():
        return Served(json.loads((place / SERVED_FILE).read_bytes()))
    return records.read(place)


def _places(targets: Sequence[Target]) -> dict[Job, Path]:
    """Returns a directory for each run.

    The name of a directory is derived from the first point of the run.
    """
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
