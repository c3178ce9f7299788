"""Access control.

Accepts a request only if it is from this machine, for this server's address, from a page of the
explorer, and with the token.

The token is in the fragment of the address, which a browser does not send. Pages send it in a
header. There are no cookies, so other web pages cannot use a browser's access to the explorer.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_BEARER = b"Bearer "
PROTECTED = "/api/"
"""Prefix of paths that require the token. Other paths are static pages without data."""


class Doors:
    """Rejects requests that do not come from pages of the explorer.

    Adds security headers to responses.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str) -> None:
        self._app = app
        self._hosts = frozenset(host.encode() for host in hosts)
        self._origins = frozenset(b"http://" + host for host in self._hosts)
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a request, or responds with the reason for its rejection."""
        if scope["type"] != "http":
            return  # only HTTP is supported; the server closes other connections
        headers: dict[bytes, bytes] = dict(scope["headers"])

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add(message)
            await send(message)

        refused = self._refused(scope, headers)
        if refused is None:
            with suppress(ClientDisconnect):  # the client has disconnected
                await self._app(scope, receive, with_headers)
        else:
            await _answer(with_headers, *refused)

    def _refused(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        named = [value for name, value in scope["headers"] if name == b"host"]
        if len(named) != 1 or named[0] not in self._hosts:
            return 403, "this address is not one that the explorer listens on"
        origin = headers.get(b"origin")
        if origin is not None and origin not in self._origins:
            return 403, "the request comes from another site"
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin") and not (
            headers.get(b"sec-fetch-mode") == b"navigate" and not _needs_token(scope)
        ):
            return 403, "the request comes from another site"
        if _needs_token(scope) and not self._knows(headers):
            return 401, "open the address that nacre explore printed: the token is missing or old"
        return None

    def _knows(self, headers: dict[bytes, bytes]) -> bool:
        given = headers.get(b"authorization", b"")
        return given.startswith(_BEARER) and hmac.compare_digest(
            given.removeprefix(_BEARER), self._token
        )


def _needs_token(scope: Scope) -> bool:
    """Whether a request needs the token.

    Pages need no token, so that users can follow links to pages.
    """
    return bool(scope["path"].startswith(PROTECTED))


def _add(message: MutableMapping[str, Any]) -> None:
    given = {name for name, _ in message["headers"]}
    kept = [(name, value) for name, value in _HEADERS if name not in given]
    if b"cache-control" not in given:
        kept.append((b"cache-control", b"no-store"))
    message["headers"] = [*message["headers"], *kept]


async def _answer(send: Send, status: int, why: str) -> None:
    body = json.dumps({"error": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
