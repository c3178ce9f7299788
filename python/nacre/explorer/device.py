"""Monitors and controls a served device like `nacre ctl`, and issues single requests."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from starlette.requests import Request
from starlette.routing import Route

import nacre
from nacre import step
from nacre.base.table import Table
from nacre.base.text import count, duration, percent
from nacre.devices.control import Control
from nacre.errors import Error, invalid
from nacre.explorer import answers
from nacre.results.served import ExportStatistics, Harm
from nacre.simulate.stepping import OPS, Answer
from nacre.simulate.stepping import Request as Asked
from nacre.words.served import harmed

STEPS_MAX = 100
_BYTES_MAX = 2**53 - 1
"""Largest integer up to which JavaScript represents all integers exactly."""


def routes() -> list[Route]:
    """Returns the endpoints of the page."""
    answering = answers.answering
    return [
        Route("/api/device", answering(watched)),
        Route("/api/device/served", answering(served)),
        Route("/api/device/wear", answering(wear)),
        Route(
            "/api/device/power-fail", answering(fail_power, takes_document=True), methods=["POST"]
        ),
        Route(
            "/api/device/media-error",
            answering(set_media_error, takes_document=True),
            methods=["POST"],
        ),
        Route("/api/device/fault", answering(add_fault, takes_document=True), methods=["POST"]),
        Route(
            "/api/device/fault-clear", answering(clear_fault, takes_document=True), methods=["POST"]
        ),
        Route("/api/device/step", answering(step_device, takes_document=True), methods=["POST"]),
        Route("/api/step", answering(step_scenario, takes_document=True), methods=["POST"]),
    ]


def watched(request: Request) -> dict[str, Any]:
    """Returns current statistics of a server."""
    with _attached(request.query_params.get("image", "")) as control:
        found = control.stats()
    return {
        "facts": answers.lines(found.summary().facts),
        "exports": [
            {**_export_document(export), "sample": found.sample(export.name)._asdict()}
            for export in found.exports
        ],
    }


def served(_request: Request) -> dict[str, Any]:
    """Returns the figure into which the page inserts the samples of a device."""
    return answers.figure(nacre.figures.served)


def wear(request: Request) -> dict[str, Any]:
    """Returns a figure of the erase counts of blocks."""
    with _attached(request.query_params.get("image", "")) as control:
        export = control.stats(columns=True).export(request.query_params.get("export"))

    return answers.figure(export.plot.wear)


def fail_power(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Cuts power and restores it."""
    with _attached(answers.text(given, "image")) as control:
        outage = control.power_fail(export=answers.text(given, "export"))
    return {"facts": answers.lines(outage.summary().facts)}


def set_media_error(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Injects errors into sectors of the medium, or heals the sectors."""
    harm = answers.text(given, "harm")
    offset = answers.whole(given, "offset", 0, _BYTES_MAX, -1)
    length = answers.whole(given, "length", 1, _BYTES_MAX, 0)
    if harm not in get_args(Harm):
        hint = f"use one of: {', '.join(get_args(Harm))}"
        raise invalid("unknown-name", "harm", "there is none", given=harm, hint=hint)
    known = cast("Harm", harm)
    with _attached(answers.text(given, "image")) as control:
        control.media_error(offset, length, known, export=_export(given))
    return {"facts": [harmed(offset, length, known)]}


def add_fault(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Adds a fault to the device. Its times are relative to the current simulated time."""
    kind = answers.text(given, "kind")
    text = answers.text(given, "settings", "")
    try:
        settings = tomllib.loads(f"settings = {{ {text.strip()} }}")["settings"]
    except tomllib.TOMLDecodeError as error:
        hint = """write NAME = VALUE, e.g. start = "1 s", duration = "5 s\""""
        problem = f"they are not TOML: {error}"
        raise invalid("invalid-value", "settings", problem, given=text[:80], hint=hint) from None
    with _attached(answers.text(given, "image")) as control:
        number = control.add_fault(kind, settings, export=_export(given))
    return {"facts": [f"fault {number} was added: {kind}"]}


def clear_fault(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Ends a fault, or all faults if the request names none."""
    number = answers.whole(given, "number", 0, _BYTES_MAX, -1) if "number" in given else None
    with _attached(answers.text(given, "image")) as control:
        ended = control.clear_fault(number, export=_export(given))
    return {"facts": [f"{ended} fault{'' if ended == 1 else 's'} cleared"]}


def step_device(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Issues single requests to a served device."""
    asked = _requests(given)
    with _attached(answers.text(given, "image")) as control:
        found = [
            control.step(*each, fill=0 if each[0] == "write" else None, export=_export(given))
            for each in asked
        ]
    return {"tables": answers.tables(_breakdown(found))}


def step_scenario(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Issues single requests to the stack of a scenario, and returns their latency breakdowns."""
    asked = _requests(given)
    return {"tables": answers.tables(_breakdown(step(answers.table_of(given, "tree"), asked)))}


def _breakdown(found: Sequence[Answer]) -> Table:
    """Returns a table of latency breakdowns, with a row for each span of each request."""
    columns = ["request", "took", "in", "doing", "time", "share"]
    rows = []
    for answer in found:
        told = [_message_of(answer), duration(answer.latency_ns)]
        for spent in answer.spent or [None]:
            share = percent(spent.ns / answer.latency_ns) if spent and answer.latency_ns else ""
            where = [spent.component, spent.doing, duration(spent.ns)] if spent else [""] * 3
            rows.append([*told, *where, share])
            told = ["", ""]
    return Table("", columns, [False, True, False, False, True, True], rows)


def _message_of(answer: Answer) -> str:
    failed = "" if answer.is_done else ": the device reported an error"
    what = f" {count(answer.bytes)} B at {count(answer.address)}" if answer.bytes else ""
    return f"{answer.op}{what}{failed}"


def _export_document(export: ExportStatistics) -> dict[str, Any]:
    said = export.summary()
    return {
        "name": export.name,
        "facts": answers.lines(said.facts),
        "tables": answers.tables(*said.tables),
        "has_wear": "wear" in said.figures,
        "faults": [
            {"number": fault.number, "kind": fault.kind}
            for fault in export.faults
            if not fault.cleared
        ],
    }


def _attached(image: str) -> Control:
    if not image:
        hint = "give the served image or its control socket"
        raise invalid("missing-setting", "image", "it is missing", hint=hint)
    if "\0" in image:
        raise Error("the name of an image has no null byte", "invalid-value")
    return Control(image)


def _export(given: Mapping[str, Any]) -> str | None:
    return answers.text(given, "export", "") or None


def _requests(given: Mapping[str, Any]) -> list[Asked]:
    asked = given.get("requests")
    if not isinstance(asked, list) or not 0 < len(asked) <= STEPS_MAX:
        hint = f"give 1 to {STEPS_MAX}, one in a line"
        raise invalid("missing-setting", "requests", "none were given", hint=hint)
    return [_request_of(each) for each in asked]


def _request_of(each: object) -> Asked:
    if isinstance(each, list) and len(each) == 3:
        op, first, size = each
        if op in OPS and isinstance(first, int) and isinstance(size, int):
            return op, first, size
    hint = f"write {', '.join(OPS[:-1])} or {OPS[-1]}, the first byte and how many bytes"
    raise invalid(
        "invalid-value", "requests", "it is not a request", given=str(each)[:80], hint=hint
    )
