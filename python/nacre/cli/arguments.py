"""Arguments that several commands take: scenarios, settings, places to write to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nacre.cli import completing
from nacre.cli.failure import warn
from nacre.cli.replaced import replaced
from nacre.errors import ConfigError, Problem, config_error
from nacre.run import check

Scenario = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A TOML file, the name of a shipped scenario, or - for standard input.",
        autocompletion=completing.scenarios,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Give a value another setting; may be repeated."
    ),
]
ConvertedPrices = Annotated[
    list[str] | None,
    typer.Option(
        "--prices",
        metavar="BASIS=FACTOR BASIS",
        help='Convert prices, as "USD 2009=1.42 USD 2023"; may be repeated.',
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def place(text: str) -> Path:
    """The path of a file or directory to write."""
    if not text:
        raise typer.BadParameter("it is empty; give the name of a place to write to.")
    if text == "-":
        raise typer.BadParameter(
            "standard output does not take files; give a name (./- for a file called so)."
        )
    return Path(text)


def settings_of(scenario: str, settings: list[str] | None) -> dict[str, object]:
    """The settings by path; raises `ConfigError` with their mistakes and the scenario's.

    What a setting takes away with the table it replaces is said.
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
                    path="--set",
                    problem="not a setting",
                    given=f'"{given}"',
                    hint='write PATH=VALUE, as in --set workload.arrival.rate="20 kHz"',
                )
            )
    if problems:
        raise _with_those_of(scenario, overrides, config_error(problems))
    if overrides:
        for line in replaced(scenario, overrides):
            warn(line)
    return overrides


def _with_those_of(
    scenario: str, overrides: dict[str, object], mistakes: ConfigError
) -> ConfigError:
    """The mistakes and, if there are any, those of the scenario itself."""
    try:
        check(scenario, overrides)
    except ConfigError as more:
        both = ConfigError(f"{mistakes}\n{more}")
        both.problems = [*mistakes.problems, *more.problems]
        return both
    return mistakes
