"""Arguments shared by several commands: scenarios, settings, output paths."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from nacre.cli import completing
from nacre.cli.failure import warn
from nacre.cli.replaced import replaced
from nacre.errors import ConfigError, Problem, config_error
from nacre.simulate.running import check

Scenario = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="TOML file, name of a built-in scenario, or - for standard input.",
        autocompletion=completing.scenarios,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Override a setting, e.g. workload.requests=1000 (repeatable).",
    ),
]
ConvertedPrices = Annotated[
    list[str] | None,
    typer.Option(
        "--prices",
        metavar="BASIS=FACTOR BASIS",
        help=(
            'Convert prices, e.g. "USD 2009=1.42 USD 2023" if 1 USD of 2009 is 1.42 of 2023 '
            "(repeatable)."
        ),
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]
ReplaceResults = Annotated[
    bool, typer.Option("--force", help="Overwrite the results in the --out directory.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def directory(what: str) -> Any:
    """Creates an option for an output directory, with the help text `what`."""
    return typer.Option(metavar="DIR", parser=place, help=what)


def output_option(what: str) -> Any:
    """Creates an option for an output file, with the help text `what`."""
    return typer.Option("-o", "--output", metavar="FILE", parser=place, help=what)


Served = Annotated[
    Path,
    typer.Argument(metavar="IMAGE", help="Image file of the served device, or its control socket."),
]
Export = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the export; default: the first one.")
]


class EngineName(StrEnum):
    """Engine that runs the points of a study, or the parts of a split run."""

    LOCAL = "local"
    DASK = "dask"


EngineChoice = Annotated[
    EngineName,
    typer.Option(help="Engine for points and parts: local cores or a Dask cluster."),
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="ADDR", help="Address of the Dask scheduler; default: start one on this machine."
    ),
]
TlsCa = Annotated[
    Path | None,
    typer.Option("--tls-ca", metavar="PEM", help="CA certificate of the Dask cluster (PEM)."),
]
TlsCert = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="PEM", help="Client certificate (PEM).")
]
TlsKey = Annotated[
    Path | None,
    typer.Option("--tls-key", metavar="PEM", help="Private key of the client certificate (PEM)."),
]

_ROOTS = ("schema", "name", "summary", "workload", "stack", "host", "run")
"""Top-level keys of a scenario."""


def place(text: str) -> Path:
    """Converts the argument to the path of an output file or directory.

    Rejects empty text and `-`.
    """
    if not text:
        raise typer.BadParameter("it is empty; name a file or directory to write.")
    if text == "-":
        raise typer.BadParameter(
            "expected the name of a file or directory, not standard output (./- for a file"
            " called -)."
        )
    return Path(text)


def settings_of(scenario: str, settings: list[str] | None) -> dict[str, object]:
    """Parses settings given as PATH=VALUE.

    Raises `ConfigError` with all errors of the settings and of the scenario.

    Prints a note for each setting that is lost because an override replaces its table.
    """
    overrides: dict[str, object] = {}
    problems: list[Problem] = []
    for given in settings or []:
        path, equals, value = given.partition("=")
        if equals and path.strip():
            overrides[path.strip()] = value.strip()
        else:
            problems.append(
                Problem(
                    code="invalid-value",
                    path="--set",
                    problem="not a setting",
                    given=f'"{given}"',
                    hint='write PATH=VALUE, e.g. --set workload.arrival.rate="20 kHz"',
                )
            )
    if problems:
        raise _with_those_of(scenario, overrides, config_error(problems))
    meant = _without_their_tables(scenario, overrides)
    if meant:
        rest = {path: value for path, value in overrides.items() if path not in meant}
        raise _with_those_of(scenario, rest, config_error(list(meant.values())))
    if overrides:
        for line in replaced(scenario, overrides):
            warn(line)
    return overrides


def _without_their_tables(scenario: str, overrides: dict[str, object]) -> dict[str, Problem]:
    """Finds overrides that name a setting without its table.

    Suggests full paths in the scenario.
    """
    names = {path: overrides[path] for path in overrides if "." not in path and path not in _ROOTS}
    if not names:
        return {}
    try:
        origins = check(scenario).origins
    except (ConfigError, OSError):
        return {}
    paths = [origin.path.removesuffix(".kind") for origin in origins]
    found: dict[str, Problem] = {}
    for name, value in names.items():
        places = [path for path in dict.fromkeys(paths) if path.endswith(f".{name}")]
        if places:
            found[name] = Problem(
                code="unknown-setting",
                path=name,
                where=f"--set {name}={value}",
                problem="there is no such setting",
                hint=f"write its whole path: {', '.join(places[:4])}",
            )
    return found


def _with_those_of(scenario: str, overrides: dict[str, object], errors: ConfigError) -> ConfigError:
    """Returns `errors`, together with the errors of the scenario itself, if any."""
    try:
        check(scenario, overrides)
    except ConfigError as more:
        both = ConfigError(f"{errors}\n{more}", errors.code, **errors.data)
        both.problems = [*errors.problems, *more.problems]
        return both
    return errors
