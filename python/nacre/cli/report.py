"""`nacre report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.arguments import place
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_line
from nacre.record import Record
from nacre.saving import write_file
from nacre.text import printable


@guarded
def report(
    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORD...", help="Directories written by `nacre run --out`."),
    ],
    html: Annotated[Path, typer.Option(metavar="FILE", parser=place, help="The page to write.")],
) -> None:
    """Make an HTML page of saved records."""
    from nacre.report import report as page

    loaded = {_name(path, records): Record.load(path) for path in records}
    write_file(html, page(loaded).encode())
    write_line(f"{html}: {len(loaded)} records")


def _name(path: Path, among: list[Path]) -> str:
    """The shortest name that tells the records apart."""
    folder = path.parent if path.suffix == ".json" else path
    same = [other for other in among if other.name == path.name]
    return printable(folder.resolve().name if len(same) == 1 else str(folder))
