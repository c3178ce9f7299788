"""Losses of power: begun, kept as `nacre crash --out` keeps them, shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from nacre import toml
from nacre.crash import Crash, crash, faults
from nacre.errors import SEED_MAX, Error, Problem, config_error
from nacre.explore import answers
from nacre.explore.folder import Folder
from nacre.explore.jobs import Job, Jobs
from nacre.explore.runs import SCENARIO_FILE
from nacre.report import headline
from nacre.run import check
from nacre.saving import Staging
from nacre.summary_crash import branch_table, crash_facts, fault_table, recovery_table

POINTS_MAX = 10_000_000


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
            Route("/api/crashes/{name}/recovery", answering(self.recovery)),
            Route("/api/faults", answering(lambda _request: faults())),
        ]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks what is asked for, and begins to lose the power."""
        tree = answers.table_of(given, "tree")
        check(tree)
        chosen = given.get("faults", [])
        if not isinstance(chosen, list) or not all(isinstance(each, str) for each in chosen):
            raise config_error([Problem(path="faults", problem="it is no list of names")])
        asked = {
            "points": answers.whole(given, "points", 1, POINTS_MAX, 1000),
            "seed": answers.whole(given, "seed", 0, SEED_MAX, 1),
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
                crashed = Crash.load(path)
                found.append(
                    {
                        "id": path.name,
                        "modified": path.stat().st_mtime,
                        "points": f"{crashed.points:,}",
                        "broken": crashed.finding is not None,
                    }
                )
        return found

    def shown(self, request: Request) -> dict[str, Any]:
        """What one found: facts, tables, the steps to a broken promise."""
        path = self._folder.find("crashes", answers.word(request, "name"))
        found = Crash.load(path)
        asked = json.loads((path / "asked.json").read_bytes())
        steps = [] if found.finding is None else list(found.finding.steps)
        return {
            "id": path.name,
            "folder": str(path),
            "headline": answers.lines(headline.of_crash(found)),
            "facts": answers.lines(crash_facts(found)),
            "broken": found.finding is not None,
            "steps": answers.lines(steps),
            "tables": answers.tables(
                fault_table(found), recovery_table(found), branch_table(found)
            ),
            "has_recovery": bool(found.recovery.max_s),
            "asked": asked,
        }

    def recovery(self, request: Request) -> dict[str, Any]:
        """How long recoveries took."""
        from nacre.figures.crash import recovery_figure

        found = Crash.load(self._folder.find("crashes", answers.word(request, "name")))
        drawn = recovery_figure(found)
        if drawn is None:
            raise Error("no recovery took any time")
        return answers.figure(lambda: drawn)

    def _try(self, tree: Mapping[str, Any], name: str, asked: Mapping[str, Any], job: Job) -> str:
        path = self._folder.new("crashes", name)
        try:
            with Staging(path) as staging:
                found = crash(tree, **asked, progress=job.tick)
                staging.write(SCENARIO_FILE, toml.document(tree).encode())
                staging.write("asked.json", json.dumps({**asked, "tree": tree}).encode())
                staging.crash(found)
        except BaseException:
            with suppress(OSError):
                path.rmdir()
            raise
        if found.points < asked["points"] and found.finding is None:
            job.note = f"stopped after {found.points:,} of {asked['points']:,} losses of power"
        return f"/crash?found={path.name}"
