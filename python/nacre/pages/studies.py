"""Sections of a report about studies and about mixes of tiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nacre.base.table import Table
from nacre.base.text import printable
from nacre.errors import Error
from nacre.figures.export import svg
from nacre.pages.html import paragraphs, table
from nacre.pages.page import (
    figure,
    heading,
    part,
    said_aloud,
    wide,
)
from nacre.pages.records import assumptions, bill, compared
from nacre.results.record import Record
from nacre.words import headlines
from nacre.words.records import time_spent

if TYPE_CHECKING:
    from nacre.simulate.mixing import Mixes
    from nacre.studies.result import StudyResult

SHOWN = 6
"""Designs of a study whose records are put side by side."""
NOT_RUN = (
    "A mix is scored and not run: it has no energy, no wear and no queues."
    " nacre mixes --simulate 3 --out results runs the best, and then they are told here."
)


def study_section(name: str, result: StudyResult) -> str:
    """A study: the best designs, what decides them, what they take, and its figures."""
    from nacre.figures import study_figures
    from nacre.studies.result import summed
    from nacre.words.studies import best, decisive, facts

    if not result.table.height:
        return heading(printable(name)) + paragraphs([f"{summed(result)} have ended"])
    weights = decisive(result) if result.sensitivity().height else None
    records = chosen(result)
    return "".join(
        [
            heading(printable(name)),
            said_aloud(headlines.of_study(result)),
            paragraphs([summed(result), *facts(result), *headlines.limits(records)]),
            part("Best designs", wide(table(best(result)))),
            part("What decides", wide(table(weights)) if weights else ""),
            *(figure(svg(make())) for make in study_figures(result).values()),
            _runs("The best designs side by side", records),
        ]
    )


def mixes_section(name: str, mixes: Mixes, runs: Mapping[str, Record] | None = None) -> str:
    """Mixes of tiers: the best, the tiers alone, the surface, and the runs of the best."""
    from nacre.words.mixes import (
        by,
        counted,
        ranking,
        tiers,
    )

    notes = [counted(mixes), *(f"note: {finding}" for finding in mixes.findings)]
    told = _runs("The best mixes, simulated", runs) if runs else paragraphs([NOT_RUN])
    return "".join(
        [
            heading(printable(name)),
            said_aloud(headlines.of_mixes(mixes)),
            paragraphs(notes),
            part("Tiers", wide(table(tiers(mixes)))),
            part("Best mixes", wide(table(ranking(mixes)))),
            figure(svg(mixes.plot(by(mixes)))),
            told,
            "" if runs else assumptions(mixes.origins),
        ]
    )


def chosen(result: StudyResult, most: int = SHOWN) -> dict[str, Record]:
    """A record of each of the best designs, by what its axes are; those that are kept."""
    front = result.pareto() if result.questions.objectives else result.designs
    axes = [axis.name for axis in result.questions.axes]
    found: dict[str, Record] = {}
    for row in front.head(most).iter_rows(named=True):
        called = ", ".join(str(row[axis]) for axis in axes if row[axis] is not None)
        try:
            record = result.record(int(row["point"]))
        except Error:
            continue
        origins = [dict(origin) for origin in result.origins(int(row["point"]))]
        found[called or f"point {row['point']}"] = Record(record.to_dict() | {"origins": origins})
    return found


def bills(records: Mapping[str, Record]) -> list[Table]:
    """Runs side by side; where their time went; what each takes of energy, life and money."""
    if not records:
        return []
    told = [compared(records)] if len(records) > 1 else []
    spent = _joined("Where the time went", {name: time_spent(of) for name, of in records.items()})
    taken = _joined("Energy, wear and cost", {name: bill(of) for name, of in records.items()})
    return [*told, spent, taken]


def _joined(title: str, tables: Mapping[str, Table]) -> Table:
    """Tables of the same columns as one, with the name of each before its rows."""
    first = next(iter(tables.values()))
    rows = [
        [printable(name) if number == 0 else "", *row]
        for name, each in tables.items()
        for number, row in enumerate(each.rows)
    ]
    return Table(title, ["of", *first.columns], [False, *first.numeric], rows)


def _runs(title: str, records: Mapping[str, Record]) -> str:
    """Runs side by side, with what they assume."""
    shown = "".join(wide(table(each)) for each in bills(records) if each.rows)
    origins = (origin for record in records.values() for origin in record.origins)
    return part(title, shown, assumptions(origins)) if records else ""
