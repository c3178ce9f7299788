"""What pages ask of a kind of results: begun, listed, shown and drawn, each in its directory."""

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
    """Results of a kind, in a folder."""

    kind: ClassVar[Kind]

    def __init__(self, folder: Folder, jobs: Jobs) -> None:
        self._folder, self._jobs = folder, jobs

    def routes(self) -> list[Route]:
        """What pages ask."""
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
        """What pages ask of this kind alone."""
        return []

    @abstractmethod
    def begin(self, request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
        """Checks what is asked for, and begins it; returns what the page shows of the job."""

    @abstractmethod
    def load(self, path: Path) -> Result:
        """The result in a directory."""

    @abstractmethod
    def line(self, path: Path) -> dict[str, Any]:
        """What a list says of the one in a directory; raises `Error` where there is none."""

    @abstractmethod
    def details(self, path: Path, request: Request) -> dict[str, Any]:
        """What a page shows of the one in a directory."""

    def listed(self, _request: Request) -> Any:
        """Those there are, the latest first."""
        return self.lines(self._folder.listed(self.kind))

    def lines(self, paths: Iterable[Path]) -> list[dict[str, Any]]:
        """What a list says of those that can be read."""
        found = []
        for path in paths:
            with suppress(Error, OSError):
                about = {"id": path.name, "modified": path.stat().st_mtime}
                found.append(about | self.line(path))
        return found

    def shown(self, request: Request) -> dict[str, Any]:
        """Everything that a page shows of one."""
        path = self.found(request)
        return {"id": path.name, "folder": str(path), **self.details(path, request)}

    def figure(self, request: Request) -> dict[str, Any]:
        """One figure."""
        return answers.figure_of(self.load(self.found(request)), request)

    def found(self, request: Request) -> Path:
        """The directory of the one that the path names."""
        return self._folder.find(self.kind, answers.word(request, "name"))

    @contextmanager
    def made(self, name: str) -> Iterator[Path]:
        """A new directory; it is removed if the block fails."""
        path = self._folder.new(self.kind, name)
        try:
            yield path
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
