"""Vega, Vega-Lite and vega-embed for the pages, from the package that also draws our files.

The package puts them together in two to three seconds and keeps Python busy meanwhile, so that is
done in a process of its own, while the first page is being read.
"""

from __future__ import annotations

import subprocess
import sys
import threading

from nacre.errors import Error

_MAKE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
_PATIENCE = 120.0


class Vega:
    """The bundle, made once."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._bundle: bytes | None = None
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begins to make it."""
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter)
            [sys.executable, "-P", "-c", _MAKE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def bundle(self) -> bytes:
        """The bundle, as soon as it is there."""
        with self._lock:
            if self._bundle is None:
                if self._process is None:
                    self.begin()
                assert self._process is not None  # noqa: S101 (it has begun)
                made, _ = self._process.communicate(timeout=_PATIENCE)
                failed, self._process = self._process.returncode != 0, None
                if failed:
                    raise Error("Vega could not be put together, so figures cannot be drawn")
                self._bundle = made
            return self._bundle

    def close(self) -> None:
        """Ends the process that makes it, if it still does."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
