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

TYPE_CHECKING = False  # typing is not loaded for its sake: type checkers know this name

if TYPE_CHECKING:
    from nacre import (
        config,
        errors,
        figures,
        policies,
    )
    from nacre import traces as trace
    from nacre._core import CleaningView, __version__
    from nacre.devices import images as image
    from nacre.devices.control import Control
    from nacre.devices.memory import Memory, open  # noqa: A004 (as of gzip and shelve: nacre.open)
    from nacre.devices.serving import serve
    from nacre.errors import (
        ConfigError,
        Error,
        TraceError,
        TransactionError,
        TransactionTooLarge,
    )
    from nacre.kinds.reports import report
    from nacre.papers import Reproduction, published, reproduce
    from nacre.results.checked import CheckedScenario
    from nacre.results.comparison import Comparison, compare
    from nacre.results.crash import Crash
    from nacre.results.curves import CacheCurves, MissRatioCurve
    from nacre.results.mixes import Mixes
    from nacre.results.record import Record
    from nacre.results.served import Service
    from nacre.results.traces import TraceInfo
    from nacre.scenario.catalog import catalog
    from nacre.scenario.schemas import schema, templates
    from nacre.scenario.source import scenarios
    from nacre.simulate.mixing import mixes
    from nacre.simulate.planning import Plan, plan
    from nacre.simulate.power_loss import crash, crash_drawn, faults
    from nacre.simulate.running import check, run
    from nacre.simulate.stepping import step
    from nacre.studies import (
        CheckedStudy,
        LiveStudy,
        StudyResult,
        check_study,
        run_split,
        study,
    )
    from nacre.words.summary import Summary

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
    "templates",
    "trace",
]

_HOMES = {
    "CacheCurves": "nacre.results.curves",
    "CheckedScenario": "nacre.results.checked",
    "CheckedStudy": "nacre.studies",
    "CleaningView": "nacre._core",
    "Comparison": "nacre.results.comparison",
    "ConfigError": "nacre.errors",
    "Control": "nacre.devices.control",
    "Crash": "nacre.results.crash",
    "Error": "nacre.errors",
    "LiveStudy": "nacre.studies",
    "Memory": "nacre.devices.memory",
    "MissRatioCurve": "nacre.results.curves",
    "Mixes": "nacre.results.mixes",
    "Plan": "nacre.simulate.planning",
    "Record": "nacre.results.record",
    "Reproduction": "nacre.papers",
    "Service": "nacre.results.served",
    "StudyResult": "nacre.studies",
    "Summary": "nacre.words.summary",
    "TraceError": "nacre.errors",
    "TraceInfo": "nacre.results.traces",
    "TransactionError": "nacre.errors",
    "TransactionTooLarge": "nacre.errors",
    "__version__": "nacre._core",
    "catalog": "nacre.scenario.catalog",
    "check": "nacre.simulate.running",
    "check_study": "nacre.studies",
    "compare": "nacre.results.comparison",
    "crash": "nacre.simulate.power_loss",
    "crash_drawn": "nacre.simulate.power_loss",
    "faults": "nacre.simulate.power_loss",
    "mixes": "nacre.simulate.mixing",
    "open": "nacre.devices.memory",
    "plan": "nacre.simulate.planning",
    "published": "nacre.papers",
    "report": "nacre.kinds.reports",
    "reproduce": "nacre.papers",
    "run": "nacre.simulate.running",
    "run_split": "nacre.studies",
    "scenarios": "nacre.scenario.source",
    "schema": "nacre.scenario.schemas",
    "serve": "nacre.devices.serving",
    "step": "nacre.simulate.stepping",
    "study": "nacre.studies",
    "templates": "nacre.scenario.schemas",
}
"""Where each name comes from: its module is loaded when the name is first asked for."""
_MODULES = {
    "config": "nacre.config",
    "errors": "nacre.errors",
    "figures": "nacre.figures",
    "image": "nacre.devices.images",
    "policies": "nacre.policies",
    "trace": "nacre.traces",
}


if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            found = import_module(_MODULES[name])
        elif name in _HOMES:
            found = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found

    def __dir__():
        return sorted({*globals(), *__all__})
