"""Reads requests of pages, and creates responses: JSON, tables, figures, and errors."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from nacre import kinds
from nacre.base.failures import failure_of
from nacre.base.json_text import as_json
from nacre.base.table import Table
from nacre.base.text import printable
from nacre.errors import ConfigError, Error, TraceError, invalid
from nacre.explorer.folder import MissingError
from nacre.results.base import Result

if TYPE_CHECKING:
    import altair as alt

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
_DRAWING = threading.Lock()
DOCUMENT_MAX = 1 << 20
"""Maximum size in bytes of a document that a page sends. Scenarios are a few thousand bytes
long."""


class TooLargeError(Error):
    """The request body exceeds the limit."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "over-limit")


def response(content: object, status: int = 200) -> Response:
    """Creates a JSON response. Infinite numbers and NaN become null."""
    return Response(as_json(content), status, media_type="application/json")


def answering(ask: Callable[..., Any], *, takes_document: bool = False) -> Endpoint:
    """Creates an endpoint that calls `ask` in a thread and responds with the result or the error.

    `ask` is called with the request. If `takes_document` is true, `ask` also gets the JSON document
    of the request body.
    """

    @wraps(ask)
    async def endpoint(request: Request) -> Response:
        try:
            given = [await document(request)] if takes_document else []
            found = await run_in_threadpool(ask, request, *given)
        except ClientDisconnect:
            raise
        except Exception as error:
            return refusal(error)
        return found if isinstance(found, Response) else response(found)

    return endpoint


def refusal(error: BaseException) -> Response:
    """Creates the error response for an exception."""
    failure = failure_of(error)
    match error:
        case MissingError():
            status = 404
        case TooLargeError():
            status = 413
        case ConfigError() | TraceError():
            status = 422
        case _:
            status = 400 if isinstance(error, Error | OSError) else 500
    return response(failure.document(), status)


async def document(request: Request) -> dict[str, Any]:
    """Returns the JSON object in the body of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise invalid("wrong-type", "", "the request body is not declared as JSON")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > DOCUMENT_MAX:
            raise TooLargeError(f"the request body is larger than {DOCUMENT_MAX >> 20} MiB")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise invalid("wrong-type", "", "the request body is not a JSON object")
    return found


def tables(*given: Table) -> list[dict[str, Any]]:
    """Converts tables to JSON objects for pages."""
    return [
        {
            "title": each.title,
            "columns": list(each.columns),
            "numeric": list(each.numeric),
            "prose": list(each.prose),
            "rows": [[printable(cell) for cell in row] for row in each.rows],
        }
        for each in given
        if each.rows
    ]


def lines(given: Iterable[str]) -> list[str]:
    """Escapes control characters in sentences."""
    return [printable(line) for line in given]


def figure(draw: Callable[[], alt.TopLevelMixin]) -> dict[str, Any]:
    """Returns the Vega-Lite specification of a figure.

    Only one thread plots at a time, because Altair is not thread-safe.
    """
    with _DRAWING:
        drawn: Any = draw()
        found: dict[str, Any] = drawn.to_dict(validate=False)
    return found


def summary(result: Result) -> dict[str, Any]:
    """Returns the summary of a result, with the names of its figures."""
    said = result.summary()
    return {
        "headline": lines(said.headline),
        "facts": lines(said.facts),
        "tables": tables(*said.tables),
        "figures": list(said.figures),
        "assumed": len(said.assumed),
    }


def figure_of(result: Result, request: Request) -> dict[str, Any]:
    """Returns the figure named in the request path."""
    makers, name = kinds.of(result).figures(result), path_word(request, "figure")
    if name not in makers:
        raise invalid("unknown-name", name, "unknown figure")
    return figure(makers[name])


def path_word(request: Request, name: str) -> str:
    """Returns a named component of the request path."""
    return str(request.path_params[name])


def index(request: Request, name: str) -> int:
    """Returns an index from the query of the request address. The default is 0."""
    found = request.query_params.get(name, "0")
    if not (found.isascii() and found.isdigit() and len(found) < 10):
        raise invalid("invalid-value", name, "expected an index from 0", given=found[:80])
    return int(found)


def text(given: Mapping[str, Any], key: str, otherwise: str | None = None) -> str:
    """Returns a text field of a document. Raises `ConfigError` for another type."""
    found = given.get(key, otherwise)
    if not isinstance(found, str):
        raise invalid("wrong-type", key, "expected text", given=repr(found)[:80])
    return found


def whole(given: Mapping[str, Any], key: str, least: int, most: int, otherwise: int) -> int:
    """Returns an integer field of a document.

    Raises `ConfigError` for another type or a value out of range.
    """
    found = given.get(key, otherwise)
    if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) <= 20:
        found = int(found)  # JavaScript cannot represent large integers, so pages send them as text
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found <= most:
        hint = f"give a whole number from {least:,} to {most:,}"
        raise invalid("out-of-range", key, "it is out of range", given=repr(found)[:80], hint=hint)
    return found


def table_of(given: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Returns a table field of a document. Raises `ConfigError` for another type."""
    found = given.get(key)
    if not isinstance(found, dict):
        raise invalid("wrong-type", key, "expected a table", given=repr(found)[:80])
    return found
