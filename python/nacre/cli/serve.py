"""The command `nacre serve`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

import typer

from nacre.base.text import count, numbered, with_unit
from nacre.cli.arguments import Json, Scenario, Settings, place, settings_of
from nacre.cli.failure import FAILED, complain, guarded, warn
from nacre.cli.interrupt import Interruption
from nacre.cli.terminal import flush, write_json_line, write_line, write_prose, write_table
from nacre.devices.control import SUFFIX
from nacre.devices.serving import Listening, ServeOptions
from nacre.devices.serving import serve as serve_scenario
from nacre.errors import Code, Problem, config_error
from nacre.results.served import ExportStatistics, Service
from nacre.scenario.source import read
from nacre.words.served import latency_table, recording, too_late


@guarded
def serve(
    scenario: Scenario,
    image: Annotated[
        Path,
        typer.Argument(
            metavar="IMAGE",
            parser=place,
            help="Image file for data and state; created if missing.",
        ),
    ],
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Listen on unix:PATH or tcp:HOST:PORT; default: unix:IMAGE.sock.",
        ),
    ] = None,
    timing: Annotated[
        str,
        typer.Option(
            metavar="emulated|compensated|none",
            help="When to reply. emulated: at the modeled time; compensated: earlier by the"
            " transport delay; none: immediately.",
        ),
    ] = "emulated",
    dilate: Annotated[float, typer.Option(metavar="N", help="Slow the device down N times.")] = 1.0,
    read_only: Annotated[bool, typer.Option("--read-only", help="Reject writes.")] = False,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="STATE",
            parser=place,
            help="Initialize a new image from a saved state.",
        ),
    ] = None,
    export: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=SCENARIO:IMAGE",
            help="Serve another device at the same address (repeatable).",
        ),
    ] = None,
    tls: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Encrypt connections with the certificates in FOLDER."),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            parser=place,
            help="Control socket for nacre ctl; default: IMAGE.ctl.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Prometheus metrics: tcp:127.0.0.1:PORT or unix:PATH."
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="TRACE",
            parser=place,
            help="Record requests to a trace that `nacre run` can replay.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite an existing --record file.")
    ] = False,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Serve a simulated device as an NBD block device."""
    address = listen or f"unix:{image}.sock"

    # Read the scenario before Ctrl-C is caught, because reading a pipe without a writer blocks.
    source = read(scenario)
    others = {name: (read(other), place) for name, (other, place) in _exports(export or []).items()}
    steered = control or image.with_name(image.name + SUFFIX)
    images = [image, *(place for _, place in others.values())]
    options = ServeOptions(
        timing=timing,  # type: ignore[arg-type]  # serve() names the error
        dilate=dilate,
        read_only=read_only,
        start=start,
        tls=tls,
        control=steered,
        metrics=metrics,
        record=record,
        force=force,
    )
    announced = partial(_announce, images=images, control=steered, as_json=as_json)
    with Interruption() as interruption:
        service = serve_scenario(
            source,
            settings_of(scenario, settings),
            image=image,
            listen=address,
            exports=others,
            options=options,
            tell=warn,
            ready=announced,
            stop=lambda: interruption.asked,
        )
    if as_json:
        write_json_line({"event": "ended"} | service.to_dict())
    else:
        _show(service)
    recorded = [export.recording for export in service.exports if export.recording]
    failed = [recording(each) for each in recorded if each.error]
    if service.unsynced:
        failed.append(f"unflushed data may be lost: {service.unsynced}")
    if failed:
        complain(*failed)
        raise typer.Exit(FAILED)


def _announce(
    listening: Listening, *, images: Sequence[Path], control: Path, as_json: bool
) -> None:
    """Prints the addresses of a ready server, as text or as one line of JSON."""
    if as_json:
        exports = [
            {
                "name": unquote(urlsplit(uri).path.removeprefix("/")),
                "uri": uri,
                "bytes": size,
                "image": str(image),
            }
            for (uri, size), image in zip(listening.devices, images, strict=True)
        ]
        about = {"control": str(control), "metrics": listening.metrics, "exports": exports}
        write_json_line({"event": "ready"} | about)
    else:
        if listening.metrics is not None:
            write_line(f"metrics at {listening.metrics}")
        for uri, size in listening.devices:
            write_line(f"{with_unit(size, 'B')} at {uri}")
        write_line("press Ctrl-C to stop; written data stays in the image")
    flush()


def _exports(given: list[str]) -> dict[str, tuple[str, Path]]:
    """Parses the options for additional devices.

    Returns scenario and image by export name, or raises `ConfigError`.
    """
    exports: dict[str, tuple[str, Path]] = {}
    problems: list[Problem] = []
    for text in given:
        name, _, rest = text.partition("=")
        scenario, _, image = rest.partition(":")
        if not (name and scenario and image) or name in exports:
            code: Code = "duplicate-name" if name in exports else "invalid-value"
            wrong = "two devices have the same name" if name in exports else "it is not a device"
            hint = "write NAME=SCENARIO:IMAGE, e.g. --export onyx=onyx:onyx.img"
            problems.append(
                Problem(code=code, path="--export", problem=wrong, given=f'"{text}"', hint=hint)
            )
        exports[name] = (scenario, Path(image))
    if problems:
        raise config_error(problems)
    return exports


def _show(service: Service) -> None:
    write_line()
    answered = sum(export.answered for export in service.exports)
    clients = numbered(service.clients, "client")
    write_line(f"{clients}, {numbered(answered, 'request')} answered")
    if service.dropped:
        write_line(f"dropped: {count(service.dropped)}; the last: {service.last_drop}")
    for export in service.exports:
        _show_export(export, is_named=len(service.exports) > 1)


def _show_export(export: ExportStatistics, *, is_named: bool) -> None:
    table = latency_table(export, ("mean", "p50", "p99", "p999", "max"))
    if is_named and table.rows:
        write_line()
        write_line(export.name)
    if table.rows:
        write_line()
        write_table(table)
    recorded = export.recording if export.recording and not export.recording.error else None
    lines = [too_late(export), recording(recorded) if recorded else None]
    for line in filter(None, lines):
        write_line()
        write_prose(line)
