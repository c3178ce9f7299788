"""Parses and formats quantities of scenarios, such as `"64 MiB"`.

The core checks the values of settings; this module provides the conversions for axes of studies.
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
"""Base unit of each quantity, as used in the names of columns."""

UNITS = {
    unit: (_BASES[measured], Decimal(times) / Decimal(per))
    for measured, unit, times, per in _core.units()
}
"""For each unit: its base unit and the factor to it."""

_SIZES = [unit for unit, (base, _) in UNITS.items() if base == "bytes" and unit[1:] in ("", "iB")]
"""Powers of 1,024 bytes, the smallest first."""


class Quantity(NamedTuple):
    """A number and its unit."""

    number: Decimal
    unit: str

    @property
    def base(self) -> str:
        """Base unit: `bytes`, `s`, `per_s`, ..."""
        return UNITS[self.unit][0]

    @property
    def value(self) -> Decimal:
        """Value in base units."""
        return self.number * UNITS[self.unit][1]

    def text(self) -> str:
        """The quantity as text for a scenario."""
        return f"{_plain(self.number)} {self.unit}"


def parse(text: str) -> Quantity:
    """Parses text such as `"6.7 us"`; raises `ValueError` with the reason."""
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
    """Quantity for a value of a scenario; None if the value is not a quantity."""
    if not isinstance(item, str):
        return None
    try:
        return parse(item)
    except ValueError:
        return None


def like(value: Decimal, example: Quantity, step: Quantity | None = None) -> Quantity:
    """Converts a number of base units into the unit of `example`.

    Bytes are written as a whole number, in the largest unit that allows one.
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
    """Rounds to nine significant digits, more than any device value has."""
    if not number:
        return number
    return round(number, max(0, 8 - number.adjusted()))


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
