"""`nacre import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nacre import mqsim as rival
from nacre.cli.arguments import place
from nacre.cli.failure import guarded, warn
from nacre.cli.terminal import write_line, write_text
from nacre.errors import Problem, config_error
from nacre.saving import write_file

_T = TypeVar("_T")

app = typer.Typer(help="Write scenarios from the inputs of other simulators.")


@app.callback()
def imports() -> None:
    """Write scenarios from the inputs of other simulators."""


@app.command()
@guarded
def mqsim(
    drive: Annotated[Path, typer.Argument(metavar="SSDCONFIG", help="Its SSD configuration.")],
    workload: Annotated[Path, typer.Argument(metavar="WORKLOAD", help="Its workload definition.")],
    scenario: Annotated[
        int, typer.Option(min=1, help="Which of the I/O scenarios of the workload.")
    ] = 1,
    flow: Annotated[int, typer.Option(min=1, help="Which flow of that scenario.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", parser=place, help="The scenario to write."),
    ] = None,
) -> None:
    """Write the scenario that MQSim's two files describe, and say what has no equivalent."""
    settings = rival.read_drive(drive)
    scenarios = rival.read_flows(workload, settings)
    flows = _one(scenarios, scenario, f"{workload}: --scenario")
    _one(flows, flow, f"{workload}: --flow")
    if output is not None and output.exists():
        problem = Problem(path=str(output), problem="it is there already", hint="give another name")
        raise config_error([problem])
    found = rival.translate(settings, flows, flow=flow, folder=_way(output, workload))
    if output is None:
        write_text(found.text)
        return
    write_file(output, found.text.encode())
    for line in found.missing:
        warn(f"no equivalent: {line}")
    write_line(f"{output}: run it with: nacre run {output}")


def _way(output: Path | None, workload: Path) -> Path:
    """From where the scenario lies to where the workload does."""
    if output is None or output.parent.resolve() == workload.parent.resolve():
        return Path()
    return workload.parent.resolve()


def _one(items: list[_T], number: int, path: str) -> _T:
    if number > len(items):
        problem = Problem(path=path, problem=f"there are {len(items)}", given=str(number))
        raise config_error([problem])
    return items[number - 1]
