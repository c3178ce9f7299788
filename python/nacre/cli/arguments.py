"""Arguments that name places to write to."""

from __future__ import annotations

from pathlib import Path

import typer


def place(text: str) -> Path:
    """The path of a file or directory to write."""
    if not text:
        raise typer.BadParameter("it is empty; give the name of a place to write to.")
    if text == "-":
        raise typer.BadParameter(
            "standard output does not take files; give a name (./- for a file called so)."
        )
    return Path(text)
