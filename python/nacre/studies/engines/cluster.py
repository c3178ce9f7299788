"""Runs points on a Dask cluster: an existing cluster, or a temporary cluster on this machine."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Self

from nacre.errors import Code, ConfigError, Error, Problem, config_error, invalid
from nacre.studies.engines.engine import PATIENCE_S, Chunks
from nacre.studies.engines.task import Base, Outcome, Task, died, evaluate, identity
from nacre.studies.engines.tls import SCHEME, Tls

CHUNK_S = 1.0
CHUNK_MAX = 256
AHEAD = 2
"""Number of outstanding chunks per thread of the cluster."""
CONNECT_S = 5.0
WORKERS_S = 30.0
LOOK_S = 1.0
"""Seconds between checks of the number of workers."""
ALONE_S = 60.0
"""Maximum time in seconds that the cluster may have no workers."""

_LOGGERS = ("distributed", "tornado", "asyncio")
MISSING = Problem(
    code="missing-package",
    path="--engine dask",
    problem="Dask is not installed",
    hint="pip install 'nacre[dask]'",
)
MISSING_KEYS = Problem(
    code="missing-package",
    path="--engine dask",
    problem="cryptography is not installed, which generates the keys of a temporary cluster",
    hint="pip install 'nacre[dask]'",
)


class Cluster:
    """Runs points on a Dask cluster. Without an address, starts a local worker per core."""

    def __init__(self, address: str | None, tls: Tls | None = None) -> None:
        self._address, self._tls = address, tls
        self._stack = ExitStack()
        self._client: Any = None
        self._looked_s = self._seen_s = 0.0
        self._threads_seen = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(_quiet())
            address, security = self._place(stack)
            self._client = _connected(address, security)
            stack.callback(_close, self._client)
            self._check()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def outcomes(self, base: Base, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        """Yields each outcome when a task ends, and None if no task ends for a while."""
        chunks = Chunks(tasks, CHUNK_S, CHUNK_MAX)
        ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        pending: dict[str, tuple[Any, list[Task]]] = {}
        suspects: list[Task] = []
        trying = False
        missing = len(tasks)
        self._seen_s = time.monotonic()

        def submit(chunk: list[Task]) -> None:
            future = self._client.submit(evaluate, base, chunk, pure=False)
            pending[future.key] = (future, chunk)
            future.add_done_callback(ended.put)

        try:
            while missing:
                takers = AHEAD * max(self._threads(), 1)
                while len(chunks) and len(pending) < takers:
                    submit(chunks.next(takers))
                if not pending:
                    # Dask attributes a crash to all tasks of the worker. Each task is therefore
                    # repeated alone.
                    trying = True
                    submit([suspects.pop(0)])
                try:
                    future = ended.get(timeout=PATIENCE_S)
                except queue.Empty:
                    # After unusual failures, Dask may not call back.
                    for future in [future for future, _ in pending.values() if future.done()]:
                        ended.put(future)
                    yield None
                    continue
                status = future.status
                if future.key not in pending or status in ("lost", "pending"):
                    # The worker ended before it sent the result, so the scheduler computes the
                    # result again. Dask does not call back a second time, so the loop above polls
                    # the result.
                    continue
                _, chunk = pending.pop(future.key)
                found = _result(future, status, self._name)
                if found is None and trying:
                    found = [died(chunk[0])]
                elif found is None:
                    suspects += chunk
                    continue
                for outcome in found:
                    chunks.took(outcome.seconds)
                missing -= len(found)
                yield from found
        finally:
            with suppress(Exception):
                self._client.cancel([future for future, _ in pending.values()])

    @property
    def _name(self) -> str:
        return self._address or "of this machine"

    def _place(self, stack: ExitStack) -> tuple[str, Any]:
        """Returns the address of the cluster and the credentials for it."""
        if self._address is not None:
            return self._address, self._tls.security() if self._tls else None
        try:
            from nacre.studies.engines import own_cluster

            return own_cluster.start(stack)
        except ImportError:
            raise config_error([MISSING_KEYS]) from None
        except (OSError, RuntimeError) as error:
            raise Error(
                f"the cluster {self._name} could not be started: {error}", "process-failed"
            ) from error

    def _check(self) -> None:
        """Checks that the cluster has workers, and that they have this version of Nacre."""
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_S)
        except TimeoutError:
            if self._address is None:
                raise Error(
                    f"no worker of the cluster {self._name} has started", "no-answer"
                ) from None
            raise _user_error(
                "no-answer",
                "the cluster has no workers",
                f"start some with `dask worker {self._address}`",
                given=self._name,
            ) from None
        for worker, found in self._client.run(identity, on_error="return").items():
            if isinstance(found, BaseException):
                raise _user_error(
                    "process-failed",
                    f"the worker {worker} cannot run Nacre: {found}",
                    f"install Nacre {identity()} there",
                )
            if found != identity():
                raise _user_error(
                    "wrong-version",
                    f"the worker {worker} has Nacre {found}",
                    f"install {identity()} there",
                )

    def _threads(self) -> int:
        """Returns the number of threads of the cluster.

        Raises `Error` if there are no workers for too long.
        """
        if self._client.status in ("closed", "closing"):
            raise Error(f"the connection to the cluster {self._name} was lost", "no-answer")
        now = time.monotonic()
        if now - self._looked_s > LOOK_S:
            self._looked_s = now
            self._threads_seen = sum(self._client.nthreads().values())
        if self._threads_seen:
            self._seen_s = now
        elif now - self._seen_s > ALONE_S:
            raise Error(
                f"the cluster {self._name} has had no workers for {ALONE_S:.0f} s", "no-answer"
            )
        return self._threads_seen


def _result(future: Any, status: str, name: str) -> list[Outcome] | None:
    """Returns the outcomes of a chunk, or None if its workers crashed."""
    import distributed

    if status == "finished":
        found: list[Outcome] = future.result()
        return found
    if status != "error":
        raise Error(
            f"the cluster {name} has dropped points: {status}; check that it still runs",
            "no-answer",
        )
    failure = future.exception()
    if not isinstance(failure, distributed.scheduler.KilledWorker):
        raise Error(f"the cluster {name} could not run points: {failure}", "process-failed")
    return None


def _connected(address: str, security: Any) -> Any:
    import distributed

    if address.startswith(SCHEME) and security is None and not _has_certificates():
        # Check this here, because Dask would fail only 10 s later, with a traceback.
        raise _user_error(
            "invalid-certificate",
            "the cluster requires certificates",
            "give --tls-ca, --tls-cert and --tls-key",
            given=address,
        )
    try:
        return distributed.Client(  # type: ignore[no-untyped-call]
            address,
            timeout=CONNECT_S,
            set_as_default=False,
            direct_to_workers=False,
            security=security,
        )
    except (OSError, ValueError, TimeoutError) as error:
        raise _user_error(
            "no-answer",
            f"there is no Dask scheduler ({' '.join(str(error).split())})",
            "start one with `dask scheduler`, or leave the address out",
            given=address,
        ) from None


def _has_certificates() -> bool:
    """Returns whether Dask's configuration contains client certificates."""
    import distributed

    known = distributed.Security()  # type: ignore[no-untyped-call]
    found = known.get_connection_args("client")  # type: ignore[no-untyped-call]
    return found.get("ssl_context") is not None


def _user_error(code: Code, problem: str, hint: str, given: str = "") -> ConfigError:
    return invalid(code, "--address", problem, hint=hint, given=given)


def _close(client: Any) -> None:
    with suppress(Exception):
        client.close(timeout=0.5)


def _quiet() -> ExitStack:
    """Suppresses Dask's log output, because Nacre reports the errors."""
    import logging

    try:
        import distributed  # noqa: F401
    except ImportError:
        raise config_error([MISSING]) from None
    stack = ExitStack()
    for name in [name for name in logging.root.manager.loggerDict if name.startswith(_LOGGERS)]:
        logger = logging.getLogger(name)
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL + 1)
    return stack
