"""Tests the line that is shown during work whose progress cannot be measured."""

from __future__ import annotations

import io
import sys
import time

import pytest
from nacre.base.doing import Doing


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def until_shown(shown: io.StringIO) -> None:
    ends = time.monotonic() + 30
    while "drawing figures" not in shown.getvalue() and time.monotonic() < ends:
        time.sleep(0.02)


def test_long_work_shows_its_activity(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    with Doing("drawing figures"):
        until_shown(shown)
    assert "drawing figures" in shown.getvalue()


def test_short_work_and_work_in_a_pipe_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    with Doing("drawing figures"):
        pass
    assert shown.getvalue() == ""
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr("nacre.base.doing._PATIENCE_S", 0.0)
    with Doing("drawing figures"):
        time.sleep(0.1)
    assert pipe.getvalue() == ""


def test_a_failure_ends_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")

    def failing() -> None:
        with Doing("drawing figures"):
            until_shown(shown)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        failing()
    length = len(shown.getvalue())
    time.sleep(0.2)
    assert len(shown.getvalue()) == length
