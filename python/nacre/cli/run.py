"""The commands `nacre run` and `nacre check`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nacre.base.progress import Bar
from nacre.cli.arguments import (
    Address,
    ConvertedPrices,
    EngineChoice,
    EngineName,
    Json,
    ReplaceResults,
    Scenario,
    Settings,
    TlsCa,
    TlsCert,
    TlsKey,
    directory,
    place,
    settings_of,
)
from nacre.cli.ending import conclude, drawn
from nacre.cli.failure import FAILED, INTERRUPTED, Failure, complain, guarded
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import write_json, write_line, write_prose, write_table
from nacre.errors import SEED_MAX, invalid
from nacre.files.atomic import look_apart
from nacre.files.staging import Staging
from nacre.kinds import records
from nacre.kinds.records import RECORD_FILES
from nacre.results.origins import assumed
from nacre.results.record import Record
from nacre.scenario.prices import given, priced
from nacre.scenario.source import Source, assignments, read
from nacre.simulate.running import check as check_scenario
from nacre.simulate.running import run as run_scenario
from nacre.words.records import facts, tables

if TYPE_CHECKING:
    from nacre.studies.engines.engine import Engine

PARTS = "parts"
"""Name of the folder that holds the parts of a split run until the record is complete."""


@guarded
def run(
    scenario: Scenario,
    settings: Settings = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=SEED_MAX, help="Random seed; default: the scenario's seed."),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Run until the 95 % confidence interval of each mean latency"
            ' is at most +- SHARE of it, e.g. "1 %".',
        ),
    ] = None,
    prices: ConvertedPrices = None,
    out: Annotated[
        Path | None, directory("Write the record, its columns, and figures to DIR.")
    ] = None,
    force: ReplaceResults = False,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Split the trace and run the parts in parallel: volume, volume:N, or hash:N.",
        ),
    ] = None,
    engine: EngineChoice = EngineName.LOCAL,
    address: Address = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of local worker processes; default: one per core."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Start from a saved state or an image."),
    ] = None,
    save_state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=place, help="Save the final state to FILE."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Simulate a scenario; reports performance, wear, and cost."""
    overrides = settings_of(scenario, settings)
    # Read the scenario before Ctrl-C is caught, because reading a pipe without a writer blocks.
    source = read(scenario)
    if prices:
        assigned = assignments(overrides)
        priced(source, assigned, given(prices))
        overrides = dict(assigned)
    tls = (tls_ca, tls_cert, tls_key)
    _only_of_parts(split, engine, address, tls, workers)
    _only_of_one(split, start, save_state, until)
    if save_state is not None:
        look_apart(save_state, [scenario, *([start] if start else [])])
    failure: Failure | None = None
    with ExitStack() as stack:
        staging = stack.enter_context(Staging(out, RECORD_FILES, replace=force)) if out else None
        interruption = stack.enter_context(Interruption(nothing_yet=split is None))
        if split is None:
            record = _simulate(source, overrides, seed, until, start, save_state, interruption)
        else:
            from nacre.studies.work import engine_called

            running = engine_called(engine.value, address, workers, tls)
            record = _simulate_parts(source, split, overrides, seed, running, out, interruption)
        is_drawn = True
        if staging:
            records.write(staging, record)
            is_drawn, failure = drawn(record, staging.put, lambda: interruption.asked)
    if as_json:
        write_json(record.to_dict())
    else:
        _show(record)
        if out:
            write_line()
            write_line(f"results are in {out}")
        if record.state:
            write_line()
            write_line(f"the state is saved in {record.state}; continue with --from {record.state}")
    conclude(
        failure=failure,
        kept=f"the record is saved in {out}; its figures are missing",
        interrupted=_interrupted(record, asked=interruption.asked, drawn=is_drawn),
    )
    requests = record.requests
    if requests.issued != requests.completed:
        complain(f"{requests.issued - requests.completed:,} requests never completed")
        raise typer.Exit(FAILED)


@guarded
def check(scenario: Scenario, settings: Settings = None, as_json: Json = False) -> None:
    """Check a scenario and report every error.

    If there are no errors, lists every resolved value with its origin.
    """
    resolved = check_scenario(scenario, settings_of(scenario, settings))
    if as_json:
        write_json(resolved.to_dict())
        return
    write_table(resolved.table())
    count = len(assumed(resolved.origins))
    write_line()
    write_line(f"{scenario}: no errors; {len(resolved.origins)} values, {count} assumed")
    if resolved.scenario.get("workload") is None:
        write_line("note: it has no workload; nacre run needs one")


def _simulate(
    scenario: Source,
    overrides: dict[str, object],
    seed: int | None,
    until: str | None,
    start: Path | None,
    save_state: Path | None,
    interruption: Interruption,
) -> Record:
    with Bar("simulating", "requests") as bar:

        def tick(done: int, total: int | None, simulated_s: float) -> bool:
            interruption.leaves_something()
            # With `until`, the total is unknown.
            bar(done, total if until is None else None, simulated_s)
            return interruption.asked

        record = run_scenario(
            scenario,
            overrides,
            seed=seed,
            until=until,
            progress=tick,
            start=start,
            save_state=save_state,
        )
        # The result exists now, even if the run was too short for a progress report.
        interruption.leaves_something()
        return record


def _simulate_parts(
    scenario: Source,
    way: str,
    overrides: dict[str, object],
    seed: int | None,
    engine: Engine,
    out: Path | None,
    interruption: Interruption,
) -> Record:
    from nacre.studies.split import Kept, conduct, planned

    with Bar("reading", "requests") as bar:
        plan = planned(scenario, way, overrides, seed, interruption.ticking(bar))
    kept = Kept(out / PARTS if out else None)
    with engine, Bar("simulating", "parts") as bar:
        record = conduct(plan, engine, kept, interruption.ticking(bar))
    if record is None:
        said = f"the finished parts are saved in {out}; rerun the same command to continue"
        complain(f"interrupted; {said}" if out else "interrupted")
        raise typer.Exit(INTERRUPTED)
    kept.clear(plan)
    return record


def _only_of_parts(
    split: str | None,
    engine: EngineName,
    address: str | None,
    tls: tuple[Path | None, ...],
    workers: int | None,
) -> None:
    """Raises `ConfigError` if options for split runs are given without `--split`."""
    given = {
        "--engine": engine is not EngineName.LOCAL,
        "--address": address is not None,
        "--tls-ca": any(tls),
        "--workers": workers is not None,
    }
    wrong = [name for name, is_given in given.items() if is_given and split is None]
    if wrong:
        hint = "add --split, e.g. --split hash:4"
        raise invalid(
            "conflicting-settings", wrong, "it applies only to a run with --split", hint=hint
        )


def _only_of_one(
    split: str | None, start: Path | None, save_state: Path | None, until: str | None
) -> None:
    """Raises `ConfigError` if options for a single stack are given together with `--split`."""
    given = {"--from": start, "--save-state": save_state, "--until": until}
    wrong = [name for name, value in given.items() if value is not None and split is not None]
    if wrong:
        problem = (
            "with --split, each part has its own stack, so there is no common state or interval"
        )
        raise invalid("conflicting-settings", wrong, problem, hint="remove --split")


def _show(record: Record) -> None:
    write_line(record.name)
    for line in facts(record):
        write_prose(line, "  ")
    for table in tables(record):
        write_line()
        write_table(table)


def _interrupted(record: Record, *, asked: bool, drawn: bool) -> str:
    if not record.complete:
        return f"stopped early, after {record.requests.completed:,} requests"
    left = "" if drawn else "; figures are missing"
    return f"interrupted; the run is complete{left}" if asked else ""
