"""The command `nacre ctl`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from nacre.base.quantity import maybe
from nacre.base.table import Table
from nacre.base.text import size as amount
from nacre.cli import faults
from nacre.cli.arguments import Export, Force, Json, Served, place
from nacre.cli.commands import Group
from nacre.cli.failure import guarded
from nacre.cli.interrupt import Interruption
from nacre.cli.step import asked, show
from nacre.cli.terminal import flush, write_json, write_line, write_prose, write_table, write_text
from nacre.devices.control import Control
from nacre.errors import Error, invalid
from nacre.files.atomic import look, write_file
from nacre.results.served import Harm, Statistics
from nacre.words.served import (
    export_facts,
    fault_table,
    harmed,
    latency_table,
    outage_facts,
    recording,
    request_table,
    sectors,
    server_facts,
    wear_table,
)

app = typer.Typer(help="Monitor and control a served device.", cls=Group)

_EVERY_S = 1.0
"""Seconds between updates of `--watch`."""
_DRAWN = ("svg", "png", "html")
_CLEAR = "\x1b[H\x1b[2J"

app.add_typer(faults.app, name="fault")


def _bytes(text: str) -> int:
    """Parses a number of bytes, with or without a unit."""
    quantity = maybe(text) or maybe(f"{text} B")
    if quantity is None or quantity.base != "bytes" or quantity.value % 1:
        raise typer.BadParameter(f'"{text}" is not a number of bytes; write 4096 or "4 KiB"')
    return int(quantity.value)


@app.command()
@guarded
def stats(
    image: Served,
    watch: Annotated[bool, typer.Option("--watch", help="Update every second.")] = False,
    as_json: Json = False,
) -> None:
    """Show clients, requests, latencies, wear, and energy."""
    with Control(image) as control:
        while True:
            found = control.stats()
            if as_json:
                write_json(found.to_dict())
            else:
                if watch:
                    _begin_screen()
                _show(found)
            flush()
            if not watch or _is_over():
                return


@app.command()
@guarded
def wear(
    image: Served,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=place, help="Write a figure: .svg, .png, or .html."),
    ] = None,
    force: Force = False,
    export: Export = None,
    as_json: Json = False,
) -> None:
    """Show program and erase counts of the medium's blocks."""
    suffix = out.suffix.lstrip(".").lower() if out else ""
    if out and suffix not in _DRAWN:
        raise invalid(
            "unknown-name",
            "",
            f"{out}: unknown file type for a figure",
            hint="use a name that ends in .svg, .png, or .html",
        )
    if out:
        look(out, replace=force)
    with Control(image) as control:
        found = control.stats(columns=out is not None).export(export)
    table = wear_table(found.components)
    if not table.rows:
        problem = f"{found.name} has no medium with modeled wear"
        raise invalid(
            "not-supported",
            "",
            problem,
            hint="serve a flash or PCM device, e.g. ssd, envy, or onyx",
        )
    if out:
        from nacre.figures.export import image as drawing

        write_file(out, drawing(found.plot.wear(), suffix), replace=force)
    if as_json:
        parts = {part.path: part.wear.to_dict() for part in found.components if part.wear}
        write_json({"export": found.name, "out": str(out) if out else None, "wear": parts})
        return
    write_table(table)
    if out:
        write_line()
        write_line(f"{out}: drawn")


