"""`nacre run` and `nacre check`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.failure import FAILED, INTERRUPTED, complain, guarded
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import write_json, write_line, write_table
from nacre.errors import ConfigError, Problem, config_error
from nacre.progress import Bar
from nacre.record import Record
from nacre.run import check as check_scenario
from nacre.run import run as run_scenario
from nacre.saving import Staging
from nacre.summary import Table, assumed, components, facts, latencies, time_spent
from nacre.view import View

Scenario = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A TOML file, or the name of a shipped scenario.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Give a value another setting; may be repeated."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@guarded
def run(
    scenario: Scenario,
    settings: Settings = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of all randomness; default: the scenario's.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the record, its columns and figures there."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a scenario in virtual time."""
    overrides = _overrides(scenario, settings)
    with ExitStack() as stack:
        staging = stack.enter_context(Staging(out)) if out else None
        interruption = stack.enter_context(Interruption())
        record = _simulate(scenario, overrides, seed, interruption)
        if as_json:
            write_json(record.to_dict())
        else:
            _show(record)
        if staging:
            staging.record(record, figures=not interruption.asked)
    if out and not as_json:
        write_line(f"\nresults are in {out}")
    _conclude(record, interrupted=interruption.asked)


@guarded
def check(scenario: Scenario, settings: Settings = None, as_json: Json = False) -> None:
    """Find all mistakes of a scenario.

    Without mistakes, shows every value it resolves to, with its origin.
    """
    resolved = check_scenario(scenario, _overrides(scenario, settings))
    if as_json:
        write_json(resolved.to_dict())
        return
    rows = [
        [o.path, str(o.value), o["from"], o.confidence, o.source or o.place]
        for o in resolved.origins
    ]
    write_table(Table("", ["value", "is", "from", "confidence", "source"], [False] * 5, rows))
    count = len(assumed(resolved.origins))
    write_line(f"\n{scenario}: no mistakes; {len(rows)} values, {count} assumed")


def _simulate(
    scenario: str, overrides: dict[str, object], seed: int | None, interruption: Interruption
) -> Record:
    with Bar("simulating", "requests") as bar:

        def tick(done: int, total: int | None, simulated_s: float) -> bool:
            bar(done, total, simulated_s)
            return interruption.asked

        return run_scenario(scenario, overrides, seed=seed, progress=tick)


def _overrides(scenario: str, settings: list[str] | None) -> dict[str, object]:
    """The settings by path; raises `ConfigError` with their mistakes and the scenario's."""
    overrides: dict[str, object] = {}
    problems: list[Problem] = []
    for setting in settings or []:
        path, equals, value = setting.partition("=")
        if equals and path.strip():
            overrides[path.strip()] = value.strip()
        else:
            problems.append(
                Problem(
                    path="--set",
                    problem="not a setting",
                    given=f'"{setting}"',
                    hint='write PATH=VALUE, as in --set workload.rate="20 kHz"',
                )
            )
    if problems:
        raise _with_those_of(scenario, overrides, config_error(problems))
    return overrides


def _with_those_of(
    scenario: str, overrides: dict[str, object], mistakes: ConfigError
) -> ConfigError:
    """The mistakes and, if there are any, those of the scenario itself."""
    try:
        check_scenario(scenario, overrides)
    except ConfigError as more:
        return ConfigError(f"{mistakes}\n{more}")
    return mistakes


def _show(record: Record) -> None:
    write_line(record.name)
    for line in facts(record):
        write_line(f"  {line}")
    for table in (latencies(record), time_spent(record), components(record)):
        if table.rows:
            write_line()
            write_table(table)


def _conclude(record: View, *, interrupted: bool) -> None:
    requests = record.requests
    if interrupted or not record.complete:
        complain(f"stopped early, after {requests.completed:,} requests")
        raise typer.Exit(INTERRUPTED)
    if requests.issued != requests.completed:
        complain(f"{requests.issued - requests.completed:,} requests never completed")
        raise typer.Exit(FAILED)
