"""Losses of power as a section of a report, and as a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base.text import printable
from nacre.figures.crash import recovery_figure
from nacre.figures.export import svg
from nacre.pages.html import paragraphs, table
from nacre.pages.page import (
    figure,
    heading,
    listing,
    page,
    part,
    said_aloud,
    wide,
)
from nacre.pages.records import assumptions
from nacre.words import headlines
from nacre.words.crashes import (
    NOT_MEASURED,
    branch_table,
    crash_facts,
    fault_table,
    recovery_table,
)

if TYPE_CHECKING:
    from nacre.simulate.power_loss import Crash


def crash_section(name: str, found: Crash) -> str:
    """What was tried, what was lost and what was promised."""
    finding = found.finding
    drawn = recovery_figure(found)
    steps = "" if finding is None else listing("\n".join(finding.steps))
    return "".join(
        [
            heading(f"{printable(name)}: losses of power"),
            said_aloud(headlines.of_crash(found)),
            paragraphs([*crash_facts(found), NOT_MEASURED]),
            part("The fewest steps that lead to it", steps),
            part("What was tried", wide(table(fault_table(found)))),
            part("Recovery", wide(table(recovery_table(found)))),
            "" if drawn is None else figure(svg(drawn)),
            part("What the device did meanwhile", wide(table(branch_table(found)))),
            part("What was drawn", listing(found.scenario) if found.scenario else ""),
            assumptions(found.origins),
        ]
    )


def crash_page(found: Crash) -> str:
    """The section as a page."""
    return page(found.name, crash_section(found.name, found))
