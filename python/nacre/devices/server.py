"""Serves a device while a block runs: `with nacre.devices.served(...) as device`."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from nacre.devices.control import Control
from nacre.devices.serving import Listening, ServeOptions, serve
from nacre.errors import Error
from nacre.results.served import Service
from nacre.scenario.source import Scenario

_Ready: TypeAlias = Callable[[Listening], object]
_ENDS_WITHIN = 60.0
"""Timeout in seconds for a server to write its image to the disk and stop."""


class Served:
    """A device that is served while a block runs.

    `uri` is the address for NBD clients, `size` is the size in bytes, and `image` is the image
    file. `control` adds faults, cuts power, and returns statistics. After the server has ended,
    `service` has the summary.
    """

    def __init__(self, uri: str, size: int, image: Path, control: Control) -> None:
        self.uri = uri
        self.size = size
        self.image = image
        self.control = control
        self.service: Service | None = None


@contextmanager
def served(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    image: str | os.PathLike[str] | None = None,
    listen: str | None = None,
    options: ServeOptions | None = None,
) -> Iterator[Served]:
    """Serves the stack of a scenario over NBD in the background, until the block ends.

    If `image` or the paths of the unix sockets are not given, they are in a temporary folder.
    Errors of `nacre.serve` are raised at the start of the block. If the server fails later, its
    error is raised at the end of the block.

        with nacre.devices.served("ssd") as device:
            device.control.add_fault("stall", {"start": "1 s", "duration": "5 s"})
            subprocess.run(["nbdinfo", device.uri], check=True)
    """
    folder = Path(tempfile.mkdtemp(prefix="nacre-"))
    given = options or ServeOptions()
    socket = folder / "control" if given.control is None else Path(given.control)
    wanted = replace(given, control=socket)
    place = folder / "device.img" if image is None else Path(image)
    try:
        background = _Background(
            lambda ready, stop: serve(
                scenario,
                overrides,
                image=place,
                listen=listen or f"unix:{folder / 'nbd'}",
                options=wanted,
                ready=ready,
                stop=stop,
            )
        )
        with background as (uri, size), Control(socket) as control:
            device = Served(uri, size, place, control)
            yield device
        device.service = background.service
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Background:
    """A thread that serves a device. Provides the URI and size of the device."""

    def __init__(self, work: Callable[[_Ready, Callable[[], bool]], Service]) -> None:
        self.service: Service | None = None
        self._work = work
        self._error: BaseException | None = None
        self._ready: tuple[str, int] | None = None
        self._is_known = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        try:
            self.service = self._work(self._listens, self._is_over.is_set)
        except BaseException as error:
            self._error = error
        finally:
            self._is_known.set()

    def _listens(self, listening: Listening) -> None:
        self._ready = listening.devices[0]
        self._is_known.set()

    def __enter__(self) -> tuple[str, int]:
        self._thread.start()
        self._is_known.wait()
        if self._ready is None:
            self._thread.join()
            raise self._error or Error("the server ended before it listened", "failed")
        return self._ready

    def __exit__(self, kind: object, *_: object) -> None:
        self._is_over.set()
        self._thread.join(_ENDS_WITHIN)
        if self._thread.is_alive():
            raise Error(f"the server did not end within {_ENDS_WITHIN:.0f} s", "no-answer")
        if self._error is not None and kind is None:
            raise self._error
