"""Faults for tests of programs: faults of a `faulty` device, and faults of the medium."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any, NamedTuple

from nacre.base.view import View
from nacre.devices.control import Control
from nacre.errors import invalid

MEDIUM_FAULTS = (
    "lying_flush",
    "lost_program",
    "torn_program",
    "misdirected_program",
    "bit_rot",
    "stuck_block",
)
"""Faults of the medium, as in `nacre.crash`. If `bit_rot` has settings, it is a fault of the
device."""


class ProgramFault(NamedTuple):
    """A fault for the test of a program. `settings` is None for a fault of the medium."""

    kind: str
    settings: dict[str, Any] | None


class Struck(View):
    """Effects of a fault in one round. For faults of the medium, only `touched` is known.

    `touched` is the number of affected requests, or of affected operations of the medium.
    `silent_bytes` is the number of bytes that were corrupted without an error, or None if unknown.
    """

    kind: str
    touched: int
    errors: int
    silent_bytes: int | None


def read_faults(texts: Sequence[str]) -> tuple[ProgramFault, ...]:
    """Parses faults, each given as a kind or in the form `stall, start = "1 s", duration = "5 s"`.

    Raises `ConfigError` for settings that are not TOML.
    """
    return tuple(_read(text) for text in texts)


def _read(text: str) -> ProgramFault:
    kind, comma, settings = text.partition(",")
    kind = kind.strip()
    if not comma and kind in MEDIUM_FAULTS:
        return ProgramFault(kind, None)
    try:
        found = tomllib.loads(f"settings = {{ {settings.strip()} }}")["settings"]
    except tomllib.TOMLDecodeError as error:
        hint = """write KIND, NAME = VALUE, e.g. --fault 'stall, start = "1 s", duration = "5 s"'"""
        problem = f"its settings are not TOML: {error}"
        raise invalid("invalid-value", "--fault", problem, given=f'"{text}"', hint=hint) from None
    return ProgramFault(kind, found)


class InjectedFaults:
    """Faults of one round.

    Device faults act while the program runs. Medium faults act while the program or the check runs.

    If there are several medium faults, each round uses one of them, in rotation. Each round has a
    separate random stream.
    """

    def __init__(self, faults: Sequence[ProgramFault], seed: int, number: int) -> None:
        medium = [fault.kind for fault in faults if fault.settings is None]
        self._medium = medium[number % len(medium)] if medium else None
        self._device = [fault for fault in faults if fault.settings is not None]
        self._seed = seed * 1_000_003 + number

    def begin(self, control: Control) -> None:
        """Adds the faults. Their start times are relative to the current simulated time."""
        self.begin_medium(control)
        for fault in self._device:
            control.add_fault(fault.kind, fault.settings)

    def begin_medium(self, control: Control) -> None:
        """Adds the medium fault of this round, if any, but no device faults."""
        if self._medium is not None:
            control.medium_fault(self._medium, seed=self._seed)

    def effects(self, control: Control) -> list[dict[str, Any]]:
        """Returns the effects of each fault so far. Removes faults of the medium."""
        found = [
            {
                "kind": fault.kind,
                "touched": fault.touched,
                "errors": fault.errors,
                "silent_bytes": fault.silent_bytes,
            }
            for fault in (control.faults() if self._device else ())
        ]
        if self._medium is not None:
            struck = control.medium_fault()
            alone = {"kind": self._medium, "touched": struck, "errors": 0, "silent_bytes": None}
            found.append(alone)
        return found
