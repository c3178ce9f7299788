"""Nacre: a laboratory for non-volatile storage.

Functions:

- `run` simulates a scenario and returns a record; `check` reports every error of a scenario.
- `step` issues single requests and returns their latency breakdowns.
- `mixes` scores every mix of the tiers of a scenario; `plan` finds caches and mixes for a trace.
- `study` runs a sweep over many designs, or searches for the best designs.
- `crash` cuts power to a device at many points and checks its durability guarantees.
- `open` opens a simulated memory in a program; `serve` serves a device as a block device.
- `reproduce` recomputes published results and reports the deviation of each result.
- `compare` compares records; `load` reads any saved result; `report` writes an HTML page.

Every result has `plot`, `summary()`, `save()`, and `to_dict()`. Tables also have `to_polars()`.

Modules: `catalog` (devices, scenarios, models), `config` (typed scenarios), `devices`, `errors`,
`figures`, `papers`, `policies`, `results`, `simulate`, `studies`, `traces`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers recognize this name, so that `typing` need not be loaded

if TYPE_CHECKING:
    from nacre import catalog as catalog
    from nacre import config as config
    from nacre import devices as devices
    from nacre import errors as errors
    from nacre import figures as figures
    from nacre import papers as papers
    from nacre import policies as policies
    from nacre import results as results
    from nacre import simulate as simulate
    from nacre import studies as studies
    from nacre import traces as traces
    from nacre._core import __version__ as __version__
    from nacre.devices.memory import open as open  # noqa: A004 (as of gzip and shelve: nacre.open)
    from nacre.devices.serving import serve as serve
    from nacre.kinds.reports import load as load
    from nacre.kinds.reports import report as report
    from nacre.papers.work import reproduce as reproduce
    from nacre.results.comparison import compare as compare
    from nacre.simulate.mixing import mixes as mixes
    from nacre.simulate.planning import plan as plan
    from nacre.simulate.power_loss import crash as crash
    from nacre.simulate.running import check as check
    from nacre.simulate.running import run as run
    from nacre.simulate.stepping import step as step
    from nacre.studies.work import study as study

_HOMES = {
    "__version__": "nacre._core",
    "check": "nacre.simulate.running",
    "compare": "nacre.results.comparison",
    "crash": "nacre.simulate.power_loss",
    "load": "nacre.kinds.reports",
    "mixes": "nacre.simulate.mixing",
    "open": "nacre.devices.memory",
    "plan": "nacre.simulate.planning",
    "report": "nacre.kinds.reports",
    "reproduce": "nacre.papers.work",
    "run": "nacre.simulate.running",
    "serve": "nacre.devices.serving",
    "step": "nacre.simulate.stepping",
    "study": "nacre.studies.work",
}
"""Maps each public name to its module. A module is loaded on first use."""
_MODULES = (
    "catalog",
    "config",
    "devices",
    "errors",
    "figures",
    "papers",
    "policies",
    "results",
    "simulate",
    "studies",
    "traces",
)

if not TYPE_CHECKING:
    __all__ = sorted([*_HOMES, *_MODULES])

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"nacre.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found

    def __dir__():
        return list(__all__)
