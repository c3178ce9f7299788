"""Published results beside simulated ones: every claim, and runs that recompute them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from nacre import __version__, toml
from nacre.errors import Error
from nacre.explore import answers
from nacre.explore.folder import Folder, MissingError
from nacre.explore.jobs import Job, Jobs
from nacre.reproduce.evidence import summed
from nacre.reproduce.judge import Row, number
from nacre.reproduce.output import ROWS_FILE
from nacre.reproduce.plan import as_study
from nacre.reproduce.result import Reproduction, Target
from nacre.reproduce.table import error, notes, published, verdict
from nacre.reproduce.work import conduct, keeping, targets
from nacre.saving import write_file
from nacre.text import NOTHING

FIGURES_FILE = "figures.json"
"""The Vega-Lite of the figures that were recomputed, and by which version."""


class Papers:
    """The papers, with what was recomputed in a folder."""

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs

    def routes(self) -> list[Route]:
        """What the page asks."""
        begin = answers.answering(self.begin, takes_document=True)
        return [
            Route("/api/papers", answers.answering(self.listed)),
            Route("/api/papers", begin, methods=["POST"]),
            Route("/api/papers/{paper}/runs/{group}", answers.answering(_as_study)),
            Route("/api/papers/{paper}/{figure}", answers.answering(self.figure)),
        ]

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """Every paper with its claims, each with the latest that is known of it."""
        known = self._known()
        found = []
        for target in _all():
            own = [known.get(row["id"], (row, None)) for row in _unrun(target.paper.name)]
            rows = [row for row, _ in own]
            found.append(
                {
                    "name": target.paper.name,
                    "title": target.paper.title,
                    "figures": {name: _groups(target, name) for name in target.figures},
                    "drawn": sorted(self._drawn(target.paper.name)),
                    "seconds": _seconds(target),
                    "summed": answers.lines(summed(rows)),
                    "notes": answers.lines(notes([row for row in rows if _is_known(row)])),
                    "rows": [_told(row, made) for row, made in own],
                }
            )
        return found

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Recomputes a paper, or one figure of it."""
        name = answers.text(given, "paper")
        if figure := answers.text(given, "figure", ""):
            name = f"{name}/{figure}"
        chosen = targets(name)
        work = partial(self._recompute, chosen, name)
        return self._jobs.start("paper", f"Recomputing {name}", work, noun="% of the work").told()

    def figure(self, request: Request) -> dict[str, Any]:
        """A figure with what was published beside what was simulated."""
        paper, name = answers.word(request, "paper"), answers.word(request, "figure")
        try:
            place = self._drawn(paper)[name]
            found: dict[str, Any] = json.loads(place.read_bytes())["figures"][f"{paper}/{name}"]
        except (KeyError, OSError, ValueError):
            raise MissingError(f"{paper}/{name[:80]} has not been drawn here") from None
        return found

    def _recompute(self, chosen: list[Target], name: str, job: Job) -> str:
        path = self._folder.new("papers", name)

        def watch(done: int, total: int, share: float) -> bool:
            job.note = f"{done} of {total} runs"
            return job.tick(round(100 * share), 100)

        with keeping(chosen, path, resume=False) as kept:
            found = conduct(chosen, kept=kept, watch=watch)
            found.save(path, figures=False)
        if job.asked_to_stop:
            job.note = "stopped early; the runs that had ended are kept"
        else:
            job.note = ""
        write_file(path / FIGURES_FILE, _figures(found))
        paper, _, figure = name.partition("/")
        return f"/papers?paper={paper}" + (f"&figure={figure}" if figure else "")

    def _known(self) -> dict[str, tuple[Row, dict[str, Any]]]:
        """The latest row of each claim that was recomputed, with when and by which version."""
        known: dict[str, tuple[Row, dict[str, Any]]] = {}
        for path in self._folder.listed("papers"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                rows: list[Row] = json.loads((path / ROWS_FILE).read_bytes())
                when = (path / ROWS_FILE).stat().st_mtime
                made = {"when": when, "version": _version(path), "folder": str(path)}
                for row in rows:
                    if _is_known(row):
                        known.setdefault(row["id"], (row, made))
        return known

    def _drawn(self, paper: str) -> dict[str, Path]:
        """The latest file that has each figure of a paper."""
        found: dict[str, Path] = {}
        for path in self._folder.listed("papers"):
            with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
                for name in json.loads((path / FIGURES_FILE).read_bytes())["figures"]:
                    own, _, figure = name.partition("/")
                    if own == paper:
                        found.setdefault(figure, path / FIGURES_FILE)
        return found


@cache
def _all() -> tuple[Target, ...]:
    return tuple(targets(None))


@cache
def _unrun(paper: str) -> tuple[Row, ...]:
    """The rows of a paper before anything has been run."""
    (target,) = (each for each in _all() if each.paper.name == paper)
    return tuple(Reproduction([target], {}).listed)


def _groups(target: Target, figure: str) -> list[str]:
    """The runs of a figure that are a study: they simulate, and serve nothing."""
    plan = target.paper.plan
    names = dict.fromkeys(point.group for point in target.paper.needed([figure]))
    return [name for name in names if not plan[name].mixes and not plan[name].dilate]


def _as_study(request: Request) -> dict[str, str]:
    """Runs of a paper as a file that `nacre study` takes."""
    paper, name = answers.word(request, "paper"), answers.word(request, "group")
    (target,) = targets(paper)
    if name not in target.paper.plan:
        raise MissingError(f"{paper} has no runs called {name[:80]}")
    return {"toml": toml.document(as_study(target.paper.plan[name]))}


def _is_known(row: Row) -> bool:
    return row["simulated"] is not None or row["pass"] is not None


def _seconds(target: Target) -> float:
    jobs = {point.job: target.paper.plan[point.group].seconds for point in target.points}
    return sum(jobs.values())


def _told(row: Row, made: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "id": row["id"],
        "figure": row["figure"],
        "metric": row["metric"],
        "class": row["class"],
        "published": published(row),
        "simulated": number(row["simulated"], row["unit"]) if made else NOTHING,
        "error": error(row),
        "tolerance": row["tolerance"] or NOTHING,
        "verdict": verdict(row) if made or row["kind"] == "unclosed" else "not run",
        "source": row["source"],
        "because": row["because"],
        "misses": row["misses"],
        "note": row["note"] if made or row["kind"] == "unclosed" else "",
        "fitted": row["fitted"],
        "made": made,
    }


def _figures(found: Reproduction) -> bytes:
    """The figures of a reproduction that can be drawn."""
    return json.dumps({"version": __version__, "figures": dict(_drawings(found))}).encode()


def _drawings(found: Reproduction) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, draw in found.drawings().items():
        # Where runs were stopped or failed there may be nothing to draw; the rows say so.
        with suppress(Error, ValueError, KeyError):
            yield name, answers.figure(draw)


def _version(path: Path) -> str:
    try:
        return str(json.loads((path / FIGURES_FILE).read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"
