"""Parses numbers of job files like fio's `str_to_decimal` in `parse.c`, but more strictly.

For example, fio reads `4.5k` as 4 bytes, and `4kq` as 4 KiB. These functions reject such numbers.
"""

from __future__ import annotations

import re
from decimal import Decimal

_SIZE = re.compile(r"(0x[0-9a-f]+|\d+)(?:([kmgtp]?)(i?)(b?)|(%))", re.IGNORECASE)
_TIME = re.compile(r"(\d+)([a-z]*)", re.IGNORECASE)
_SECONDS = {
    "us": "0.000001",
    "usec": "0.000001",
    "ms": "0.001",
    "msec": "0.001",
    "s": "1",
    "m": "60",
    "h": "3600",
    "d": "86400",
}


class Percent(int):
    """A percentage of an amount that is not yet known."""


def size(text: str, kb_base: int) -> int | Percent | None:
    """Parses a number of bytes or a percentage. Returns `None` for other text.

    With `kb_base=1024`, `k`, `kb`, and `ki` mean 1024, and `kib` means 1000. With `kb_base=1000`,
    `k`, `kb`, and `ki` mean 1000, and `kib` means 1024. Larger units are powers of these numbers.
    """
    matched = _SIZE.fullmatch(text)
    if not matched:
        return None
    digits, prefix, binary, byte, percent = matched.groups()
    number = int(digits, 16 if digits[:2].lower() == "0x" else 10)
    if percent:
        return Percent(number)
    if binary and not prefix:
        return None
    inverted = bool(binary and byte)
    base = {1024: 1000, 1000: 1024}[kb_base] if inverted else kb_base
    return int(number * base ** " kmgtp".index(prefix.lower() or " "))


def seconds(text: str, unit: str) -> Decimal | None:
    """Parses a time and returns it in seconds.

    `unit` is the default unit. Returns `None` for other text.
    """
    matched = _TIME.fullmatch(text)
    if not matched:
        return None
    scale = _SECONDS.get(matched[2].lower() or unit)
    return None if scale is None else int(matched[1]) * Decimal(scale)


def listed(text: str) -> list[str]:
    """Splits a setting into its values for reads, writes, and trims.

    The separator is a comma, `:`, or `-`.
    """
    for separator in ",:-":
        if separator in text:
            return text.split(separator)
    return [text]


def spread(values: list[str]) -> list[str | None]:
    """Returns three values, for reads, writes, and trims.

    `None` means fio's default. An omitted value in the middle has the default. Missing values at
    the end equal the last value, unless the list ends with a comma.
    """
    closed = len(values) > 1 and values[-1] == ""
    given: list[str | None] = [value or None for value in (values[:-1] if closed else values)]
    last = None if closed else given[-1]
    return [*given, *([last] * (3 - len(given)))][:3]


def exactly(size: int) -> str:
    """Formats a size in the largest unit that gives a whole number."""
    power = next(power for power in (40, 30, 20, 10, 0) if size % (1 << power) == 0)
    unit = {40: "TiB", 30: "GiB", 20: "MiB", 10: "KiB", 0: "B"}[power]
    return f"{size >> power} {unit}"
