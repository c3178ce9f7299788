"""Nacre: a laboratory for non-volatile storage.

`run` simulates a scenario and returns a `Record`; `check` finds every mistake in one;
`reproduce` recomputes published results and says how far off each one is;
`catalog` and `scenarios` list what is shipped; `trace` reads, converts and samples block traces.
"""

from nacre import trace
from nacre._core import __version__
from nacre.catalog import catalog
from nacre.comparison import Comparison, compare
from nacre.errors import ConfigError, Error, TraceError
from nacre.record import Record
from nacre.reproduce import Reproduction, reproduce
from nacre.run import check, run
from nacre.scenario import scenarios

__all__ = [
    "Comparison",
    "ConfigError",
    "Error",
    "Record",
    "Reproduction",
    "TraceError",
    "__version__",
    "catalog",
    "check",
    "compare",
    "reproduce",
    "run",
    "scenarios",
    "trace",
]
