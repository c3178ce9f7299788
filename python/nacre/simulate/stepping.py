"""Issues single requests to a simulated device, and returns latency breakdowns."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping, Sequence
from typing import ClassVar

from nacre import _core
from nacre.base.view import View
from nacre.errors import Code, Problem, config_error
from nacre.scenario.source import Scenario, read, with_functions, without_workload

Request = tuple[str, int, int]
"""Operation (`read`, `write`, `trim`, or `flush`), address of the first byte, and number of
bytes."""

OPS = ("read", "write", "trim", "flush")
_BYTES_MAX = 2**32 - 1


class Spent(View):
    """One span of a request's latency: component, activity, stage, and time.

    Only NVRAM cards have stages, e.g. "doorbell", "link to host", or "row activate". For other
    devices, `stage` is None.
    """

    component: str
    activity: str
    stage: str | None
    ns: float

    @property
    def doing(self) -> str:
        """Activity and stage as text, e.g. "link" or "link: doorbell"."""
        return f"{self.activity}: {self.stage}" if self.stage else self.activity


class CountedOnce(View):
    """Increase of a counter of a component during one request."""

    component: str
    name: str
    count: int


class Answer(View):
    """Result of one request. The sum of `spent` is the latency."""

    parts: ClassVar[Mapping[str, type[View]]] = {"spent": Spent, "counted": CountedOnce}

    op: str
    address: int
    bytes: int
    issued_ns: float
    latency_ns: float
    is_done: bool
    spent: tuple[Spent, ...]
    counted: tuple[CountedOnce, ...]


def step(
    scenario: Scenario,
    requests: Sequence[Request],
    overrides: Mapping[str, object] | None = None,
) -> list[Answer]:
    """Issues requests to the stack of a scenario, one at a time.

    Each answer has `op`, `address`, `bytes`, `issued_ns`, `latency_ns`, and `is_done`. `spent`
    lists spans with `component`, `activity`, `stage`, and `ns`, which add up to the latency.
    `counted` lists the counters that increased during the request, with `component`, `name`, and
    `count`. Raises `ConfigError` for an invalid scenario, and for a request past the end of the
    device.
    """
    source, (settings, _) = read(scenario), with_functions(overrides)
    asked = [_checked(request) for request in requests]
    settings = [*without_workload(source, settings), *settings]
    document = source.call(_core.step, settings, asked)
    return [Answer(answer) for answer in json.loads(document)]


def _checked(request: Request) -> Request:
    op, first, count = request
    address, size = operator.index(first), operator.index(count)
    if op not in OPS:
        hint = f"use one of: {', '.join(OPS)}"
        raise config_error([_wrong("unknown-name", "there is no such request", op, hint)])
    legal = size == 0 if op == "flush" else 0 < size <= _BYTES_MAX
    if address < 0 or not legal:
        hint = "a flush has size 0" if op == "flush" else f"use 1 to {_BYTES_MAX} bytes"
        raise config_error(
            [_wrong("out-of-range", "the byte range is invalid", f"{size} at {address}", hint)]
        )
    return op, address, size


def _wrong(code: Code, problem: str, given: object, hint: str) -> Problem:
    return Problem(code=code, path="requests", problem=problem, given=str(given), hint=hint)
