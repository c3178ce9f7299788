"""The command `nacre trace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nacre import traces
from nacre.base.progress import Bar
from nacre.base.table import Table
from nacre.base.text import count, numbered, percent, size
from nacre.base.view import View
from nacre.cli.arguments import Force, Json, output_option, place
from nacre.cli.commands import Group
from nacre.cli.failure import guarded
from nacre.cli.reading import NONE, reading
from nacre.cli.terminal import write_json, write_line, write_prose, write_table, write_text
from nacre.errors import SEED_MAX, TraceError
from nacre.files.atomic import look, look_apart, write_file
from nacre.kinds.curves import suffix_of
from nacre.results.curves import CacheCurves, Kind, MissRatioCurve, Unit
from nacre.results.traces import FittedWorkload
from nacre.traces import Options
from nacre.words.traces import request_sizes, trace_facts, trace_shape

app = typer.Typer(help="Analyze, convert, sample, and fit block traces.", cls=Group)


class Sampling(StrEnum):
    """Method of sampling: by block, by request, or the first requests."""

    BLOCK = "block"
    REQUEST = "request"
    FIRST = "first"


class MissesOf(StrEnum):
    """Unit of miss ratios: blocks or bytes."""

    BLOCK = "block"
    BYTE = "byte"


Files = Annotated[
    list[str],
    typer.Argument(metavar="FILE...", help="Trace files, merged by time; - for standard input."),
]
Output = Annotated[Path, output_option("File to write.")]
To = Annotated[str | None, typer.Option("--to", help="Output format; default: from the file name.")]


@app.command()
@guarded
@reading
def info(
    files: Files,
    options: Options = NONE,
    as_json: Json = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=place, help="Write an HTML report with figures."),
    ] = None,
    force: Force = False,
) -> None:
    """Show request counts, sizes, rates, reuse, and damage."""
    if html is not None:
        look_apart(html, traces.located(files))
        look(html, replace=force)
    with _watched("reading") as tick:
        found = traces.info(files, progress=tick, **options)
    if html is not None:
        from nacre.kinds.traces import KIND
        from nacre.pages.page import page

        name = ", ".join(Path(file).name for file in files)
        write_file(html, page(name, KIND.report(name, found)).encode(), replace=force)
    if as_json:
        write_json(found.to_dict())
    elif html is not None:
        write_line(f"{html}: {numbered(found.records, 'request')}")
    else:
        _show(found)


@app.command()
@guarded
@reading
def mrc(
    files: Files,
    output: Annotated[
        Path | None, output_option("Write the curve: .csv, .parquet, .json, .svg, .png, or .html.")
    ] = None,
    sample: Annotated[
        float | None, typer.Option(help="Sample this share of the blocks, e.g. 0.01.")
    ] = None,
    blocks: Annotated[
        int | None, typer.Option(min=64, max=2**30, help="Sample at most N blocks.")
    ] = None,
    block: Annotated[
        int, typer.Option(min=512, max=2**20, help="Cache block size in bytes.")
    ] = 4096,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Policies to simulate in one pass, e.g. lru,arc,sieve, or all.",
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="SIZES", help="Cache sizes, e.g. 64MiB,1GiB; default: ten sizes."),
    ] = None,
    by: Annotated[
        MissesOf, typer.Option(help="Report the miss ratio by block or by byte.")
    ] = MissesOf.BLOCK,
    seed: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="Random seed of the sample.")] = 1,
    options: Options = NONE,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compute miss-ratio curves for LRU or other policies."""
    if output is not None:
        suffix_of(output)
        look_apart(output, traces.located(files))
        look(output, replace=force)
    if policy is not None or sizes is not None or by is not MissesOf.BLOCK:
        if blocks is not None:
            raise TraceError(
                "--blocks does not apply to simulated caches; use --sample", "missing-setting"
            )
        with _watched("simulating") as tick:
            curves = traces.caches(
                files,
                _listed(policy or "lru"),
                None if sizes is None else _listed(sizes),
                block=block,
                sample=sample,
                seed=seed,
                progress=tick,
                **options,
            )
        if output is not None:
            curves.save(output, replace=force)
        if as_json:
            write_json(curves.to_dict())
        elif output is not None:
            write_line(f"{output}: {numbered(curves.to_polars().height, 'cache')}")
        else:
            _show_caches(curves, by.value)
        return
    with _watched("following") as tick:
        curve = traces.mrc(
            files,
            block=block,
            sample=sample,
            blocks=blocks,
            seed=seed,
            progress=tick,
            **options,
        )
    if output is not None:
        curve.save(output, replace=force)
    if as_json:
        write_json(curve.to_dict())
    elif output is not None:
        write_line(f"{output}: {count(curve.to_polars().height)} sizes")
    else:
        _show_curve(curve)


