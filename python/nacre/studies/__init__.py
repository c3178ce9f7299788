"""Studies: run and compare many designs, in sweeps over axes or searches.

A study is read (`spec`), turned into points with keys (`points`), run by an engine (`engines`),
stored by key (`keep`), and analyzed (`analysis`, `result`). Engines also run the parts of a split
trace (`split`).
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
