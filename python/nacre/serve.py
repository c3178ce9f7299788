"""A scenario's stack as a block device for real programs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
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

    @property
    def export(self) -> View:
        """The device that was served: `answered`, `late`, `modelled` and `wall`."""
        first: View = self.exports[0]
        return first


def serve(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    image: str | os.PathLike[str],
    listen: str,
    timing: Timing = "emulated",
    dilate: float = 1.0,
    read_only: bool = False,
    tell: Callable[[str], object] = lambda _notice: None,
    ready: Callable[[str, int], object] = lambda _uri, _size: None,
    stop: Callable[[], bool] = lambda: False,
) -> Service:
    """Serves the stack of a scenario over NBD until `stop` returns true.

    `image` is the file that keeps bytes and state; it is created where there is none. `listen` is
    `unix:PATH` or `tcp:HOST:PORT` with a host that is this machine. With `timing="emulated"`
    answers leave when the model says, every duration times `dilate`; with `"none"` at once.
    An image that is there goes on where its server ended, however that was; `tell` is called with
    each line about it that its user should know. Then `ready` is called with the URI for clients
    and the size in bytes; `stop` about ten times a second.

    Raises `ConfigError` for mistakes of the scenario, and for an image or an address that cannot
    be had.
    """
    if timing not in ("emulated", "none"):
        raise config_error([_mistake("timing", timing, 'give "emulated" or "none"')])
    if not 1.0 <= dilate <= 1e6:
        raise config_error([_mistake("dilate", dilate, "give a number from 1 to 1,000,000")])
    source, settings = read(scenario), assignments(overrides)
    terms = {
        "image": os.fspath(image),
        "listen": listen,
        "dilation": float(dilate) if timing == "emulated" else None,
        "read_only": read_only,
        "tell": tell,
    }
    with source.cited():
        life = _core.serve(source.text, source.name, source.directory, settings, terms, ready, stop)
    return Service(json.loads(life))


def _mistake(path: str, given: object, hint: str) -> Problem:
    return Problem(path=path, problem="it is out of range", given=str(given), hint=hint)
