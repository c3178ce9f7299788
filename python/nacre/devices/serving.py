"""A scenario's stack as a block device for real programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from nacre import _core
from nacre.errors import Code, Problem, config_error
from nacre.results.record import Record
from nacre.results.served import Service
from nacre.scenario.source import Scenario, Source, assignments, read, without_workload
from nacre.simulate.running import state_of

Timing: TypeAlias = Literal["emulated", "compensated", "none"]


def serve(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    image: str | os.PathLike[str],
    listen: str,
    exports: Mapping[str, tuple[Scenario, str | os.PathLike[str]]] | None = None,
    timing: Timing = "emulated",
    dilate: float = 1.0,
    read_only: bool = False,
    start: str | os.PathLike[str] | Record | None = None,
    tls: str | os.PathLike[str] | None = None,
    control: str | os.PathLike[str] | None = None,
    metrics: str | None = None,
    record: str | os.PathLike[str] | None = None,
    force: bool = False,
    tell: Callable[[str], object] = lambda _notice: None,
    ready: Callable[[str, int], object] = lambda _uri, _size: None,
    metrics_ready: Callable[[str], object] = lambda _url: None,
    stop: Callable[[], bool] = lambda: False,
) -> Service:
    """Serves the stack of a scenario over NBD until `stop` returns true.

    `image` is the file that keeps bytes and state; it is created where there is none. `listen` is
    `unix:PATH` or `tcp:HOST:PORT`, with a host that is this machine unless `tls` names a folder
    of certificates. `exports` are more devices behind the same address, each by its name:
    scenario and image. With `timing="emulated"` answers leave when the model says, counted from
    when their requests are there, every duration times `dilate`. So no client sees less than the
    model's time, and the way to the server comes on top; with `"compensated"` answers leave as
    much earlier as that way usually takes, and single ones are early. With `"none"` they leave
    at once. An image that is there goes on where its
    server ended, however that was; one that a `Memory` left is served, and the other way round,
    as long as the stack is the same. A new image begins with the device as new, or as the saved
    state `start` of a run (its file, or the record) leaves it; what a run wrote had no bytes, and
    reads as zero. `tell` is called with each line that its user should know.
    Then `ready` is called with the URI for clients
    and the size in bytes of each device; `stop` about twenty times a second.

    `control` is the socket that `Control` speaks to. `metrics` is an address, `tcp:127.0.0.1:PORT`
    or `unix:PATH`, where `GET /metrics` is answered in the text format of Prometheus;
    `metrics_ready` is called with its URL. `record` is a trace that the first device's requests
    go into from the beginning; a file that is there is replaced with `force` only.

    Raises `ConfigError` for mistakes of the scenarios, and for images, certificates, files or
    addresses that cannot be had.
    """
    if timing not in get_args(Timing):
        hint = 'give "emulated", "compensated" or "none"'
        raise config_error([_mistake("unknown-name", "timing", timing, hint)])
    if not 1.0 <= dilate <= 1e6:
        raise config_error(
            [_mistake("out-of-range", "dilate", dilate, "give a number from 1 to 1,000,000")]
        )
    devices: list[tuple[Source, list[tuple[str, str]], str | os.PathLike[str], str | None]] = [
        (read(scenario), assignments(overrides), image, None)
    ]
    for name, (other, place) in (exports or {}).items():
        devices.append((read(other), [], place, name))
    begin = state_of(start)
    if lacking := [problem for *_, place, _ in devices for problem in _without_folder(place)]:
        raise config_error(lacking)
    for source, settings, _, export in devices:
        settings[:0] = without_workload(source, settings)
        for notice in _ignored(source, settings, begun=begin is not None and export is None):
            tell(notice)
    stacks = [
        {
            "scenario": source.text,
            "source": source.name,
            "directory": source.directory,
            "overrides": settings,
            "image": os.fspath(place),
            "start": begin if name is None else None,
            "export": name,
        }
        for source, settings, place, name in devices
    ]
    manner = {
        "tell": tell,
        "listen": listen,
        "dilation": None if timing == "none" else float(dilate),
        "compensated": timing == "compensated",
        "read_only": read_only,
        "tls": None if tls is None else os.fspath(tls),
        "control": None if control is None else os.fspath(control),
        "metrics": metrics,
        "record": None if record is None else os.fspath(record),
        "force": force,
    }

    def listens(url: str | None, served: list[tuple[str, int]]) -> None:
        if url is not None:
            metrics_ready(url)
        for uri, size in served:
            ready(uri, size)

    with ExitStack() as citing:
        for source, *_ in devices:
            citing.enter_context(source.cited())
        return Service(json.loads(_core.serve(stacks, manner, listens, stop)))


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


def _ignored(source: Source, settings: list[tuple[str, str]], *, begun: bool) -> list[str]:
    """What of the scenario a served device does not follow; `begun` is one from a saved state."""
    with source.cited():
        run = json.loads(_core.resolve(source.text, source.name, settings))["run"]
    given = {key for key, unset in _OF_RUNS.items() if run.get(key, unset) != unset}
    before = given & _BEFORE
    found = [f"run.{key}" for key in _OF_RUNS if key in given - (before if begun else set())]
    if not found:
        return []
    verb = "is" if len(found) == 1 else "are"
    said = f"{', '.join(found)} {verb} of simulated runs and not followed"
    if begun:
        return [said]
    said += ": a served device begins new, or where its image ended"
    if before:
        said += (
            "; to begin as a run would, save the state of one (nacre run --save-state FILE) and"
            " give it (nacre serve --from FILE)"
        )
    return [said]


def _without_folder(image: str | os.PathLike[str]) -> list[Problem]:
    """The mistake of an image in a folder that is not there."""
    folder = Path(os.fsdecode(image)).absolute().parent
    if folder.is_dir():
        return []
    hint = "make it, or name another place"
    return [
        Problem(
            code="file-not-found",
            path=f"image {os.fsdecode(image)}",
            problem=f"{folder} is no folder",
            hint=hint,
        )
    ]


def _mistake(code: Code, path: str, given: object, hint: str) -> Problem:
    return Problem(code=code, path=path, problem="it is out of range", given=str(given), hint=hint)
