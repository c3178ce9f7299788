"""The commands together, and the streams they write to."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from nacre import __version__
from nacre.cli import (
    catalog,
    crash,
    ctl,
    describe,
    explore,
    image,
    imports,
    mixes,
    mqsim,
    report,
    reproduce,
    run,
    serve,
    step,
    study,
    trace,
)
from nacre.cli.failure import INTERRUPTED, explain
from nacre.cli.terminal import OutputError

app = typer.Typer(
    name="nacre",
    help="A laboratory for non-volatile storage.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(run.run)
app.command()(run.check)
app.command()(step.step)
app.command()(crash.crash)
app.command()(mixes.mixes)
app.command()(reproduce.reproduce)
app.command()(study.study)
app.add_typer(trace.app, name="trace", no_args_is_help=True)
app.add_typer(catalog.app, name="catalog")
app.command()(describe.describe)
app.command()(describe.new)
app.command()(describe.schema)
app.add_typer(imports.app, name="import", no_args_is_help=True)
imports.app.command("mqsim")(mqsim.import_mqsim)
app.add_typer(mqsim.comparisons, name="compare", no_args_is_help=True)
app.command()(report.report)
app.command()(explore.explore)
app.command()(serve.serve)
app.add_typer(ctl.app, name="ctl", no_args_is_help=True)
app.add_typer(image.app, name="image", no_args_is_help=True)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nacre {__version__}")
        raise typer.Exit


@app.callback()
def nacre(
    version: Annotated[
        bool,
        typer.Option("--version", "-V", callback=_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """A laboratory for non-volatile storage."""


def start() -> None:
    """Runs the command the arguments name, and exits."""
    _open_streams()
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # help and version, which typer writes
        sys.exit(explain(OutputError(error)))


def _open_streams() -> None:
    """Makes standard streams that can be written, whatever the caller closed or encodes in.

    A closed descriptor would be given to the next file that is opened, and Python has no stream
    for it. What an encoding lacks is written as an escape.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: PTH123, SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
