"""A scenario's stack as a block device for real programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Literal, TypeAlias

from nacre import _core
from nacre.errors import Problem, config_error
from nacre.scenario import Scenario, assignments, read
from nacre.view import View

Timing: TypeAlias = Literal["emulated", "none"]


class Service(View):
    """What a server saw: clients, and latencies as they were modelled and by the wall clock."""

    clients: int
    dropped: int
    last_drop: str | None

    exports: list[View]

    @property
    def export(self) -> View:
        """The first device that was served: `answered`, `late`, `modelled` and `wall`."""
        first: View = self.exports[0]
        return first


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
    tls: str | os.PathLike[str] | None = None,
    ready: Callable[[str, int], object] = lambda _uri, _size: None,
    stop: Callable[[], bool] = lambda: False,
) -> Service:
    """Serves the stack of a scenario over NBD until `stop` returns true.

    `image` is the file that keeps the bytes; it is created where there is none. `listen` is
    `unix:PATH` or `tcp:HOST:PORT`, with a host that is this machine unless `tls` names a folder
    of certificates. `exports` are more devices behind the same address, each by its name:
    scenario and image. With `timing="emulated"` answers leave when the model says, every
    duration times `dilate`; with `"none"` at once. `ready` is called with the URI for clients
    and the size in bytes of each device; `stop` about ten times a second.

    Raises `ConfigError` for mistakes of the scenarios, and for images, certificates or an
    address that cannot be had.
    """
    if timing not in ("emulated", "none"):
        raise config_error([_mistake("timing", timing, 'give "emulated" or "none"')])
    if not 1.0 <= dilate <= 1e6:
        raise config_error([_mistake("dilate", dilate, "give a number from 1 to 1,000,000")])
    devices = [(read(scenario), assignments(overrides), image, None)]
    for name, (other, place) in (exports or {}).items():
        devices.append((read(other), [], place, name))
    stacks = [
        {
            "scenario": source.text,
            "source": source.name,
            "directory": source.directory,
            "overrides": settings,
            "image": os.fspath(place),
            "export": name,
        }
        for source, settings, place, name in devices
    ]
    manner = {
        "listen": listen,
        "dilation": float(dilate) if timing == "emulated" else None,
        "read_only": read_only,
        "tls": None if tls is None else os.fspath(tls),
    }
    with ExitStack() as citing:
        for source, *_ in devices:
            citing.enter_context(source.cited())
        return Service(json.loads(_core.serve(stacks, manner, ready, stop)))


def _mistake(path: str, given: object, hint: str) -> Problem:
    return Problem(path=path, problem="it is out of range", given=str(given), hint=hint)
