"""The command line: `nacre`."""

from __future__ import annotations

from typing import Annotated

import typer

from nacre import __version__
from nacre.cli import catalog, report, run, trace

app = typer.Typer(
    name="nacre",
    help="A laboratory for non-volatile storage.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(run.run)
app.command()(run.check)
app.add_typer(trace.app, name="trace", no_args_is_help=True)
app.add_typer(catalog.app, name="catalog")
app.command()(report.report)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nacre {__version__}")
        raise typer.Exit


@app.callback()
def nacre(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """A laboratory for non-volatile storage."""


def main() -> None:
    """Runs the command line."""
    app()
