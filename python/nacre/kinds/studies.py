"""Defines how results of studies are summarized, plotted, and loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nacre.base.text import NOTHING, count, printable
from nacre.errors import Error
from nacre.kinds.kind import Kind, Line, Plots
from nacre.results.origins import assumed
from nacre.results.record import Record
from nacre.studies.result import StudyResult, read, summed
from nacre.words import headlines
from nacre.words.bills import bills
from nacre.words.studies import best, cell, counted, decisive, facts
from nacre.words.summary import Summary, filled

_SHOWN = 6
"""Maximum number of designs whose records a report compares."""


def _words(result: StudyResult) -> Summary:
    if not result.table.height:
        return Summary((), [summed(result)])
    weights = [decisive(result)] if result.sensitivity().height else []
    records = _chosen(result)
    paths = (path for record in records.values() for path in assumed(record.origins))
    return Summary(
        headlines.of_study(result),
        [summed(result), *facts(result), *headlines.limits(records)],
        filled(best(result), *weights, *bills(records)),
        assumed=list(dict.fromkeys(paths)),
    )


def _has(result: StudyResult) -> Iterator[str]:
    from nacre.figures.by_axis import can_be_drawn

    if not result.table.height:
        return
    if can_be_drawn(result):
        yield "by_axis"
    columns = [objective.column for objective in result.questions.objectives[:2]]
    if len(columns) == 2 and result.designs.drop_nulls(columns).height:
        yield "pareto"
    if result.sensitivity().height:
        yield "sensitivity"


def _plots() -> Plots:
    from nacre.figures.by_axis import by_axis
    from nacre.figures.pareto import pareto
    from nacre.figures.sensitivity import sensitivity

    return {"pareto": pareto, "by_axis": by_axis, "sensitivity": sensitivity}


def _html(result: StudyResult) -> str:
    from nacre.pages.html import table

    return table(best(result))


def _section(name: str, result: StudyResult) -> str:
    """Creates the section of a report with best designs, influence of each axis, and costs."""
    from nacre.pages import page

    if not result.table.height:
        return page.section(name, Summary(), lines=[f"{summed(result)} have ended"])
    weights = [decisive(result)] if result.sensitivity().height else []
    return page.section(
        name,
        KIND.summary(result),
        page.titled("Best designs", best(result)),
        page.titled("Influence of the axes", *weights),
        after=[page.runs("The best designs side by side", _chosen(result))],
    )


def _chosen(result: StudyResult) -> dict[str, Record]:
    """Returns the records of the best designs, keyed by axis labels.

    Omits designs without a saved record.
    """
    front = result.pareto() if result.questions.objectives else result.designs
    axes = [axis.name for axis in result.questions.axes]
    found: dict[str, Record] = {}
    for row in front.head(_SHOWN).iter_rows(named=True):
        called = ", ".join(str(row[axis]) for axis in axes if row[axis] is not None)
        try:
            record = result.record(int(row["point"]))
        except Error:
            continue
        origins = [dict(origin) for origin in result.origins(int(row["point"]))]
        found[called or f"point {row['point']}"] = Record(record.to_dict() | {"origins": origins})
    return found


def _line(result: StudyResult) -> Sequence[str]:
    objectives, front = result.questions.objectives, result.pareto()
    designs = [count(result.designs.height), count(front.height) if objectives else NOTHING]
    if not objectives or not front.height:
        return [*designs, NOTHING, NOTHING, NOTHING]
    first, row = objectives[0].column, front.row(0, named=True)
    axes = [axis.name for axis in result.questions.axes if row[axis.name] is not None]
    chosen = ", ".join(f"{axis} {row[axis]}" for axis in axes)
    return [*designs, counted(first, result), cell(first, row[first]), printable(chosen)]


KIND = Kind(
    words=_words,
    plots=_plots,
    has=_has,
    notebook=_html,
    section=_section,
    line=Line(
        "Studies side by side",
        ["designs", "on the front", "objective", "best", "with"],
        _line,
        words=["objective", "with"],
    ),
    read=read,
)
