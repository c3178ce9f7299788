"""The command `nacre ctl fault`."""

from __future__ import annotations

from typing import Annotated

import typer

from nacre.cli.arguments import Export, Json, Served
from nacre.cli.commands import Group
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_json, write_line, write_table
from nacre.devices.control import Control
from nacre.errors import invalid
from nacre.words.served import fault_table

app = typer.Typer(help="Make the served device slow down, stall, fail, or corrupt data.", cls=Group)

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help='Set a parameter of the fault, e.g. start="10 s" (repeatable).',
    ),
]


@app.command()
@guarded
def add(
    image: Served,
    kind: Annotated[
        str,
        typer.Argument(metavar="KIND", help="Kind of fault, e.g. stall, delay, error, lost_write."),
    ],
    settings: Settings = None,
    export: Export = None,
    as_json: Json = False,
) -> None:
    """Add a fault. Its start time is relative to the current time."""
    with Control(image) as control:
        number = control.add_fault(kind, _settings(settings), export=export)
    if as_json:
        write_json({"number": number, "kind": kind})
    else:
        write_line(f"fault {number}: {kind}; end it with: nacre ctl fault clear {image} {number}")


@app.command("list")
@guarded
def list_(image: Served, export: Export = None, as_json: Json = False) -> None:
    """List the added faults and their effects."""
    with Control(image) as control:
        found = control.faults(export=export)
    if as_json:
        write_json([fault.to_dict() for fault in found])
    elif found:
        write_table(fault_table(found))
    else:
        write_line("no faults were added")


@app.command()
@guarded
def clear(
    image: Served,
    number: Annotated[
        int | None,
        typer.Argument(metavar="[NUMBER]", help="Number of the fault; default: all faults.", min=0),
    ] = None,
    export: Export = None,
    as_json: Json = False,
) -> None:
    """End one fault or all faults; delayed requests resume."""
    with Control(image) as control:
        cleared = control.clear_fault(number, export=export)
    if as_json:
        write_json({"cleared": cleared})
    else:
        write_line(f"{cleared} fault{'' if cleared == 1 else 's'} cleared")


def _settings(given: list[str] | None) -> dict[str, object]:
    """Parses settings by name. Raises `ConfigError` for invalid settings."""
    found: dict[str, object] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            hint = 'write NAME=VALUE, e.g. --set duration="5 s"'
            raise invalid("invalid-value", "--set", "not a setting", given=f'"{text}"', hint=hint)
        found[name.strip()] = _value(value.strip())
    return found


def _value(text: str) -> object:
    """Parses a TOML value. Text that is not TOML becomes a string, so strings need no quotes."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
