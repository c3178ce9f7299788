"""I/O engine of a job.

The engine determines the queue depth and the requests that reach the device.

Sources: the flags of the engines in fio's `engines/`, and `backend.c`, which limits the depth of
synchronous engines to one.
"""

from __future__ import annotations

from dataclasses import dataclass

from nacre.interop.fio.options import (
    CACHED,
    DEFAULT_ENGINE,
    ON_DEVICE,
    SYNCHRONOUS,
    TRIMS_IN_TURN,
    WITHOUT_REQUESTS,
)
from nacre.interop.fio.reader import Reader


@dataclass(frozen=True)
class Engine:
    """Properties of an engine that affect the requests."""

    name: str
    is_default: bool
    is_synchronous: bool

    @property
    def trims_in_turn(self) -> bool:
        """Whether the job waits for each trim to complete before it sends the next trim."""
        return self.name in TRIMS_IN_TURN

    @property
    def on_device(self) -> bool:
        """Whether the engine accesses a device instead of a file."""
        return self.name in ON_DEVICE


def io_engine(job: Reader) -> Engine:
    """Returns the engine of the job. Records a problem if the engine does not perform block I/O."""
    setting = job.take("ioengine")
    name = DEFAULT_ENGINE if setting is None else setting.value.strip().partition(":")[0]
    if name in WITHOUT_REQUESTS:
        hint = "choose a job whose engine reads or writes a device, e.g. libaio"
        job.wrong(
            "not-supported", "ioengine", "this engine makes no requests to a device", hint, setting
        )
    if (log := job.take("read_iolog")) is not None:
        hint = 'replay the log itself: workload = { kind = "trace", file = "..." }'
        job.wrong("not-supported", "read_iolog", "the requests come from a log", hint, log)
    _page_cache(job, name)
    # With the option `offload`, a synchronous engine has one thread per outstanding request.
    offloaded = job.word("io_submit_mode", "inline") == "offload"
    return Engine(name, setting is None, name in SYNCHRONOUS and not offloaded)


def _page_cache(job: Reader, engine: str) -> None:
    direct, buffered = job.take("direct"), job.word("buffered")
    is_direct = (direct is not None and direct.value.strip() != "0") or buffered == "0"
    if engine in CACHED and (engine == "mmap" or not is_direct):
        what = "it is not set" if direct is None else f'"{direct.value.strip()}"'
        effect = "fio uses the page cache of the host; in Nacre, every request reaches the stack"
        job.no("direct", f"{what}: {effect}")
