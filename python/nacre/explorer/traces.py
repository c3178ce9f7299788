"""Traces that a page uploads.

An upload is streamed to a file, which is kept only if the trace is valid.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from nacre import traces
from nacre.errors import TraceError, invalid
from nacre.explorer import answers
from nacre.explorer.folder import Folder, MissingError

UPLOAD_MAX = 8 << 30
"""Maximum size in bytes of an uploaded trace."""
LOOKED_AT = 1000
"""Number of requests that are read to validate an uploaded trace."""


class Traces:
    """Built-in traces and uploaded traces, for plans."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def routes(self) -> list[Route]:
        """Returns the endpoints of the page."""
        return [
            Route("/api/traces", answers.answering(self.listed)),
            Route("/api/traces/{name}", self.take, methods=["PUT"]),
        ]

    def listed(self, _request: Request) -> list[dict[str, Any]]:
        """Returns all traces. Built-in traces come first."""
        sent = [
            {"id": path.name, "name": file.name, "bytes": file.stat().st_size}
            for path in self._folder.listed("traces")
            for file in _files(path)
        ]
        return [{"id": name, "name": name, "bytes": None} for name in traces.shipped()] + sent

    def place(self, name: str) -> str:
        """Returns the argument for a trace: a built-in name, or the path of an uploaded trace."""
        if name in traces.shipped():
            return name
        for file in _files(self._folder.find("traces", name)):
            return str(file.absolute())
        raise MissingError(f"there is no trace called {name}")

    async def take(self, request: Request) -> Response:
        """Saves an uploaded trace. Removes the trace if it is too large, truncated, or invalid."""
        path: Path | None = None
        try:
            self._is_small(int(request.headers.get("content-length") or 0))
            given = re.sub(r"[^A-Za-z0-9._-]+", "-", answers.path_word(request, "name")).lstrip(
                ".-"
            )
            path = await run_in_threadpool(self._folder.new, "traces", given)
            file = path / (given or "trace")
            size = 0
            with file.open("wb") as target:
                async for chunk in request.stream():
                    size += len(chunk)
                    self._is_small(size)
                    target.write(chunk)
            await run_in_threadpool(_look, file)
        except BaseException as error:
            if path is not None:
                shutil.rmtree(path, ignore_errors=True)
            if isinstance(error, Exception) and not isinstance(error, ClientDisconnect):
                return answers.refusal(error)
            raise
        return answers.response({"id": path.name, "name": file.name, "bytes": size})

    def _is_small(self, size: int) -> None:
        if size > UPLOAD_MAX:
            raise answers.TooLargeError(bound()["otherwise"])


def bound() -> dict[str, Any]:
    """Returns the maximum size of an upload, and the message for larger uploads."""
    return {
        "bytes": UPLOAD_MAX,
        "otherwise": f"the trace is larger than {UPLOAD_MAX / 2**30:g} GiB, the upload limit of"
        " this page; use the command line instead: nacre trace info, nacre mixes",
    }


def _look(file: Path) -> None:
    try:
        found = traces.info(file, limit=LOOKED_AT)
    except TraceError as error:
        raise TraceError(
            str(error).replace(str(file), file.name), error.code, **error.data
        ) from None
    if not found.records:
        raise TraceError(f"{file.name}: there are no requests in it", "invalid-content")
    if found.bad_records > found.records:
        raise invalid(
            "invalid-content",
            file.name,
            f"most of it is not a trace: {found.bad_records} of its first"
            f" {found.records + found.bad_records} records cannot be read as {found.format}",
            hint="see nacre trace info",
        )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return [file for file in path.iterdir() if file.is_file() and not file.is_symlink()][:1]
