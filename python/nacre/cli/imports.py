"""The command `nacre import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.arguments import Force, Json, output_option
from nacre.cli.commands import Group
from nacre.cli.failure import guarded
from nacre.cli.mqsim import import_mqsim
from nacre.cli.terminal import write_json, write_line, write_prose, write_text
from nacre.files.atomic import look, look_apart, write_file
from nacre.interop import fio as fio_files

app = typer.Typer(help="Convert files of other tools into scenarios.", cls=Group)


@app.callback()
def imports() -> None:
    """Convert files of other tools into scenarios."""


@app.command()
@guarded
def fio(
    file: Annotated[
        Path, typer.Argument(metavar="JOB", help="fio job file, or - for standard input.")
    ],
    job: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Job to import, by name or number, if there are several."
        ),
    ] = None,
    stack: Annotated[
        str, typer.Option(metavar="PRESET", help="Catalog device to run the job on.")
    ] = fio_files.STACK,
    output: Annotated[Path | None, output_option("Scenario file to write (TOML).")] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Convert a fio job file; lists options without equivalents."""
    if output is not None:
        look_apart(output, [file])
        look(output, replace=force)
    found = fio_files.scenario(file, job=job, stack=stack)
    if output is not None:
        write_file(output, found.text.encode(), replace=force)
    if as_json:
        write_json({"job": found.job, "scenario": found.text, "without": found.without})
    elif output is None:
        write_text(found.text)
    else:
        write_line(f"{output}: run it with: nacre run {output}")
        for each in found.without:
            write_prose(f"note: no equivalent for {each}")


app.command("mqsim")(import_mqsim)
