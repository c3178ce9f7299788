"""`nacre reproduce`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from nacre.cli.arguments import place
from nacre.cli.failure import FAILED, INTERRUPTED, Failure, complain, failure_of, guarded, warn
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import flush, write_json, write_line, write_prose, write_table
from nacre.errors import Problem, config_error
from nacre.reproduce.evidence import summed
from nacre.reproduce.held_out import held_out
from nacre.reproduce.progress import RunsBar
from nacre.reproduce.result import Reproduction, Target
from nacre.reproduce.sensitivity import sensitivity
from nacre.reproduce.store import Store
from nacre.reproduce.table import claims, moves, notes, without
from nacre.reproduce.trial import Progress
from nacre.reproduce.work import conduct, targets

Told = TypeVar("Told")


@guarded
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER[/FIGURE]]", help="As envy or envy/fig8; default: all there are."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=place, help="Write rows, records and figures there."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    vary: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Only predictions: over five seeds, and with every fitted or assumed value a "
            "fifth less and more. Takes long.",
        ),
    ] = False,
    hold_out: Annotated[
        bool,
        typer.Option(
            "--hold-out",
            help="How the rows move without one fitted value at a time. Takes long.",
        ),
    ] = False,
) -> None:
    """Recompute published results, and say how far off each one is."""
    _apart({"--sensitivity": vary, "--hold-out": hold_out, "--out": out is not None})
    if hold_out:
        carry_out_held_out(targets(name), as_json=as_json)
    elif vary:
        carry_out_moves(targets(name), as_json=as_json)
    else:
        carry_out(targets(name), out, as_json=as_json)


def _apart(given: Mapping[str, bool]) -> None:
    """Options of which one at most can be given; raises `ConfigError`."""
    names = [name for name, is_given in given.items() if is_given]
    if len(names) > 1:
        problem = Problem(
            path=names[0], problem=f"{' and '.join(names)} exclude each other",
            hint="ask one thing at a time",
        )  # fmt: skip
        raise config_error([problem])


def carry_out_moves(chosen: list[Target], *, as_json: bool) -> None:
    """Says how far predictions move."""
    with Interruption() as interruption:
        found = _each(chosen, sensitivity, interruption)
    if as_json:
        write_json(found)
    else:
        for table in moves(found):
            write_table(table)
            write_line()
        write_line("values that are not listed move nothing by more than 1 %")
    _end(interruption)


def carry_out_held_out(chosen: list[Target], *, as_json: bool) -> None:
    """Says what the rows are without one fitted value at a time."""
    with Interruption() as interruption:
        found = _each(chosen, held_out, interruption)
    if as_json:
        write_json(found)
    else:
        write_table(without(found))
        write_line()
        for held in found:
            write_prose(f"{held['value']}: {held['neutral']} in its place, {held['why']}")
        write_line("rows that are not listed move by no more than 1 %")
    _end(interruption)


def _each(
    chosen: Sequence[Target],
    tell: Callable[[Target, Progress], list[Told] | None],
    interruption: Interruption,
) -> list[Told]:
    """What is told of each target, up to the one in which it was interrupted."""
    found: list[Told] = []
    with RunsBar() as bar:

        def watch(done: int, total: int, share: float) -> bool:
            bar(done, total, share)
            return interruption.asked

        for target in chosen:
            rows = tell(target, watch)
            if rows is None:
                break
            found += rows
    return found


def _end(interruption: Interruption) -> None:
    flush()
    if interruption.asked:
        complain("interrupted: this is what was finished")
        raise typer.Exit(INTERRUPTED)


def carry_out(chosen: list[Target], out: Path | None, *, as_json: bool) -> None:
    """Reproduces, stores, prints, and ends in a status."""
    failure: Failure | None = None
    with ExitStack() as stack:
        store = stack.enter_context(Store(out, chosen)) if out else None
        interruption = stack.enter_context(Interruption())
        with RunsBar() as bar:

            def watch(done: int, total: int, share: float) -> bool:
                bar(done, total, share)
                return interruption.asked

            if store:
                found = conduct(chosen, ended=store.record, watch=watch)
            else:
                found = conduct(chosen, watch=watch)
        drawn = True
        if store:
            store.rows(found)
            try:
                drawn = store.figures(found, lambda: interruption.asked)
            except Exception as error:
                failure = failure_of(error)
    if as_json:
        write_json(found.listed)
    else:
        _show(found)
        if out:
            write_line(f"results are in {out}")
    flush()
    if failure:
        complain(
            *failure.lines, f"rows and records are complete and kept in {out}; figures are not"
        )
    _conclude(found, interrupted=interruption.asked, drawn=drawn)
    if failure:
        raise typer.Exit(FAILED)


def _show(found: Reproduction) -> None:
    write_table(claims(found.listed))
    write_line()
    for line in notes(found.listed):
        write_prose(line)
    for line in [*summed(found.listed), *map(str, found.fits)]:
        write_line(line)


def _conclude(found: Reproduction, *, interrupted: bool, drawn: bool) -> None:
    for figure, why in found.not_run.items():
        warn(f"{figure} is not run: it {why}")
    if not found.complete:
        complain("interrupted: this is what was finished")
        raise typer.Exit(INTERRUPTED)
    if interrupted:
        complain(f"interrupted; every run is complete{'' if drawn else '; figures are missing'}")
        raise typer.Exit(INTERRUPTED)
    for row in found.outlived:
        warn(f'{row} is said to miss, and holds: take its "misses" out of claims.toml')
    for fit in found.fits:
        if fit.overdone:
            complain(str(fit))
    if not found.passed:
        raise typer.Exit(FAILED)
