"""Commands: one that takes `--set` says how a setting is given that came as an option."""

from __future__ import annotations

import json
from typing import Any

import typer
from typer.core import TyperCommand

_USAGE: Any = typer.BadParameter.__mro__[1]
"""What is raised for an option that a command does not have."""
_SHOWN = 3


class Settable(TyperCommand):
    """A command whose scenario may have settings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments; `--requests` is answered with `--set workload.requests=...`."""
        try:
            return super().parse_args(ctx, args)
        except _USAGE as error:
            option = str(getattr(error, "option_name", ""))
            takes_settings = any("--set" in each.opts for each in self.params)
            paths = places(option.lstrip("-").replace("-", "_")) if takes_settings else []
            if paths:
                given = " or ".join(f"--set {path}=..." for path in paths[:_SHOWN])
                error.message = f"No such option: {option}; a setting is given as {given}"
                error.possibilities = None
            raise


def places(name: str) -> list[str]:
    """Where a scenario may have a setting of this name: `workload.requests`."""
    from nacre import _core

    schema = json.loads(_core.schema_of(False))
    # A table of a scenario, or `false` for none.
    run = schema["properties"]["run"]["anyOf"][0]["properties"]
    families = {"workload": "workload.", "workload.arrival": "arrival.", "stack": "device."}
    found = [
        f"{path}.{name}"
        for path, family in families.items()
        if any(
            key.startswith(family) and name in table.get("properties", {})
            for key, table in schema["$defs"].items()
        )
    ]
    return [*found, *([f"run.{name}"] if name in run else [])]
