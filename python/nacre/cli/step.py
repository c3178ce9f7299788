"""The command `nacre step`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from nacre.base.quantity import maybe
from nacre.base.table import Table
from nacre.cli.arguments import Json, Scenario, Settings, settings_of
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_json, write_line, write_table
from nacre.errors import invalid
from nacre.simulate.stepping import OPS, Answer, Request
from nacre.simulate.stepping import step as ask

_BYTES = 4096


@guarded
def step(
    scenario: Scenario,
    requests: Annotated[
        list[str],
        typer.Argument(
            metavar="REQUEST...",
            help="OP[:ADDRESS[:SIZE]], e.g. read:8KiB:4KiB; OP is read, write, trim, or flush"
            " (default 0:4096).",
        ),
    ],
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Issue single requests and show their latency breakdowns."""
    answers = ask(scenario, [asked(word) for word in requests], settings_of(scenario, settings))
    if as_json:
        write_json([answer.to_dict() for answer in answers])
    else:
        show(answers)


def show(answers: Sequence[Answer]) -> None:
    """Prints the latency breakdown and the counters of each request."""
    for number, answer in enumerate(answers):
        if number:
            write_line()
        what = f"{answer.op} of {answer.bytes} B at {answer.address}" if answer.bytes else answer.op
        failed = "" if answer.is_done else "; the device reported an error"
        taken = f"{answer.latency_ns:,.1f} ns, issued at {answer.issued_ns:,.1f} ns"
        write_line(f"{what}: {taken}{failed}")
        rows = [(one.component, one.doing, f"{one.ns:,.1f}") for one in answer.spent]
        write_table(Table("", ("component", "spent on", "ns"), (False, False, True), rows))
        rows = [(one.component, one.name, f"{one.count:,}") for one in answer.counted]
        write_table(Table("", ("component", "counted", "times"), (False, False, True), rows))


def asked(word: str) -> Request:
    """Parses a request of the command line, e.g. `read:8192:4096` or `write:8KiB:4KiB`."""
    op, *given = word.split(":")
    numbers = [_bytes(number) for number in given]
    if len(numbers) > 2 or None in numbers or op not in OPS:
        hint = "write OP:ADDRESS:SIZE, e.g. read:8KiB:4KiB; OP is read, write, trim, or flush"
        raise invalid("invalid-value", "requests", "it is not a request", given=word, hint=hint)
    address, size, *_ = [number or 0 for number in numbers] + [0, _BYTES][len(numbers) :]
    return op, address, 0 if op == "flush" else size


def _bytes(text: str) -> int | None:
    """Parses a number of bytes, with or without a unit. Returns None for other text."""
    if text.strip().isdecimal():
        return int(text)
    quantity = maybe(text)
    is_whole = quantity is not None and quantity.base == "bytes" and not quantity.value % 1
    return int(quantity.value) if quantity is not None and is_whole else None
