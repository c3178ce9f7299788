"""Block traces: analysis, miss ratios, conversion, sampling, and tables of requests.

Every function takes one or more paths, or the name of a built-in trace. If you pass several files,
e.g. the files that blktrace writes for each CPU, Nacre merges their records in time order. The
functions also read Parquet files with the columns that `read` returns.
"""

from __future__ import annotations

from nacre.traces.analysis import caches, fit, info, mrc
from nacre.traces.conversion import convert, formats, sample
from nacre.traces.frames import read
from nacre.traces.inputs import Options, is_parquet, located, shipped

__all__ = [
    "Options",
    "caches",
    "convert",
    "fit",
    "formats",
    "info",
    "is_parquet",
    "located",
    "mrc",
    "read",
    "sample",
    "shipped",
]


def __dir__() -> list[str]:
    return __all__
