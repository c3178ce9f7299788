"""One HTML page about losses of power: no network, no script."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from nacre.figures.crash import recovery_figure
from nacre.figures.export import svg
from nacre.report.fragment import paragraphs, table
from nacre.report.page import document
from nacre.summary_crash import branch_table, crash_facts, fault_table, recovery_table
from nacre.text import printable

if TYPE_CHECKING:
    from nacre.crash import Crash


def crash_page(found: Crash) -> str:
    """What was tried, what was lost and what was promised."""
    name = printable(found.name)
    parts = [f"<h1>{escape(name)}: losses of power</h1>", paragraphs(crash_facts(found))]
    if found.finding is not None:
        steps = "\n".join(found.finding.steps)
        parts.append(f"<h2>The fewest steps that lead to it</h2><pre>{escape(steps)}</pre>")
    parts.append(table(fault_table(found)))
    figure = recovery_figure(found)
    if figure is not None:
        parts.append(f"<figure>{svg(figure)}</figure>")
    parts += [table(recovery_table(found)), table(branch_table(found))]
    if found.scenario is not None:
        parts.append(f"<h2>What was drawn</h2><pre>{escape(found.scenario)}</pre>")
    return document(name, "".join(parts))
