"""The command `nacre mixes`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from nacre.base.progress import Bar
from nacre.cli.arguments import (
    ConvertedPrices,
    Json,
    ReplaceResults,
    Scenario,
    Settings,
    directory,
    settings_of,
)
from nacre.cli.ending import conclude, drawn
from nacre.cli.failure import Failure, guarded
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import write_json, write_line, write_prose, write_table
from nacre.files.staging import Staging
from nacre.kinds import mixes as mixes_kind
from nacre.kinds.mixes import MIXES_FILES
from nacre.results.mixes import Mixes
from nacre.scenario.prices import given
from nacre.simulate.mixing import STEPS_MAX
from nacre.simulate.mixing import mixes as score
from nacre.simulate.running import check
from nacre.simulate.simulated import Simulated, simulate
from nacre.words.mixes import counted, ranking, tiers
from nacre.words.mixes import simulated as simulated_table


@guarded
def mixes(
    scenario: Scenario,
    settings: Settings = None,
    steps: Annotated[
        int,
        typer.Option(
            min=1, max=STEPS_MAX, help="Number of equal parts to divide the capacity into."
        ),
    ] = 20,
    simulate_best: Annotated[
        int,
        typer.Option(
            "--simulate",
            metavar="N",
            min=0,
            help="Also simulate the N best mixes, with queueing.",
        ),
    ] = 0,
    prices: ConvertedPrices = None,
    budget: Annotated[
        float | None,
        typer.Option(metavar="PRICE", help="Maximum price per GiB of a mix."),
    ] = None,
    out: Annotated[Path | None, directory("Write the mixes and a figure to DIR.")] = None,
    force: ReplaceResults = False,
    as_json: Json = False,
) -> None:
    """Evaluate every capacity split of the tiers of a scenario.

    Assumes that accesses are serial, and that extents are placed optimally and never move.
    """
    overrides = settings_of(scenario, settings)
    failure: Failure | None = None
    runs: Simulated | None = None
    with ExitStack() as stack:
        staging = stack.enter_context(Staging(out, MIXES_FILES, replace=force)) if out else None
        with Bar("counting", "requests") as bar:
            found = score(
                scenario, overrides, steps=steps, prices=given(prices), budget=budget, progress=bar
            )
        if staging:
            mixes_kind.write(staging, found)
            _, failure = drawn(found, staging.put)
        if simulate_best:
            interruption = stack.enter_context(Interruption())
            with Bar("simulating", "requests") as bar:
                watch = interruption.ticking(bar)
                runs = simulate(scenario, overrides, found, simulate_best, progress=watch)
            if staging and runs.records:
                mixes_kind.write_simulated(staging, runs.named)
    if as_json:
        simulated = {"simulated": runs.to_polars().to_dicts()} if runs else {}
        write_json(found.to_dict() | simulated)
    else:
        _show(found, runs)
        if runs:
            placement = check(scenario, overrides).scenario.stack.placement.kind
            write_line()
            write_prose(f'simulated with the placement of the scenario, "{placement}"')
        if out:
            write_line()
            write_line(f"results are in {out}")
    stopped = "" if runs is None or runs.complete else f"{len(runs.records)} of {simulate_best}"
    conclude(
        failure=failure,
        kept=f"the mixes are saved in {out}; the figure is missing",
        interrupted=stopped and f"interrupted: {stopped} mixes were simulated",
    )


def _show(found: Mixes, runs: Simulated | None) -> None:
    write_line(found.name)
    write_prose(counted(found), "  ")
    for finding in found.findings:
        write_prose(f"note: {finding}", "  ")
    for table in (tiers(found), ranking(found)):
        write_line()
        write_table(table)
    if runs:
        write_line()
        write_table(simulated_table(found, runs))
