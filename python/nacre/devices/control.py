"""A server that runs, watched and steered over its control socket."""

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
"""What the control socket of an image is called: the image's name and this."""
_PATIENCE = 30.0
"""Seconds a server may take over an answer that needs no disk."""


class Control:
    """A server that runs: `path` is its image or its control socket.

    Each method asks once and raises `Error` if nothing listens there, something else does, or
    the server says no. A context manager closes the connection; without, it ends with the object.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.socket = socket_of(path)
        self._socket = _connected(self.socket)
        self._answers = self._socket.makefile("rb")

    def stats(self, *, columns: bool = False) -> Statistics:
        """Statistics of the server; with `columns`, also of each erase block."""
        return Statistics(self._ask("stats", columns=columns))

    def record(
        self, path: str | os.PathLike[str], *, force: bool = False, export: str | None = None
    ) -> None:
        """Requests from now on go into a trace, which `nacre.run` replays.

        It appears at `path` when the recording is ended; a file that is there is replaced with
        `force` only.
        """
        place = str(Path(path).absolute())
        self._ask("record", patience=None, path=place, force=force, export=export)

    def record_end(self, *, export: str | None = None) -> Recorded:
        """End the recording; `error` is set if the trace is incomplete."""
        return Recorded(self._ask("record-end", patience=None, export=export))

    def power_fail(self, *, again: float | None = None, export: str | None = None) -> Outage:
        """The power fails and comes back: all clients are cut off, the device loses what it had.

        What that is depends on its design: volatile buffers are lost, protected ones are not.
        With `again` it fails once more when that share of the recovery, 0 to 1, is done.
        """
        permille = None if again is None else round(again * 1000)
        return Outage(self._ask("power-fail", again_permille=permille, export=export))

    def media_error(
        self, offset: int, length: int, harm: Harm = "reads", *, export: str | None = None
    ) -> None:
        """Makes sectors fail: `"reads"` until they are written, `"writes"` until `"heal"`.

        Whole sectors of 512 bytes do, those that the bytes are in.
        """
        self._ask("media-error", offset=offset, length=length, harm=harm, export=export)

    def add_fault(
        self,
        kind: str,
        settings: Mapping[str, object] | None = None,
        *,
        export: str | None = None,
    ) -> int:
        """Adds a fault, as those of a device `faulty`, and returns its number.

        `settings` say what it touches and when, such as `{"start": "10 s", "duration": "5 s"}`;
        its start counts from now, in simulated time. It lasts as long as the server, or until it
        is cleared; the image keeps what it did to data, and not the fault.
        """
        lines = [f"{name} = {value(of)}" for name, of in {"kind": kind, **(settings or {})}.items()]
        asked = self._ask("fault-add", settings="\n".join(lines), export=export)
        return int(asked["number"])

    def faults(self, *, export: str | None = None) -> tuple[ServedFault, ...]:
        """The faults that were added, those included that were cleared, and what each did."""
        return tuple(ServedFault(of) for of in self._ask("fault-list", export=export)["faults"])

    def clear_fault(self, number: int | None = None, *, export: str | None = None) -> int:
        """Ends a fault, or all; requests that it holds back continue. Returns how many ended."""
        return int(self._ask("fault-clear", number=number, export=export)["cleared"])

    def medium_fault(
        self, fault: str | None = None, *, seed: int = 0, export: str | None = None
    ) -> int:
        """Lets operations of the medium go wrong from now on; without a fault, no longer.

        The faults are those that `nacre.crash` puts into a medium: `lying_flush`, `lost_program`,
        `torn_program`, `misdirected_program`, `bit_rot` and `stuck_block`, drawn from `seed`.
        Returns how many operations the one before touched.
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
        """Issue one request like a client, and return its latency breakdown.

        `op` is `read`, `write`, `trim` or `flush`. The request takes its turn at the time of the
        wall clock and is answered when it is due; a write, whose bytes all become `fill`, is in
        the image then.
        """
        wish = {"op": op, "offset": address, "length": size, "fill": fill}
        return Answer(self._ask("step", patience=None, **wish, export=export))

    def snapshot(self, path: str | os.PathLike[str], *, export: str | None = None) -> int:
        """Copies the image as it is between two requests; returns the bytes the copy takes."""
        place = str(Path(path).absolute())
        return int(self._ask("snapshot", patience=None, path=place, export=export)["bytes"])

    def stop(self) -> None:
        """The server answers what is under way, and ends."""
        self._ask("stop")

    def close(self) -> None:
        """Ends the connection; the server continues."""
        self._answers.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(
        self, command: str, *, patience: float | None = _PATIENCE, **about: object
    ) -> dict[str, Any]:
        wish = {"command": command} | {name: v for name, v in about.items() if v is not None}
        try:
            self._socket.settimeout(patience)
            self._socket.sendall(json.dumps(wish).encode() + b"\n")
            line = self._answers.readline()
        except TimeoutError:
            raise Error(
                f"{self.socket}: no answer came within {_PATIENCE:.0f} s", "no-answer"
            ) from None
        except ConnectionError:
            line = b""
        if not line:
            raise Error(f"{self.socket}: the server ended before it answered", "no-answer")
        return self._told(line)

    def _told(self, line: bytes) -> dict[str, Any]:
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
                # What the system refused the server is no error of who asked.
                if "errno" in data:
                    raise Error(text, code, **data)
                raise invalid(code, "", text, data=data)
        raise Error(
            f"{self.socket} is not a control socket;"
            " name the image that is served, or its control socket",
            "no-answer",
        )


def socket_of(path: str | os.PathLike[str]) -> Path:
    """The control socket of an image, or the given socket."""
    given = Path(path)
    beside = given.with_name(given.name + SUFFIX) if given.name else given
    for place in (given, beside):
        try:
            if stat.S_ISSOCK(place.stat().st_mode):
                return place
        except OSError:
            continue
    raise Error(
        f"no server for {given}: no control socket at {beside};"
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
