"""The page on papers: claims, published and simulated results, and runs of reproductions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

import nacre
from nacre.base import toml
from nacre.errors import Error, config_error, unknown
from nacre.explorer import answers
from nacre.explorer.folder import Folder, MissingError, write_file
from nacre.explorer.jobs import Job, Jobs
from nacre.papers.judging.judge import Row
from nacre.papers.known import Claim, Made, Paper

ROWS_FILE = "rows.json"
"""Name of the file with results that `nacre reproduce --out` writes."""
FIGURES_FILE = "figures.json"
"""Name of the file with the Vega-Lite figures of a reproduction, and the version of Nacre."""


class Papers:
    """The papers, and the latest results that are saved in a folder."""

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs

    def routes(self) -> list[Route]:
        """Returns the endpoints of the page."""
        begin = answers.answering(self.begin, takes_document=True)
        return [
            Route("/api/papers", answers.answering(self.listed)),
            Route("/api/papers", begin, methods=["POST"]),
            Route("/api/papers/{paper}/runs/{group}", answers.answering(_as_study)),
            Route("/api/papers/{paper}/{figure}", answers.answering(self.figure)),
        ]

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """Returns every paper with its claims, and the latest result of each claim."""
        known = self._latest_rows()
        found = []
        for paper in nacre.papers.published().values():
            found.append(
                {
                    "name": paper.name,
                    "title": paper.title,
                    "figures": {name: paper.runs(name) for name in paper.figures},
                    "drawn": sorted(self._latest_figures(paper.name)),
                    "seconds": paper.seconds,
                    "rows": [_claim_details(claim) for claim in paper.claims(known)],
                }
            )
        return found

    def begin(self, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Starts the reproduction of a paper, or of one of its figures."""
        name, figure = answers.text(given, "paper"), answers.text(given, "figure", "")
        paper = _paper(name)
        if figure and figure not in paper.figures:
            raise config_error([unknown("no figure called", figure, paper.figures)])
        if figure:
            name = f"{name}/{figure}"
        work = partial(self._recompute, name)
        return self._jobs.start("paper", f"Recomputing {name}", work, noun="% of the work").report()

    def figure(self, request: Request) -> dict[str, Any]:
        """Returns a figure with published and simulated results."""
        paper, name = answers.path_word(request, "paper"), answers.path_word(request, "figure")
        try:
            place = self._latest_figures(paper)[name]
            found: dict[str, Any] = json.loads(place.read_bytes())["figures"][f"{paper}/{name}"]
        except (KeyError, OSError, ValueError):
            raise MissingError(f"{paper}/{name[:80]} has no figure yet") from None
        return found

    def _recompute(self, name: str, job: Job) -> str:
        path = self._folder.new("papers", name)

        def watch(done: int, total: int, share: float) -> bool:
            job.note = f"{done} of {total} runs"
            return job.tick(round(100 * share), 100)

        found = nacre.reproduce(name, out=path, figures=False, progress=watch)
        if job.asked_to_stop:
            job.note = "stopped early; finished runs are saved"
        else:
            job.note = ""
        write_file(path / FIGURES_FILE, _figures(found))
        paper, _, figure = name.partition("/")
        return f"/papers?paper={paper}" + (f"&figure={figure}" if figure else "")

    def _latest_rows(self) -> dict[str, tuple[Row, Made]]:
        """Returns the latest row of each reproduced claim, with the date and version of its run."""
        known: dict[str, tuple[Row, Made]] = {}
        for path in self._folder.listed("papers"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                rows: list[Row] = json.loads((path / ROWS_FILE).read_bytes())
                when = (path / ROWS_FILE).stat().st_mtime
                date = datetime.fromtimestamp(when).astimezone().strftime("%Y-%m-%d %H:%M")
                made: Made = {"date": date, "version": _version(path), "folder": str(path)}
                for row in rows:
                    if row["simulated"] is not None or row["pass"] is not None:
                        known.setdefault(row["id"], (row, made))
        return known

    def _latest_figures(self, paper: str) -> dict[str, Path]:
        """Returns, for each figure of a paper, the latest file that contains it."""
        found: dict[str, Path] = {}
        for path in self._folder.listed("papers"):
            with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
                for name in json.loads((path / FIGURES_FILE).read_bytes())["figures"]:
                    own, _, figure = name.partition("/")
                    if own == paper:
                        found.setdefault(figure, path / FIGURES_FILE)
        return found


def _paper(name: str) -> Paper:
    known = nacre.papers.published()
    if name not in known:
        raise config_error([unknown("no paper called", name, known)])
    return known[name]


def _as_study(request: Request) -> dict[str, str]:
    """Returns the runs of a paper as the TOML text of a study."""
    paper, name = answers.path_word(request, "paper"), answers.path_word(request, "group")
    try:
        return {"toml": toml.document(_paper(paper).study(name))}
    except nacre.errors.ConfigError as error:
        raise MissingError(str(error)[:200]) from None


def _claim_details(claim: Claim) -> dict[str, Any]:
    row, is_told = claim.row, claim.is_known or claim.row["kind"] == "unclosed"
    return {
        "id": row["id"],
        "figure": row["figure"],
        "metric": row["metric"],
        "class": row["class"],
        "published": claim.published,
        "simulated": claim.simulated,
        "error": claim.error,
        "tolerance": row["tolerance"] or "-",
        "verdict": claim.verdict,
        "source": row["source"],
        "because": row["because"],
        "misses": row["misses"],
        "note": row["note"] if is_told else "",
        "fitted": row["fitted"],
        "made": claim.made,
    }


def _figures(found: nacre.papers.Reproduction) -> bytes:
    """Returns all figures of a reproduction for which there is data, as JSON."""
    return json.dumps({"version": nacre.__version__, "figures": dict(_drawings(found))}).encode()


def _drawings(found: nacre.papers.Reproduction) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, draw in found.drawings().items():
        # If runs were stopped or failed, a figure may lack data. The rows contain the reason.
        with suppress(Error, ValueError, KeyError):
            yield name, answers.figure(draw)


def _version(path: Path) -> str:
    try:
        return str(json.loads((path / FIGURES_FILE).read_bytes())["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"
