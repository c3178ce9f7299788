"""Lets Ctrl-C stop long work and keep its results so far."""

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
"""Python handles a signal within this many checks, unless the core is waiting or computing."""
_LATE_S = 0.05
"""A check with a longer delay does not count: the machine is busy, and Python is late, too."""
_INTERRUPTED = 130

_heard = threading.Event()


def heed() -> None:
    """From now on, SIGTERM and SIGHUP act like Ctrl-C: partial files are removed, work ends.

    A SIGHUP that is ignored, as under `nohup`, stays ignored. Python handles signals between
    bytecodes. If the core is blocked reading a pipe, Python cannot; then the process exits as if
    killed.
    """
    for number in _heeded():
        signal.signal(number, _interrupt)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=[reading], daemon=True).start()


def _heeded() -> list[signal.Signals]:
    """The signals that end a command."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in _SIGNALS if not (ignored and number is signal.SIGHUP)]


def _interrupt(_number: int, _frame: FrameType | None) -> Never:
    _heard.set()
    raise KeyboardInterrupt


def _watch(signals: int) -> None:
    """Makes sure that each signal is handled."""
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
    """Stops watching signals: later handlers end by themselves."""
    signal.set_wakeup_fd(-1)


class Interruption:
    """In the block, the first Ctrl-C sets `asked`; a second one aborts.

    SIGTERM and SIGHUP do the same.

    With `nothing_yet`, the first one also aborts until there are results to keep: earlier steps
    cannot stop early.
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
        """Progress callback that updates the bar, and stops the work when requested."""

        def tick(*counters: Any) -> bool:
            bar(*counters)
            return self._is_asked

        return tick

    def leaves_something(self) -> None:
        """From now on, an interruption keeps the results so far."""
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
