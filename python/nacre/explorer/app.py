"""The web application: pages, endpoints, and access control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from nacre import __version__
from nacre.explorer import answers, device, scenarios
from nacre.explorer.crashes import Crashes
from nacre.explorer.doors import Doors
from nacre.explorer.folder import Folder
from nacre.explorer.jobs import Jobs
from nacre.explorer.papers import Papers
from nacre.explorer.plans import Plans
from nacre.explorer.runs import Runs
from nacre.explorer.studies import Studies
from nacre.explorer.traces import Traces, bound
from nacre.explorer.vega import Vega
from nacre.explorer.watching import Watching

STATIC = Path(__file__).parent / "static"
PAGES = ("design", "plan", "study", "device", "crash", "papers")


class Explorer:
    """State of one running `nacre explore`."""

    def __init__(self, root: Path) -> None:
        self.folder = Folder(root)
        self.jobs = Jobs()
        self.vega = Vega()

    def app(self, *, hosts: tuple[str, ...], token: str) -> Doors:
        """Returns the web application. It accepts only requests for these hosts with this token."""
        runs, traces = Runs(self.folder, self.jobs), Traces(self.folder)
        pages = [Route(f"/{name}", _page) for name in PAGES]
        routes = [
            Route("/", _home),
            *pages,
            Route("/vega.js", self._vega),
            Route("/api/about", answers.answering(self._about)),
            *scenarios.routes(self.folder),
            *runs.routes(),
            *traces.routes(),
            *Plans(self.folder, self.jobs, traces, runs).routes(),
            *Studies(self.folder, self.jobs).routes(),
            *device.routes(),
            *Crashes(self.folder, self.jobs).routes(),
            *Papers(self.folder, self.jobs).routes(),
            *Watching(self.jobs).routes(),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
        inner = Starlette(routes=routes, exception_handlers={HTTPException: _unknown})
        return Doors(inner, hosts=hosts, token=token)

    def stop(self) -> None:
        """Asks all jobs to stop. Completed results are still written."""
        self.jobs.stop()

    def close(self) -> None:
        """Stops all jobs, and waits until they have ended."""
        self.stop()
        self.vega.close()
        self.jobs.close()

    def _about(self, _request: Request) -> dict[str, Any]:
        return {
            "version": __version__,
            "folder": str(self.folder.root.absolute()),
            "pages": list(PAGES),
            "upload": bound(),
        }

    async def _vega(self, _request: Request) -> Response:
        bundle = await run_in_threadpool(self.vega.bundle)
        kept = {"cache-control": "private, max-age=86400"}
        return Response(bundle, media_type="text/javascript", headers=kept)


async def _home(_request: Request) -> Response:
    return RedirectResponse("/design")


async def _page(_request: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})


async def _unknown(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return answers.response({"error": f"there is nothing at {request.url.path[:120]}"}, status)
