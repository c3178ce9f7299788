"""`nacre trace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from nacre import trace
from nacre.cli.arguments import place
from nacre.cli.failure import guarded
from nacre.cli.terminal import write_json, write_line, write_prose, write_table
from nacre.errors import SEED_MAX
from nacre.progress import Bar
from nacre.summary import Table
from nacre.text import count, duration, percent, size
from nacre.trace import LIMIT_MAX, Options
from nacre.view import View

app = typer.Typer(help="Look into, convert and sample block traces.")


class Sampling(StrEnum):
    """What a share is a share of."""

    BLOCK = "block"
    REQUEST = "request"
    FIRST = "first"


Files = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Several files are merged by time.")
]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of the files, where it is not recognised.")
]
TimeUnit = Annotated[
    str | None, typer.Option("--time-unit", help="Unit of its times: ns, 100ns, us, ms, s.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first damaged record.")]
Action = Annotated[
    str | None, typer.Option("--action", help="blktrace, blkparse: the action that counts, as Q.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, max=LIMIT_MAX, help="Read so many requests.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Output = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE", parser=place, help="The file to write.")
]
To = Annotated[
    str | None, typer.Option("--to", help="Format to write; default: what its name says.")
]


@app.command()
@guarded
def info(
    files: Files,
    format_: Format = None,
    time_unit: TimeUnit = None,
    strict: Strict = False,
    action: Action = None,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Requests, sizes, footprint, duration and damage of a trace."""
    with _watched("reading") as tick:
        found = trace.info(
            files, progress=tick, **_options(format_, time_unit, strict, action, limit)
        )
    if as_json:
        write_json(found.to_dict())
    else:
        _show(found)


@app.command()
@guarded
def convert(
    files: Files,
    output: Output,
    to: To = None,
    format_: Format = None,
    time_unit: TimeUnit = None,
    strict: Strict = False,
    action: Action = None,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Write a trace in another format (nacre, parquet, ...)."""
    with _watched("converting") as tick:
        written = trace.convert(
            files,
            output,
            to=to,
            progress=tick,
            **_options(format_, time_unit, strict, action, limit),
        )
    _report(written, output, as_json=as_json)


@app.command()
@guarded
def sample(
    files: Files,
    output: Output,
    fraction: Annotated[
        float | None, typer.Option(help="The share to keep, above 0, at most 1.")
    ] = None,
    by: Annotated[
        Sampling,
        typer.Option(
            help="block: all requests of a share of the blocks, which keeps reuse; request: a"
            " share of the requests; first: the first --limit requests."
        ),
    ] = Sampling.BLOCK,
    seed: Annotated[int, typer.Option(min=0, max=SEED_MAX, help="Chooses the sample.")] = 1,
    to: To = None,
    format_: Format = None,
    time_unit: TimeUnit = None,
    strict: Strict = False,
    action: Action = None,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Write a share of a trace."""
    with _watched("sampling") as tick:
        written = trace.sample(
            files,
            output,
            fraction=fraction,
            by=by.value,
            seed=seed,
            to=to,
            progress=tick,
            **_options(format_, time_unit, strict, action, limit),
        )
    _report(written, output, as_json=as_json)


def _options(
    format_: str | None,
    time_unit: str | None,
    strict: bool,
    action: str | None,
    limit: int | None,
) -> Options:
    return Options(format=format_, time_unit=time_unit, strict=strict, action=action, limit=limit)


@contextmanager
def _watched(verb: str) -> Iterator[Callable[..., bool]]:
    """A progress callback with a bar; Ctrl-C raises, for half a trace is of no use."""
    with Bar(verb, "requests") as bar:

        def tick(done: int, total: int | None = None, *_: float) -> bool:
            bar(done, total)
            return False

        yield tick


def _report(written: View, output: Path, *, as_json: bool) -> None:
    if as_json:
        write_json({"output": str(output), **written.to_dict()})
    else:
        write_line(f"{output}: {count(written.records)} requests, {size(written.bytes)}")
        for note in written.notes:
            write_prose(f"note: {note}")


def _show(found: View) -> None:
    rows = [
        ["format", found.format + (f", times in {found.time_unit}" if found.time_unit else "")],
        ["requests", count(found.records)],
        ["reads", f"{count(found.reads)} ({percent(found.read_share)})"],
        ["writes", count(found.writes)],
        ["trims", count(found.trims)],
        ["flushes", count(found.flushes)],
        ["read", size(found.bytes_read)],
        ["written", size(found.bytes_written)],
        ["footprint", f"{size(found.footprint_bytes)} in blocks of 4 KiB"],
        ["4 KiB accesses", count(found.blocks_4k_accessed)],
        ["duration", duration(found.duration_s * 1e9)],
        ["volumes", count(found.volumes)],
        ["sequential", percent(found.sequential_share)],
        ["not requests", count(found.skipped)],
        ["damaged", count(found.bad_records)],
    ]
    write_table(Table("", ["", ""], [False, False], rows))
    sizes = [
        [size(row.bytes), count(row.count), percent(row.count / found.records)]
        for row in found.sizes[:8]
    ]
    write_line()
    write_table(Table("", ["request size", "requests", "share"], [True] * 3, sizes))
    for bad in found.first_bad:
        write_prose(f"damaged: {bad.file}: {bad.place}: {bad.reason}")
    for line in found.warnings:
        write_prose(f"note: {line}")
