"""Quantities as scenarios write them, `"64 MiB"`, taken apart and put together again.

What a setting takes is for the model to say; here is only what an axis needs between two ends.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from nacre import _core
from nacre.errors import nearest

_BASES = {
    "size": "bytes",
    "duration": "s",
    "ratio": "share",
    "rate": "per_s",
    "bandwidth": "bytes_per_s",
    "energy": "j",
    "power": "w",
    "price": "per_gib",
    "area": "mm2",
    "area of a bit": "um2_per_bit",
}
"""What each quantity is counted in, as the names of columns end in it."""

UNITS = {
    unit: (_BASES[measured], Decimal(times) / Decimal(per))
    for measured, unit, times, per in _core.units()
}
"""By unit: the unit it is counted in, and how many of that it is."""

_SIZES = [unit for unit, (base, _) in UNITS.items() if base == "bytes" and unit[1:] in ("", "iB")]
"""Powers of 1,024 bytes, the smallest first."""


class Quantity(NamedTuple):
    """A number and its unit."""

    number: Decimal
    unit: str

    @property
    def base(self) -> str:
        """What it is counted in: `bytes`, `s`, `per_s`, ..."""
        return UNITS[self.unit][0]

    @property
    def value(self) -> Decimal:
        """How many of its base."""
        return self.number * UNITS[self.unit][1]

    def text(self) -> str:
        """As a scenario would give it."""
        return f"{_plain(self.number)} {self.unit}"


def parse(text: str) -> Quantity:
    """Reads `"6.7 us"`; raises `ValueError` that says what is wrong."""
    found = _core.number_and_unit(text)
    if found is None:
        raise ValueError("it is not a number with a unit")
    digits, scale, unit = found
    if unit not in UNITS:
        meant = nearest(unit, UNITS)
        raise ValueError(
            f'there is no unit "{unit}"' + (f', did you mean "{meant}"?' if meant else "")
        )
    return Quantity(Decimal(digits).scaleb(-scale), unit)


def maybe(item: object) -> Quantity | None:
    """The quantity that a value of a scenario is, if it is one."""
    if not isinstance(item, str):
        return None
    try:
        return parse(item)
    except ValueError:
        return None


def like(value: Decimal, example: Quantity, step: Quantity | None = None) -> Quantity:
    """So many of the base, written in the unit of `example`, in whole steps.

    Bytes come whole, and in the largest unit that leaves them whole.
    """
    if step is not None:
        value = max(round(value / step.value), 1) * step.value
    if example.base == "bytes":
        count = round(value)
        power = 0
        while count and power + 1 < len(_SIZES) and count % 1024 ** (power + 1) == 0:
            power += 1
        return Quantity(Decimal(count // 1024**power), _SIZES[power])
    number = value / UNITS[example.unit][1]
    return Quantity(number if step is not None else _short(number), example.unit)


def _short(number: Decimal) -> Decimal:
    """To nine significant digits, which no device is known to."""
    if not number:
        return number
    return round(number, max(0, 8 - number.adjusted()))


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
