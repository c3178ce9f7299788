"""The command `nacre report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.arguments import Force, place
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_line
from nacre.files.atomic import look, look_apart, write_file


@guarded
def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT...",
            help="Result directories (written with --out) or trace files.",
        ),
    ],
    html: Annotated[
        Path,
        typer.Option(
            "--html", "-o", "--output", metavar="FILE", parser=place, help="HTML file to write."
        ),
    ],
    force: Force = False,
) -> None:
    """Create an HTML report from saved results or traces."""
    from nacre.base.doing import Doing
    from nacre.base.progress import Bar
    from nacre.kinds.reports import files_of, load, name_of
    from nacre.kinds.reports import report as page
    from nacre.results.record import Record

    look_apart(html, files_of(results))
    look(html, replace=force)
    with Bar("reading", "requests") as bar:
        loaded = {name_of(path, results): load(path, bar) for path in results}
    with Doing("drawing the page"):
        drawn = page(loaded)
    write_file(html, drawn.encode(), replace=force)
    what = "record" if all(isinstance(one, Record) for one in loaded.values()) else "result"
    write_line(f"{html}: {len(loaded)} {what}{'' if len(loaded) == 1 else 's'}")
