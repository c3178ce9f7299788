"""Formats quantities for output."""

from __future__ import annotations

import math

_SI = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALL_SI = ((1e-3, "m"), (1e-6, "u"), (1e-9, "n"), (1e-12, "p"))
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_BYTES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))

NOTHING = "-"


def printable(text: str) -> str:
    """Escapes control characters and characters that the terminal cannot show."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\u00a0" else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def significant(value: float, digits: int = 3) -> str:
    """Formats a number with `digits` significant digits, e.g. `1,230` or `0.0417`.

    The text never contains an exponent.
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{round(value, decimals):,.{decimals}f}"


def duration(ns: float | None) -> str:
    """Formats a time in nanoseconds, e.g. `6.70 us`."""
    if ns is None:
        return NOTHING
    scale, unit = next((row for row in _TIMES if abs(ns) >= row[0]), _TIMES[-1])
    return f"{significant(ns / scale)} {unit}"


def count(value: float | None) -> str:
    """Formats a count. Large counts, e.g. `3.42 M`, have an SI prefix, and `12,345` has none."""
    if value is None:
        return NOTHING
    if abs(value) < 1e6:
        return f"{value:,.0f}"
    return si(value)


def plural(one: str) -> str:
    """Returns the plural of a noun, e.g. `reads` or `flushes`."""
    return f"{one}es" if one.endswith(("s", "sh")) else f"{one}s"


def numbered(value: float, one: str) -> str:
    """Formats a count with its noun, e.g. `1 request` or `12,345 requests`."""
    return f"{count(value)} {one}" if value == 1 else f"{count(value)} {plural(one)}"


def si(value: float) -> str:
    """Formats a number with an SI prefix, e.g. `1.09 k`."""
    for scale, prefix in _SI:
        if abs(value) >= scale:
            return f"{significant(value / scale)} {prefix}"
    return significant(value)


def with_unit(value: float, unit: str) -> str:
    """Formats a number with an SI prefix and a unit, e.g. `1.09 kB/s`, `512 B/s`, or `509 uJ`."""
    small = next((row for row in _SMALL_SI if 0 < abs(value) < 1 and abs(value) >= row[0]), None)
    if small is not None:
        return f"{significant(value / small[0])} {small[1]}{unit}"
    number = si(value)
    return f"{number}{unit}" if number[-1].isalpha() else f"{number} {unit}"


def amount(value: float) -> str:
    """Formats a price or another number with up to six significant digits, e.g. `8` or `1.25`."""
    return f"{value:,.6g}"


def size(value: float | None) -> str:
    """Formats a number of bytes with a binary prefix, e.g. `64 GiB`."""
    if value is None:
        return NOTHING
    for scale, unit in _BYTES:
        if abs(value) >= scale:
            number = value / scale
            return (
                f"{number:,.0f} {unit}"
                if number == int(number)
                else f"{significant(number)} {unit}"
            )
    return f"{value:,.0f} B"


def percent(share: float | None) -> str:
    """Formats a share as a percentage, e.g. `41.3 %`."""
    return NOTHING if share is None or math.isnan(share) else f"{100 * share:.1f} %"
