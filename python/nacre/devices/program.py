"""Runs a user's program on a served device, cuts power, and runs the user's check."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

from nacre.base.processes import started
from nacre.base.view import View
from nacre.devices.control import Control
from nacre.devices.program_faults import InjectedFaults, Struck, read_faults
from nacre.errors import Error, invalid
from nacre.results.served import Outage

PATIENCE_S = 10.0
"""Maximum time in seconds for a program to exit after its device has disconnected."""
READY_TIMEOUT_S = 60.0
"""Default time in seconds within which a program must be ready."""
RECOVERY_SHARE = 0.3
"""Share of recoveries during which power fails again, as in power-loss tests without a program."""
_SAID = 4_000
"""Maximum number of characters that are kept from the end of a program's output."""
_MARK = "NACRE_READY"
"""Environment variable that identifies every process of a program. Its value is a unique path."""
_MISTAKE = 2
"""Exit status of `nacre serve` after a user error."""


class Round(View):
    """One power loss and the result of the check after it.

    `at_s` is the time of the power loss in seconds since the program started, or since it was
    ready. If the program ended before the power loss, `ended` is its exit status. `check` is the
    exit status of the check, or None without a check. `recovering` is true if power failed again
    during the recovery. If power failed during the check, the check was repeated, and `check_cut_s`
    is the time of the failure in seconds since the start of the check. Otherwise, `check_cut_s` is
    None. `faults` lists the effects of each fault.
    """

    parts = {"outage": Outage, "faults": Struck}  # noqa: RUF012
    at_s: float
    ended: int | None
    outage: Outage
    recovering: bool
    check_cut_s: float | None
    faults: tuple[Struck, ...]
    check: int | None
    said: str


class Pulled(View):
    """Result of power-loss tests with a program.

    If a check failed, `kept` is the folder with the image, otherwise None.
    """

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
    ready_timeout_s: float = READY_TIMEOUT_S,
    faults: Sequence[str] = (),
    recovery: float = RECOVERY_SHARE,
    seed: int = 1,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[int], None] = lambda _: None,
) -> Pulled:
    """Serves the stack of `scenario`, runs `command` on it, and cuts power `times` times.

    Each round starts the program on the existing image. Power fails at a random time within
    `within_s` seconds, or when the program ends. With `ready`, these seconds count from the time at
    which the program creates the file `NACRE_READY`. Then the device is served again from its
    image, and the shell runs `check`. The environment variables `NACRE_URI` and `NACRE_ROUND` of
    both programs hold the address of the device and the number of the round. The first failed check
    ends the test. If `stop` returns true, the program and the check are ended, and the current
    round does not count.

    `faults` are injected while the program runs (see `program_faults`). Faults of the medium are
    also injected while the check runs. In the share `recovery` of the rounds, power fails again
    while the device recovers. In an equal share of the rounds, power fails during the check, i.e.
    while the program recovers its data. The device is then served again, and the check restarts.

    Raises `ConfigError` for errors of the scenario. Raises `Error` if the device cannot be served
    for another reason, or if the program is not ready within `ready_timeout_s`. Raises `OSError` if
    the program cannot be run.
    """
    draws = random.Random(seed)  # noqa: S311  (moments, no secrets)
    sick = read_faults(faults)
    recoveries = _Recoveries(seed, recovery)
    folder = Path(tempfile.mkdtemp(prefix="nacre-crash-"))
    rounds: list[dict[str, Any]] = []
    failed = 0
    is_kept = False
    try:
        server = _Server(scenario, settings, folder)
        try:
            for number in range(times):
                if stop() or failed:
                    break
                after_s = draws.uniform(0, within_s)
                moment = _Moment(after_s, server.ready if ready else None, ready_timeout_s)
                again = recoveries.draw()
                server.inject(InjectedFaults(sick, seed, number))
                found = _pull(server, command, moment, number, again, stop)
                server.stop()
                if found is None:
                    break
                server.start()
                if check is not None:
                    checked = _checked(check, server, number, recoveries, stop)
                    if checked is None:
                        break
                    found |= checked
                    failed += found["check"] != 0
                rounds.append(found)
                tell(len(rounds))
            server.stop()
        finally:
            server.kill()
        is_kept = failed > 0
    except _NotReadyError as error:
        is_kept = True
        raise Error(f"{error}; the image is kept in {folder}", "no-answer") from None
    finally:
        if not is_kept:
            shutil.rmtree(folder, ignore_errors=True)
    kept = str(folder) if failed else None
    name = Path(scenario).name
    return Pulled({"name": name, "seed": seed, "rounds": rounds, "failed": failed, "kept": kept})


