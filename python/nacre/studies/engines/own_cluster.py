"""Temporary Dask cluster on this machine. Only the run that starts the cluster can use it.

All parts listen on the loopback address and require TLS certificates from both sides. The key is
generated for the run, and only processes of the run have it. Dask's HTTP servers are disabled,
because they have no authentication.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from typing import Any

import distributed
from tornado.httpserver import HTTPServer

from nacre.studies.engines.local import cores

LOOPBACK = "127.0.0.1"


class _WithoutHttp:
    """A scheduler or worker of a cluster without HTTP pages (dashboard, metrics, health)."""

    def start_http_server(self, routes: Any, *_: Any, **__: Any) -> None:
        """Creates an HTTP server that does not listen, because other parts of Dask require it."""
        from distributed.http.routing import RoutingApplication

        self.http_application = RoutingApplication(routes)  # type: ignore[no-untyped-call]
        self.http_server = HTTPServer(self.http_application)


class Scheduler(_WithoutHttp, distributed.Scheduler):
    """A scheduler without an HTTP server."""


class Worker(_WithoutHttp, distributed.Worker):
    """A worker without an HTTP server."""


def start(stack: ExitStack) -> tuple[str, Any]:
    """Runs a scheduler in this process and workers in other processes until `stack` closes.

    Returns the address of the scheduler, and the credentials for clients.
    """
    keys: Any = distributed.Security.temporary()  # type: ignore[no-untyped-call]
    options = {"host": LOOPBACK, "port": 0, "protocol": "tls://", "security": keys}
    cluster = distributed.SpecCluster(  # type: ignore[no-untyped-call]
        scheduler={"cls": Scheduler, "options": options | {"dashboard": False}},
        security=keys,
        silence_logs=50,
    )
    stack.callback(cluster.close)
    address = str(cluster.scheduler_address)
    for _ in range(cores()):
        stack.callback(_end, _worker(address, keys))
    return address, keys


def _worker(address: str, keys: Any) -> subprocess.Popen[bytes]:
    """Starts a worker with a nanny. The nanny restarts the worker if it crashes."""
    tls = "DASK_DISTRIBUTED__COMM__TLS__"
    # Pass the keys in the environment. Files would remain after a kill, and arguments are public.
    environment = {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True",
        f"{tls}CA_FILE": keys.tls_ca_file,
        f"{tls}WORKER__CERT": keys.tls_worker_cert,
        f"{tls}WORKER__KEY": keys.tls_worker_key,
    }
    return subprocess.Popen(  # noqa: S603 (our own interpreter)
        [
            *(sys.executable, "-P", "-m", "distributed.cli.dask_worker", address),
            *("--host", LOOPBACK, "--worker-class", f"{__name__}.{Worker.__name__}"),
            *("--nthreads", "1", "--no-dashboard", "--death-timeout", "60"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | environment,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills a worker, its nanny, and all other processes of its session."""
    import signal

    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
