"""Nacre: a laboratory for non-volatile storage.

`run` simulates a scenario and returns a `Record`; `check` finds every mistake in one;
`mixes` scores every mix of the tiers of one;
`open` gives the bytes of a simulated memory to a program, and keeps them in an image file;
`serve` makes the device a block device for real programs, and `Control` steers it meanwhile;
`reproduce` recomputes published results and says how far off each one is;
`study` sweeps over many designs, or searches among them; `run_split` runs a large trace in parts;
`catalog` and `scenarios` list what is shipped; `trace` reads, converts and samples block traces.
"""

from nacre import trace
from nacre._core import CleaningView, __version__
from nacre.catalog import catalog
from nacre.comparison import Comparison, compare
from nacre.control import Control
from nacre.errors import (
    ConfigError,
    Error,
    TraceError,
    TransactionError,
    TransactionTooLarge,
)
from nacre.memory import Memory, open  # noqa: A004 (as of gzip and shelve: nacre.open)
from nacre.mixes import Mixes, mixes
from nacre.record import Record
from nacre.reproduce import Reproduction, reproduce
from nacre.run import check, run
from nacre.scenario import scenarios
from nacre.serve import Service, serve
from nacre.study import StudyResult, run_split, study

__all__ = [
    "CleaningView",
    "Comparison",
    "ConfigError",
    "Control",
    "Error",
    "Memory",
    "Mixes",
    "Record",
    "Reproduction",
    "Service",
    "StudyResult",
    "TraceError",
    "TransactionError",
    "TransactionTooLarge",
    "__version__",
    "catalog",
    "check",
    "compare",
    "mixes",
    "open",
    "reproduce",
    "run",
    "run_split",
    "scenarios",
    "serve",
    "study",
    "trace",
]
