"""The command `nacre reproduce`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nacre.base.doing import Doing
from nacre.cli import completing
from nacre.cli.arguments import Json, directory
from nacre.cli.ending import conclude, drawn
from nacre.cli.failure import INTERRUPTED, Failure, complain, guarded, warn
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import flush, write_json, write_line, write_prose, write_table
from nacre.errors import invalid
from nacre.files.staging import Staging
from nacre.papers import output
from nacre.papers.judging.evidence import summed
from nacre.papers.judging.held_out import held_out
from nacre.papers.judging.sensitivity import sensitivity
from nacre.papers.result import Reproduction
from nacre.papers.running.progress import RunsBar
from nacre.papers.running.runs import Runs, Watch
from nacre.papers.running.target import Target
from nacre.papers.showing.table import claims, moves, notes, without
from nacre.papers.spec.paper import papers
from nacre.papers.work import jobs_of, keeping, targets
from nacre.studies.engines.local import Local
from nacre.studies.keep.store import Memory

Told = TypeVar("Told")
_AGAIN = "finished runs are shown; continue with --resume"


@guarded
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER[/FIGURE]]",
            help=f"One of {', '.join(papers())}, e.g. envy or envy/fig8; default: all (slow).",
            autocompletion=completing.papers,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        directory("Save each run to DIR when it ends, then results and figures."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Reuse the finished runs in the --out directory.")
    ] = False,
    as_json: Json = False,
    vary: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Rerun each result with five seeds and with each fitted or assumed value"
            " changed by +-20 % (slow).",
        ),
    ] = False,
    hold_out: Annotated[
        bool,
        typer.Option(
            "--hold-out",
            help="Remove one fitted value at a time and show how the results change (slow).",
        ),
    ] = False,
) -> None:
    """Reproduce published results and report the error of each."""
    _check_exclusive({"--sensitivity": vary, "--hold-out": hold_out})
    chosen = targets(name)
    if name is None:
        _announce(chosen)
    if hold_out:
        carry_out_held_out(chosen, out, resume=resume, as_json=as_json)
    elif vary:
        carry_out_moves(chosen, out, resume=resume, as_json=as_json)
    else:
        carry_out(chosen, out, resume=resume, as_json=as_json)


def _announce(chosen: Sequence[Target]) -> None:
    """Prints a note that all papers will be reproduced, because the user named none."""
    names = ", ".join(target.paper.name for target in chosen)
    with suppress(OSError):
        sys.stderr.write(
            f"note: all papers are reproduced, {len(jobs_of(chosen)):,} runs;"
            f" to choose one, name it: {names}\n"
        )
        sys.stderr.flush()


def _check_exclusive(given: Mapping[str, bool]) -> None:
    """Raises `ConfigError` for options that exclude each other."""
    names = [name for name, is_given in given.items() if is_given]
    if len(names) > 1:
        raise invalid(
            "conflicting-settings",
            names[0],
            f"{' and '.join(names)} exclude each other",
            hint="use only one of them",
        )


def carry_out_moves(
    chosen: list[Target], out: Path | None = None, *, resume: bool = False, as_json: bool
) -> None:
    """Prints how the results react to changed values and seeds."""
    found, interrupted = _each(chosen, sensitivity, out, resume=resume)
    if as_json:
        write_json(found)
    else:
        for table in moves(found):
            write_table(table)
            write_line()
        write_line("values that are not listed change no result by more than 1 %")
    _end(out, interrupted=interrupted)


def carry_out_held_out(
    chosen: list[Target], out: Path | None = None, *, resume: bool = False, as_json: bool
) -> None:
    """Prints how the results change when one fitted value at a time is set to its neutral value."""
    found, interrupted = _each(chosen, held_out, out, resume=resume)
    if as_json:
        write_json(found)
    else:
        write_table(without(found))
        write_line()
        for held in found:
            write_prose(f"{held['value']}: {held['neutral']} in its place, {held['why']}")
        write_line("rows that are not listed change by at most 1 %")
    _end(out, interrupted=interrupted)


def _each(
    chosen: Sequence[Target],
    tell: Callable[[Target, Runs, Watch], list[Told] | None],
    out: Path | None,
    *,
    resume: bool,
) -> tuple[list[Told], bool]:
    """Evaluates the targets until the user interrupts the evaluation.

    Returns the results, and whether the user interrupted the evaluation.
    """
    found: list[Told] = []
    with ExitStack() as stack:
        kept = stack.enter_context(keeping(chosen, out, resume=resume))
        interruption = stack.enter_context(Interruption())
        runs = Runs(stack.enter_context(Local()), kept)
        watch = interruption.ticking(stack.enter_context(RunsBar()))
        for target in chosen:
            rows = tell(target, runs, watch)
            if rows is None:
                break
            found += rows
        return found, interruption.asked


def _end(out: Path | None, *, interrupted: bool) -> None:
    said = f"interrupted: {_AGAIN if out else 'finished runs are shown'}"
    conclude(interrupted=said if interrupted else "")


def carry_out(
    chosen: list[Target], out: Path | None, *, resume: bool = False, as_json: bool
) -> None:
    """Reproduces the targets, saves and prints the results, and exits with a status.

    If the user interrupts the runs and the results are saved in a directory, the results are not
    evaluated, because evaluation takes long.
    """
    failure: Failure | None = None
    is_asked, is_drawn = False, True
    with ExitStack() as stack:
        kept = stack.enter_context(keeping(chosen, out, resume=resume))
        staging = stack.enter_context(Staging(out, output.NAMES)) if out else None
        try:
            found, is_asked = _run(chosen, kept, keeps=staging is not None)
            if staging:
                with Doing("writing records"):
                    output.write(staging, found)
        except KeyboardInterrupt:
            if staging is None:
                raise
            complain(f"interrupted: {out} has the finished runs; continue with --resume")
            raise typer.Exit(INTERRUPTED) from None
        if staging:
            with Interruption() as interruption, Doing("drawing figures"):
                is_drawn, failure = drawn(found, staging.put, lambda: interruption.asked)
            is_asked |= interruption.asked
    if as_json:
        write_json(found.listed)
    else:
        _show(found)
        if out:
            write_line(f"results are in {out}")
    flush()
    for figure, why in found.not_run.items():
        warn(f"{figure} is not run: {why}")
    stopped = _interrupted(found, asked=is_asked, drawn=is_drawn)
    if not stopped:
        _judge(found)
    conclude(
        failure=failure,
        kept=f"rows and records are saved in {out}; figures are missing",
        interrupted=stopped,
        failed=not found.passed,
    )


def _run(chosen: Sequence[Target], kept: Memory, *, keeps: bool) -> tuple[Reproduction, bool]:
    """Runs all simulations of the targets.

    Returns the results, and whether the user interrupted the simulations. With `keeps`, an
    interruption raises `KeyboardInterrupt`.
    """
    jobs = jobs_of(chosen)
    with Interruption() as interruption, Local() as engine, RunsBar() as bar:
        runs = Runs(engine, kept)
        if not runs.run(jobs, interruption.ticking(bar)) and keeps:
            raise KeyboardInterrupt
    return Reproduction(chosen, runs.ended(jobs)), interruption.asked


def _show(found: Reproduction) -> None:
    write_table(claims(found.listed))
    write_line()
    for line in notes(found.listed):
        write_prose(line)
    for line in [*summed(found.listed), *map(str, found.fits)]:
        write_line(line)


def _interrupted(found: Reproduction, *, asked: bool, drawn: bool) -> str:
    if not found.complete:
        return "interrupted: finished runs are shown"
    left = "" if drawn else "; figures are missing"
    return f"interrupted; every run is complete{left}" if asked else ""


def _judge(found: Reproduction) -> None:
    """Reports claims that are marked as misses but hold, and papers with too many fitted values."""
    for row in found.outlived:
        warn(f'{row} is listed as a miss, but holds: remove its "misses" from claims.toml')
    for fit in found.fits:
        if fit.overdone:
            complain(str(fit))
