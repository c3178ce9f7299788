"""Many designs run and compared: sweeps over axes, and searches.

A study is read (`spec`), made into points with keys (`points`), run by an engine (`engines`), kept
by key (`keep`), and summed up (`analysis`, `result`). The same engines run the parts of one trace
(`split`).
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
