"""Quantities as scenarios write them, `"64 MiB"`, taken apart and put together again.

What a setting takes is for the model to say; here is only what an axis needs between two ends.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from nacre.errors import nearest

_TEXT = re.compile(r"\s*((?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)\s*(\D.*?)\s*\Z")
_MICRO = str.maketrans("\u00b5\u03bc", "uu")

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def _units() -> dict[str, tuple[str, Decimal]]:
    """By unit: the unit it is counted in, as the names of columns end in it, and how many."""
    table = {unit: ("bytes", Decimal(1024**power)) for power, unit in enumerate(_SIZES)}
    for power, unit in enumerate(("kB", "MB", "GB", "TB", "PB"), 1):
        table[unit] = ("bytes", Decimal(1000**power))
    scales: dict[str, dict[str, str | int | Decimal]] = {
        "s": {
            "ps": "1e-12",
            "ns": "1e-9",
            "us": "1e-6",
            "ms": "1e-3",
            "s": 1,
            "min": 60,
            "h": 3600,
            "d": 86400,
        },
        "share": {"%": "0.01"},
        "per_s": {"/s": 1, "Hz": 1, "kHz": "1e3", "MHz": "1e6", "GHz": "1e9"},
        "bytes_per_s": {
            "B/s": 1,
            "kB/s": "1e3",
            "MB/s": "1e6",
            "GB/s": "1e9",
            "KiB/s": 2**10,
            "MiB/s": 2**20,
            "GiB/s": 2**30,
        },
        "j": {"J": 1, "mJ": "1e-3", "uJ": "1e-6", "nJ": "1e-9", "pJ": "1e-12", "kJ": "1e3"},
        "w": {"W": 1, "mW": "1e-3", "uW": "1e-6", "kW": "1e3"},
        "per_gib": {"/GiB": 1, "/MiB": 1024, "/TiB": Decimal(1) / 1024},
    }
    for base, row in scales.items():
        table |= {unit: (base, Decimal(scale)) for unit, scale in row.items()}
    table |= {"Wh": ("j", Decimal(3600))}
    table |= {"/min": ("per_s", Decimal(1) / 60), "/h": ("per_s", Decimal(1) / 3600)}
    return table


UNITS = _units()


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
    found = _TEXT.match(text)
    if not found:
        raise ValueError("it is not a number with a unit")
    number, unit = Decimal(found[1].replace("_", "")), found[2].translate(_MICRO)
    if unit not in UNITS:
        meant = nearest(unit, UNITS)
        raise ValueError(
            f'there is no unit "{unit}"' + (f', did you mean "{meant}"?' if meant else "")
        )
    return Quantity(number, unit)


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
