"""Handles Ctrl-C in long work so that results so far are kept."""

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
"""Number of checks within which Python handles a signal, unless the core is waiting or
computing."""
_LATE_S = 0.05
"""Seconds of delay above which a check is ignored, because a busy machine also delays Python."""
_INTERRUPTED = 130

_heard = threading.Event()


def heed() -> None:
    """Makes SIGTERM and SIGHUP act like Ctrl-C: work ends, and partial files are removed.

    A SIGHUP that is ignored, as under `nohup`, stays ignored. Python handles signals between
    bytecodes. While the core is blocked reading a pipe, Python cannot handle a signal; the process
    then exits as if killed.
    """
    for number in _heeded():
        signal.signal(number, _interrupt)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=[reading], daemon=True).start()


def _heeded() -> list[signal.Signals]:
    """Signals that end a command."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in _SIGNALS if not (ignored and number is signal.SIGHUP)]


def _interrupt(_number: int, _frame: FrameType | None) -> Never:
    _heard.set()
    raise KeyboardInterrupt


def _watch(signals: int) -> None:
    """Ensures that each signal is handled."""
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
    """Stops watching signals, because handlers installed later end on their own."""
    signal.set_wakeup_fd(-1)


class Interruption:
    """A block in which the first Ctrl-C sets `asked` and a second one aborts.

    SIGTERM and SIGHUP act like Ctrl-C.

    With `nothing_yet`, the first Ctrl-C also aborts until there are results to keep, because
    earlier steps cannot stop early.
    """

    def __init__(self, *, nothing_yet: bool = False) -> None:
        self._is_asked = False
        self._nothing_yet = nothing_yet
        self._before: dict[signal.Signals, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether the work should stop and keep its results."""
        return self._is_asked

    def ticking(self, bar: Callable[..., object]) -> Callable[..., bool]:
        """Progress callback that updates the bar and stops the work when requested."""

        def tick(*counters: Any) -> bool:
            bar(*counters)
            return self._is_asked

        return tick

    def leaves_something(self) -> None:
        """Makes later interruptions keep the results so far."""
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
