"""Nacre: a laboratory for non-volatile storage.

`run` simulates a scenario and returns a `Record`; `check` finds every mistake in one;
`step` issues single requests and says where every nanosecond went;
`mixes` scores every mix of the tiers of one; `plan` says which cache and which mix a trace wants;
`open` gives the bytes of a simulated memory to a program, and keeps them in an image file;
`image` says what is good in such a file, and saves what is left of a damaged one;
`crash` loses its power anywhere and says what was lost; `crash_drawn` draws the stack, too;
`serve` makes the device a block device for real programs, and `Control` steers it meanwhile;
`reproduce` recomputes published results and says how far off each one is; `published` lists them;
`study` sweeps over many designs, or searches among them; `run_split` runs a large trace in parts;
`summarise` says what any result says, as sentences, tables and figures; `report` is a page of it;
`schema` is what a scenario may hold; `catalog` and `scenarios` list what is shipped;
`trace` reads, converts and samples block traces;
`config` has a class for every model and a function for every preset, so that editors know them.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing is not loaded for its sake: type checkers know this name

if TYPE_CHECKING:
    from nacre import config, errors, figures, image, policies, trace
    from nacre._core import CleaningView, __version__
    from nacre.cache_curves import CacheCurves
    from nacre.catalog import catalog
    from nacre.comparison import Comparison, compare
    from nacre.control import Control
    from nacre.crash import Crash, crash, crash_drawn, faults
    from nacre.errors import (
        ConfigError,
        Error,
        TraceError,
        TransactionError,
        TransactionTooLarge,
    )
    from nacre.memory import Memory, open  # noqa: A004 (as of gzip and shelve: nacre.open)
    from nacre.miss_ratio import MissRatioCurve
    from nacre.mixes import Mixes, mixes
    from nacre.plan import Plan, plan
    from nacre.record import Record
    from nacre.report import report
    from nacre.reproduce import Reproduction, published, reproduce
    from nacre.run import check, run
    from nacre.scenario import scenarios
    from nacre.schema import schema, templates
    from nacre.serve import Service, serve
    from nacre.shown import CheckedScenario, TraceInfo
    from nacre.step import step
    from nacre.study import CheckedStudy, LiveStudy, StudyResult, check_study, run_split, study
    from nacre.summarise import Summary, summarise

__all__ = [
    "CacheCurves",
    "CheckedScenario",
    "CheckedStudy",
    "CleaningView",
    "Comparison",
    "ConfigError",
    "Control",
    "Crash",
    "Error",
    "LiveStudy",
    "Memory",
    "MissRatioCurve",
    "Mixes",
    "Plan",
    "Record",
    "Reproduction",
    "Service",
    "StudyResult",
    "Summary",
    "TraceError",
    "TraceInfo",
    "TransactionError",
    "TransactionTooLarge",
    "__version__",
    "catalog",
    "check",
    "check_study",
    "compare",
    "config",
    "crash",
    "crash_drawn",
    "errors",
    "faults",
    "figures",
    "image",
    "mixes",
    "open",
    "plan",
    "policies",
    "published",
    "report",
    "reproduce",
    "run",
    "run_split",
    "scenarios",
    "schema",
    "serve",
    "step",
    "study",
    "summarise",
    "templates",
    "trace",
]

_HOMES = {
    "CacheCurves": "nacre.cache_curves",
    "CheckedScenario": "nacre.shown",
    "CheckedStudy": "nacre.study",
    "CleaningView": "nacre._core",
    "Comparison": "nacre.comparison",
    "ConfigError": "nacre.errors",
    "Control": "nacre.control",
    "Crash": "nacre.crash",
    "Error": "nacre.errors",
    "LiveStudy": "nacre.study",
    "Memory": "nacre.memory",
    "MissRatioCurve": "nacre.miss_ratio",
    "Mixes": "nacre.mixes",
    "Plan": "nacre.plan",
    "Record": "nacre.record",
    "Reproduction": "nacre.reproduce",
    "Service": "nacre.serve",
    "StudyResult": "nacre.study",
    "Summary": "nacre.summarise",
    "TraceError": "nacre.errors",
    "TraceInfo": "nacre.shown",
    "TransactionError": "nacre.errors",
    "TransactionTooLarge": "nacre.errors",
    "__version__": "nacre._core",
    "catalog": "nacre.catalog",
    "check": "nacre.run",
    "check_study": "nacre.study",
    "compare": "nacre.comparison",
    "crash": "nacre.crash",
    "crash_drawn": "nacre.crash",
    "faults": "nacre.crash",
    "mixes": "nacre.mixes",
    "open": "nacre.memory",
    "plan": "nacre.plan",
    "published": "nacre.reproduce",
    "report": "nacre.report",
    "reproduce": "nacre.reproduce",
    "run": "nacre.run",
    "run_split": "nacre.study",
    "scenarios": "nacre.scenario",
    "schema": "nacre.schema",
    "serve": "nacre.serve",
    "step": "nacre.step",
    "study": "nacre.study",
    "summarise": "nacre.summarise",
    "templates": "nacre.schema",
}
"""Where each name comes from: its module is loaded when the name is first asked for."""


if not TYPE_CHECKING:

    class _Package(type(sys)):
        """The package, whose functions win over the modules that are called like them."""

        def __setattr__(self, name, value):
            # A module that is loaded puts itself into its package: nacre.run is the function.
            if not (name in _HOMES and isinstance(value, type(sys))):
                super().__setattr__(name, value)

    def __getattr__(name):
        from importlib import import_module

        if name in ("config", "errors", "figures", "image", "policies", "trace"):
            return import_module(f"nacre.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_HOMES[name]), name)
        setattr(sys.modules[__name__], name, found)
        return found

    def __dir__():
        return sorted({*globals(), *__all__})

    sys.modules[__name__].__class__ = _Package
