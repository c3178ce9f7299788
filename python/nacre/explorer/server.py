"""Serves pages on this machine, and saves the results of running jobs before it stops."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import uvicorn

from nacre.base.limits import for_pages
from nacre.errors import invalid
from nacre.explorer.app import Explorer

HOST = "127.0.0.1"
_WAITING = 64
"""Maximum number of concurrent requests. A browser sends up to six."""
_GRACE_S = 3
"""Maximum time in seconds for open connections to close after a request to stop."""


def explore(
    folder: Path,
    *,
    port: int = 0,
    ready: Callable[[str], object] = lambda _address: None,
) -> None:
    """Serves pages until Ctrl-C, SIGTERM, or SIGHUP, and then writes completed results.

    `ready` is called with the address to open. Its fragment contains the token. If `port` is 0, a
    free port is selected. Raises `ConfigError` for an unavailable port or an invalid folder. Raises
    `Error` if the system allows too few open files.
    """
    for_pages()
    if folder.exists() and not folder.is_dir():
        hint = "give a directory; it is created if missing"
        raise invalid("not-a-file", "--out", f"{folder} is a file", hint=hint)
    explorer = Explorer(folder)
    with _listening(port) as listener:
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        hosts = (f"{HOST}:{port}", f"localhost:{port}")
        config = uvicorn.Config(
            explorer.app(hosts=hosts, token=token),
            lifespan="off",
            ws="none",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=_WAITING,
            timeout_graceful_shutdown=_GRACE_S,
        )
        explorer.vega.begin()
        explorer.vega.warm()
        try:
            ready(f"http://{HOST}:{port}/#token={token}")
            _Server(config, explorer).run(sockets=[listener])
        finally:
            explorer.close()


class _Server(uvicorn.Server):
    """A uvicorn server that also stops the jobs, because open connections may wait for jobs."""

    def __init__(self, config: uvicorn.Config, explorer: Explorer) -> None:
        super().__init__(config)
        self._explorer = explorer
        self._asked = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Also handles SIGHUP, which arrives when the terminal of the server closes."""
        with super().capture_signals():
            is_main = threading.current_thread() is threading.main_thread()
            before = signal.getsignal(signal.SIGHUP)
            if is_main and before is not signal.SIG_IGN:
                signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                if is_main:
                    signal.signal(signal.SIGHUP, before)

    async def main_loop(self) -> None:
        """Waits for a request to stop. Uvicorn's main loop would poll ten times a second."""
        self._loop = asyncio.get_running_loop()
        while not self.should_exit:
            self._asked.clear()
            await self._asked.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Asks the jobs and the server to stop."""
        self._explorer.stop()
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._asked.set)


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise invalid(
            "invalid-address",
            "--port",
            f"cannot listen on it: {error.strerror}",
            given=str(port),
            hint="choose another port, or omit --port to use a free one",
        ) from None
    return listener
