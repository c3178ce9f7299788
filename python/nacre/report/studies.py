"""Sections of a report about studies and about mixes of tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.figures.export import svg
from nacre.report import headline
from nacre.report.fragment import paragraphs, table
from nacre.report.page import figure, heading, part, said_aloud, wide
from nacre.text import printable

if TYPE_CHECKING:
    from nacre.mixes import Mixes
    from nacre.study.result import StudyResult


def study_section(name: str, result: StudyResult) -> str:
    """A study: the best designs, what decides them, and its figures."""
    from nacre.figures import study_figures
    from nacre.study.result import summed
    from nacre.study.summary import best, decisive, facts

    weights = decisive(result) if result.sensitivity().height else None
    return "".join(
        [
            heading(printable(name)),
            said_aloud(headline.of_study(result)),
            paragraphs([summed(result), *facts(result)]),
            part("Best designs", wide(table(best(result)))),
            part("What decides", wide(table(weights)) if weights else ""),
            *(figure(svg(make())) for make in study_figures(result).values()),
        ]
    )


def mixes_section(name: str, mixes: Mixes) -> str:
    """Mixes of tiers: the best, the tiers alone, and the surface."""
    from nacre.summary_mixes import by, counted, ranking, tiers

    notes = [counted(mixes), *(f"note: {finding}" for finding in mixes.findings)]
    return "".join(
        [
            heading(printable(name)),
            said_aloud(headline.of_mixes(mixes)),
            paragraphs(notes),
            part("Tiers", wide(table(tiers(mixes)))),
            part("Best mixes", wide(table(ranking(mixes)))),
            figure(svg(mixes.plot(by(mixes)))),
        ]
    )