@app.command()
@guarded
@reading
def convert(
    files: Files,
    output: Output,
    to: To = None,
    options: Options = NONE,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Convert a trace to another format (nacre, parquet, ...)."""
    with _watched("converting") as tick:
        written = traces.convert(
            files,
            output,
            to=to,
            replace=force,
            progress=tick,
            **options,
        )
    _report(written, output, as_json=as_json)


@app.command()
@guarded
@reading
def sample(
    files: Files,
    output: Output,
    fraction: Annotated[
        float | None, typer.Option(help="Share to keep, above 0, at most 1.")
    ] = None,
    by: Annotated[
        Sampling,
        typer.Option(
            help="block: all requests of some blocks (keeps reuse); request: random requests;"
            " first: the first --limit requests."
        ),
    ] = Sampling.BLOCK,
    seed: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="Random seed of the sample.")] = 1,
    to: To = None,
    options: Options = NONE,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Write a sample of a trace."""
    with _watched("sampling") as tick:
        written = traces.sample(
            files,
            output,
            fraction=fraction,
            by=by.value,
            seed=seed,
            to=to,
            replace=force,
            progress=tick,
            **options,
        )
    _report(written, output, as_json=as_json)


@app.command()
@guarded
@reading
def fit(
    files: Files,
    output: Annotated[Path | None, output_option("Workload file to write (TOML).")] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=SEED_MAX, help="Random seed of the run that checks the fit.")
    ] = 1,
    options: Options = NONE,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Fit a synthetic workload to a trace, without its addresses."""
    if output is not None:
        look_apart(output, traces.located(files))
        look(output, replace=force)
    with _watched("fitting") as tick:
        found = traces.fit(
            files,
            seed=seed,
            progress=tick,
            **options,
        )
    if output is not None:
        found.save(output, replace=force)
    if as_json:
        write_json({"output": None if output is None else str(output), **found.to_dict()})
        return
    if output is None:
        write_text(found.text)
        return
    write_line(f"{output}: {numbered(_requests(found), 'request')}")
    rows = [[curve, percent(distance)] for curve, distance in found.closeness.items()]
    write_table(Table("", ["farthest apart in", "by"], [False, True], rows))
    for line in found.warnings:
        write_prose(f"note: {line}")


@app.command()
@guarded
def formats(as_json: Json = False) -> None:
    """List the supported trace formats."""
    known = traces.formats()
    if as_json:
        write_json([each.to_dict() for each in known])
        return
    rows = [
        [
            each.kind,
            each.time_unit or "none",
            "yes" if each.writable else "no",
            each.summary,
        ]
        for each in known
    ]
    write_table(Table("", ["format", "times", "written", "is"], [False] * 4, rows))


def _requests(found: FittedWorkload) -> int:
    sizes = found.workload.sizes
    return int(sum(sizes.reads) + sum(sizes.writes))


@contextmanager
def _watched(verb: str) -> Iterator[Callable[..., bool]]:
    """Shows a bar and gives the block its progress function.

    Ctrl-C raises `KeyboardInterrupt`, because partial results are useless.
    """
    with Bar(verb, "requests") as bar:

        def tick(done: int, total: int | None = None, *_: float) -> bool:
            bar(done, total)
            return False

        yield tick


def _report(written: View, output: Path, *, as_json: bool) -> None:
    if as_json:
        write_json({"output": str(output), **written.to_dict()})
    else:
        write_line(f"{output}: {numbered(written.records, 'request')}, {size(written.bytes)}")
        for note in written.notes:
            write_prose(f"note: {note}")


def _show(found: View) -> None:
    write_table(trace_facts(found))
    for table in (trace_shape(found), request_sizes(found)):
        if table.rows:
            write_line()
            write_table(table)
    for bad in found.first_bad:
        write_prose(f"damaged: {bad.file}: {bad.place}: {bad.reason}")
    for line in found.warnings:
        write_prose(f"note: {line}")


def _show_curve(curve: MissRatioCurve) -> None:
    kinds = curve.kinds()
    sizes = sorted({int(curve.sizes[0]), *_powers(curve), int(curve.sizes[-1])})
    rows = [[size(at), *(_miss(curve, at, kind) for kind in kinds)] for at in sizes]
    names = ["misses" if kind == "all" else f"of {kind}" for kind in kinds]
    write_table(Table("", ["LRU cache", *names], [True] * (1 + len(kinds)), rows))
    if curve.sampled:
        followed = f"{count(curve.about.blocks_followed)} blocks"
        write_prose(
            f"note: {percent(curve.about.sample_rate)} of the blocks were sampled, {followed};"
            " +- is the 95 % half-width"
        )
    for line in curve.about.warnings:
        write_prose(f"note: {line}")


def _show_caches(curves: CacheCurves, by: Unit) -> None:
    """Prints a table of miss ratios, with a row per cache size and a column per policy."""
    kind = curves.kinds()[0]
    rows = []
    for at in curves.sizes:
        cells = []
        for policy in curves.policies:
            shown = percent(curves.miss_ratio(policy, at, kind, by))
            within = percent(curves.ci95(policy, at, kind, by))
            cells.append(f"{shown} +- {within}" if curves.sampled else shown)
        rows.append([size(at), *cells])
    of = "bytes" if by == "byte" else "blocks"
    columns = [f"misses of {of}, cache of", *curves.policies]
    write_table(Table("", columns, [True] * len(columns), rows))
    if curves.sampled:
        write_prose(
            f"note: {percent(curves.about.sample_rate)} of the blocks were sampled, in caches of"
            " that share of the size; +- is the 95 % half-width due to sampling"
        )
    for line in curves.about.warnings:
        write_prose(f"note: {line}")


def _listed(text: str) -> list[str]:
    """Splits a comma-separated list of names."""
    return [each.strip() for each in text.split(",") if each.strip()]


def _powers(curve: MissRatioCurve) -> list[int]:
    """Returns the largest powers of two in the size range of the curve, at most twenty."""
    first, last = int(curve.sizes[0]), int(curve.sizes[-1])
    powers = [2**power for power in range(63) if first <= 2**power <= last]
    return powers[-20:]


def _miss(curve: MissRatioCurve, at: int, kind: Kind) -> str:
    shown = percent(curve.miss_ratio(at, kind))
    return f"{shown} +- {percent(curve.ci95(at, kind))}" if curve.sampled else shown
