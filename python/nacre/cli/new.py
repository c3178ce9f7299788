"""The command `nacre new`."""

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
    """Number of bits per flash cell: two, three, or four."""

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
            help="Kind of stack (e.g. ssd, tiers), catalog device (e.g. tlc_nvme), or example"
            " (e.g. first_look.ipynb); default: list them.",
            autocompletion=completing.stacks,
        ),
    ] = None,
    output: Annotated[Path | None, output_option("File to write.")] = None,
    capacity: Annotated[
        str | None, _figure("capacity", "SIZE", 'Usable capacity, e.g. "3.84 TB".')
    ] = None,
    read_iops: Annotated[
        str | None, _figure("read-iops", "RATE", '4 KiB random reads per second, e.g. "1e6 /s".')
    ] = None,
    write_iops: Annotated[
        str | None,
        _figure("write-iops", "RATE", "Steady-state random writes per second, --unit bytes each."),
    ] = None,
    sequential_read: Annotated[
        str | None,
        _figure("sequential-read", "BANDWIDTH", 'Sequential read bandwidth, e.g. "6.9 GB/s".'),
    ] = None,
    sequential_write: Annotated[
        str | None,
        _figure("sequential-write", "BANDWIDTH", "Sustained sequential write bandwidth."),
    ] = None,
    read_latency: Annotated[
        str | None,
        _figure("read-latency", "TIME", 'Random read latency at queue depth 1, e.g. "80 us".'),
    ] = None,
    write_latency: Annotated[
        str | None, _figure("write-latency", "TIME", "Random write latency at queue depth 1.")
    ] = None,
    endurance: Annotated[
        str | None,
        _figure("endurance", "SIZE", 'Rated endurance in bytes written, e.g. "7008 TB".'),
    ] = None,
    unit: Annotated[
        str | None, _figure("unit", "SIZE", "Mapping (indirection) unit; default: 4 KiB.")
    ] = None,
    cells: Annotated[
        CellKind | None, typer.Option("--cells", help="Flash cell type; default: tlc.")
    ] = None,
) -> None:
    """Write a commented scenario or an example as a starting point.

    Given values from a data sheet, `nacre new ssd` writes a scenario with a drive that matches
    them.
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
        raise invalid("file-exists", str(output), "it already exists", hint="give another name")
    write_file(output, text.encode())
    runs = examples.runs_with(kind, output) if kind in EXAMPLES else f"nacre run {output}"
    write_line(f"{output}: run it with: {runs}")


def _from_sheet(kind: str, given: Mapping[str, str], cells: CellKind) -> str:
    if kind != "ssd":
        told = "numbers from a data sheet need a flash drive"
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
                        problem="it is required for a drive from a data sheet",
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