@app.command()
@guarded
def record(
    image: Served,
    trace: Annotated[
        Path | None,
        typer.Argument(metavar="[TRACE]", parser=place, help="Trace file to write, e.g. io.nacre."),
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the recording.")] = False,
    force: Force = False,
    export: Export = None,
    as_json: Json = False,
) -> None:
    """Record requests to a trace that `nacre run` can replay."""
    if (trace is None) != stop:
        problem = "expected either a trace to write or --stop"
        raise invalid("conflicting-settings", "", problem, hint="give one of the two")
    if trace is not None and not (folder := trace.absolute().parent).is_dir():
        raise invalid(
            "file-not-found",
            "",
            f"{trace}: {folder} is not a directory",
            hint="create it, or choose another directory",
        )
    with Control(image) as control:
        if trace is not None:
            control.record(trace, force=force, export=export)
            if as_json:
                write_json({"path": str(trace.absolute())})
            else:
                write_line(f"recording into {trace}; end it with: nacre ctl record {image} --stop")
            return
        ended = control.record_end(export=export)
    if ended.error:
        raise Error(recording(ended), "failed")
    if as_json:
        write_json(ended.to_dict())
    else:
        write_line(recording(ended))


@app.command()
@guarded
def power_fail(image: Served, export: Export = None, as_json: Json = False) -> None:
    """Cut power and restore it; drops clients and volatile data."""
    with Control(image) as control:
        outage = control.power_fail(export=export)
    if as_json:
        write_json(outage.to_dict())
        return
    for line in outage_facts(outage):
        write_prose(line)


@app.command()
@guarded
def media_error(
    image: Served,
    offset: Annotated[
        int,
        typer.Argument(
            metavar="OFFSET", parser=_bytes, help='Offset of the first byte, e.g. "1 MiB".'
        ),
    ],
    length: Annotated[
        int,
        typer.Argument(
            metavar="LENGTH", parser=_bytes, help="Size of the range, rounded out to whole sectors."
        ),
    ],
    writes: Annotated[
        bool, typer.Option("--writes", help="Make writes fail, too, until --heal.")
    ] = False,
    heal: Annotated[
        bool, typer.Option("--heal", help="Clear injected errors in the range.")
    ] = False,
    export: Export = None,
    as_json: Json = False,
) -> None:
    """Make reads of a range of sectors fail until it is rewritten."""
    if writes and heal:
        raise invalid(
            "conflicting-settings",
            "",
            "--writes and --heal exclude each other",
            hint="give one of them",
        )
    if length < 1:
        raise invalid("out-of-range", "", "the range is empty", hint="give at least one byte")
    harm: Harm = "heal" if heal else "writes" if writes else "reads"
    with Control(image) as control:
        control.media_error(offset, length, harm, export=export)
    if as_json:
        first, size = sectors(offset, length)
        write_json({"offset": first, "length": size, "harm": harm})
    else:
        write_line(harmed(offset, length, harm))


@app.command()
@guarded
def step(
    image: Served,
    requests: Annotated[
        list[str],
        typer.Argument(
            metavar="REQUEST...",
            help="OP[:ADDRESS[:SIZE]], e.g. read:8KiB:4KiB; OP is read, write, trim, or flush"
            " (default 0:4096).",
        ),
    ],
    fill: Annotated[
        str | None,
        typer.Option(metavar="BYTE", help="Value of every byte written, 0 to 255, e.g. 0x5a."),
    ] = None,
    export: Export = None,
    as_json: Json = False,
) -> None:
    """Issue single requests and show their latency breakdowns."""
    issued = [asked(word) for word in requests]
    byte = _byte(fill)
    if byte is None and any(op == "write" for op, *_ in issued):
        raise invalid(
            "missing-setting",
            "",
            "a write needs the byte value to store",
            hint="add --fill, e.g. --fill 0",
        )
    with Control(image) as control:
        answers = [
            control.step(op, address, size, fill=byte if op == "write" else None, export=export)
            for op, address, size in issued
        ]
    if as_json:
        write_json([answer.to_dict() for answer in answers])
    else:
        show(answers)


def _byte(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        byte = int(text, 0)
    except ValueError:
        byte = -1
    if not 0 <= byte <= 255:
        raise invalid(
            "out-of-range",
            "",
            f"--fill {text}: it is not a byte",
            hint="give a number from 0 to 255, e.g. 0x5a",
        )
    return byte


@app.command()
@guarded
def snapshot(
    image: Served,
    copy: Annotated[
        Path, typer.Argument(metavar="COPY", parser=place, help="Image file to write.")
    ],
    export: Export = None,
    as_json: Json = False,
) -> None:
    """Copy the image (data and state) while the device is served."""
    with Control(image) as control:
        taken = control.snapshot(copy, export=export)
    if as_json:
        write_json({"path": str(copy.absolute()), "bytes": taken})
    else:
        write_line(f"{copy}: an image, {amount(taken)} on the disk")


@app.command()
@guarded
def stop(image: Served, as_json: Json = False) -> None:
    """Stop the server, like Ctrl-C."""
    with Control(image) as control:
        control.stop()
    if as_json:
        write_json({})
    else:
        write_line("the server is stopping")


def _is_over() -> bool:
    """Waits until the next update is due. Returns True if the user pressed Ctrl-C."""
    with Interruption() as interruption:
        waited = 0.0
        while waited < _EVERY_S and not interruption.asked:
            time.sleep(0.05)
            waited += 0.05
        return interruption.asked


def _begin_screen() -> None:
    if sys.stdout.isatty():
        write_text(_CLEAR)
    else:
        write_line()


def _show(found: Statistics) -> None:
    for line in server_facts(found):
        write_prose(line)
    for export in found.exports:
        write_line()
        for line in export_facts(export):
            write_prose(line)
        tables: list[Table] = [
            request_table(export),
            latency_table(export),
            fault_table(export.faults),
            wear_table(export.components),
        ]
        for table in tables:
            if table.rows:
                write_line()
                write_table(table)
