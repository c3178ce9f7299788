"""Jobs as pages see them: a list, a stream of progress, a word to stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from nacre.explore import answers
from nacre.explore.folder import MissingError
from nacre.explore.jobs import Job, Jobs

_PERIOD_S = 0.02
"""How often a stream looks at its job: what has ended is told before anybody notices a pause."""
_QUIET_S = 10.0
"""After so long without news a stream says that it is still there."""


class Watching:
    """Tells pages of jobs."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.closing = False

    def routes(self) -> list[Route]:
        """What pages ask."""
        stop = answers.answering(self.stop)
        return [
            Route("/api/jobs", answers.answering(self.listed)),
            Route("/api/jobs/{number:int}/events", self.events),
            Route("/api/jobs/{number:int}/stop", stop, methods=["POST"]),
        ]

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """All jobs, the latest first."""
        return [job.told() for job in self._jobs.listed()]

    def stop(self, request: Request) -> dict[str, Any]:
        """Asks a job to stop."""
        job = self._job(request)
        job.asked_to_stop = True
        return job.told()

    async def events(self, request: Request) -> Response:
        """Server-sent events: how far a job is, until it is over."""
        try:
            job = self._job(request)
        except MissingError as error:
            return answers.refusal(error)
        return StreamingResponse(self._progress(job), media_type="text/event-stream")

    async def _progress(self, job: Job) -> AsyncIterator[str]:
        before, quiet_s = None, 0.0
        while True:
            is_over, found = job.is_over, job.told()
            now = {**found, "seconds": int(found["seconds"])}
            if now != before or is_over:
                yield f"data: {json.dumps(found)}\n\n"
                before, quiet_s = now, 0.0
            elif quiet_s > _QUIET_S:
                yield ": still there\n\n"
                quiet_s = 0.0
            if is_over or self.closing:
                return
            await asyncio.sleep(_PERIOD_S)
            quiet_s += _PERIOD_S

    def _job(self, request: Request) -> Job:
        job = self._jobs.get(int(answers.word(request, "number")))
        if job is None:
            raise MissingError("there is no such job any more; what it made is in the folder")
        return job
