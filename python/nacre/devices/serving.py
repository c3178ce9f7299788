"""Serves the stack of a scenario as a block device for real programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

from nacre import _core
from nacre.errors import Problem, config_error, invalid
from nacre.results.record import Record
from nacre.results.served import Service
from nacre.scenario.source import (
    HOST_OF_RUNS,
    Scenario,
    Source,
    assignments,
    names_host,
    read,
    without_workload,
)
from nacre.simulate.running import state_of

Timing: TypeAlias = Literal["emulated", "compensated", "none"]
_OUT = "it is out of range"


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of a server."""

    timing: Timing = "emulated"
    """Time at which replies are sent: at the modeled time, earlier by the transport delay, or
    immediately."""
    dilate: float = 1.0
    """Factor by which the device is slowed down."""
    read_only: bool = False
    start: str | os.PathLike[str] | Record | None = None
    """Saved state or record of a run from which a new image starts."""
    tls: str | os.PathLike[str] | None = None
    """Folder of TLS certificates. If it is None, connections are not encrypted."""
    control: str | os.PathLike[str] | None = None
    """Path of the control socket, to which `Control` connects."""
    metrics: str | None = None
    """Address of `GET /metrics` for Prometheus: `tcp:127.0.0.1:PORT` or `unix:PATH`."""
    record: str | os.PathLike[str] | None = None
    """Trace file in which the server records the requests of the first device, from the start."""
    force: bool = False
    """Whether `record` may replace an existing file."""


class Listening(NamedTuple):
    """Addresses of a server."""

    metrics: str | None
    """URL of the metrics."""
    devices: list[tuple[str, int]]
    """URI and size in bytes of each device."""


class _Served(NamedTuple):
    """A device to be served, with its scenario, image, and export name."""

    source: Source
    settings: list[tuple[str, str]]
    image: str | os.PathLike[str]
    start: str | None
    export: str | None
    """Export name for clients. If it is None, the name of the scenario is used."""


def serve(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    image: str | os.PathLike[str],
    listen: str,
    exports: Mapping[str, tuple[Scenario, str | os.PathLike[str]]] | None = None,
    options: ServeOptions | None = None,
    tell: Callable[[str], object] = lambda _notice: None,
    ready: Callable[[Listening], object] = lambda _listening: None,
    stop: Callable[[], bool] = lambda: False,
) -> Service:
    """Serves the stack of a scenario over NBD until `stop` returns true.

    `image` is the file for data and state. If it does not exist, it is created. `listen` is
    `unix:PATH` or `tcp:HOST:PORT`. If `options.tls` (the folder of certificates) is not set, HOST
    must be this machine. `exports` maps the names of further devices at this address to their
    scenario and image.

    With `timing="emulated"`, a reply is sent when the modeled latency, multiplied by `dilate`, has
    passed since the arrival of its request. Clients therefore measure at least the modeled latency
    plus the transport delay. With `"compensated"`, replies are sent earlier by the usual transport
    delay, so some replies are early. With `"none"`, replies are sent immediately.

    With an existing image, the device continues from the state in which its server ended or was
    killed. If the stack is the same, an image of a `Memory` can be served, and vice versa. A new
    image starts with a new device, or with the saved state `start` of a run. The run saved no data,
    so the bytes that it wrote read as zero.

    The server calls `tell` with each note for the user, and then calls `ready` once with the
    addresses of the devices. It calls `stop` about twenty times per second.

    Raises `ConfigError` for errors of the scenarios, and for unusable images, certificates, files,
    or addresses.
    """
    options = options or ServeOptions()
    if options.timing not in get_args(Timing):
        hint = 'give "emulated", "compensated" or "none"'
        raise invalid("unknown-name", "timing", _OUT, given=str(options.timing), hint=hint)
    if not 1.0 <= options.dilate <= 1e6:
        hint = "give a number from 1 to 1,000,000"
        raise invalid("out-of-range", "dilate", _OUT, given=str(options.dilate), hint=hint)
    begin = state_of(options.start)
    devices = [_Served(read(scenario), assignments(overrides), image, begin, None)]
    for name, (other, place) in (exports or {}).items():
        devices.append(_Served(read(other), [], place, None, name))
    if lacking := [problem for device in devices for problem in _without_folder(device.image)]:
        raise config_error(lacking)
    for device in devices:
        device.settings[:0] = without_workload(device.source, device.settings)
        for notice in _ignored(device):
            tell(notice)

    def listens(metrics: str | None, reached: list[tuple[str, int]]) -> None:
        ready(Listening(metrics, reached))

    with ExitStack() as citing:
        for device in devices:
            citing.enter_context(device.source.cited())
        return Service(json.loads(_core.serve(devices, listen, options, tell, listens, stop)))


_BEFORE = {"fill", "precondition", "until_steady"}
"""Settings of `[run]` that prepare a device before its first request."""
_OF_RUNS = {
    "fill": None,
    "precondition": 0,
    "until_steady": None,
    "warm_up": 0,
    "wear_out": False,
    "requests": None,
    "duration": None,
    "until": None,
}
"""Settings of `[run]` that apply only to simulated runs, with their defaults."""


def _ignored(device: _Served) -> list[str]:
    """Returns the settings of the scenario that serving ignores."""
    run = json.loads(device.source.call(_core.resolve, device.settings))["run"]
    begun = device.start is not None
    given = {key for key, unset in _OF_RUNS.items() if run.get(key, unset) != unset}
    before = given & _BEFORE
    found = [f"run.{key}" for key in _OF_RUNS if key in given - (before if begun else set())]
    has_host = names_host(device.source, device.settings)
    host = [f"{HOST_OF_RUNS}: clients have their own timeouts and queues"] if has_host else []
    if not found:
        return host
    verb = "is" if len(found) == 1 else "are"
    said = f"{', '.join(found)} {verb} only used by nacre run"
    if begun:
        return [said, *host]
    said += ": a served device starts new or from its image"
    if before:
        said += (
            "; to start from the state after a run, use nacre run --save-state FILE, then"
            " nacre serve --from FILE"
        )
    return [said, *host]


def _without_folder(image: str | os.PathLike[str]) -> list[Problem]:
    """Returns an error if the folder of the image does not exist."""
    folder = Path(os.fsdecode(image)).absolute().parent
    if folder.is_dir():
        return []
    hint = "create it, or choose another directory"
    return [
        Problem(
            code="file-not-found",
            path=f"image {os.fsdecode(image)}",
            problem=f"{folder} is not a directory",
            hint=hint,
        )
    ]
