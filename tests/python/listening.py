"""Finds the sockets on which the processes of a test listen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

_LISTENS = 0x10000
"""Flag of a listening unix socket in /proc/net/unix."""


def listening(pid: int | None = None) -> list[tuple[str, int]]:
    """Returns host and port of every socket on which this process, or `pid`, and its children
    listen."""
    return [
        (connection.laddr.ip, connection.laddr.port)
        for process in _family(pid)
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]


def sockets(pid: int | None = None) -> set[Path]:
    """Returns the unix sockets on which this process, or `pid`, and its children listen."""
    lines = Path("/proc/net/unix").read_text().splitlines()[1:]
    fields = [line.split(maxsplit=7) for line in lines]
    names = {f"socket:[{of[6]}]": Path(of[7]) for of in fields if int(of[3], 16) & _LISTENS}
    opened = [one for process in _family(pid) for one in _opened(process)]
    return {names[one] for one in opened if one in names}


def _opened(process: psutil.Process) -> Iterator[str]:
    """Yields the targets of the descriptors of a process. The process may close descriptors or exit
    meanwhile."""
    with suppress(FileNotFoundError):
        for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
            with suppress(FileNotFoundError):
                yield str(descriptor.readlink())


def _family(pid: int | None) -> list[psutil.Process]:
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]
