"""Statistics of a served device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

from nacre.base.view import View
from nacre.errors import Error
from nacre.results.base import Result
from nacre.results.record import Component, Record

if TYPE_CHECKING:
    import polars as pl

Harm: TypeAlias = Literal["reads", "writes", "heal"]


class Counted(View):
    """Requests of one kind: number, bytes, and errors."""

    requests: int
    bytes: int
    errors: int


class Requests(View):
    """Requests by kind. The server does not support `unknown` requests."""

    parts: ClassVar[Mapping[str, type[View]]] = dict.fromkeys(
        ("read", "write", "trim", "zero", "flush", "cache", "status", "unknown"), Counted
    )
    read: Counted
    write: Counted
    trim: Counted
    zero: Counted
    flush: Counted
    cache: Counted
    status: Counted
    unknown: Counted


class RecordedFault(View):
    """A fault that was added or cleared during a recording, or added before the recording.

    If `settings` is None, the fault was cleared. `at_s` is the time in seconds on the time axis of
    the trace. It is 0 if the fault was added before the recording.
    """

    at_s: float
    number: int
    settings: str | None


class Recorded(View):
    """Status of the current or last recording.

    If the trace is missing or incomplete, `error` is the reason.
    """

    parts: ClassVar[Mapping[str, type[View]]] = {"faults": RecordedFault}
    path: str
    is_under_way: bool
    requests: int
    bytes: int | None
    error: str | None
    faults: tuple[RecordedFault, ...]


class ServedFault(View):
    """A fault that was added to a served device, and its effects.

    `added_s` is the simulated time at which the fault was added. `matching` is the number of
    requests with the selected operation and range while the fault was active. `touched` is the
    number of these requests that the fault affected. `silent_bytes` is the number of bytes that
    were corrupted without an error.
    """

    number: int
    kind: str
    settings: str
    active: bool
    cleared: bool
    matching: int
    touched: int
    added_s: float
    errors: int
    silent_bytes: int


class Outage(Result, View):
    """Effects of a power loss.

    `acknowledged_lost` is the number of lost programs of completed writes, i.e. programs that had
    not reached the medium. `bytes_lost` is their size. A program is the unit in which the medium is
    written. On a disk, a program is a whole write. `under_way` is the number of writes that were
    not completed. The device is ready again after `ready_after_s` seconds of simulated time.
    """

    acknowledged_lost: int
    bytes_lost: int
    under_way: int
    ready_after_s: float


class ExportStatistics(Result, View):
    """Statistics of one served device. Its components have the fields of components in a record."""

    parts: ClassVar[Mapping[str, type[View]]] = {
        "requests": Requests,
        "components": Component,
        "recording": Recorded,
        "faults": ServedFault,
    }
    name: str
    bytes: int
    read_only: bool
    timing: str
    dilation: float | None
    requests: Requests
    answered: int
    late: int
    modeled: View
    wall: View
    simulated_s: float
    components: tuple[Component, ...]
    write_amplification: float | None
    cleaning_cost: float | None
    erases: int | None
    energy_j: View
    lifetime_days: float | None
    unsafe_shutdowns: int
    faults: tuple[ServedFault, ...]
    recording: Recorded | None

    def blocks(self, component: str | None = None) -> pl.DataFrame:
        """Returns a row per erase block, as in a record.

        Raises `Error` for a device without erase blocks.
        """
        return self.as_record().blocks(component)

    def as_record(self) -> Record:
        """Returns a partial record, from which tables and figures of erase blocks can be made."""
        import numpy as np

        columns = self.get("columns")
        if columns is None:
            raise Error(
                "the statistics have no columns; ask for them with stats(columns=True)", "no-data"
            )
        arrays = {name: np.asarray(values, dtype=float) for name, values in columns.items()}
        return Record(self.to_dict(), arrays)


class Sample(NamedTuple):
    """Counters of a device. The difference of two samples gives rates and latencies.

    `read_ns` and `write_ns` are sums of the modeled latencies of `timed_reads` reads and
    `timed_writes` writes.
    """

    up_s: float
    reads: int
    writes: int
    timed_reads: int = 0
    timed_writes: int = 0
    read_ns: float = 0.0
    write_ns: float = 0.0


class Statistics(Result, View):
    """Statistics of a server."""

    parts: ClassVar[Mapping[str, type[View]]] = {"exports": ExportStatistics}
    version: str
    up_s: float
    connections: View
    exports: tuple[ExportStatistics, ...]

    def export(self, name: str | None = None) -> ExportStatistics:
        """Returns the device with this name or, without a name, the first device.

        Raises `Error` if it does not exist.
        """
        for export in self.exports:
            if name in (None, export.name):
                return export
        known = ", ".join(export.name for export in self.exports)
        raise Error(f'there is no export "{name}"; there is {known}', "unknown-name")

    def sample(self, name: str | None = None) -> Sample:
        """Returns the current counters of a device, for `nacre.figures.served`."""
        export = self.export(name)
        timed, taken_ns = [], []
        for took in (export.modeled["read"], export.modeled["write"]):
            timed.append(took.count if took else 0)
            taken_ns.append(took.count * took.mean_ns if took else 0.0)
        asked = export.requests
        return Sample(self.up_s, asked.read.requests, asked.write.requests, *timed, *taken_ns)


class Service(View):
    """Summary of a server's run, with its clients and devices.

    `unsynced` lists the images that could not be written to the disk when the server ended, with
    reasons.
    """

    parts: ClassVar[Mapping[str, type[View]]] = {"exports": ExportStatistics}

    clients: int
    dropped: int
    last_drop: str | None
    unsynced: str | None
    exports: tuple[ExportStatistics, ...]

    @property
    def export(self) -> ExportStatistics:
        """Statistics of the first device: `answered`, `late`, `modeled`, `wall`, and others."""
        return self.exports[0]
