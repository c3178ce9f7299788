"""Axes for figures: log axes of times, and axes of cumulative shares that show the tails."""

from __future__ import annotations

import math
from statistics import NormalDist

import altair as alt

TIME_LABEL = (
    "datum.value == 0 ? '0'"
    " : datum.value >= 1e9 ? format(datum.value / 1e9, ',~r') + ' s'"
    " : datum.value >= 1e6 ? format(datum.value / 1e6, ',~r') + ' ms'"
    " : datum.value >= 1e3 ? format(datum.value / 1e3, ',~r') + ' us'"
    " : format(datum.value, ',~r') + ' ns'"
)

COUNT_LABEL = "datum.value >= 1e4 ? format(datum.value, '~s') : format(datum.value, ',~r')"

_CLOCKS = ((2 * 86400.0, 86400.0, "days"), (7200.0, 3600.0, "hours"), (300.0, 60.0, "minutes"))
_SHORT_CLOCKS = ((1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (1e-6, 1e-6, "us"))
_SHARES = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
_LOWEST = 0.001
_NORMAL = NormalDist()


def deviate(share: float) -> float:
    """Returns the quantile of the standard normal distribution at `share`."""
    return _NORMAL.inv_cdf(share)


def clock(span_s: float) -> tuple[float, str]:
    """Returns the seconds per unit and the name of the unit for a time axis of `span_s` seconds."""
    for above, scale, unit in (*_CLOCKS, *_SHORT_CLOCKS):
        if span_s >= above:
            return scale, unit
    return _SHORT_CLOCKS[-1][1:]


def whole_ticks(low: float, high: float, about: int) -> list[int]:
    """Returns approximately `about` round integers from `low` to `high` as ticks."""
    least = max(1.0, (high - low) / about)
    scale = 10 ** math.floor(math.log10(least))
    step = next(m * scale for m in (1, 2, 5, 10) if m * scale >= least)
    return list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))


def latency_axis(low_ns: float, high_ns: float) -> alt.X:
    """Creates a log axis of times with one tick per decade, or three if there are few decades."""
    few = math.log10(high_ns / low_ns) < 2.5
    steps = (1, 2, 5) if few else (1,)
    first, last = math.floor(math.log10(low_ns)), math.ceil(math.log10(high_ns))
    ticks = [m * 10.0**e for e in range(first, last + 1) for m in steps]
    inside = [t for t in ticks if low_ns * 0.999 <= t <= high_ns * 1.001]
    return (
        alt.X("latency_ns:Q", title="latency")
        .scale(type="log", domain=[low_ns, high_ns], nice=False)
        .axis(values=inside, labelExpr=TIME_LABEL)
    )


def share_axis(highest: float, title: str) -> alt.Y:
    """Creates an axis of cumulative shares on a probit scale, so that tails are visible."""
    shares = [s for s in _SHARES if _LOWEST <= s <= highest]
    label = " : ".join(
        f"abs(datum.value - {deviate(s):.4f}) < 0.001 ? '{100 * s:.6g} %'" for s in shares
    )
    return (
        alt.Y("deviate:Q", title=title)
        .scale(domain=[deviate(_LOWEST), deviate(highest)], nice=False)
        .axis(values=[deviate(s) for s in shares], labelExpr=f"{label} : ''")
    )
