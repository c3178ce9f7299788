"""`nacre step`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from nacre.cli.arguments import Json, Scenario, Settings, settings_of
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_json, write_line, write_table
from nacre.errors import Problem, config_error
from nacre.step import Answer, Request
from nacre.step import step as ask
from nacre.summary import Table

_BYTES = 4096


@guarded
def step(
    scenario: Scenario,
    requests: Annotated[
        list[str],
        typer.Argument(
            metavar="REQUEST...",
            help="read:ADDRESS:BYTES, write:..., trim:... or flush; 0 and 4096 where left out.",
        ),
    ],
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Issue single requests to a simulated device and show where every nanosecond went."""
    answers = ask(scenario, [asked(word) for word in requests], settings_of(scenario, settings))
    if as_json:
        write_json([answer.to_dict() for answer in answers])
    else:
        show(answers)


def show(answers: Sequence[Answer]) -> None:
    """Where the time of each request went, and what was counted meanwhile."""
    for number, answer in enumerate(answers):
        if number:
            write_line()
        what = f"{answer.op} of {answer.bytes} B at {answer.address}" if answer.bytes else answer.op
        failed = "" if answer.is_done else "; the device could not do it"
        taken = f"{answer.latency_ns:,.1f} ns, issued at {answer.issued_ns:,.1f} ns"
        write_line(f"{what}: {taken}{failed}")
        rows = [(one.component, one.activity, f"{one.ns:,.1f}") for one in answer.spent]
        write_table(Table("", ("component", "spent on", "ns"), (False, False, True), rows))
        rows = [(one.component, one.name, f"{one.count:,}") for one in answer.counted]
        write_table(Table("", ("component", "counted", "times"), (False, False, True), rows))


def asked(word: str) -> Request:
    """A request as it is written in a command: `read:8192:4096`."""
    op, *numbers = word.split(":")
    if len(numbers) > 2 or not all(number.isdecimal() for number in numbers):
        hint = "write it as read:8192:4096"
        problem = Problem(path="requests", problem="it is no request", given=word, hint=hint)
        raise config_error([problem])
    address, size, *_ = [int(number) for number in numbers] + [0, _BYTES][len(numbers) :]
    return op, address, 0 if op == "flush" else size
