"""The figures that any result has data for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from nacre.devices.control import ExportStatistics
from nacre.results.comparison import Comparison
from nacre.results.record import Op, Record
from nacre.simulate.mixing import Mixes
from nacre.simulate.power_loss import Crash
from nacre.studies.result import StudyResult

if TYPE_CHECKING:
    import altair as alt

    Makers = Mapping[str, Callable[[], alt.TopLevelMixin]]


def makers(result: object) -> Makers:
    """What draws the figures that a result has data for, by name; nothing is drawn yet."""
    from nacre.figures import figure_makers, study_figures

    match result:
        case Record():
            return figure_makers(result)
        case StudyResult():
            return study_figures(result) if result.table.height else {}
        case Comparison():
            return _together(result)
        case Mixes() if len(result):
            from nacre.words.mixes import by

            return {"mixes": partial(result.plot, by(result))}
        case Crash() if result.recovery.max_s:
            return {"recovery": partial(_recovery, result)}
        case ExportStatistics() if any(part.get("wear") for part in result.components):
            return {"wear": result.plot_wear}
    return {}


def _together(result: Comparison) -> Makers:
    """Of each kind of request that all of the records have."""
    found: dict[str, Callable[[], alt.TopLevelMixin]] = {}
    ops: tuple[Op, ...] = ("read", "write")
    for op in ops:
        if all(record.latency[op] for record in result.records):
            found[f"latency-{op}"] = partial(result.plot_latency, op)
            found[f"time-spent-{op}"] = partial(result.plot_time_spent, op)
    return found


def _recovery(result: Crash) -> alt.TopLevelMixin:
    from nacre.figures.crash import recovery_figure

    drawn = recovery_figure(result)
    assert drawn is not None  # noqa: S101 (asked only where recoveries took time)
    return drawn
