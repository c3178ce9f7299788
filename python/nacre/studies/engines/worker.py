"""A worker process: `python -m nacre.studies.engines.worker DESCRIPTOR FOLDER`.

The worker receives chunks of tasks and sends outcomes over the descriptor. If the process that
started the worker exits, the worker exits immediately and removes the shared folder.
"""

from __future__ import annotations

import os
import queue
import shutil
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Never

from nacre.studies.engines.task import Base, Outcome, Task, evaluate

_SILENCE_S = 0.1
"""Time in seconds for which outcomes are collected before they are sent together."""


def main() -> None:
    """Runs tasks until the pipe closes."""
    descriptor, folder = sys.argv[1:]
    try:
        _work(Connection(int(descriptor)), folder)
    except (ConnectionError, EOFError):
        _leave(folder)


def _work(connection: Connection, folder: str) -> None:
    base: Base = connection.recv()
    chunks: queue.SimpleQueue[list[Task]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, folder, chunks), daemon=True).start()
    # An empty list means that the worker is ready.
    connection.send([])
    while True:
        outcomes: list[Outcome] = []
        sent = time.monotonic()
        for task in chunks.get():
            outcomes += evaluate(base, [task])
            if time.monotonic() - sent > _SILENCE_S:
                connection.send(outcomes)
                outcomes, sent = [], time.monotonic()
        if outcomes:
            connection.send(outcomes)


def _listen(connection: Connection, folder: str, chunks: queue.SimpleQueue[list[Task]]) -> None:
    """Reads chunks from the pipe immediately, so that the sender never blocks."""
    while True:
        try:
            chunks.put(connection.recv())
        except (EOFError, OSError):
            _leave(folder)


def _leave(folder: str) -> Never:
    """Exits immediately and removes the folder, because the starting process was killed."""
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


if __name__ == "__main__":
    main()
