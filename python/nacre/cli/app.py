"""The table of commands, and the setup of the standard streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
import typer.main

from nacre import __version__
from nacre.cli.commands import Command, Group
from nacre.cli.failure import INTERRUPTED, explain
from nacre.cli.interrupt import heed
from nacre.cli.terminal import OutputError

_COMMANDS = {
    "run": "run:run",
    "check": "run:check",
    "step": "step:step",
    "crash": "crash:crash",
    "mixes": "mixes:mixes",
    "reproduce": "reproduce:reproduce",
    "study": "study:study",
    "trace": "trace:app",
    "catalog": "catalog:app",
    "describe": "describe:describe",
    "new": "new:new",
    "schema": "describe:schema",
    "import": "imports:app",
    "compare": "mqsim:comparisons",
    "report": "report:report",
    "explore": "explore:explore",
    "serve": "serve:serve",
    "ctl": "ctl:app",
    "image": "image:app",
}
"""Maps each command, in the order of the help, to its module and its function or command group. A
command is loaded on first use, because loading all commands takes longer than a short run."""


class _Commands(Mapping[str, Any]):
    """All commands by name. A command is loaded on access."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = _load(name, _COMMANDS[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_COMMANDS)

    def __len__(self) -> int:
        return len(_COMMANDS)


def _load(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    found = getattr(import_module(f"nacre.cli.{module}"), attribute)
    made = typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        for command in found.registered_commands:
            command.cls = Command
        made.add_typer(found, name=name, no_args_is_help=name != "catalog")
    else:
        made.command(name, cls=Command)(found)
    return typer.main.get_group(made).commands[name]


class _Words(Group):
    """Top-level command group of `nacre`."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()  # type: ignore[assignment]  # none is ever added


app = typer.Typer(
    name="nacre",
    cls=_Words,
    help="Simulate and evaluate non-volatile storage devices and systems.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nacre {__version__}")
        raise typer.Exit


@app.callback()
def nacre(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Simulate and evaluate non-volatile storage devices and systems."""


def start() -> None:
    """Runs the command named by the arguments, and exits."""
    _open_streams()
    try:
        heed()
    except (OSError, RuntimeError, MemoryError) as error:  # no descriptors, no thread
        sys.exit(explain(error))
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # Typer prints help and version itself.
        sys.exit(explain(OutputError(error)))


def _open_streams() -> None:
    """Makes the standard streams usable if they are closed or have a limited encoding.

    If a standard descriptor is closed, Python has no stream for it, and the next opened file would
    get its number. Therefore, closed descriptors are opened on /dev/null. Characters that the
    encoding lacks are escaped.
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
