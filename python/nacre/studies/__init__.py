"""Many designs run and compared: sweeps over axes, and searches.

A study is read (`document`), made into points with keys (`plan`, `search`), run by an engine
(`local`, `cluster`), kept by key (`store`), and summed up (`table`, `analysis`, `result`).
The same engines run the parts of one trace (`split`).
"""

from nacre.results.checked import CheckedStudy
from nacre.studies.live import LiveStudy
from nacre.studies.result import StudyResult
from nacre.studies.split import run_split
from nacre.studies.work import check_study, study

__all__ = ["CheckedStudy", "LiveStudy", "StudyResult", "check_study", "run_split", "study"]
