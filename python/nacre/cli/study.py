"""The command `nacre study`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nacre import __version__
from nacre.base.doing import Doing
from nacre.base.progress import Bar
from nacre.cli import completing
from nacre.cli.arguments import (
    Address,
    EngineChoice,
    EngineName,
    Json,
    TlsCa,
    TlsCert,
    TlsKey,
    directory,
)
from nacre.cli.ending import conclude
from nacre.cli.failure import Failure, complain, failure_of, guarded
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import write_json, write_line, write_prose, write_table
from nacre.studies.keep.store import Store
from nacre.studies.points.planner import sound
from nacre.studies.result import StudyResult, summed
from nacre.studies.work import End, conduct, engine_called, foreign, keeping, reused, save

if TYPE_CHECKING:
    import polars as pl


@guarded
def study(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="TOML file, or - for standard input.",
            autocompletion=completing.files,
        ),
    ],
    engine: EngineChoice = EngineName.LOCAL,
    address: Address = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    out: Annotated[
        Path | None,
        directory("Write points, table, and figures to DIR; default: STUDY.study."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the study in the --out directory.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a parameter sweep or a search over designs."""
    with Doing("checking the study"):
        design, planner = sound(study)
    folder = out or Path(f"{'study' if study == '-' else Path(study).stem}.study")
    failure: Failure | None = None
    with ExitStack() as stack:
        tls = (tls_ca, tls_cert, tls_key)
        running = stack.enter_context(engine_called(engine.value, address, tls=tls))
        with Doing("reading stored points" if resume else "opening the directory"):
            kept = stack.enter_context(keeping(design, planner, folder, resume=resume))
        interruption = stack.enter_context(Interruption())
        assert isinstance(kept, Store)  # noqa: S101 (there is a directory)
        with _reporting_failures(folder), Bar("studying", "points") as bar:
            watch = interruption.ticking(bar)
            result, end = conduct(design, planner, running, kept, watch)
            kept.flush(at_once=True)
        with _reporting_failures(folder), Doing("writing the table"):
            save(result, kept)
        try:
            with Doing("drawing figures"):
                result.draw(folder, lambda: interruption.asked)
        except Exception as error:
            failure = failure_of(error)
    if as_json:
        write_json(_document(result, end, folder, reused(result, kept)))
    else:
        _show(result, end, folder, kept)
    said = "all points are done" if result.complete else "finished runs are shown"
    conclude(
        failure=failure,
        kept=f"points and table are saved in {folder}",
        interrupted=f"interrupted: {said}; continue with --resume" if interruption.asked else "",
        failed=result.failed.height > 0,
    )


@contextmanager
def _reporting_failures(directory: Path) -> Iterator[None]:
    """If the disk or the engine fails, prints which results are saved."""
    try:
        yield
    except Exception:
        complain(
            "the study ended early;"
            f" finished points are saved in {directory}; continue with --resume"
        )
        raise


def _show(result: StudyResult, end: End, directory: Path, kept: Store) -> None:
    from nacre.words.studies import best, decisive, facts, others

    before = reused(result, kept)
    again = f", {before:,} of them already stored" if before else ""
    write_line(f"{result.name}: {summed(result)}{again}")
    if end is End.SPENT:
        write_line("  the time budget is used up; continue with --resume")
    for line in facts(result):
        write_prose(line, "  ")
    earlier = foreign(result, kept)
    if result.complete and earlier:
        write_prose(f"note: {directory} also holds {_of_an_earlier_form(earlier)}", "  ")
    front, left_out = best(result), others(result)
    for table in (front, left_out, decisive(result)):
        if table.rows:
            write_line()
            write_table(table)
    rest = result.designs.height - len(front.rows) - len(left_out.rows)
    write_line()
    if rest > 0:
        write_line(f"{rest:,} more {'design is' if rest == 1 else 'designs are'} in the table")
    write_line(f"results are in {directory}")


def _of_an_earlier_form(points: int) -> str:
    are = "point that is" if points == 1 else "points that are"
    return f"{points:,} {are} not in this form of the study"


def _document(result: StudyResult, end: End, directory: Path, before: int) -> Mapping[str, Any]:
    from nacre.studies.analysis.pareto import conditions

    return {
        "study": result.name,
        "version": __version__,
        "complete": result.complete,
        "ended": end.value,
        "points": {
            "all": result.total,
            "done": result.table.height,
            "failed": result.failed.height,
            "reused": before,
        },
        "objectives": [vars(objective) for objective in result.questions.objectives],
        "conditions": conditions(result.questions),
        "pareto": result.pareto()["design"].to_list(),
        "certain": result.pareto()["certain"].to_list(),
        "contenders": result.contenders()["design"].to_list(),
        "sensitivity": _rows(result.sensitivity()),
        "rows": _rows(result.table),
        "out": str(directory),
    }


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    import polars as pl

    finite = frame.with_columns(
        pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name)
        for name, kind in frame.schema.items()
        if kind.is_float()
    )
    return finite.to_dicts()
