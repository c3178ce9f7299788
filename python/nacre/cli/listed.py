"""Groups of commands whose help lists each with its whole first sentence."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class Listed(TyperGroup):
    """A group of commands; nothing in the list of its help is cut."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes a line or more for each command."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _first(each.help)) for name, each in found if each and not each.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _first(text: str | None) -> str:
    """The first paragraph, in one line."""
    return " ".join((text or "").partition("\n\n")[0].split())