class _Recoveries:
    """Selects the recoveries and checks during which power fails, and the times of the failures."""

    def __init__(self, seed: int, share: float) -> None:
        # Use a separate stream, so that the times of the other power losses do not depend on it.
        self._draws = random.Random(f"{seed} recoveries")  # noqa: S311  (moments, no secrets)
        self._share = share
        self.check_s: float | None = None
        """Duration of the last check in seconds."""

    def draw(self) -> float | None:
        """Returns the share of the recovery after which power fails again.

        Returns None if power does not fail again.
        """
        is_hit, after = self._draws.random() < self._share, self._draws.random()
        return after if is_hit else None

    def draw_check_s(self) -> float | None:
        """Returns the seconds from the start of the check until power fails.

        Returns None if power does not fail during the check.
        """
        after = self.draw()
        return None if after is None or self.check_s is None else after * self.check_s


class _Server:
    """Runs `nacre serve` in a separate process."""

    def __init__(self, scenario: str, settings: Sequence[str], folder: Path) -> None:
        self.image = folder / "device.img"
        self.ready = folder / "ready"
        self._command = [
            sys.executable,
            "-m",
            "nacre",
            "serve",
            scenario,
            str(self.image),
            "--json",
        ]
        self._command += [word for setting in settings for word in ("--set", setting)]
        self._process: subprocess.Popen[str] | None = None
        self._said = tempfile.TemporaryFile(mode="w+", errors="replace")  # noqa: SIM115  (closed with it)
        self._uri = ""
        self._injected: InjectedFaults | None = None
        self.start()

    def start(self) -> None:
        """Starts the server, and waits until it listens."""
        self._said.seek(0)
        self._said.truncate()
        process = subprocess.Popen(  # noqa: S603  (our own command)
            self._command,
            text=True,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
        )
        self._process = process
        output = cast("IO[str]", process.stdout)
        first = output.readline()
        if (ready := _document(first)).get("event") == "ready":
            self._uri = ready["exports"][0]["uri"]
            if self._injected is not None:
                with Control(self.image) as control:
                    self._injected.begin_medium(control)
            return
        failed = _document(first + output.read())
        problem = f"the device cannot be served: {failed.get('error') or self._complaint()}"
        code, data = failed.get("code", "process-failed"), failed.get("data", {})
        if process.wait() == _MISTAKE:
            raise invalid(code, "", problem, data=data)
        raise Error(problem, code, **data)

    def environment(self, number: int) -> Mapping[str, str]:
        """Returns the environment variables for programs that use the device."""
        about = {"NACRE_URI": self._uri, "NACRE_ROUND": str(number), "NACRE_READY": str(self.ready)}
        return {**os.environ, **about}

    def inject(self, faults: InjectedFaults) -> None:
        """Injects the faults of a round into the device.

        Medium faults remain until the server ends.
        """
        self._injected = faults
        with Control(self.image) as control:
            faults.begin(control)

    def power_fail(self, again: float | None = None) -> tuple[Outage, list[dict[str, Any]]]:
        """Cuts power and restores it.

        Returns the effects of the power loss, and the effects of the faults before it.
        """
        with Control(self.image) as control:
            outage = control.power_fail(again=again)
            return outage, self._injected.effects(control) if self._injected else []

    def stop(self) -> None:
        """Stops the server, as Ctrl-C does."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.communicate(timeout=PATIENCE_S)
            if (status := self._process.returncode) != 0:
                problem = f"serving the device failed: {self._complaint()}"
                raise Error(problem, "process-failed", status=status)
            self._process = None

    def kill(self) -> None:
        """Kills the server if it still runs."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()
        self._said.close()

    def _complaint(self) -> str:
        """Returns the error output of the server."""
        self._said.seek(0)
        return self._said.read().strip()


