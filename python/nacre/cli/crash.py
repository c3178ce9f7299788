"""The command `nacre crash`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from nacre.base.progress import Bar
from nacre.cli import completing
from nacre.cli.arguments import Json, ReplaceResults, Settings, directory, settings_of
from nacre.cli.ending import conclude
from nacre.cli.failure import guarded
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import write_json, write_line, write_prose, write_table, write_text
from nacre.devices.program import READY_TIMEOUT_S, RECOVERY_SHARE, crash_program
from nacre.errors import invalid
from nacre.files.staging import Staging
from nacre.kinds import crashes
from nacre.kinds.crashes import CRASH_FILES
from nacre.results.crash import Crash
from nacre.scenario.source import read
from nacre.simulate.power_loss import CRASH_SEED_MAX, crash_random
from nacre.simulate.power_loss import crash as crash_scenario
from nacre.words.crashes import branch_table, crash_facts, fault_table, pulled_facts, recovery_table

_OF_PROGRAMS = ("check", "times", "within", "ready", "ready_timeout", "recovery")
"""Options that require a program (`-- COMMAND`)."""
_OF_POINTS = ("points", "out", "force")
"""Options that cannot be used with a program."""


@guarded
def crash(
    context: typer.Context,
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCENARIO]",
            help="TOML file or name of a built-in scenario; default: random stacks.",
            autocompletion=completing.scenarios,
        ),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help="Program to run on the device; $NACRE_URI is the device's address.",
        ),
    ] = None,
    settings: Settings = None,
    points: Annotated[
        int, typer.Option(min=1, help="Minimum number of power-loss points to test.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, max=CRASH_SEED_MAX, help="Random seed.")] = 1,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAULT",
            help="Inject a fault of the medium, e.g. bit_rot, or, with COMMAND, of the device, e.g."
            """ 'stall, start = "1 s", duration = "5 s"' (repeatable).""",
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Check to run after each power loss; exit status 0 means it passed.",
        ),
    ] = None,
    times: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of power losses while the program runs.")
    ] = 10,
    within: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Cut power at a random time within SECONDS of program start.",
        ),
    ] = 2.0,
    ready: Annotated[
        bool,
        typer.Option(
            "--ready", help="Measure --within from when the program creates $NACRE_READY."
        ),
    ] = False,
    ready_timeout: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="With --ready: maximum wait for that file."),
    ] = READY_TIMEOUT_S,
    recovery: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Share of recoveries with another power loss."
        ),
    ] = RECOVERY_SHARE,
    out: Annotated[Path | None, directory("Write the report page and the results to DIR.")] = None,
    force: ReplaceResults = False,
    as_json: Json = False,
) -> None:
    """Cut power at many points and check durability guarantees."""
    _check_given(context, is_program=bool(command))
    if scenario is not None and command:
        _pull(
            scenario,
            settings or [],
            command,
            check,
            times,
            within,
            seed,
            ready=ready,
            ready_timeout_s=ready_timeout,
            faults=fault or [],
            recovery=recovery,
            as_json=as_json,
        )
        return
    if scenario is None and (settings or fault):
        problem = "without a scenario, the stack, faults, and settings are random"
        raise invalid(
            "conflicting-settings", "", problem, hint="add a scenario, or give only --seed"
        )
    # Read the scenario before Ctrl-C is caught, because reading a pipe without a writer blocks.
    source = None if scenario is None else read(scenario)
    with ExitStack() as stack:
        staging = stack.enter_context(Staging(out, CRASH_FILES, replace=force)) if out else None
        interruption = stack.enter_context(Interruption())
        progress = interruption.ticking(stack.enter_context(Bar("crashing", "points")))
        if scenario is None or source is None:
            found = crash_random(seed, points=points, progress=progress)
        else:
            overrides = settings_of(scenario, settings)
            found = crash_scenario(
                source,
                overrides,
                points=points,
                seed=seed,
                faults=fault or [],
                progress=progress,
            )
        if staging:
            crashes.write(staging, found)
    if as_json:
        write_json(found.to_dict())
    else:
        _show(found, out)
    # Random scenarios include faults that no device can detect, so silent corruption is expected.
    failed = found.finding is not None or (scenario is not None and not found.is_good)
    said = f"interrupted: {found.points} of {points} points were tried"
    conclude(failed=failed, interrupted=said if interruption.asked and not failed else "")


def _check_given(context: typer.Context, *, is_program: bool) -> None:
    """Raises `ConfigError` if given options do not apply to this kind of test."""
    names, problem, hint = (
        (_OF_POINTS, "it does not apply when a program runs on the device", "remove it")
        if is_program
        else (_OF_PROGRAMS, "it applies only when a program runs on the device", "add: -- COMMAND")
    )
    given = [f"--{name.replace('_', '-')}" for name in names if _is_given(context, name)]
    if given:
        raise invalid("conflicting-settings", given, problem, hint=hint)
    if not context.params["ready"] and _is_given(context, "ready_timeout"):
        problem = "no file is waited for"
        raise invalid("conflicting-settings", "--ready-timeout", problem, hint="add: --ready")


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _pull(
    scenario: str,
    settings: list[str],
    command: list[str],
    check: str | None,
    times: int,
    within: float,
    seed: int,
    *,
    ready: bool,
    ready_timeout_s: float,
    faults: list[str],
    recovery: float,
    as_json: bool,
) -> None:
    """Runs the user's program on the device, cuts power to the device, and prints results."""
    settings_of(scenario, settings)
    with Interruption() as interruption, Bar("pulling", "times") as bar:
        pulled = crash_program(
            scenario,
            settings,
            command,
            check=check,
            times=times,
            within_s=within,
            ready=ready,
            ready_timeout_s=ready_timeout_s,
            faults=faults,
            recovery=recovery,
            seed=seed,
            stop=lambda: interruption.asked,
            tell=lambda done: bar(done, times),
        )
    if as_json:
        write_json(pulled.to_dict())
    else:
        for line in pulled_facts(pulled):
            write_prose(line)
    failed = bool(pulled.failed)
    said = f"interrupted: {len(pulled.rounds)} of {times} power losses were tested"
    conclude(failed=failed, interrupted=said if interruption.asked and not failed else "")


def _show(found: Crash, out: Path | None) -> None:
    if found.scenario is not None:
        write_text(found.scenario)
        write_line()
    for line in crash_facts(found):
        write_prose(line)
    if found.finding is not None:
        write_line()
        for step in found.finding.steps:
            write_line(step)
    for table in (fault_table(found), recovery_table(found), branch_table(found)):
        write_line()
        write_table(table)
    if out:
        write_line()
        write_line(f"results are in {out}")
