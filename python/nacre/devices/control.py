"""Monitors and controls a running server over its control socket."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.base.toml import value
from nacre.errors import Error, invalid
from nacre.results.served import Harm, Outage, Recorded, ServedFault, Statistics
from nacre.simulate.stepping import Answer

if TYPE_CHECKING:
    from typing import Self


SUFFIX = ".ctl"
"""Suffix that is appended to the name of an image to form the name of its control socket."""
_PATIENCE = 30.0
"""Timeout in seconds for replies that require no disk access."""


class Control:
    """Connection to a running server. `path` is the path of its image or of its control socket.

    Each method sends one command. A method raises `Error` if no server listens at `path`, or if the
    server rejects the command. In a `with` block, the connection is closed at the end of the block.
    Without a `with` block, the connection is closed when the object is deleted.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.socket = socket_of(path)
        self._socket = _connected(self.socket)
        self._answers = self._socket.makefile("rb")

    def stats(self, *, columns: bool = False) -> Statistics:
        """Returns statistics of the server.

        With `columns`, they include program and erase counts per block.
        """
        return Statistics(self._ask("stats", columns=columns))

    def record(
        self, path: str | os.PathLike[str], *, force: bool = False, export: str | None = None
    ) -> None:
        """Starts recording requests to a trace that `nacre.run` can replay.

        The file is created at `path` when the recording ends. An existing file is replaced only
        with `force`.
        """
        place = str(Path(path).absolute())
        self._ask("record", patience=None, path=place, force=force, export=export)

    def record_end(self, *, export: str | None = None) -> Recorded:
        """Ends the recording and returns a summary.

        If the trace is missing or incomplete, the `error` of the summary is the reason.
        """
        return Recorded(self._ask("record-end", patience=None, export=export))

    def power_fail(self, *, again: float | None = None, export: str | None = None) -> Outage:
        """Cuts power and restores it. Disconnects all clients and drops volatile data.

        The design of the device determines which data is volatile. For example, a protected buffer
        keeps its data. If `again` is given, power fails a second time at this share of the
        recovery, from 0 to 1.
        """
        permille = None if again is None else round(again * 1000)
        return Outage(self._ask("power-fail", again_permille=permille, export=export))

    def media_error(
        self, offset: int, length: int, harm: Harm = "reads", *, export: str | None = None
    ) -> None:
        """Injects or removes media errors in a range, according to `harm`.

        With `"reads"`, reads fail until the range is rewritten. With `"writes"`, writes also fail
        until `"heal"`, which removes the errors. The range is extended to whole sectors of 512
        bytes.
        """
        self._ask("media-error", offset=offset, length=length, harm=harm, export=export)

    def add_fault(
        self,
        kind: str,
        settings: Mapping[str, object] | None = None,
        *,
        export: str | None = None,
    ) -> int:
        """Adds a fault, as in a `faulty` device, and returns the number of the fault.

        `settings` select requests and times, e.g. `{"start": "10 s", "duration": "5 s"}`. The start
        is relative to the current simulated time. A fault remains until it is cleared or the server
        exits. The image keeps the effects of the fault on data, but not the fault.
        """
        lines = [f"{name} = {value(of)}" for name, of in {"kind": kind, **(settings or {})}.items()]
        asked = self._ask("fault-add", settings="\n".join(lines), export=export)
        return int(asked["number"])

    def faults(self, *, export: str | None = None) -> tuple[ServedFault, ...]:
        """Returns all added faults, including cleared faults, with their effects."""
        return tuple(ServedFault(of) for of in self._ask("fault-list", export=export)["faults"])

    def clear_fault(self, number: int | None = None, *, export: str | None = None) -> int:
        """Ends a fault, or all faults if `number` is None.

        Delayed requests resume. Returns the number of ended faults.
        """
        return int(self._ask("fault-clear", number=number, export=export)["cleared"])

    def medium_fault(
        self, fault: str | None = None, *, seed: int = 0, export: str | None = None
    ) -> int:
        """Injects a fault into operations of the medium. If `fault` is None, stops the injection.

        The faults are those of `nacre.crash`: `lying_flush`, `lost_program`, `torn_program`,
        `misdirected_program`, `bit_rot`, and `stuck_block`. They occur at random, determined by
        `seed`. Returns the number of operations that the previous fault affected.
        """
        return int(self._ask("medium-fault", fault=fault, seed=seed, export=export)["struck"])

    def step(
        self,
        op: str,
        address: int = 0,
        size: int = 0,
        *,
        fill: int | None = None,
        export: str | None = None,
    ) -> Answer:
        """Issues one request like a client, and returns the latency breakdown.

        `op` is `read`, `write`, `trim`, or `flush`. The request arrives at the current wall-clock
        time and queues like other requests. The method returns when the reply is due. A write
        stores the byte value `fill` in its whole range. When the method returns, this data is in
        the image.
        """
        request = {"op": op, "offset": address, "length": size, "fill": fill}
        return Answer(self._ask("step", patience=None, **request, export=export))

    def snapshot(self, path: str | os.PathLike[str], *, export: str | None = None) -> int:
        """Copies the image to `path` between two requests.

        Returns the size of the copy in bytes.
        """
        place = str(Path(path).absolute())
        return int(self._ask("snapshot", patience=None, path=place, export=export)["bytes"])

    def stop(self) -> None:
        """Completes outstanding requests and stops the server."""
        self._ask("stop")

    def close(self) -> None:
        """Closes the connection. The server continues."""
        self._answers.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(
        self, command: str, *, patience: float | None = _PATIENCE, **about: object
    ) -> dict[str, Any]:
        message = {"command": command} | {name: v for name, v in about.items() if v is not None}
        try:
            self._socket.settimeout(patience)
            self._socket.sendall(json.dumps(message).encode() + b"\n")
            line = self._answers.readline()
        except TimeoutError:
            raise Error(
                f"{self.socket}: no answer came within {_PATIENCE:.0f} s", "no-answer"
            ) from None
        except ConnectionError:
            line = b""
        if not line:
            raise Error(f"{self.socket}: the server ended before it answered", "no-answer")
        return self._result(line)

    def _result(self, line: bytes) -> dict[str, Any]:
        try:
            document = json.loads(line)
        except ValueError:
            if line.startswith(b"{") and not line.endswith(b"\n"):
                raise Error(f"{self.socket}: the answer was cut short", "no-answer") from None
            document = None
        match document:
            case {"ok": dict(answer)}:
                return answer
            case {"error": str(problem), "code": code, "data": dict(data)}:
                text = f"{self.socket}: {problem}"
                # An operating-system error of the server does not mean that the command is invalid.
                if "errno" in data:
                    raise Error(text, code, **data)
                raise invalid(code, "", text, data=data)
        raise Error(
            f"{self.socket} is not a control socket;"
            " name the image that is served, or its control socket",
            "no-answer",
        )


def socket_of(path: str | os.PathLike[str]) -> Path:
    """Returns the path of the control socket of an image.

    A path that already is a control socket is returned unchanged.
    """
    given = Path(path)
    control = given.with_name(given.name + SUFFIX) if given.name else given
    for place in (given, control):
        try:
            if stat.S_ISSOCK(place.stat().st_mode):
                return place
        except OSError:
            continue
    raise Error(
        f"no server for {given}: no control socket at {control};"
        " start the server with: nacre serve SCENARIO IMAGE",
        "no-answer",
    )


def _connected(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    try:
        made.settimeout(_PATIENCE)
        made.connect(os.fspath(path))
    except (ConnectionRefusedError, FileNotFoundError):
        made.close()
        raise Error(
            f"{path}: no server listens on this socket; it has ended or was killed",
            "no-answer",
        ) from None
    except OSError as error:
        made.close()
        if error.filename is None:
            error.filename = os.fspath(path)
        raise
    return made
