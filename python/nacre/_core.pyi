"""The compiled model. Use the functions of `nacre`; this module converts and forwards."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = [
    "ConfigError",
    "Error",
    "TraceError",
    "__version__",
    "catalog",
    "check",
    "formats",
    "rooms",
    "run",
    "shipped_scenarios",
    "trace_columns",
    "trace_convert",
    "trace_from_columns",
    "trace_info",
    "trace_sample",
]

__version__: str

class Error(Exception):
    """Whatever Nacre reports; the root of its exceptions."""

class ConfigError(Error, ValueError):
    """A scenario with mistakes; the text lists every one."""

    problems: list[dict[str, Any]]

class TraceError(Error, ValueError):
    """A trace that cannot be read as what it was said to be."""

_Overrides = list[tuple[str, str]]
_RunProgress = Callable[[int, int | None, float], bool] | None
_TraceProgress = Callable[[int, int | None], bool] | None
_Options = Mapping[str, object]

def run(
    scenario: str,
    name: str,
    directory: str,
    overrides: _Overrides,
    seed: int | None = None,
    progress: _RunProgress = None,
) -> tuple[str, dict[str, np.ndarray[Any, Any]]]: ...
def check(scenario: str, name: str, directory: str, overrides: _Overrides) -> str: ...
def shipped_scenarios() -> list[tuple[str, str, str]]: ...
def catalog() -> str: ...
def rooms() -> str: ...
def formats() -> str: ...
def trace_info(paths: list[str], options: _Options, progress: _TraceProgress) -> str: ...
def trace_convert(
    paths: list[str], output: str, to: str, options: _Options, progress: _TraceProgress
) -> str: ...
def trace_sample(
    paths: list[str], output: str, to: str, options: _Options, progress: _TraceProgress
) -> str: ...
def trace_columns(
    paths: list[str], options: _Options, progress: _TraceProgress
) -> dict[str, np.ndarray[Any, Any]]: ...
def trace_from_columns(
    columns: Mapping[str, np.ndarray[Any, Any]], output: str, to: str
) -> str: ...
