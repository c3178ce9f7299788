"""Classes of commands and command groups, with their help and the message for an unknown option."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from typer.core import TyperCommand, TyperGroup

_SHOWN = 3
_MANY = 8
"""If a command has more options than this, its help lists them under headings."""
_HEADINGS: Mapping[str, Sequence[str]] = {
    "State": ("--from", "--save-state"),
    "Connections": ("--listen", "--tls", "--control", "--metrics"),
    "With a program": ("--check", "--times", "--within", "--ready", "--ready-timeout"),
    "From a data sheet": (
        *("--capacity", "--read-iops", "--write-iops", "--sequential-read", "--sequential-write"),
        *("--read-latency", "--write-latency", "--endurance", "--unit", "--cells"),
    ),
    "Reading the trace": ("--format", "--time-unit", "--strict", "--action", "--page", "--limit"),
    "Execution": (
        *("--split", "--engine", "--address", "--workers"),
        *("--tls-ca", "--tls-cert", "--tls-key"),
    ),
    "Results": ("--output", "--out", "--html", "--record", "--resume", "--force", "--json"),
}
"""Headings and their options, in the order of the help. Other options come first."""
_VALUES = {"<int range>": "N", "<float>": "NUMBER", "<str>": "NAME"}
"""Maps type names in the help to placeholders."""


class Command(TyperCommand):
    """A command.

    If it accepts `--set` and an unknown option is the name of a setting, the error suggests
    `--set`.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the arguments.

        For example, the error for `--requests` suggests `--set workload.requests=...`.
        """
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", "")  # the error is about an unknown option
            takes_settings = any("--set" in each.opts for each in self.params)
            paths = places(option.lstrip("-").replace("-", "_")) if takes_settings else []
            if paths:
                given = " or ".join(f"--set {path}=..." for path in paths[:_SHOWN])
                text = f"No such option: {option}; to change a setting, use {given}"
                vars(error).update(message=text, possibilities=None)
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes the help of the arguments and options, with headings if there are many options."""
        shown = [(each, each.get_help_record(ctx)) for each in self.get_params(ctx)]
        is_long = sum(each.param_type_name == "option" for each, _ in shown) > _MANY
        rows: dict[str, list[Any]] = {name: [] for name in ("Arguments", "Options", *_HEADINGS)}
        for each, record in shown:
            if record and each.param_type_name == "argument":
                rows["Arguments"].append(record)
            elif record:
                rows[_heading(each.opts) if is_long else "Options"].append(_readable(record))
        for name, records in rows.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


def _readable(record: tuple[str, str]) -> tuple[str, str]:
    """Returns the names and the help of an option, with placeholders instead of type names."""
    names, text = record
    for kind, value in _VALUES.items():
        names = names.replace(kind, value)
    return names, text


def _heading(names: Sequence[str]) -> str:
    found = (title for title, known in _HEADINGS.items() if not {*names}.isdisjoint(known))
    return next(found, "Options")


class Group(TyperGroup):
    """A command group whose help shows the first paragraph of the help of each command."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list of commands with their help."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, _first(each.help)) for name, each in found if each and not each.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


def _first(text: str | None) -> str:
    """Returns the first paragraph of a text on one line."""
    return " ".join((text or "").partition("\n\n")[0].split())


def places(name: str) -> list[str]:
    """Returns paths of settings with this name in a scenario, e.g. `workload.requests`."""
    from nacre import _core

    schema = json.loads(_core.schema_of(False))
    # In the schema, `run` may be a table, or `false` for no table.
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
