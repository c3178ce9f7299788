"""`nacre report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.arguments import Force, place
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_line
from nacre.errors import Error, Problem, config_error
from nacre.record import Record
from nacre.saving import look, write_file
from nacre.text import printable


@guarded
def report(
    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORD...", help="Directories written by `nacre run --out`."),
    ],
    html: Annotated[Path, typer.Option(metavar="FILE", parser=place, help="The page to write.")],
    force: Force = False,
) -> None:
    """Make an HTML page of saved records."""
    from nacre.report import report as page

    look(html, replace=force)
    loaded = {_name(path, records): _load(path) for path in records}
    write_file(html, page(loaded).encode(), replace=force)
    write_line(f"{html}: {len(loaded)} {'record' if len(loaded) == 1 else 'records'}")


def _load(path: Path) -> Record:
    """The record; a file that is none is the user's mistake."""
    try:
        return Record.load(path)
    except Error as error:
        hint = "give what `nacre run --out` wrote"
        raise config_error([Problem(problem=str(error), hint=hint)]) from None


def _name(path: Path, among: list[Path]) -> str:
    """The shortest name that tells the records apart."""
    folder = path.parent if path.suffix == ".json" else path
    same = [other for other in among if other.name == path.name]
    return printable(folder.resolve().name if len(same) == 1 else str(folder))
