"""The commands `nacre describe` and `nacre schema`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from nacre import _core
from nacre.base.table import Table
from nacre.cli import completing
from nacre.cli.arguments import Json
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_json, write_line, write_prose, write_table
from nacre.scenario import models as made_of
from nacre.scenario.models import Model


class Document(StrEnum):
    """Kinds of documents that have a schema."""

    SCENARIO = "scenario"
    RECORD = "record"


@guarded
def describe(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Model (e.g. ssd, lru, workload/zipf), preset, or family of models (e.g."
            " replacement); default: list all models.",
            autocompletion=completing.models,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a model: what it simulates and omits, settings, sources."""
    family = made_of.family(name)
    if name is None or family:
        list_models(family, as_json=as_json)
        return
    found = made_of.describe(name)
    if as_json:
        write_json([model.to_dict() for model in found])
        return
    for number, model in enumerate(found):
        if number:
            write_line()
        _show(model)
    if found[0].kind != name.rpartition("/")[2]:
        write_line()
        write_prose(f"the numbers of {name}: nacre catalog show {name}")


@guarded
def schema(
    of: Annotated[
        Document, typer.Argument(metavar="[WHAT]", help="Schema to print: scenario or record.")
    ] = Document.SCENARIO,
) -> None:
    """Print the JSON Schema of scenarios or records, for editors."""
    write_json(json.loads(_core.schema_of(of is Document.RECORD)))


def list_models(models: Sequence[Model], *, as_json: bool, more: Sequence[list[str]] = ()) -> None:
    """Prints a table of models, followed by the rows `more`."""
    if as_json:
        write_json([model.to_dict() for model in models])
        return
    rows = [*([model.family, model.kind, model.summary] for model in models), *more]
    write_table(Table("", ["family", "model", "summary"], [False] * 3, rows, prose=["summary"]))


def _show(model: Model) -> None:
    write_prose(f"{model.kind}: {model.summary} ({model.family})")
    write_line()
    for line in model.doc.rstrip().split("\n"):
        write_line(line.removeprefix("# ").upper() if line.startswith("# ") else line)
    if model.settings:
        write_line()
        rows = [[s.name, s.holds, _default(s), s.doc] for s in model.settings]
        columns = ["setting", "holds", "default", "meaning"]
        write_table(Table("", columns, [False] * 4, rows, prose=["holds", "meaning"]))
    write_line()
    write_prose(f"Model version {model.version}. Sources: {', '.join(model.sources)}.")


def _default(setting: made_of.Setting) -> str:
    return "required" if setting.required else setting.default or "none"
