"""Finds out how the best mix depends on one price or latency, changed by 20 % up or down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nacre.base.quantity import parse
from nacre.base.table import Table
from nacre.base.text import amount, duration, percent
from nacre.errors import Error
from nacre.results.mixes import Mixes
from nacre.simulate.mixing import mixes
from nacre.simulate.running import check

_OFF = 0.2
FACTORS = {"less": 1 - _OFF, "more": 1 + _OFF}
_COLUMNS = ("if", "is", "the best mix is", "a request takes", "a GiB costs")
_NUMERIC = (False, False, False, True, True)


def of_prices(found: Mixes, budget: float | None) -> Table:
    """Returns a table of the best mix if one price changes by 20 % up or down."""
    rows = [_row("unchanged", "", found, budget)]
    prices = {tier.name: tier.price or 0.0 for tier in found.tiers}
    for name, price in prices.items():
        for word, factor in FACTORS.items():
            other = found.repriced({**prices, name: price * factor}, found.bases[0])
            rows.append(_row(f"price of {name}", word, other, budget))
    return Table("", _COLUMNS, _NUMERIC, rows)


def of_latencies(
    found: Mixes, others: Mapping[tuple[str, str], Mixes], budget: float | None
) -> Table:
    """Returns a table of the best mix if one latency changes.

    `others` contains the mixes with changed latencies. The prices are those of `found`.
    """
    prices = {tier.name: tier.price or 0.0 for tier in found.tiers}
    rows = [
        _row(f"latency of {name}", word, other.repriced(prices, found.bases[0]), budget)
        for (name, word), other in others.items()
    ]
    return Table("", _COLUMNS, _NUMERIC, rows)


def with_latencies(
    tree: Mapping[str, Any],
    found: Mixes,
    steps: int,
    progress: Callable[..., bool | None] | None = None,
) -> dict[tuple[str, str], Mixes]:
    """Scores the mixes again with each constant latency increased and decreased.

    Reads the workload again for each change.
    """
    tried = list(_others(tree, found.names))
    if not tried:
        raise Error(
            "all of these devices are modeled, so none has one latency;"
            " their settings can be varied in a study",
            "not-supported",
        )
    return {
        (name, word): mixes(tree, settings, steps=steps, progress=progress or False)
        for name, word, settings in tried
    }


def _others(
    tree: Mapping[str, Any], names: Sequence[str]
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yields each device with constant latencies, and settings that change these latencies."""
    values = {origin.path: origin.value for origin in check(tree).origins}
    for number, name in enumerate(names):
        device = f"stack.tier[{number}].device"
        known = {op: values.get(f"{device}.{op}.latency") for op in ("read", "write")}
        if any(value is None for value in known.values()):
            continue
        for word, factor in FACTORS.items():
            settings: dict[str, object] = {}
            for op, value in known.items():
                seconds = float(parse(str(value)).value) * factor
                settings[f"{device}.{op}"] = f"{1e9 * seconds:.9g} ns"
            yield name, word, settings


def _row(what: str, word: str, found: Mixes, budget: float | None) -> list[str]:
    within = found if budget is None else found.within(budget)
    is_off = f"20 % {word}" if word else ""
    if not len(within):
        return [what, is_off, "no mix within the budget", "", ""]
    best = within.best(1).row(0, named=True)
    parts = ", ".join(f"{percent(best[name])} {name}" for name in found.names if best[name])
    return [what, is_off, parts, duration(best["mean_ns"]), amount(round(best["cost"], 4))]
