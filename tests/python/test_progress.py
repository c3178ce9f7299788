"""Tests the progress of long work on a terminal and in a pipe."""

from __future__ import annotations

import nacre.base.progress
import pytest
from nacre.base.progress import Bar
from nacre.papers.running.progress import RunsBar


class Clock:
    """A clock whose time the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(nacre.base.progress, "time", made)
    return made


def shown(
    clock: Clock, capsys: pytest.CaptureFixture[str], bar: Bar, seconds: int, total: int | None
) -> list[str]:
    """Returns the output of a progress bar for work with 20 steps per second."""
    with bar:
        for second in range(seconds):
            clock.now = 1000.0 + second
            bar(20 * second, total)
    return capsys.readouterr().err.splitlines()


def test_short_work_in_a_pipe_writes_nothing(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(clock, capsys, Bar("studying", "points"), 10, 200) == []


def test_long_work_in_a_pipe_prints_occasional_lines(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(clock, capsys, Bar("studying", "points"), 301, 12_000)
    assert lines[0] == "studying: 200 of 12,000 points, 20.0 points/s, 1.7 %, 10 min left"
    assert lines[-1] == "studying: 6,000 of 12,000 points, 20.0 points/s, 50.0 %, 5 min left"
    assert len(lines) == 6 + 4, "each 10 s in the first minute, then each minute"


def test_work_of_unknown_length_prints_the_amount_done(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(clock, capsys, Bar("reading", "requests"), 12, None)
    assert lines == ["reading: 200 requests, 20.0 requests/s"]


def test_a_reproduction_writes_runs_and_the_time_left(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with RunsBar() as bar:
        clock.now += 20
        bar(3, 40, 0.25)
    assert capsys.readouterr().err == "reproducing: 3 of 40 runs, 25.0 %, 1 min left\n"
