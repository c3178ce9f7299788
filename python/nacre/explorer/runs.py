"""The page on runs.

Starts runs, saves records in the format of `nacre run --out`, shows records, and compares them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import nacre
from nacre.base import toml
from nacre.base.text import duration, si
from nacre.errors import Error, invalid
from nacre.explorer import answers
from nacre.explorer.folder import Folder, write_file
from nacre.explorer.jobs import Job, Jobs
from nacre.explorer.resource import Resource

RECORD_FILE = "record.json"
SCENARIO_FILE = "scenario.toml"
COMPARED_MAX = 8
SHOWN = 200
"""Maximum number of runs in one response."""


class Runs(Resource):
    """The runs that are saved in a folder."""

    kind = "runs"

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        super().__init__(folder, jobs)
        self._load = lru_cache(maxsize=16)(_loaded)
        self._latest: tuple[Path, int, nacre.results.Record] | None = None

    def more(self) -> list[Route]:
        """Returns the endpoints for reports and comparisons of runs."""
        answering = answers.answering
        return [
            Route("/api/runs/{name}/report", answering(self.report)),
            Route("/api/compared/{names}", answering(self.compared)),
            Route("/api/compared/{names}/figures/{figure}", answering(self.compared_figure)),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks a scenario and starts its run."""
        tree = answers.table_of(given, "tree")
        nacre.check(tree, needs_workload=True)
        name = str(tree.get("name") or "scenario")
        job = self._jobs.start("run", f"Run of {name}", partial(self._run, tree, name))
        return job.report()

    def listed(self, request: Request) -> dict[str, Any]:
        """Returns up to `SHOWN` runs, the latest first, and the total number of runs.

        The query `from` is the index of the first run.
        """
        first = answers.index(request, "from")
        there = self._folder.listed("runs")
        following = first + SHOWN
        return {
            "runs": self.lines(there[first:following]),
            "total": len(there),
            "next": following if following < len(there) else None,
        }

    def line(self, path: Path) -> dict[str, Any]:
        """Returns name, number of requests, and latencies of a run."""
        record = self.load(path)
        latency = {
            op: None if (found := record.latency[op]) is None else duration(found.mean_ns)
            for op in ("read", "write")
        }
        return {
            "name": answers.lines([record.name])[0],
            "complete": record.complete,
            "requests": record.requests.completed,
            "iops": si(record.throughput.iops).strip(),
            **latency,
        }

    def details(self, path: Path, _request: Request) -> dict[str, Any]:
        """Returns the summary and the scenario of a run."""
        record = self.load(path)
        said = answers.summary(record)
        return {**self.line(path), **said, "scenario": _scenario(path, record)}

    def report(self, request: Request) -> Response:
        """Returns the report of a run, as written by `nacre report`."""
        path = self.directory_of(request)
        page = nacre.report({path.name: self.load(path)}, title=path.name)
        return Response(page, media_type="text/html", headers={"content-security-policy": _ALONE})

    def compared(self, request: Request) -> dict[str, Any]:
        """Returns the comparison of several runs."""
        records = self._records(request)
        return {
            "names": list(records),
            "folders": [str(self._folder.find("runs", name)) for name in records],
            **answers.summary(nacre.compare(records)),
        }

    def compared_figure(self, request: Request) -> dict[str, Any]:
        """Returns one figure of a comparison of runs."""
        return answers.figure_of(nacre.compare(self._records(request)), request)

    def load(self, path: Path) -> nacre.results.Record:
        """Loads the record of a run. The latest record is cached."""
        file = path / RECORD_FILE
        try:
            stamp = file.stat().st_mtime_ns
        except OSError:
            raise Error(f"{path} has no record yet", "invalid-content") from None
        latest = self._latest
        if latest is not None and latest[:2] == (path, stamp):
            return latest[2]
        return self._load(path, stamp)

    def _records(self, request: Request) -> dict[str, nacre.results.Record]:
        names = list(dict.fromkeys(answers.path_word(request, "names").split(",")))
        if not 2 <= len(names) <= COMPARED_MAX:
            raise invalid(
                "out-of-range",
                "compare",
                "this number of runs cannot be compared",
                given=str(len(names)),
                hint=f"choose 2 to {COMPARED_MAX}",
            )
        return {name: self.load(self._folder.find(self.kind, name)) for name in names}

    def carry_out(self, tree: Mapping[str, Any], name: str, job: Job) -> Path:
        """Runs a scenario and saves the record. Returns the directory of the record."""
        with self.new_directory(name) as path:
            write_file(path / SCENARIO_FILE, toml.document(tree).encode())
            record = nacre.run(tree, progress=job.tick)
            record.save(path)
            # Cache the record, because the page requests it immediately.
            self._latest = (path, (path / RECORD_FILE).stat().st_mtime_ns, record)
        if not record.complete:
            job.note = "stopped early; finished results are saved"
        return path

    def _run(self, tree: Mapping[str, Any], name: str, job: Job) -> str:
        return f"/design?run={self.carry_out(tree, name, job).name}"


_ALONE = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Content security policy of a report. Reports need only their inline styles and images."""


def _loaded(path: Path, _stamp: int) -> nacre.results.Record:
    return nacre.results.Record.load(path)


def _scenario(path: Path, record: nacre.results.Record) -> dict[str, Any]:
    """Returns the scenario as the user gave it.

    If its file is missing, returns the resolved scenario of the record.
    """
    import tomllib

    try:
        return tomllib.loads((path / SCENARIO_FILE).read_text())
    except (OSError, ValueError):
        found: dict[str, Any] = json.loads(record.to_json())["scenario"]
        return found
