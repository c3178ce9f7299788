"""`nacre new`: a scenario, an example, or a flash drive from its data sheet."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli import completing
from nacre.cli.arguments import output_option
from nacre.cli.describe import list_models
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_line, write_text
from nacre.errors import Problem, config_error, invalid
from nacre.files.atomic import write_file
from nacre.scenario import data_sheet, examples
from nacre.scenario import models as made_of
from nacre.scenario.examples import EXAMPLES


class CellKind(StrEnum):
    """Bits of a cell: two, three or four."""

    MLC = "mlc"
    TLC = "tlc"
    QLC = "qlc"


def _figure(name: str, metavar: str, what: str) -> Any:
    return typer.Option(f"--{name}", metavar=metavar, help=what)


@guarded
def new(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help="Of the stack, as ssd or tiers; a device of the catalogue, as tlc_nvme; or an "
            "example, as first_look.ipynb. Default: a list of kinds and examples.",
            autocompletion=completing.stacks,
        ),
    ] = None,
    output: Annotated[Path | None, output_option("The file to write.")] = None,
    capacity: Annotated[
        str | None, _figure("capacity", "SIZE", 'Bytes that the host sees, as "3.84 TB".')
    ] = None,
    read_iops: Annotated[
        str | None, _figure("read-iops", "RATE", 'Random reads of 4 KiB, as "1e6 /s" or 1000000.')
    ] = None,
    write_iops: Annotated[
        str | None, _figure("write-iops", "RATE", "Random writes of --unit, in the steady state.")
    ] = None,
    sequential_read: Annotated[
        str | None, _figure("sequential-read", "BANDWIDTH", 'Reads in order, as "6.9 GB/s".')
    ] = None,
    sequential_write: Annotated[
        str | None, _figure("sequential-write", "BANDWIDTH", "Writes in order, for long.")
    ] = None,
    read_latency: Annotated[
        str | None, _figure("read-latency", "TIME", 'A random read alone, as "80 us".')
    ] = None,
    write_latency: Annotated[
        str | None, _figure("write-latency", "TIME", "A random write alone.")
    ] = None,
    endurance: Annotated[
        str | None, _figure("endurance", "SIZE", 'Bytes that may be written, as "7008 TB".')
    ] = None,
    unit: Annotated[
        str | None, _figure("unit", "SIZE", "The indirection unit. Default: 4 KiB.")
    ] = None,
    cells: Annotated[
        CellKind | None, typer.Option("--cells", help="The flash cells. Default: tlc.")
    ] = None,
) -> None:
    """Write a commented scenario, or an example, to begin with.

    `nacre new ssd` with the figures of a data sheet writes a drive that is as fast as they say.
    """
    figures = {
        "capacity": capacity,
        "read-iops": read_iops,
        "write-iops": write_iops,
        "sequential-read": sequential_read,
        "sequential-write": sequential_write,
        "read-latency": read_latency,
        "write-latency": write_latency,
        "endurance": endurance,
        "unit": unit,
    }
    given = {name: text for name, text in figures.items() if text is not None}
    if kind is None:
        if output is not None or given or cells:
            file = output or "drive.toml"
            hint = f'name one, as "nacre new ssd -o {file}"; nacre new lists them'
            raise invalid("missing-setting", "KIND", "it is not given", hint=hint)
        rows = [["example", *row] for row in EXAMPLES.items()]
        list_models(made_of.family("device"), as_json=False, more=rows)
        return
    if given or cells:
        text = _from_sheet(kind, given, cells or CellKind.TLC)
    else:
        text = examples.text(kind) if kind in EXAMPLES else made_of.new(kind)
    if output is None:
        write_text(text)
        return
    if output.exists():
        raise invalid("file-exists", str(output), "it is there already", hint="give another name")
    write_file(output, text.encode())
    runs = examples.runs_with(kind, output) if kind in EXAMPLES else f"nacre run {output}"
    write_line(f"{output}: run it with: {runs}")


def _from_sheet(kind: str, given: Mapping[str, str], cells: CellKind) -> str:
    if kind != "ssd":
        told = "the figures of a data sheet make a flash drive"
        raise invalid("conflicting-settings", "KIND", told, given=kind, hint="give ssd")
    problems: list[Problem] = []
    values: dict[str, float] = {}
    for name, base in data_sheet.FIGURES.items():
        text = given.get(name)
        if text is None:
            if name in data_sheet.REQUIRED:
                problems.append(
                    Problem(
                        code="missing-setting",
                        path=f"--{name}",
                        problem="it is not given, which a drive from a data sheet needs",
                    )
                )
            continue
        try:
            values[name.replace("-", "_")] = data_sheet.figure(text, base)
        except ValueError as error:
            problems.append(
                Problem(code="invalid-value", path=f"--{name}", given=text, problem=str(error))
            )
    if problems:
        raise config_error(problems)
    sheet = data_sheet.DataSheet(**values, cells=cells.value)
    return data_sheet.drive(sheet).scenario()
