"""Losses of power: begun, kept as `nacre crash --out` keeps them, shown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

import nacre
from nacre.base import toml
from nacre.errors import Error, Problem, config_error
from nacre.explorer import answers
from nacre.explorer.folder import Folder, write_file
from nacre.explorer.jobs import Job, Jobs
from nacre.explorer.runs import SCENARIO_FILE
from nacre.simulate.power_loss import CRASH_SEED_MAX

POINTS_MAX = 10_000_000
_COUNTED = 2**53 - 1
"""What a page can count."""


class Crashes:
    """What losses of power found, by the scenarios they were tried on."""

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs

    def routes(self) -> list[Route]:
        """What the page asks."""
        answering = answers.answering
        begin = answering(self.begin, takes_document=True)
        return [
            Route("/api/crashes", begin, methods=["POST"]),
            Route("/api/crashes", answering(self.listed)),
            Route("/api/crashes/{name}", answering(self.shown)),
            Route("/api/crashes/{name}/figures/{figure}", answering(self.figure)),
            Route("/api/faults", answering(lambda _request: nacre.simulate.faults())),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks what is asked for, and begins to lose the power."""
        tree = answers.table_of(given, "tree")
        nacre.check(tree)
        chosen = given.get("faults", [])
        if not isinstance(chosen, list) or not all(isinstance(each, str) for each in chosen):
            raise config_error(
                [Problem(code="wrong-type", path="faults", problem="it is no list of names")]
            )
        asked = {
            "points": answers.whole(given, "points", 1, POINTS_MAX, 1000),
            "seed": answers.whole(given, "seed", 0, CRASH_SEED_MAX, 1),
            "faults": chosen,
        }
        name = str(tree.get("name") or "scenario")
        work = partial(self._try, tree, name, asked)
        return self._jobs.start("crash", f"Losing the power of {name}", work, noun="points").told()

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """What was found so far, the latest first."""
        found = []
        for path in self._folder.listed("crashes"):
            with suppress(Error, OSError):
                crashed = nacre.results.Crash.load(path)
                found.append(
                    {
                        "id": path.name,
                        "modified": path.stat().st_mtime,
                        "points": f"{crashed.points:,}",
                        "outcome": _outcome(crashed),
                    }
                )
        return found

    def shown(self, request: Request) -> dict[str, Any]:
        """What one found: facts, tables, the steps to a broken promise."""
        path = self._folder.find("crashes", answers.word(request, "name"))
        found = nacre.results.Crash.load(path)
        asked = json.loads((path / "asked.json").read_bytes())
        if asked["seed"] > _COUNTED:
            asked["seed"] = str(asked["seed"])
        steps = [] if found.finding is None else list(found.finding.steps)
        return {
            "id": path.name,
            "folder": str(path),
            **answers.summary(found),
            "broken": not found.is_good,
            "steps": answers.lines(steps),
            "asked": asked,
        }

    def figure(self, request: Request) -> dict[str, Any]:
        """One figure of what was found: how long recoveries took."""
        path = self._folder.find("crashes", answers.word(request, "name"))
        return answers.figure_of(nacre.results.Crash.load(path), request)

    def _try(self, tree: Mapping[str, Any], name: str, asked: Mapping[str, Any], job: Job) -> str:
        path = self._folder.new("crashes", name)
        try:
            found = nacre.crash(tree, **asked, progress=job.tick)
            write_file(path / SCENARIO_FILE, toml.document(tree).encode())
            write_file(path / "asked.json", json.dumps({**asked, "tree": tree}).encode())
            found.save(path)
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        if found.points < asked["points"] and found.finding is None:
            job.note = f"stopped after {found.points:,} of {asked['points']:,} losses of power"
        return f"/crash?found={path.name}"


def _outcome(found: nacre.results.Crash) -> str:
    if found.finding is not None:
        return "a promise was broken"
    return "every promise was kept" if found.is_good else "silent corruption"
