"""Pulling the power under a program of the user's, and asking another one what it finds."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from nacre.control import Control, Outage
from nacre.errors import Error, Problem, config_error
from nacre.view import View

PATIENCE_S = 10.0
"""Seconds that a program has to end by itself when its device is gone."""
_SAID = 4_000
"""Characters that are kept of what a program said last."""
_MISTAKE = 2
"""The status of a server whose user made a mistake."""


class Round(View):
    """One loss of power: how long the program had run, and what the check found.

    `at_s` counts from its start, or from when it was ready. `ended` is the exit status of a program
    that ended before the power did; `check` that of the check, None where there is none.
    """

    parts = {"outage": Outage}  # noqa: RUF012
    at_s: float
    ended: int | None
    outage: Outage
    check: int | None
    said: str


class Pulled(View):
    """What became of the data of a program; `kept` is the folder of an image that failed."""

    parts = {"rounds": Round}  # noqa: RUF012
    name: str
    seed: int
    rounds: tuple[Round, ...]
    failed: int
    kept: str | None


def crash_program(
    scenario: str,
    settings: Sequence[str],
    command: Sequence[str],
    *,
    check: str | None = None,
    times: int = 10,
    within_s: float = 2.0,
    ready: bool = False,
    seed: int = 1,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[int], None] = lambda _: None,
) -> Pulled:
    """Serves the stack of `scenario`, runs `command` on it, and pulls the power so many times.

    Each time the program begins anew on the image that is there; the power fails at a moment drawn
    up to `within_s` seconds later, or when the program ends. With `ready` these seconds count from
    when the program makes the file `NACRE_READY`. Then the device is served anew from its image,
    and `check` is run by the shell. Both find the device under `NACRE_URI` in their environment,
    and which round it is as `NACRE_ROUND`. The first check that fails ends it.

    Raises `ConfigError` where there is a mistake in the scenario, `Error` where the device cannot
    be served for another reason, `OSError` where the program cannot be run.
    """
    draws = random.Random(seed)  # noqa: S311  (moments, no secrets)
    folder = Path(tempfile.mkdtemp(prefix="nacre-crash-"))
    rounds: list[dict[str, Any]] = []
    failed = 0
    try:
        server = _Server(scenario, settings, folder)
        try:
            for number in range(times):
                if stop() or failed:
                    break
                moment = _Moment(draws.uniform(0, within_s), server.ready if ready else None)
                found = _pull(server, command, moment, number, stop)
                server.stop()
                server.start()
                if check is not None:
                    found |= _check(check, server.environment(number))
                    failed += found["check"] != 0
                rounds.append(found)
                tell(len(rounds))
            server.stop()
        finally:
            server.kill()
    finally:
        if not failed:
            shutil.rmtree(folder, ignore_errors=True)
    kept = str(folder) if failed else None
    name = Path(scenario).name
    return Pulled({"name": name, "seed": seed, "rounds": rounds, "failed": failed, "kept": kept})


class _Server:
    """`nacre serve` in a process of its own."""

    def __init__(self, scenario: str, settings: Sequence[str], folder: Path) -> None:
        self.image = folder / "device.img"
        self.ready = folder / "ready"
        self._command = [sys.executable, "-m", "nacre", "serve", scenario, str(self.image)]
        self._command += [word for setting in settings for word in ("--set", setting)]
        self._process: subprocess.Popen[str] | None = None
        self._uri = ""
        self.start()

    def start(self) -> None:
        """Starts, and waits until it listens."""
        process = subprocess.Popen(  # noqa: S603  (our own command)
            self._command,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._process = process
        said = ""
        for line in process.stdout or ():
            said += line
            if " at nbd" in line:
                self._uri = line.rsplit(" at ", 1)[1].strip()
            if line.startswith("Ctrl-C"):
                return
        problem = f"the device cannot be served: {said.strip().removeprefix('error: ')}"
        if process.wait() == _MISTAKE:
            raise config_error([Problem(problem=problem)])
        raise Error(problem)

    def environment(self, number: int) -> Mapping[str, str]:
        """For programs on it."""
        about = {"NACRE_URI": self._uri, "NACRE_ROUND": str(number), "NACRE_READY": str(self.ready)}
        return {**os.environ, **about}

    def power_fail(self) -> Outage:
        """The power fails and comes back."""
        with Control(self.image) as control:
            return control.power_fail()

    def stop(self) -> None:
        """Ends it, as Ctrl-C does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            said, _ = self._process.communicate(timeout=PATIENCE_S)
            if self._process.returncode != 0:
                raise Error(f"the device could not be served to the end: {said.strip()}")
            self._process = None

    def kill(self) -> None:
        """Ends it if it is still there."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


class _Moment:
    """When the power fails: so many seconds from now, or from when a file is there."""

    def __init__(self, after_s: float, ready: Path | None) -> None:
        self._after_s, self._ready = after_s, ready
        self._began = time.monotonic()
        if ready is not None:
            ready.unlink(missing_ok=True)

    def passed_s(self) -> float:
        """Seconds that count so far."""
        if self._ready is not None:
            self._began = time.monotonic()
            if self._ready.exists():
                self._ready = None
        return time.monotonic() - self._began

    def left_s(self) -> float:
        """Seconds until then; 0 when it has come."""
        return max(0.0, self._after_s - self.passed_s())


def _pull(
    server: _Server,
    command: Sequence[str],
    moment: _Moment,
    number: int,
    stop: Callable[[], bool],
) -> dict[str, Any]:
    """Runs the program until the power fails under it."""
    with _running(command, server.environment(number)) as process:
        while process.poll() is None and (left_s := moment.left_s()) > 0 and not stop():
            time.sleep(min(0.01, left_s))
        ended, ran_s = process.poll(), moment.passed_s()
        outage = server.power_fail()
    return {"at_s": ran_s, "ended": ended, "outage": outage.to_dict(), "check": None, "said": ""}


@contextmanager
def _running(
    command: Sequence[str], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """The program and all it starts; what has not ended at last is ended."""
    with subprocess.Popen(  # noqa: S603  (the user's own program)
        command, env=dict(environment), stdin=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            yield process
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _check(check: str, environment: Mapping[str, str]) -> dict[str, Any]:
    done = subprocess.run(  # noqa: S602  (the user's own command line)
        check,
        shell=True,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return {"check": done.returncode, "said": done.stdout[-_SAID:]}
