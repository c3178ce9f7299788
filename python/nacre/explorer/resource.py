"""Endpoints that start, list, show, and plot results of one kind."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.routing import Route

from nacre.errors import Error
from nacre.explorer import answers
from nacre.explorer.folder import Folder, Kind
from nacre.explorer.jobs import Jobs
from nacre.results.base import Result


class Resource(ABC):
    """Results of one kind in a folder."""

    kind: ClassVar[Kind]

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs

    def routes(self) -> list[Route]:
        """Returns the endpoints of this kind."""
        place, answering = f"/api/{self.kind}", answers.answering
        begin = answering(self.begin, takes_document=True)
        return [
            Route(place, begin, methods=["POST"]),
            Route(place, answering(self.listed)),
            Route(f"{place}/{{name}}", answering(self.shown)),
            Route(f"{place}/{{name}}/figures/{{figure}}", answering(self.figure)),
            *self.more(),
        ]

    def more(self) -> list[Route]:
        """Returns additional endpoints of this kind."""
        return []

    @abstractmethod
    def begin(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks the request and starts a job. Returns the response for the page."""

    @abstractmethod
    def load(self, path: Path) -> Result:
        """Loads the result from a directory."""

    @abstractmethod
    def line(self, path: Path) -> dict[str, Any]:
        """Returns the row for a result in the list of results.

        Raises `Error` if the directory has no result.
        """

    @abstractmethod
    def details(self, path: Path, request: Request) -> dict[str, Any]:
        """Returns the details of a result for its page."""

    def listed(self, _request: Request) -> Any:
        """Returns a row for each result, the latest first."""
        return self.lines(self._folder.listed(self.kind))

    def lines(self, paths: Iterable[Path]) -> list[dict[str, Any]]:
        """Returns a row for each result that can be read."""
        found = []
        for path in paths:
            with suppress(Error, OSError):
                about = {"id": path.name, "modified": path.stat().st_mtime}
                found.append(about | self.line(path))
        return found

    def shown(self, request: Request) -> dict[str, Any]:
        """Returns the content of the page for one result."""
        path = self.directory_of(request)
        return {"id": path.name, "folder": str(path), **self.details(path, request)}

    def figure(self, request: Request) -> dict[str, Any]:
        """Returns the figure named in the request path."""
        return answers.figure_of(self.load(self.directory_of(request)), request)

    def directory_of(self, request: Request) -> Path:
        """Returns the directory of the result named in the request path."""
        return self._folder.find(self.kind, answers.path_word(request, "name"))

    @contextmanager
    def new_directory(self, name: str) -> Iterator[Path]:
        """Creates a directory for a new result, and removes it if the block fails."""
        path = self._folder.new(self.kind, name)
        try:
            yield path
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
