"""Defines how results of power-loss tests are summarized, plotted, saved, and loaded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from nacre.base.text import NOTHING, count, duration
from nacre.files.staging import Staging
from nacre.kinds.kind import Kind, Line, Plots, reader
from nacre.results.crash import Crash
from nacre.results.origins import assumed
from nacre.words import headlines
from nacre.words.crashes import NOT_MEASURED, branch_table, crash_facts, fault_table, recovery_table
from nacre.words.summary import Summary, filled

CRASH_FILES = ("crash.json", "crash.html", "crash.txt")
_NS = 1e9


def _words(found: Crash) -> Summary:
    return Summary(
        headlines.of_crash(found),
        [*crash_facts(found), NOT_MEASURED],
        filled(fault_table(found), recovery_table(found), branch_table(found)),
        assumed=assumed(found.origins),
    )


def _has(found: Crash) -> list[str]:
    return ["recovery"] if found.recovery.max_s else []


def _plots() -> Plots:
    from nacre.figures.crash import recovery_figure

    return {"recovery": recovery_figure}


def write(staging: Staging, found: Crash) -> None:
    """Commits the results as an HTML page and as JSON.

    If a guarantee was violated, also commits the steps that lead to the violation, as text.
    """
    from nacre.pages.page import page

    staging.write("crash.html", page(found.name, _section(found.name, found)).encode())
    if found.finding is not None:
        steps = "\n".join(found.finding.steps)
        staging.write("crash.txt", f"{found.scenario or ''}---\n{steps}\n".encode())
    else:
        staging.discard(["crash.txt"])
    document = json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    staging.put("crash.json", f"{document}\n".encode())


def _read(path: Path) -> Crash:
    """Loads the output of `nacre crash --out` or `--json`. Raises `Error` for other content."""
    return reader(Crash)(path / "crash.json" if path.is_dir() else path)


def _html(found: Crash) -> str:
    from nacre.pages.html import fragment

    tables = [fault_table(found), recovery_table(found), branch_table(found)]
    return fragment(crash_facts(found), tables)


def _section(name: str, found: Crash) -> str:
    """Creates the section of a report with tests, losses, and guarantees."""
    from nacre.pages import page

    finding = found.finding
    steps = "" if finding is None else page.listing("\n".join(finding.steps))
    return page.section(
        f"{name}: power losses",
        KIND.summary(found),
        page.part("Shortest sequence of steps that reproduces it", steps),
        page.titled("Faults", fault_table(found)),
        page.titled("Recovery", recovery_table(found)),
        after=[
            page.titled("Device activity during the test", branch_table(found)),
            page.part("Random scenario", page.listing(found.scenario) if found.scenario else ""),
            page.assumptions(found.origins),
        ],
    )


def _line(found: Crash) -> Sequence[str]:
    recovery = found.recovery
    times = [
        NOTHING if time is None else duration(time * _NS)
        for time in (recovery.mean_s, recovery.max_s)
    ]
    reported = sum(result.lost_reported for result in found.faults)
    verdict = "violated" if found.finding else "held" if found.is_good else "silent corruption"
    return [count(found.points), verdict, count(reported), count(found.silent), *times]


KIND = Kind(
    words=_words,
    plots=_plots,
    has=_has,
    notebook=_html,
    section=_section,
    line=Line(
        "Power losses side by side",
        ["points", "guarantees", "lost, reported", "lost silently", "mean recovery", "longest"],
        _line,
        words=["guarantees"],
    ),
    names=CRASH_FILES,
    write=write,
    read=_read,
)
