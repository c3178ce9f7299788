"""What the assumptions of a plan are worth: the best mix, if one of them were a fifth off."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nacre.errors import Error
from nacre.explore.jobs import Job
from nacre.mixes import Mixes, mixes
from nacre.quantity import parse
from nacre.run import check
from nacre.saving import Staging
from nacre.text import amount, duration, percent

_OFF = 0.2
_WORDS = {"less": 1 - _OFF, "more": 1 + _OFF}
_COLUMNS = ["if", "is", "the best mix is", "a request takes", "a GiB costs"]


def of_prices(found: Mixes, budget: float | None) -> dict[str, Any]:
    """What becomes of the best mix when one price is a fifth less or more."""
    rows = [_row("as it is", "", found, budget)]
    prices = {tier.name: tier.price or 0.0 for tier in found.tiers}
    for name, price in prices.items():
        for word, factor in _WORDS.items():
            other = found.repriced({**prices, name: price * factor}, found.bases[0])
            rows.append(_row(f"price of {name}", word, other, budget))
    return _table(rows)


def of_latencies(path: Path, found: Mixes, budget: float | None) -> dict[str, Any] | None:
    """The same for latencies, under the prices of `found`; None where nobody has asked yet."""
    prices = {tier.name: tier.price or 0.0 for tier in found.tiers}
    rows = []
    for name in found.names:
        for word in _WORDS:
            try:
                other = Mixes.load(_place(path, name, word))
            except Error:
                continue
            other = other.repriced(prices, found.bases[0])
            rows.append(_row(f"latency of {name}", word, other, budget))
    return _table(rows) if rows else None


def ask_latencies(path: Path, steps: int, job: Job) -> None:
    """Reads the trace again for each device whose latencies are numbers, a fifth less and more."""
    tree = tomllib.loads((path / "scenario.toml").read_text())
    names = Mixes.load(path).names
    tried = list(_slower(tree, names))
    if not tried:
        raise Error(
            "all of these devices are modelled, so none has one latency;"
            " their settings can be varied in a study"
        )
    for name, word, settings in tried:
        job.note = f"{name}, a fifth {word}"
        found = mixes(tree, settings, steps=steps, progress=job.tick)
        with Staging(_place(path, name, word)) as staging:
            staging.mixes(found)
    job.note = ""


def _slower(
    tree: Mapping[str, Any], names: list[str]
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Each device whose latencies are constant, with the settings that change them."""
    values = {origin.path: origin.value for origin in check(tree).origins}
    for number, name in enumerate(names):
        device = f"stack.tier[{number}].device"
        known = {op: values.get(f"{device}.{op}.latency") for op in ("read", "write")}
        if any(value is None for value in known.values()):
            continue
        for word, factor in _WORDS.items():
            settings: dict[str, object] = {}
            for op, value in known.items():
                seconds = float(parse(str(value)).value) * factor
                settings[f"{device}.{op}"] = f"{1e9 * seconds:.9g} ns"
            yield name, word, settings


def _place(path: Path, name: str, word: str) -> Path:
    return path / "latencies" / f"{name}-{word}"


def _row(what: str, word: str, found: Mixes, budget: float | None) -> list[str]:
    within = found if budget is None else found.within(budget)
    is_off = f"a fifth {word}" if word else ""
    if not len(within):
        return [what, is_off, "none for so little", "", ""]
    best = within.best(1).row(0, named=True)
    parts = ", ".join(f"{percent(best[name])} {name}" for name in found.names if best[name])
    return [what, is_off, parts, duration(best["mean_ns"]), amount(round(best["cost"], 4))]


def _table(rows: list[list[str]]) -> dict[str, Any]:
    return {"title": "", "columns": _COLUMNS, "numeric": [False] * 3 + [True] * 2, "rows": rows}