def _document(text: str) -> dict[str, Any]:
    """Parses a JSON object that a server printed. Returns an empty dictionary for other output."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


class _NotReadyError(Error):
    """The program did not create the file that `NACRE_READY` names."""


class _Moment:
    """Time of a planned power loss: a delay from now, or from the creation of a file."""

    def __init__(self, after_s: float, ready: Path | None, ready_timeout_s: float) -> None:
        self._after_s, self._ready, self._timeout_s = after_s, ready, ready_timeout_s
        self._began = self._waits_from = time.monotonic()
        if ready is not None:
            ready.unlink(missing_ok=True)

    def passed_s(self) -> float:
        """Returns the seconds since the start of the delay."""
        if self._ready is not None:
            self._began = time.monotonic()
            if self._ready.exists():
                self._ready = None
        return time.monotonic() - self._began

    def left_s(self) -> float:
        """Returns the seconds until the power loss, or infinity if the program is not ready yet."""
        passed_s = self.passed_s()
        return max(0.0, self._after_s - passed_s) if self._ready is None else math.inf

    def must_be_ready(self, number: int, ended: int | None) -> None:
        """Raises `_NotReadyError` if the program ended or timed out before it was ready."""
        if self._ready is None or self._ready.exists():
            return
        if ended is not None:
            how = f"the program ended with status {ended} before it created $NACRE_READY"
            raise _NotReadyError(f"round {number + 1}: {how}, so no power loss was tested")
        if time.monotonic() - self._waits_from > self._timeout_s:
            how = f"the program did not create $NACRE_READY within {self._timeout_s:g} s"
            raise _NotReadyError(f"round {number + 1}: {how}; see --ready-timeout")


def _pull(
    server: _Server,
    command: Sequence[str],
    moment: _Moment,
    number: int,
    again: float | None,
    stop: Callable[[], bool],
) -> dict[str, Any] | None:
    """Runs the program until the power loss.

    Returns the result of the round, or None if interrupted.
    """
    with started(command, server.environment(number), _MARK) as program:
        while (ended := program.poll()) is None and (left_s := moment.left_s()) > 0 and not stop():
            moment.must_be_ready(number, ended)
            time.sleep(min(0.01, left_s))
        if stop():
            # Let the program end properly, because it may have to unmount file systems.
            program.ask_to_end()
            return None
        moment.must_be_ready(number, ended)
        program.look()
        ran_s = moment.passed_s()
        outage, struck = server.power_fail(again)
        program.wait(PATIENCE_S, stop)
        if stop():
            program.ask_to_end()
            return None
    return {
        "at_s": ran_s,
        "ended": ended,
        "outage": outage.to_dict(),
        "recovering": again is not None,
        "check_cut_s": None,
        "faults": struck,
        "check": None,
        "said": "",
    }


def _checked(
    check: str, server: _Server, number: int, recoveries: _Recoveries, stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Runs the check. If power fails during the check, runs it again.

    Returns None if interrupted.
    """
    cut_s = recoveries.draw_check_s()
    if cut_s is not None:
        with started(check, server.environment(number), _MARK) as program:
            until = time.monotonic() + cut_s
            while (left_s := until - time.monotonic()) > 0 and not stop():
                time.sleep(min(0.01, left_s))
            program.look()
            server.power_fail()
            program.wait(PATIENCE_S, stop)
            if stop():
                program.ask_to_end()
                return None
        server.stop()
        server.start()
    began = time.monotonic()
    found = _check(check, server.environment(number), stop)
    recoveries.check_s = time.monotonic() - began
    return None if found is None else found | {"check_cut_s": cut_s}


def _check(
    check: str, environment: Mapping[str, str], stop: Callable[[], bool]
) -> dict[str, Any] | None:
    """Runs the check and returns its result, or None if interrupted."""
    # Use a file, because a process that the check leaves behind would keep a pipe open.
    with tempfile.TemporaryFile() as output:
        with started(check, environment, _MARK, output) as program:
            while not stop() and not program.wait(PATIENCE_S, stop):
                pass
            if stop():
                program.ask_to_end()
                return None
            status = program.poll()
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - 4 * _SAID))
        said = output.read().decode(errors="replace")
    return {"check": status, "said": said[-_SAID:]}
