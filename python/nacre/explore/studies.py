"""Studies: begun, gone on with, kept as `nacre study` keeps them, shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import Route

from nacre import toml
from nacre.errors import Error, Problem, config_error
from nacre.explore import answers
from nacre.explore.folder import Folder
from nacre.explore.jobs import Job, Jobs
from nacre.explore.live import Live
from nacre.report import headline
from nacre.saving import write_file
from nacre.study import StudyResult
from nacre.study.local import Local
from nacre.study.plan import sound
from nacre.study.result import summed
from nacre.study.store import Store
from nacre.study.summary import best, decisive, facts
from nacre.study.work import conduct, keeping, save

if TYPE_CHECKING:
    import altair as alt

RUNS = "study"
"""The folder of the points, beside the file that asked for them."""
STUDY_FILE = "study.toml"
ASKED_FILE = "asked.json"


class Studies:
    """The studies of a folder."""

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs
        self._live: dict[str, Live] = {}

    def routes(self) -> list[Route]:
        """What the page asks."""
        answering = answers.answering
        begin = answering(self.begin, takes_document=True)
        return [
            Route("/api/studies", begin, methods=["POST"]),
            Route("/api/studies", answering(self.listed)),
            Route("/api/study-text", answering(_text, takes_document=True), methods=["POST"]),
            Route("/api/studies/{name}", answering(self.shown)),
            Route("/api/studies/{name}/live", answering(self.live)),
            Route("/api/studies/{name}/resume", answering(self.resume), methods=["POST"]),
            Route("/api/studies/{name}/figures/{figure}", answering(self.figure)),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Finds every mistake of a study, or begins it."""
        asked = answers.table_of(given, "study")
        _, planner = sound(asked)
        name = str(asked.get("name") or "study")
        work = partial(self._begin, asked, name)
        return self._jobs.start("study", _title(name, planner.total), work, noun="points").told()

    def resume(self, request: Request) -> dict[str, Any]:
        """Goes on with a study that was stopped."""
        path = self._folder.find("studies", answers.word(request, "name"))
        work = partial(self._conduct, path, _asked(path), resume=True)
        return self._jobs.start("study", f"Study {path.name}", work, noun="points").told()

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """The studies there are, the latest first."""
        return [
            {
                "id": path.name,
                "modified": path.stat().st_mtime,
                "running": any(self._is_under_way(path)),
            }
            for path in self._folder.listed("studies")
            if (path / ASKED_FILE).is_file()
        ]

    def shown(self, request: Request) -> dict[str, Any]:
        """What a study says so far."""
        path = self._folder.find("studies", answers.word(request, "name"))
        asked = _asked(path)
        about = {"id": path.name, "folder": str(path), "asked": asked}
        about["toml"] = (path / STUDY_FILE).read_text()
        try:
            result = StudyResult.load(path / RUNS)
        except (Error, OSError) as error:
            return about | {"result": None, "why": str(error), "complete": False}
        weights = [decisive(result)] if result.sensitivity().height else []
        return about | {
            "complete": result.complete,
            "result": {
                "headline": answers.lines(headline.of_study(result)),
                "facts": answers.lines([summed(result), *facts(result)]),
                "tables": answers.tables(best(result), *weights),
                "figures": list(_figures(result)),
            },
        }

    def live(self, request: Request) -> dict[str, Any]:
        """What a study that runs says so far: sentences, and the front of its designs."""
        live = self._live.get(answers.word(request, "name"))
        if live is None:
            return {"facts": [], "figure": None}
        result = live.result()
        draw = _figures(result).get("pareto") if result.table.height else None
        return {
            "facts": answers.lines(facts(result)[:1]) if result.table.height else [],
            "figure": answers.figure(draw) if draw else None,
        }

    def figure(self, request: Request) -> dict[str, Any]:
        """One figure of a study."""
        path = self._folder.find("studies", answers.word(request, "name"))
        makers, name = _figures(StudyResult.load(path / RUNS)), answers.word(request, "figure")
        if name not in makers:
            raise config_error([Problem(path=name, problem="there is no such figure")])
        return answers.figure(makers[name])

    def _begin(self, asked: Mapping[str, Any], name: str, job: Job) -> str:
        path = self._folder.new("studies", name)
        write_file(path / ASKED_FILE, json.dumps(asked).encode())
        write_file(path / STUDY_FILE, toml.document(asked).encode())
        return self._conduct(path, asked, job)

    def _conduct(
        self, path: Path, asked: Mapping[str, Any], job: Job, *, resume: bool = False
    ) -> str:
        job.title, job.address = f"Study {path.name}", f"/study?study={path.name}"
        design, planner = sound(asked)
        try:
            with Local() as engine, keeping(design, planner, path / RUNS, resume=resume) as kept:
                self._live[path.name] = live = Live(design, planner, kept)
                found, _ = conduct(design, live, engine, kept, job.tick)
                if isinstance(kept, Store):
                    save(found, kept)
        finally:
            self._live.pop(path.name, None)
        if not found.complete:
            job.note = f"stopped; {summed(found)} are kept, and it can go on"
        return job.address

    def _is_under_way(self, path: Path) -> list[Job]:
        title = f"Study {path.name}"
        return [job for job in self._jobs.listed() if job.title == title and not job.is_over]


def _text(_request: Request, given: Mapping[str, Any]) -> dict[str, str]:
    """A study as a file that `nacre study` takes."""
    return {"toml": toml.document(answers.table_of(given, "study"))}


def _title(name: str, points: int) -> str:
    return f"Study {name}, {points:,} points"


def _asked(path: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads((path / ASKED_FILE).read_bytes())
        if isinstance(found, dict):
            return found
    raise Error(f"{path} holds no study")


def _figures(result: StudyResult) -> Mapping[str, Callable[[], alt.TopLevelMixin]]:
    from nacre.figures import study_figures

    return study_figures(result)
