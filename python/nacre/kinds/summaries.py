"""What any result says to people: one definition for reports, notebooks and the explorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import TYPE_CHECKING, TypeAlias

from nacre.base.table import Table as Table
from nacre.devices.control import ExportStatistics, Outage, Statistics
from nacre.results.comparison import Comparison
from nacre.results.origins import assumed
from nacre.results.record import Record
from nacre.results.shown import TraceInfo
from nacre.simulate.mixing import Mixes
from nacre.simulate.power_loss import Crash
from nacre.studies.result import StudyResult

if TYPE_CHECKING:
    import altair as alt

    Figures: TypeAlias = Mapping[str, Callable[[], alt.TopLevelMixin]]

Result: TypeAlias = (
    "Record | Comparison | StudyResult | Mixes | Crash | TraceInfo | Statistics | ExportStatistics"
    " | Outage"
)


@dataclass(frozen=True)
class Summary:
    """A result in words, in tables and in figures."""

    headline: Sequence[str] = ()
    """What a person would say aloud, in a few sentences."""
    facts: Sequence[str] = ()
    """Sentences about the whole, and what keeps its numbers from being taken at their face."""
    tables: Sequence[Table] = ()
    """Tables of text that have rows: `title`, `columns`, `rows`; `numeric` says which columns."""
    figures: Figures = field(default_factory=dict)
    """What draws the figures that there are data for, by name."""
    assumed: Sequence[str] = ()
    """The paths of values that nobody measured or published."""


def summarise(result: Result) -> Summary:
    """What a result says: a headline, facts, tables, figures, and what it assumes.

    Takes what `run`, `compare`, `study`, `mixes`, `crash` and `trace.info` return, and what a
    served device tells of itself.
    """
    return _summary(result)


def makers(result: object) -> Figures:
    """What draws the figures of a result; drawing takes a while to load."""
    from nacre.figures import makers as found

    return found(result)


@singledispatch
def _summary(result: object) -> Summary:
    raise TypeError(f"there is no summary of {type(result).__name__}")


@_summary.register
def _of_record(result: Record) -> Summary:
    from nacre.pages.records import bill
    from nacre.words import headlines
    from nacre.words.records import (
        components,
        facts,
        latencies,
        time_spent,
        time_split,
    )

    parts = (latencies, time_spent, time_split, components, bill)
    return Summary(
        headlines.of_record(result),
        facts(result),
        _filled(*(part(result) for part in parts)),
        makers(result),
        assumed(result.origins),
    )


@_summary.register
def _of_records(result: Comparison) -> Summary:
    from nacre.pages.records import compared
    from nacre.words import headlines

    records = dict(zip(result.names, result.records, strict=True))
    paths = (path for record in result.records for path in assumed(record.origins))
    tables = _filled(compared(records))
    return Summary(
        headlines.of_records(records), (), tables, makers(result), list(dict.fromkeys(paths))
    )


@_summary.register
def _of_study(result: StudyResult) -> Summary:
    from nacre.pages.studies import bills, chosen
    from nacre.studies.result import summed
    from nacre.words import headlines
    from nacre.words.studies import best, decisive, facts

    if not result.table.height:
        return Summary((), [summed(result)])
    weights = [decisive(result)] if result.sensitivity().height else []
    records = chosen(result)
    paths = (path for record in records.values() for path in assumed(record.origins))
    return Summary(
        headlines.of_study(result),
        [summed(result), *facts(result), *headlines.limits(records)],
        _filled(best(result), *weights, *bills(records)),
        makers(result),
        list(dict.fromkeys(paths)),
    )


@_summary.register
def _of_mixes(result: Mixes) -> Summary:
    from nacre.words import headlines
    from nacre.words.mixes import counted, ranking, tiers

    facts = [counted(result), *result.findings] if len(result) else []
    if not len(result):
        return Summary(headlines.of_mixes(result), facts, _filled(tiers(result)))
    tables = _filled(ranking(result), tiers(result))
    return Summary(
        headlines.of_mixes(result), facts, tables, makers(result), assumed(result.origins)
    )


@_summary.register
def _of_crash(result: Crash) -> Summary:
    from nacre.words import headlines
    from nacre.words.crashes import (
        NOT_MEASURED,
        branch_table,
        crash_facts,
        fault_table,
        recovery_table,
    )

    tables = _filled(fault_table(result), recovery_table(result), branch_table(result))
    facts = [*crash_facts(result), NOT_MEASURED]
    return Summary(
        headlines.of_crash(result), facts, tables, makers(result), assumed(result.origins)
    )


@_summary.register
def _of_trace(result: TraceInfo) -> Summary:
    from nacre.words import headlines
    from nacre.words.traces import request_sizes, trace_facts, trace_shape

    tables = _filled(trace_facts(result), trace_shape(result), request_sizes(result))
    return Summary(headlines.of_trace(result), list(result.warnings), tables)


@_summary.register
def _of_server(result: Statistics) -> Summary:
    from nacre.words.served import server_facts

    return Summary((), server_facts(result))


@_summary.register
def _of_export(result: ExportStatistics) -> Summary:
    from nacre.words.served import (
        export_facts,
        latency_table,
        request_table,
        wear_table,
    )

    tables = _filled(request_table(result), latency_table(result), wear_table(result.components))
    return Summary((), export_facts(result), tables, makers(result))


@_summary.register
def _of_outage(result: Outage) -> Summary:
    from nacre.words.served import outage_facts

    return Summary((), outage_facts(result))


def _filled(*tables: Table) -> list[Table]:
    return [each for each in tables if each.rows]
