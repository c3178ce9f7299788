"""Endpoints that list, show, and stop jobs."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from nacre.explorer import answers
from nacre.explorer.folder import MissingError
from nacre.explorer.jobs import Job, Jobs


class Watching:
    """Provides the state of jobs to pages."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    def routes(self) -> list[Route]:
        """Returns the endpoints of the page."""
        stop = answers.answering(self.stop)
        return [
            Route("/api/jobs", answers.answering(self.listed)),
            Route("/api/jobs/{number:int}", answers.answering(self.report)),
            Route("/api/jobs/{number:int}/stop", stop, methods=["POST"]),
        ]

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """Returns all jobs, the latest first."""
        return [job.report() for job in self._jobs.listed()]

    def stop(self, request: Request) -> dict[str, Any]:
        """Asks a job to stop."""
        job = self._job(request)
        job.stop()
        return job.report()

    def report(self, request: Request) -> dict[str, Any]:
        """Returns the progress of a job."""
        return self._job(request).report()

    def _job(self, request: Request) -> Job:
        job = self._jobs.get(int(answers.path_word(request, "number")))
        if job is None:
            raise MissingError("the job has ended; its results are in the directory")
        return job
