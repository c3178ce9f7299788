"""Bundles Vega, Vega-Lite, and vega-embed for the pages, using the package vl_convert.

Bundling takes two to three seconds and holds the GIL. A separate process therefore bundles while
the user reads the first page.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from importlib import import_module

from nacre.errors import Error

_MAKE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
_PATIENCE = 120.0


class Vega:
    """The JavaScript bundle, which is built once."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._bundle: bytes | None = None
        self._lock = threading.Lock()
        self._warming: threading.Thread | None = None

    def begin(self) -> None:
        """Starts to build the bundle."""
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter)
            [sys.executable, "-P", "-c", _MAKE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def warm(self) -> None:
        """Starts a thread that waits for the bundle and then loads the modules for figures."""

        def load() -> None:
            with suppress(Error):
                self.bundle()
                import_module("nacre.figures")

        self._warming = threading.Thread(target=load, name="nacre-warm", daemon=True)
        self._warming.start()

    def bundle(self) -> bytes:
        """Waits until the bundle is complete, and returns it."""
        with self._lock:
            if self._bundle is None:
                if self._process is None:
                    self.begin()
                process = self._process
                assert process is not None  # noqa: S101 (it has begun)
                made, _ = process.communicate(timeout=_PATIENCE)
                self._process = None
                if process.returncode != 0:
                    raise Error(
                        "the Vega library could not be built, so figures are not available",
                        "failed",
                    )
                self._bundle = made
            return self._bundle

    def close(self) -> None:
        """Ends the process that builds the bundle, if it still runs."""
        if (process := self._process) is not None:
            process.kill()
        with self._lock:
            if self._process is not None:
                self._process.communicate()
                self._process = None
        if self._warming is not None:
            self._warming.join()
