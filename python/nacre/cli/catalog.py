"""The command `nacre catalog`."""

from __future__ import annotations

from typing import Annotated

import typer

from nacre.base.table import Table
from nacre.cli import completing
from nacre.cli.arguments import Json
from nacre.cli.commands import Group
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_json, write_line, write_prose, write_table, write_text
from nacre.errors import config_error, unknown
from nacre.scenario.catalog import entries
from nacre.scenario.source import scenarios

app = typer.Typer(
    help="List and show the built-in devices, media, and scenarios.",
    no_args_is_help=False,
    cls=Group,
)


@app.callback(invoke_without_command=True)
@guarded
def default(context: typer.Context) -> None:
    """List and show the built-in devices, media, and scenarios."""
    if context.invoked_subcommand is None:
        show_all(as_json=False)


@app.command("list")
@guarded
def list_(as_json: Json = False) -> None:
    """List the entries of the catalog."""
    show_all(as_json=as_json)


@app.command()
@guarded
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="Name of an entry, from `nacre catalog list`.",
            autocompletion=completing.shipped,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Show an entry with its sources, or the text of a scenario."""
    known, shipped = entries(), {row.name: row for row in scenarios()}
    if name in known:
        entry = known[name]
        both = {"scenario": shipped[name]._asdict()} if name in shipped else {}
        if as_json:
            values = [vars(value) for value in entry.values]
            write_json({**vars(entry), "values": values, **both})
            return
        write_prose(f"{entry.name}: {entry.summary} ({entry.family}, kind {entry.kind})")
        write_line()
        rows = [[v.path, v.value, v.confidence, v.source, v.note] for v in entry.values]
        columns = ["value", "is", "confidence", "source", "note"]
        write_table(Table("", columns, [False] * 5, rows, prose=["source", "note"]))
        if both:
            write_line()
            write_prose(f"{name} is also a scenario: nacre run {name}")
            write_line()
            write_text(f"{shipped[name].text.rstrip()}\n")
    elif name in shipped:
        if as_json:
            write_json(shipped[name]._asdict())
        else:
            write_text(f"{shipped[name].text.rstrip()}\n")
    else:
        raise config_error([unknown("the catalog has no entry called", name, [*known, *shipped])])


def show_all(*, as_json: bool) -> None:
    """Prints catalog entries and scenarios."""
    known, shipped = entries(), scenarios()
    if as_json:
        write_json(
            {
                "entries": [
                    {**vars(entry), "values": [vars(value) for value in entry.values]}
                    for entry in known.values()
                ],
                "scenarios": [{"name": row.name, "summary": row.summary} for row in shipped],
            }
        )
        return
    rows = [[e.name, e.family, e.kind, e.summary] for e in known.values()]
    rows += [[row.name, "scenario", "", row.summary] for row in shipped]
    write_table(
        Table("", ["name", "family", "kind", "summary"], [False] * 4, rows, prose=["summary"])
    )
