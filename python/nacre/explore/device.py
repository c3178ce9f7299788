"""A served device: attached to, watched, and steered, as `nacre ctl` does; single requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import Route

from nacre.control import Control, ExportStatistics
from nacre.errors import Error, Problem, config_error
from nacre.explore import answers
from nacre.step import OPS, step
from nacre.summary import Table
from nacre.summary_served import (
    export_facts,
    latency_table,
    outage_facts,
    request_table,
    server_facts,
    wear_table,
)
from nacre.text import count, duration, percent

if TYPE_CHECKING:
    import altair as alt

STEPS_MAX = 100


def routes() -> list[Route]:
    """What the page asks."""
    answering = answers.answering
    return [
        Route("/api/device", answering(watched)),
        Route("/api/device/wear", answering(wear)),
        Route("/api/device/power-fail", answering(pulled, takes_document=True), methods=["POST"]),
        Route("/api/step", answering(stepped, takes_document=True), methods=["POST"]),
    ]


def watched(request: Request) -> dict[str, Any]:
    """What is known of a server now."""
    with _attached(request.query_params.get("image", "")) as control:
        found = control.stats()
    return {
        "facts": answers.lines(server_facts(found)),
        "up_s": found.up_s,
        "exports": [_told(export) for export in found.exports],
    }


def wear(request: Request) -> dict[str, Any]:
    """How often each erase block was erased."""
    with _attached(request.query_params.get("image", "")) as control:
        export = control.stats(columns=True).export(request.query_params.get("export"))

    def draw() -> alt.TopLevelMixin:
        return export.plot_wear()

    return answers.figure(draw)


def pulled(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """The power fails and comes back."""
    with _attached(answers.text(given, "image")) as control:
        outage = control.power_fail(export=answers.text(given, "export"))
    return {"facts": answers.lines(outage_facts(outage))}


def stepped(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Single requests to the stack of a scenario, and where the time of each went."""
    asked = given.get("requests")
    if not isinstance(asked, list) or not 0 < len(asked) <= STEPS_MAX:
        hint = f"give 1 to {STEPS_MAX}, one in a line"
        raise config_error([Problem(path="requests", problem="none were given", hint=hint)])
    found = step(answers.table_of(given, "tree"), [_request_of(each) for each in asked])
    rows = [
        [
            f"{answer.op} {count(answer.bytes)} B at {count(answer.address)}",
            duration(answer.latency_ns),
            *([spent.component, spent.activity] if spent else ["", ""]),
            duration(spent.ns) if spent else "",
            percent(spent.ns / answer.latency_ns) if spent and answer.latency_ns else "",
        ]
        for answer in found
        for spent in answer.spent or [None]
    ]
    for place in range(len(rows) - 1, 0, -1):
        if rows[place][:2] == rows[place - 1][:2]:
            rows[place][:2] = ["", ""]
    columns = ["request", "took", "in", "doing", "time", "share"]
    return {
        "tables": answers.tables(Table("", columns, [False, True, False, False, True, True], rows))
    }


def _told(export: ExportStatistics) -> dict[str, Any]:
    parts: list[Callable[[], Table]] = [
        lambda: request_table(export),
        lambda: latency_table(export),
        lambda: wear_table(export.components),
    ]
    return {
        "name": export.name,
        "facts": answers.lines(export_facts(export)),
        "tables": answers.tables(*(part() for part in parts)),
        "reads": export.requests.read.requests,
        "writes": export.requests.write.requests,
        "has_wear": any(part.get("wear") for part in export.components),
    }


def _attached(image: str) -> Control:
    if not image:
        hint = "give the image that is served, or its control socket"
        raise config_error([Problem(path="image", problem="it is missing", hint=hint)])
    if "\0" in image:
        raise Error("the name of an image has no null byte")
    return Control(image)


def _request_of(each: object) -> tuple[str, int, int]:
    if isinstance(each, list) and len(each) == 3:
        op, first, size = each
        if op in OPS and isinstance(first, int) and isinstance(size, int):
            return op, first, size
    hint = f"write {', '.join(OPS[:-1])} or {OPS[-1]}, the first byte and how many bytes"
    problem = Problem(path="requests", problem="it is no request", given=str(each)[:80], hint=hint)
    raise config_error([problem])
