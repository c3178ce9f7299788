"""Runs and compares many designs, in sweeps over axes or in searches.

The submodules correspond to the steps of a study. `spec` reads the study file. `points` derives the
points of the study and their keys. An engine (`engines`) runs the points, and `keep` stores the
results by key. `analysis` and `result` evaluate the results. `split` uses the engines to run the
parts of a split trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base import late

if TYPE_CHECKING:
    from nacre.studies.live import LiveStudy as LiveStudy
    from nacre.studies.result import StudyResult as StudyResult
    from nacre.studies.split import run_split as run_split
    from nacre.studies.work import check_study as check_study

__getattr__, __dir__ = late.names(
    __name__,
    {
        "LiveStudy": "live",
        "StudyResult": "result",
        "check_study": "work",
        "run_split": "split",
    },
)
