"""A scenario's stack as a block device for real programs."""

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
    """Options for serving devices."""

    timing: Timing = "emulated"
    """When answers leave: when the model says; earlier by what the way takes; or at once."""
    dilate: float = 1.0
    """How many times as long as in the model everything takes."""
    read_only: bool = False
    start: str | os.PathLike[str] | Record | None = None
    """The saved state of a run, its file or the record, that a new image begins with."""
    tls: str | os.PathLike[str] | None = None
    """A folder of certificates; without it nothing is encrypted."""
    control: str | os.PathLike[str] | None = None
    """The socket that `Control` speaks to."""
    metrics: str | None = None
    """Where `GET /metrics` is answered for Prometheus: `tcp:127.0.0.1:PORT` or `unix:PATH`."""
    record: str | os.PathLike[str] | None = None
    """A trace that the first device's requests go into from the beginning."""
    force: bool = False
    """Whether `record` replaces a file that is there."""


class Listening(NamedTuple):
    """Addresses of a server."""

    metrics: str | None
    """The URL of its metrics."""
    devices: list[tuple[str, int]]
    """The URI for clients of each device, and its size in bytes."""


class _Served(NamedTuple):
    """A device that is served."""

    source: Source
    settings: list[tuple[str, str]]
    image: str | os.PathLike[str]
    start: str | None
    export: str | None
    """What clients call it; None: as its scenario is called."""


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

    `image` is the file that keeps bytes and state; it is created where there is none. `listen` is
    `unix:PATH` or `tcp:HOST:PORT`, with a host that is this machine unless `options.tls` names a
    folder of certificates. `exports` are more devices behind the same address, each by its name:
    scenario and image. With `timing="emulated"` answers leave when the model says, counted from
    when their requests are there, every duration times `dilate`. So no client sees less than the
    model's time, and the way to the server comes on top; with `"compensated"` answers leave as
    much earlier as that way usually takes, and single ones are early. With `"none"` they leave
    at once. An image that is there continues where its server ended, however that was; one that a
    `Memory` left is served, and the other way round, as long as the stack is the same. A new image
    begins with the device as new, or as the saved state `start` of a run leaves it; what a run
    wrote had no bytes, and reads as zero.

    `tell` is called with each line that its user should know, then `ready` once with where clients
    reach the devices; `stop` about twenty times a second.

    Raises `ConfigError` for errors of the scenarios, and for images, certificates, files or
    addresses that cannot be had.
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
"""Settings of `[run]` that say what a device has been through before its first request."""
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
"""Settings of `[run]` that mean something for a simulated run only, with what they are if unset."""


def _ignored(device: _Served) -> list[str]:
    """What of the scenario a served device does not follow."""
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
    """The error of an image in a folder that is not there."""
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
