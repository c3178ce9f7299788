"""Result classes, whose fields are plain data.

`Result` is the base class. It has methods to plot, describe, save, and load a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base import late

if TYPE_CHECKING:
    from nacre.results.base import Result as Result
    from nacre.results.checked import CheckedScenario as CheckedScenario
    from nacre.results.checked import CheckedStudy as CheckedStudy
    from nacre.results.comparison import Comparison as Comparison
    from nacre.results.crash import Crash as Crash
    from nacre.results.curves import CacheCurves as CacheCurves
    from nacre.results.curves import MissRatioCurve as MissRatioCurve
    from nacre.results.mixes import Mixes as Mixes
    from nacre.results.mixes import Tier as Tier
    from nacre.results.record import Record as Record
    from nacre.results.served import ExportStatistics as ExportStatistics
    from nacre.results.served import Outage as Outage
    from nacre.results.served import Service as Service
    from nacre.results.served import Statistics as Statistics
    from nacre.results.traces import FittedWorkload as FittedWorkload
    from nacre.results.traces import TraceInfo as TraceInfo

__getattr__, __dir__ = late.names(
    __name__,
    {
        "CacheCurves": "curves",
        "CheckedScenario": "checked",
        "CheckedStudy": "checked",
        "Comparison": "comparison",
        "Crash": "crash",
        "ExportStatistics": "served",
        "FittedWorkload": "traces",
        "MissRatioCurve": "curves",
        "Mixes": "mixes",
        "Outage": "served",
        "Record": "record",
        "Result": "base",
        "Service": "served",
        "Statistics": "served",
        "Tier": "mixes",
        "TraceInfo": "traces",
    },
)
