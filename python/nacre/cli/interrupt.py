"""Handles Ctrl-C during long work, so that the results so far are kept."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Never

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_S = 0.1
_LOOKS = 8
"""Number of checks in which Python must handle a signal. If it does not, the core is waiting or
computing."""
_LATE_S = 0.05
"""If a check ends later than this many seconds, it does not count, because a busy machine also
delays Python."""
_INTERRUPTED = 130

_heard = threading.Event()


def heed() -> None:
    """Makes SIGTERM and SIGHUP act like Ctrl-C, so that work ends and partial files are removed.

    If SIGHUP is ignored, e.g. under `nohup`, it remains ignored. Python handles signals only
    between bytecodes. If the core is blocked in a read from a pipe, a second thread terminates
    the process.
    """
    for number in _heeded():
        signal.signal(number, _interrupt)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=[reading], daemon=True).start()


def _heeded() -> list[signal.Signals]:
    """Returns the signals that terminate a command."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in _SIGNALS if not (ignored and number is signal.SIGHUP)]


def _interrupt(_number: int, _frame: FrameType | None) -> Never:
    _heard.set()
    raise KeyboardInterrupt


def _watch(signals: int) -> None:
    """Terminates the process if Python does not handle a signal in time.

    Runs in a separate thread.
    """
    while came := os.read(signals, 64):
        if not any(number in came for number in _SIGNALS):
            continue
        if not _is_heard():
            with suppress(OSError, ValueError):
                sys.stderr.write("error: interrupted\n")
                sys.stderr.flush()
            os._exit(_INTERRUPTED)
        _heard.clear()


def _is_heard() -> bool:
    looks = 0
    while looks < _LOOKS:
        began = time.monotonic()
        if _heard.wait(_LOOK_S):
            return True
        looks += time.monotonic() - began < _LOOK_S + _LATE_S
    return False


def trust() -> None:
    """Stops watching signals, because the caller installs its own signal handlers."""
    signal.set_wakeup_fd(-1)


class Interruption:
    """A block in which the first Ctrl-C sets `asked`, and a second one raises `KeyboardInterrupt`.

    SIGTERM and SIGHUP act like Ctrl-C.

    With `nothing_yet`, the first Ctrl-C also raises `KeyboardInterrupt` until there are results to
    keep.
    """

    def __init__(self, *, nothing_yet: bool = False) -> None:
        self._is_asked = False
        self._nothing_yet = nothing_yet
        self._before: dict[signal.Signals, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether the user asked to stop the work and keep its results."""
        return self._is_asked

    def ticking(self, bar: Callable[..., object]) -> Callable[..., bool]:
        """Returns a progress function that updates the bar and returns whether to stop."""

        def tick(*counters: Any) -> bool:
            bar(*counters)
            return self._is_asked

        return tick

    def leaves_something(self) -> None:
        """Records that there are results. After this call, the first Ctrl-C keeps them."""
        self._nothing_yet = False

    def __enter__(self) -> Interruption:
        for number in _heeded():
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        _heard.set()
        if self._is_asked or self._nothing_yet:
            raise KeyboardInterrupt
        self._is_asked = True
