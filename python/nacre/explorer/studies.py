"""The page on studies.

Starts and resumes studies, saves their results in the format of `nacre study`, and shows the
results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

import nacre
from nacre.base import toml
from nacre.errors import Error
from nacre.explorer import answers
from nacre.explorer.folder import Folder, write_file
from nacre.explorer.jobs import Job, Jobs
from nacre.explorer.resource import Resource

RUNS = "study"
"""Name of the folder with the points of a study, next to the study file."""
STUDY_FILE = "study.toml"
ASKED_FILE = "asked.json"
REPEATS_MAX = 1000


class Studies(Resource):
    """The studies that are saved in a folder."""

    kind = "studies"

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        super().__init__(folder, jobs)
        self._live: dict[str, nacre.studies.LiveStudy] = {}

    def more(self) -> list[Route]:
        """Returns the endpoints for the text, the live status, and the resumption of a study."""
        answering = answers.answering
        return [
            Route("/api/study-text", answering(_text, takes_document=True), methods=["POST"]),
            Route("/api/studies/{name}/live", answering(self.live)),
            Route("/api/studies/{name}/resume", answering(self.resume), methods=["POST"]),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks a study and starts it."""
        asked = _study(given)
        total = nacre.studies.check_study(asked).total
        name = str(asked.get("name") or "study")
        work = partial(self._begin, asked, name)
        return self._jobs.start("study", _title(name, total), work, noun="points").report()

    def resume(self, request: Request) -> dict[str, Any]:
        """Resumes a study that was stopped."""
        path = self.directory_of(request)
        work = partial(self._conduct, path, _request_of(path), resume=True)
        return self._jobs.start("study", f"Study {path.name}", work, noun="points").report()

    def load(self, path: Path) -> nacre.studies.StudyResult:
        """Loads the results of the completed points of a study."""
        return nacre.studies.StudyResult.load(path / RUNS)

    def line(self, path: Path) -> dict[str, Any]:
        """Returns whether the study is running."""
        _request_of(path)
        return {"running": any(self._is_under_way(path))}

    def details(self, path: Path, _request: Request) -> dict[str, Any]:
        """Returns the summary of the completed points of a study."""
        about: dict[str, Any] = {
            "asked": _request_of(path),
            "toml": (path / STUDY_FILE).read_text(),
        }
        try:
            result = self.load(path)
        except (Error, OSError) as error:
            return about | {"result": None, "why": str(error), "complete": False}
        return about | {"complete": result.complete, "result": answers.summary(result)}

    def live(self, request: Request) -> dict[str, Any]:
        """Returns sentences about a running study, and the figure of its Pareto front."""
        live = self._live.get(answers.path_word(request, "name"))
        if live is None:
            return {"facts": [], "figure": None}
        said = live.result().summary()
        draw = said.figures.get("pareto")
        return {
            "facts": answers.lines(said.facts[1:2]),
            "figure": answers.figure(draw) if draw else None,
        }

    def _begin(self, asked: Mapping[str, Any], name: str, job: Job) -> str:
        path = self._folder.new(self.kind, name)
        write_file(path / ASKED_FILE, json.dumps(asked).encode())
        write_file(path / STUDY_FILE, toml.document(asked).encode())
        return self._conduct(path, asked, job)

    def _conduct(
        self, path: Path, asked: Mapping[str, Any], job: Job, *, resume: bool = False
    ) -> str:
        job.title, job.address = f"Study {path.name}", f"/study?study={path.name}"

        def begun(live: nacre.studies.LiveStudy) -> None:
            self._live[path.name] = live

        try:
            found = nacre.study(
                asked, out=path / RUNS, resume=resume, progress=job.tick, begun=begun
            )
        finally:
            self._live.pop(path.name, None)
        if not found.complete:
            done = f"{found.table.height:,} of {found.total:,} points"
            job.note = f"stopped; {done} are saved; the study can be continued"
        return job.address

    def _is_under_way(self, path: Path) -> list[Job]:
        title = f"Study {path.name}"
        return [job for job in self._jobs.listed() if job.title == title and not job.is_over]


def _text(_request: Request, given: Mapping[str, Any]) -> dict[str, str]:
    """Returns the TOML text of a study for `nacre study`."""
    return {"toml": toml.document(_study(given))}


def _study(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the study that a page has sent in a document.

    If `runs` is above 1, each design has this number of runs with different seeds.
    """
    asked = dict(answers.table_of(given, "study"))
    runs = answers.whole(given, "runs", 1, REPEATS_MAX, 1)
    if runs > 1:
        asked["seeds"] = list(range(1, runs + 1))
    return asked


def _title(name: str, points: int) -> str:
    return f"Study {name}, {points:,} points"


def _request_of(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads((path / ASKED_FILE).read_bytes())
        if isinstance(found, dict):
            return found
    raise Error(f"{path} holds no study", "invalid-content")
