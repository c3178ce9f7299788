"""Parses and formats quantities of scenarios, such as `"64 MiB"`.

The core checks the values of settings. Axes of studies use these conversions.
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
"""Base unit of each kind of quantity, as in column names."""

UNITS = {
    unit: (_BASES[measured], Decimal(times) / Decimal(per))
    for measured, unit, times, per in _core.units()
}
"""Maps each unit to its base unit and its conversion factor."""

_SIZES = [unit for unit, (base, _) in UNITS.items() if base == "bytes" and unit[1:] in ("", "iB")]
"""Units of bytes that are powers of 1,024, in ascending order."""


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
        """Formats the quantity for a scenario, e.g. `64 MiB`."""
        return f"{_plain(self.number)} {self.unit}"


def parse(text: str) -> Quantity:
    """Parses text such as `"6.7 us"`.

    Raises `ValueError` with the reason if it is not a quantity.
    """
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
    """Parses a value of a scenario. Returns None if the value is not a quantity."""
    if not isinstance(item, str):
        return None
    try:
        return parse(item)
    except ValueError:
        return None


def like(value: Decimal, example: Quantity, step: Quantity | None = None) -> Quantity:
    """Converts `value`, in base units, to the unit of `example`, rounded to `step` if it is given.

    A number of bytes is a whole number in the largest possible unit.
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
    """Rounds to nine significant digits, which is more than the precision of any device value."""
    if not number:
        return number
    return round(number, max(0, 8 - number.adjusted()))


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
