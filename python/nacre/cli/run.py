"""`nacre run` and `nacre check`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from nacre.cli.arguments import Json, Scenario, Settings, place, settings_of
from nacre.cli.failure import FAILED, INTERRUPTED, Failure, complain, failure_of, guarded
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import flush, write_json, write_line, write_prose, write_table
from nacre.errors import SEED_MAX
from nacre.progress import Bar
from nacre.record import Record
from nacre.run import check as check_scenario
from nacre.run import run as run_scenario
from nacre.saving import Staging
from nacre.summary import (
    Table,
    assumed,
    components,
    facts,
    latencies,
    setting,
    time_spent,
    time_split,
)
from nacre.view import View


@guarded
def run(
    scenario: Scenario,
    settings: Settings = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=SEED_MAX, help="Seed of all randomness; default: the scenario's."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", parser=place, help="Write the record, its columns and figures there."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a scenario in virtual time."""
    overrides = settings_of(scenario, settings)
    failure: Failure | None = None
    with ExitStack() as stack:
        staging = stack.enter_context(Staging(out)) if out else None
        interruption = stack.enter_context(Interruption())
        record = _simulate(scenario, overrides, seed, interruption)
        drawn = True
        if staging:
            staging.record(record)
            try:
                drawn = staging.figures(record, lambda: interruption.asked)
            except Exception as error:
                failure = failure_of(error)
    if as_json:
        write_json(record.to_dict())
    else:
        _show(record)
        if out:
            write_line()
            write_line(f"results are in {out}")
    flush()
    if failure:
        complain(*failure.lines, f"the record is complete and kept in {out}; its figures are not")
        raise typer.Exit(FAILED)
    _conclude(record, interrupted=interruption.asked, drawn=drawn)


@guarded
def check(scenario: Scenario, settings: Settings = None, as_json: Json = False) -> None:
    """Find all mistakes of a scenario.

    Without mistakes, shows every value it resolves to, with its origin.
    """
    resolved = check_scenario(scenario, settings_of(scenario, settings))
    if as_json:
        write_json(resolved.to_dict())
        return
    rows = [
        [o.path, setting(o.value), o["from"], o.confidence, o.source or o.place]
        for o in resolved.origins
    ]
    columns = ["value", "is", "from", "confidence", "source"]
    write_table(Table("", columns, [False] * 5, rows, prose=["is", "source"]))
    count = len(assumed(resolved.origins))
    write_line()
    write_line(f"{scenario}: no mistakes; {len(rows)} values, {count} assumed")


def _simulate(
    scenario: str, overrides: dict[str, object], seed: int | None, interruption: Interruption
) -> Record:
    with Bar("simulating", "requests") as bar:

        def tick(done: int, total: int | None, simulated_s: float) -> bool:
            bar(done, total, simulated_s)
            return interruption.asked

        return run_scenario(scenario, overrides, seed=seed, progress=tick)


def _show(record: Record) -> None:
    write_line(record.name)
    for line in facts(record):
        write_prose(line, "  ")
    tables = (latencies(record), time_spent(record), time_split(record), components(record))
    for table in tables:
        if table.rows:
            write_line()
            write_table(table)


def _conclude(record: View, *, interrupted: bool, drawn: bool) -> None:
    requests = record.requests
    if not record.complete:
        complain(f"stopped early, after {requests.completed:,} requests")
        raise typer.Exit(INTERRUPTED)
    if interrupted:
        left = "" if drawn else "; figures are missing"
        complain(f"interrupted; the run is complete{left}")
        raise typer.Exit(INTERRUPTED)
    if requests.issued != requests.completed:
        complain(f"{requests.issued - requests.completed:,} requests never completed")
        raise typer.Exit(FAILED)
