"""Power-loss tests in the explorer.

Starts power-loss tests, saves their results in the format of `nacre crash --out`, and shows the
results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

import nacre
from nacre.base import toml
from nacre.errors import invalid
from nacre.explorer import answers
from nacre.explorer.folder import write_file
from nacre.explorer.jobs import Job
from nacre.explorer.resource import Resource
from nacre.explorer.runs import SCENARIO_FILE
from nacre.simulate.power_loss import CRASH_SEED_MAX

POINTS_MAX = 10_000_000
_COUNTED = 2**53 - 1
"""Largest integer up to which JavaScript represents all integers exactly."""


class Crashes(Resource):
    """Results of power-loss tests, named after their scenarios."""

    kind = "crashes"

    def more(self) -> list[Route]:
        """Returns the endpoint that lists the available faults."""
        return [Route("/api/faults", answers.answering(lambda _request: nacre.simulate.faults()))]

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks the request, and starts a power-loss test."""
        tree = answers.table_of(given, "tree")
        nacre.check(tree)
        chosen = given.get("faults", [])
        if not isinstance(chosen, list) or not all(isinstance(each, str) for each in chosen):
            raise invalid("wrong-type", "faults", "it is not a list of names")
        asked = {
            "points": answers.whole(given, "points", 1, POINTS_MAX, 1000),
            "seed": answers.whole(given, "seed", 0, CRASH_SEED_MAX, 1),
            "faults": chosen,
        }
        name = str(tree.get("name") or "scenario")
        work = partial(self._try, tree, name, asked)
        return self._jobs.start("crash", f"Power losses of {name}", work, noun="points").report()

    def load(self, path: Path) -> nacre.results.Crash:
        """Loads the result from a directory."""
        return nacre.results.Crash.load(path)

    def line(self, path: Path) -> dict[str, Any]:
        """Returns the number of power losses and the verdict, for the list of results."""
        found = self.load(path)
        return {"points": f"{found.points:,}", "outcome": _outcome(found)}

    def details(self, path: Path, _request: Request) -> dict[str, Any]:
        """Returns facts, tables, and the steps that lead to a violation."""
        found = self.load(path)
        asked = json.loads((path / "asked.json").read_bytes())
        if asked["seed"] > _COUNTED:
            asked["seed"] = str(asked["seed"])
        steps = [] if found.finding is None else list(found.finding.steps)
        return {
            **answers.summary(found),
            "broken": not found.is_good,
            "steps": answers.lines(steps),
            "asked": asked,
        }

    def _try(self, tree: Mapping[str, Any], name: str, asked: Mapping[str, Any], job: Job) -> str:
        with self.new_directory(name) as path:
            found = nacre.crash(tree, **asked, progress=job.tick)
            write_file(path / SCENARIO_FILE, toml.document(tree).encode())
            write_file(path / "asked.json", json.dumps({**asked, "tree": tree}).encode())
            found.save(path)
        if found.points < asked["points"] and found.finding is None:
            job.note = f"stopped after {found.points:,} of {asked['points']:,} power losses"
        return f"/crash?found={path.name}"


def _outcome(found: nacre.results.Crash) -> str:
    if found.finding is not None:
        return "a durability guarantee was violated"
    return "every durability guarantee held" if found.is_good else "silent corruption"
