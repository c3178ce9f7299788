"""The commands `nacre import mqsim` and `nacre compare mqsim`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from nacre.base.table import Table
from nacre.cli.arguments import Json, output_option
from nacre.cli.commands import Group
from nacre.cli.failure import guarded, warn
from nacre.cli.terminal import write_json, write_line, write_table, write_text
from nacre.errors import config_error, invalid
from nacre.files.atomic import write_file
from nacre.interop import mqsim as rival
from nacre.interop.mqsim.contradictions import Settings
from nacre.interop.mqsim.refused import refused
from nacre.interop.mqsim.settings import Flow

_T = TypeVar("_T")


class _Simulators(Group):
    """A command group with one command per simulator.

    If an argument is a file or directory of results, the error suggests `nacre report`.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Finds the command named by the first argument."""
        if args and args[0] not in self.commands and Path(args[0]).exists():
            results = " ".join(args)
            raise typer.BadParameter(
                f"{args[0]} is not a simulator; to compare results:"
                f" nacre report {results} -o PAGE.html"
            )
        return super().resolve_command(ctx, args)


comparisons = typer.Typer(
    help="Compare Nacre with another simulator on the same input.", cls=_Simulators
)
Drive = Annotated[Path, typer.Argument(metavar="SSDCONFIG", help="MQSim SSD configuration (XML).")]
Definition = Annotated[
    Path, typer.Argument(metavar="WORKLOAD", help="MQSim workload definition (XML).")
]
Number = Annotated[
    int, typer.Option(min=1, help="Number of the I/O scenario in the workload file.")
]
Which = Annotated[int, typer.Option(min=1, help="Number of the flow in that I/O scenario.")]


@comparisons.callback()
def compares() -> None:
    """Compare Nacre with another simulator on the same input."""


@guarded
def import_mqsim(
    drive: Drive,
    workload: Definition,
    scenario: Number = 1,
    flow: Annotated[
        int | None,
        typer.Option(min=1, help="Number of a flow in that I/O scenario; default: all flows."),
    ] = None,
    output: Annotated[Path | None, output_option("Scenario file to write (TOML).")] = None,
) -> None:
    """Convert MQSim files and list settings without an equivalent."""
    if output is not None and output.exists():
        raise invalid("file-exists", str(output), "it already exists", hint="give another name")
    settings, flows = _flows(drive, workload, scenario)
    if flow is not None:
        _one(flows, flow, f"{workload}: --flow")
    found = rival.translate(settings, flows, flow=flow, folder=_relative_path(output, workload))
    if problems := refused(found.table):
        raise config_error(problems)
    if output is None:
        write_text(found.text)
        return
    write_file(output, found.text.encode())
    for line in found.missing:
        warn(f"no equivalent: {line}")
    write_line(f"{output}: run it with: nacre run {output}")


@comparisons.command("mqsim")
@guarded
def compare_mqsim(
    drive: Drive, workload: Definition, scenario: Number = 1, flow: Which = 1, as_json: Json = False
) -> None:
    """Run one flow in MQSim (on PATH) and in Nacre, and compare."""
    folder = workload.parent.resolve()
    settings, flows = _flows(drive, workload, scenario)
    chosen = _one(flows, flow, f"{workload}: --flow")
    found = rival.translate(settings, flows, flow=flow, folder=folder)
    rows = rival.compare(drive, chosen, found, folder)
    if as_json:
        write_json([{**asdict(row), "difference": row.difference} for row in rows])
        return
    cells = [
        (row.name, f"{row.mqsim:,.6g}", f"{row.nacre:,.6g}", f"{row.difference:+.1%}", row.because)
        for row in rows
    ]
    columns = ("", "MQSim", "nacre", "difference", "possible reasons for differences")
    write_table(
        Table(
            "",
            columns,
            (False, True, True, True, False),
            cells,
            ("possible reasons for differences",),
        )
    )
    for line in found.missing:
        warn(f"no equivalent: {line}")


def _flows(drive: Path, workload: Path, scenario: int) -> tuple[Settings, list[Flow]]:
    """Returns the settings of the drive, and the flows of I/O scenario number `scenario`."""
    settings, scenarios = rival.read(drive, workload)
    return settings, _one(scenarios, scenario, f"{workload}: --scenario")


def _relative_path(output: Path | None, workload: Path) -> Path:
    """Returns the folder of the workload file, as a path for the scenario file.

    The path is relative if both files are in one folder.
    """
    if output is None or output.parent.resolve() == workload.parent.resolve():
        return Path()
    return workload.parent.resolve()


def _one(items: list[_T], number: int, path: str) -> _T:
    if number > len(items):
        raise invalid("out-of-range", path, f"there are {len(items)}", given=str(number))
    return items[number - 1]
