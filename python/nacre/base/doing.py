"""Shows the current activity on a terminal when its progress cannot be measured."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

_PATIENCE_S = 0.4
"""Seconds after which the activity is shown."""


class Doing:
    """While a block runs, shows a line such as `drawing figures` on a terminal."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._shown: Status | None = None

    def __enter__(self) -> Doing:
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer = threading.Timer(_PATIENCE_S, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def _show(self) -> None:
        from rich.console import Console

        with self._lock, suppress(OSError):  # the terminal has closed
            if self._timer is not None:
                self._shown = Console(stderr=True).status(self._what)
                self._shown.start()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock, suppress(OSError):
            self._timer = None
            if self._shown is not None:
                self._shown.stop()
