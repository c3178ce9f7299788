"""The command `nacre explore`."""

from __future__ import annotations

import json
import tempfile
import webbrowser
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.arguments import directory
from nacre.cli.failure import guarded
from nacre.cli.interrupt import trust
from nacre.cli.terminal import flush, write_line


@guarded
def explore(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="TCP port on 127.0.0.1; 0 selects a free port.")
    ] = 0,
    out: Annotated[Path, directory("Directory for runs and other results.")] = Path("explored"),
    browser: Annotated[
        bool, typer.Option("--browser", help="Open the page in the default browser.")
    ] = False,
) -> None:
    """Use Nacre in a web browser on this machine."""
    from nacre.explorer import explore as answer

    trust()
    # While it listens, the server has signal handlers.
    with suppress(KeyboardInterrupt), ExitStack() as stack:

        def ready(address: str) -> None:
            write_line(f"open {address}")
            write_line(f"results are saved in {out}; press Ctrl-C to stop")
            flush()
            if browser:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nacre-explore-"))
                webbrowser.open(_leading(Path(folder), address))

        answer(out, port=port, ready=ready)


def _leading(folder: Path, address: str) -> str:
    """Writes a page that redirects to the address, and returns the URI of the page.

    Other users can see the arguments of the browser's process, but only the current user can read
    the folder of the page.
    """
    page = folder / "open.html"
    text = json.dumps(address).replace("<", "\\u003c")
    page.write_text(f"<!DOCTYPE html><title>Nacre</title><script>location.replace({text})</script>")
    return page.as_uri()
