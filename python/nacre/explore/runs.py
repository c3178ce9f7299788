"""Runs: begun, kept in the folder as `nacre run --out` keeps them, shown, put side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nacre import toml
from nacre.comparison import Comparison, compare
from nacre.errors import Error, Problem, config_error
from nacre.explore import answers
from nacre.explore.folder import Folder
from nacre.explore.jobs import Job, Jobs
from nacre.record import Record
from nacre.report import headline
from nacre.report.records import bill, compared
from nacre.run import check, run
from nacre.saving import RECORD_FILE, Staging
from nacre.summary import assumed, components, facts, latencies, time_spent, time_split
from nacre.text import duration, si

if TYPE_CHECKING:
    import altair as alt

SCENARIO_FILE = "scenario.toml"
COMPARED_MAX = 8
_SHOWN = 200


class Runs:
    """The runs of a folder."""

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs
        self._load = lru_cache(maxsize=16)(_loaded)

    def routes(self) -> list[Route]:
        """What the page asks."""
        answering = answers.answering
        begin = answering(self.begin, takes_document=True)
        return [
            Route("/api/runs", begin, methods=["POST"]),
            Route("/api/runs", answering(self.listed)),
            Route("/api/runs/{name}", answering(self.shown)),
            Route("/api/runs/{name}/figures/{figure}", answering(self.figure)),
            Route("/api/runs/{name}/report", answering(self.report)),
            Route("/api/compared/{names}", answering(self.compared)),
            Route("/api/compared/{names}/figures/{figure}", answering(self.compared_figure)),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks a scenario and begins its run."""
        tree = answers.table_of(given, "tree")
        check(tree)
        name = str(tree.get("name") or "scenario")
        job = self._jobs.start("run", f"Run of {name}", partial(self._run, tree, name))
        return job.told()

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """The runs there are, the latest first."""
        found = []
        for path in self._folder.listed("runs")[:_SHOWN]:
            with suppress(Error, OSError):
                found.append(_line(path, self.record(path.name)))
        return found

    def shown(self, request: Request) -> dict[str, Any]:
        """What a report says of a run."""
        path = self._folder.find("runs", answers.word(request, "name"))
        record = self.record(path.name)
        spent = [latencies(record), time_spent(record), time_split(record)]
        return {
            **_line(path, record),
            "folder": str(path),
            "headline": answers.lines(headline.of_record(record)),
            "facts": answers.lines(facts(record)),
            "tables": answers.tables(*spent, components(record), bill(record)),
            "assumed": len(assumed(record.origins)),
            "figures": list(_figures(record)),
            "scenario": _scenario(path, record),
        }

    def figure(self, request: Request) -> dict[str, Any]:
        """One figure of a run."""
        record = self.record(answers.word(request, "name"))
        return _drawn(_figures(record), answers.word(request, "figure"))

    def report(self, request: Request) -> Response:
        """The page that `nacre report` makes of a run."""
        from nacre.report import report

        name = answers.word(request, "name")
        page = report({name: self.record(name)}, title=name)
        return Response(page, media_type="text/html", headers={"content-security-policy": _ALONE})

    def compared(self, request: Request) -> dict[str, Any]:
        """Runs side by side."""
        records = self._records(request)
        return {
            "names": list(records),
            "folders": [str(self._folder.find("runs", name)) for name in records],
            "headline": answers.lines(headline.of_records(records)),
            "tables": answers.tables(compared(records)),
            "figures": list(_together(compare(records))),
        }

    def compared_figure(self, request: Request) -> dict[str, Any]:
        """One figure of runs side by side."""
        return _drawn(_together(compare(self._records(request))), answers.word(request, "figure"))

    def record(self, name: str) -> Record:
        """The record of a run."""
        path = self._folder.find("runs", name)
        file = path / RECORD_FILE
        try:
            stamp = file.stat().st_mtime_ns
        except OSError:
            raise Error(f"{path} holds no record: the run did not come so far") from None
        return self._load(path, stamp)

    def _records(self, request: Request) -> dict[str, Record]:
        names = list(dict.fromkeys(answers.word(request, "names").split(",")))
        if not 2 <= len(names) <= COMPARED_MAX:
            problem = Problem(
                path="compare", problem="so many runs cannot be put side by side",
                given=str(len(names)), hint=f"choose 2 to {COMPARED_MAX}",
            )  # fmt: skip
            raise config_error([problem])
        return {name: self.record(name) for name in names}

    def carry_out(self, tree: Mapping[str, Any], name: str, job: Job) -> Path:
        """Runs a scenario, and keeps the record; returns where."""
        path = self._folder.new("runs", name)
        try:
            with Staging(path) as staging:
                staging.write(SCENARIO_FILE, toml.document(tree).encode())
                record = run(tree, progress=job.tick)
                staging.record(record)
        except BaseException:
            with suppress(OSError):
                path.rmdir()
            raise
        if not record.complete:
            job.note = "stopped early; what was finished is kept"
        return path

    def _run(self, tree: Mapping[str, Any], name: str, job: Job) -> str:
        return f"/design?run={self.carry_out(tree, name, job).name}"


_ALONE = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report needs its own styles and nothing else."""


def _loaded(path: Path, _stamp: int) -> Record:
    return Record.load(path)


def _line(path: Path, record: Record) -> dict[str, Any]:
    latency = {
        op: None if (found := record.latency[op]) is None else duration(found.mean_ns)
        for op in ("read", "write")
    }
    return {
        "id": path.name,
        "name": answers.lines([record.name])[0],
        "complete": record.complete,
        "modified": path.stat().st_mtime,
        "requests": record.requests.completed,
        "iops": si(record.throughput.iops).strip(),
        "read": latency["read"],
        "write": latency["write"],
    }


def _scenario(path: Path, record: Record) -> dict[str, Any]:
    """The scenario as it was given; as the record resolved it where that is not known."""
    import tomllib

    try:
        return tomllib.loads((path / SCENARIO_FILE).read_text())
    except (OSError, ValueError):
        found: dict[str, Any] = json.loads(record.to_json())["scenario"]
        return found


def _figures(record: Record) -> Mapping[str, Callable[[], alt.TopLevelMixin]]:
    from nacre.figures import figure_makers

    return figure_makers(record)


def _together(runs: Comparison) -> dict[str, Callable[[], alt.TopLevelMixin]]:
    """The figures of several runs: of each kind of request that all of them have."""
    found: dict[str, Callable[[], alt.TopLevelMixin]] = {}
    for op in ("read", "write"):
        if all(record.latency[op] for record in runs.records):
            found[f"latency-{op}"] = partial(runs.plot_latency, op)
            found[f"time-spent-{op}"] = partial(runs.plot_time_spent, op)
    return found


def _drawn(makers: Mapping[str, Callable[[], alt.TopLevelMixin]], name: str) -> dict[str, Any]:
    if name not in makers:
        raise config_error([Problem(path=name, problem="there is no such figure")])
    return answers.figure(makers[name])
