"""The compiled core. Use the functions of `nacre`; this module only converts and forwards."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Protocol, Self, final

import numpy as np

__all__ = [
    "MINIATURE_BLOCKS_MIN",
    "CleaningView",
    "Memory",
    "Parsed",
    "RunColumns",
    "__version__",
    "catalog",
    "check",
    "check_image",
    "crash",
    "crash_faults",
    "crash_random",
    "formats",
    "mixes",
    "models",
    "number_and_unit",
    "repair_image",
    "resolve",
    "run",
    "run_part",
    "schema_of",
    "serve",
    "shipped_scenarios",
    "split_parts",
    "split_together",
    "step",
    "trace_columns",
    "trace_convert",
    "trace_fit",
    "trace_from_columns",
    "trace_info",
    "trace_misses",
    "trace_policies",
    "trace_sample",
    "units",
]

__version__: str
MINIATURE_BLOCKS_MIN: int

_Overrides = list[tuple[str, str]]
_RunProgress = Callable[[int, int | None, float], bool] | None
_TraceProgress = Callable[[int, int | None], bool] | None
_Options = Mapping[str, object]

class _Source(Protocol):
    """Text of a scenario, its name for messages, and the directory of its files."""

    @property
    def text(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def directory(self) -> str: ...

class _Served(Protocol):
    """A device to be served."""

    @property
    def source(self) -> _Source: ...
    @property
    def settings(self) -> _Overrides: ...
    @property
    def image(self) -> str | PathLike[str]: ...
    @property
    def start(self) -> str | None: ...
    @property
    def export(self) -> str | None: ...

class _ServeOptions(Protocol):
    """Options of a server."""

    @property
    def timing(self) -> str: ...
    @property
    def dilate(self) -> float: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def tls(self) -> str | PathLike[str] | None: ...
    @property
    def control(self) -> str | PathLike[str] | None: ...
    @property
    def metrics(self) -> str | None: ...
    @property
    def record(self) -> str | PathLike[str] | None: ...
    @property
    def force(self) -> bool: ...

_Column = np.ndarray[tuple[int], np.dtype[np.int64]]

@final
class CleaningView:
    """Input of a garbage-collection function: one partition. Columns have a number per segment."""

    @property
    def partition(self) -> int:
        """Number of the partition."""
    @property
    def first(self) -> int:
        """Number of the first segment of the partition."""
    @property
    def active(self) -> int:
        """Index of the segment that was written last."""
    @property
    def pages_per_segment(self) -> int:
        """Number of pages in a segment."""
    @property
    def drained(self) -> int:
        """Number of pages drained from the write buffer so far. The columns use it as a clock."""
    @property
    def valid(self) -> _Column:
        """Valid pages."""
    @property
    def programmed(self) -> _Column:
        """Number of pages programmed since the last erase of each segment, valid or not."""
    @property
    def erases(self) -> _Column:
        """Number of erases of each segment over its lifetime."""
    @property
    def cleaned_at(self) -> _Column:
        """Time of the last cleaning of each segment, in pages drained."""
    @property
    def written_at(self) -> _Column:
        """Time of the last write from the buffer to each segment, in pages drained."""

@final
class RunColumns:
    """Columns of a record, converted to NumPy arrays on request."""

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]: ...

@final
class Memory:
    """Implementation of `nacre.devices.Memory`. Calls of several threads are serialized."""

    @staticmethod
    def open(
        source: _Source,
        overrides: _Overrides,
        image: str | None,
        start: str | None = None,
        checksums: bool = True,
    ) -> Memory: ...
    @property
    def capacity(self) -> int: ...
    @property
    def word_bytes(self) -> int: ...
    @property
    def in_transaction(self) -> bool: ...
    @property
    def has_power(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def read(self, address: int, size: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...
    def zone(self, address: int) -> tuple[int, int, int, str]: ...
    def append(self, address: int, data: bytes) -> int: ...
    def zone_command(self, command: str, address: int) -> None: ...
    def idle(self, seconds: float) -> None: ...
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...
    def power_fail(self) -> None: ...
    def recover(self) -> str: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...
    def statistics(self) -> str: ...
    def clock(self) -> tuple[float, float]: ...

@final
class Parsed:
    """A scenario that is parsed once and used with many overrides."""

    def __new__(cls, source: _Source) -> Self: ...
    def resolve(self, overrides: _Overrides) -> str: ...
    def build(self, overrides: _Overrides) -> None: ...
    def preparation(self, overrides: _Overrides) -> str | None: ...
    def run(
        self,
        overrides: _Overrides,
        preparations: str | None = None,
        origins: bool = True,
    ) -> tuple[str, RunColumns]: ...

_Cleaners = list[tuple[str, Callable[..., Any]]]

def run(
    source: _Source,
    overrides: _Overrides,
    seed: int | None = None,
    progress: _RunProgress = None,
    cleaners: _Cleaners | None = None,
    start: str | None = None,
    save_state: str | None = None,
) -> tuple[str, RunColumns]: ...
def check(
    source: _Source,
    overrides: _Overrides,
    cleaners: _Cleaners | None = None,
) -> str: ...
def check_image(path: str) -> str: ...
def repair_image(path: str, out: str) -> str: ...
def step(
    source: _Source,
    overrides: _Overrides,
    requests: Sequence[tuple[str, int, int]],
) -> str: ...
def crash(
    source: _Source,
    overrides: _Overrides,
    points: int,
    seed: int,
    faults: list[str],
    progress: _TraceProgress = None,
) -> str: ...
def crash_random(seed: int, points: int, progress: _TraceProgress = None) -> tuple[str, str]: ...
def crash_faults() -> list[str]: ...
def number_and_unit(text: str) -> tuple[int, int, str] | None:
    """Returns the digits of a number without decimal point, its decimals, and its unit."""

def units() -> list[tuple[str, str, int, int]]:
    """Returns quantity, name, and factor to the base unit (as a fraction) of each unit."""

def mixes(
    source: _Source,
    overrides: _Overrides,
    steps: int,
    progress: _TraceProgress = None,
) -> tuple[str, dict[str, np.ndarray[Any, Any]]] | None: ...
def resolve(source: _Source, overrides: _Overrides) -> str: ...
def split_parts(
    source: _Source,
    overrides: _Overrides,
    way: str,
    progress: _TraceProgress = None,
) -> list[tuple[_Overrides, int]] | None: ...
def run_part(source: _Source, overrides: _Overrides) -> str: ...
def split_together(
    source: _Source, overrides: _Overrides, way: str, parts: list[str]
) -> tuple[str, dict[str, np.ndarray[Any, Any]]]: ...
def shipped_scenarios() -> list[tuple[str, str, str]]: ...
def catalog() -> str: ...
def schema_of(records: bool) -> str: ...
def models() -> str: ...
def formats() -> str: ...
def serve(
    devices: Sequence[_Served],
    listen: str,
    options: _ServeOptions,
    tell: Callable[[str], object],
    ready: Callable[[str | None, list[tuple[str, int]]], object],
    stop: Callable[[], bool],
) -> str:
    """Serves devices over NBD until `stop` returns true. Returns the summary as JSON text."""

def trace_info(paths: list[str], options: _Options, progress: _TraceProgress) -> str: ...
def trace_misses(
    paths: list[str],
    options: _Options,
    block_bytes: int,
    share: float | None,
    blocks: int | None,
    seed: int,
    progress: _TraceProgress,
) -> tuple[str, dict[str, np.ndarray[Any, Any]]]: ...
def trace_policies(
    paths: list[str],
    options: _Options,
    policies: list[str],
    functions: list[tuple[str, Callable[..., Any]]],
    sizes: list[int],
    block_bytes: int,
    share: float,
    seed: int,
    progress: _TraceProgress,
) -> str: ...
def trace_convert(
    paths: list[str], output: str, to: str, options: _Options, progress: _TraceProgress
) -> str: ...
def trace_sample(
    paths: list[str], output: str, to: str, options: _Options, progress: _TraceProgress
) -> str: ...
def trace_fit(
    paths: list[str],
    options: _Options,
    block_bytes: int,
    seed: int,
    progress: _TraceProgress,
) -> tuple[str, str]: ...
def trace_columns(
    paths: list[str], options: _Options, progress: _TraceProgress
) -> dict[str, np.ndarray[Any, Any]]: ...
def trace_from_columns(
    columns: Mapping[str, np.ndarray[Any, Any]], output: str, to: str
) -> str: ...
