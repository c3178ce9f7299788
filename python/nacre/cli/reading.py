"""Options for reading traces, shared by all commands with traces."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any

import typer

from nacre.traces import Options
from nacre.traces.inputs import LIMIT_MAX

NONE: Options = {}
"""Default options. Nacre detects all properties from the names and contents of the files."""

_OPTIONS: Mapping[str, Any] = {
    "format": Annotated[
        str | None,
        typer.Option("--format", help="Trace format if not detected; see nacre trace formats."),
    ],
    "time_unit": Annotated[
        str | None,
        typer.Option("--time-unit", help="Unit of the times in the trace: ns, 100ns, us, ms, s."),
    ],
    "strict": Annotated[bool, typer.Option("--strict", help="Stop at the first damaged record.")],
    "action": Annotated[
        str | None,
        typer.Option("--action", help="blktrace, blkparse: action to read as a request, e.g. Q."),
    ],
    "page": Annotated[
        str | None,
        typer.Option(
            "--page",
            metavar="SIZE",
            help="Bytes per object or page of oracleGeneral, lcs, and arc traces, e.g. 512.",
        ),
    ],
    "limit": Annotated[
        int | None, typer.Option("--limit", min=1, max=LIMIT_MAX, help="Read at most N requests.")
    ],
}


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """Replaces the parameter `options` of a command with the options of this module."""
    own = inspect.signature(command, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters: list[inspect.Parameter] = []
    for parameter in own.parameters.values():
        if parameter.name != "options":
            parameters.append(parameter.replace(kind=keyword))
            continue
        for name, kind in _OPTIONS.items():
            default = False if name == "strict" else None
            parameters.append(inspect.Parameter(name, keyword, default=default, annotation=kind))

    @wraps(command)
    def read(**given: Any) -> None:
        said = {name: given.pop(name) for name in _OPTIONS}
        command(**given, options=said)

    read.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    read.__annotations__ = {each.name: each.annotation for each in parameters}
    return read
