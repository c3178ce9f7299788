"""Scores every mix of the tiers of a scenario, without simulation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from nacre import _core
from nacre.base.progress import Bar, answering, reporting
from nacre.base.quantity import parse
from nacre.base.text import amount
from nacre.base.view import View
from nacre.errors import Error, in_range, invalid
from nacre.results.mixes import Mixes, Tier
from nacre.scenario.prices import Prices, priced
from nacre.scenario.source import Scenario, Source, assignments, read

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Columns: TypeAlias = "Mapping[str, np.ndarray[Any, Any]]"

STEPS_MAX = 1000

Progress: TypeAlias = Callable[[int, int | None], bool | None]
"""Function that is called about ten times a second with the number of requests read, and the total
(or None). If it returns true, the calculation stops."""


def mixes(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    steps: int = 20,
    prices: Prices | None = None,
    budget: float | None = None,
    progress: bool | Progress = False,
) -> Mixes:
    """Scores every mix of the tiers of a scenario.

    The share of each tier is a multiple of 1/`steps` of the total capacity.

    The stack of the scenario must be of kind `tiers`. Shares, capacity, and placement in the
    scenario are ignored. The workload is read once and is not simulated. `prices` converts prices
    in different currencies, as in `run`. `budget` is the maximum price per GiB of a mix. `progress`
    shows a bar on standard error, or calls your function.

    Raises `ConfigError` for another kind of stack, an endless workload, more steps than extents, or
    a budget below the price of every mix. Raises `Error` if `progress` stopped the calculation.
    """
    if budget is not None and not 0 < budget < math.inf:
        hint = "give the maximum price per GiB, in the currency of the prices"
        raise invalid("out-of-range", "budget", "expected a price", given=str(budget), hint=hint)
    source, settings = read(scenario), assignments(overrides)
    priced(source, settings, prices)
    count = in_range("steps", steps, 1, STEPS_MAX)
    with reporting(progress, Bar("counting", "requests")) as tick:
        document, columns = counted(source, settings, count, tick)
    found = of(document, columns)
    return found if budget is None else _within(found, budget)


def _within(found: Mixes, budget: float) -> Mixes:
    """Returns the mixes within a budget. Raises `ConfigError` if there are none."""
    within = found.within(budget)
    if not len(within):
        least = found.to_polars()["cost"].min()
        why = "".join(f"; {finding}" for finding in found.findings)
        hint = f"no mix has a known cost{why}"
        if isinstance(least, float):
            counted_in = "".join(f" {basis}" for basis in found.bases if basis != "not stated")
            hint = f"the cheapest mix costs {amount(round(least, 4))}{counted_in} a GiB"
        raise invalid(
            "out-of-range", "budget", "no mix is within the budget", given=amount(budget), hint=hint
        )
    return within


def counted(
    source: Source,
    settings: list[tuple[str, str]],
    steps: int,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], Columns]:
    """Returns the arguments of `of`: a document with tiers and accesses, and the columns.

    The columns have one value per mix.
    """
    found = source.call(_core.mixes, settings, steps, answering(progress))
    if found is None:
        raise Error("stopped before the whole workload was counted", "stopped")
    resolved = json.loads(source.call(_core.check, settings))
    text, columns = found
    document = source.placed({"origins": [], **json.loads(text)})
    devices = [tier["device"] for tier in resolved["scenario"]["stack"]["tier"]]
    measured = [_measured_bytes(device) for device in devices]
    at_once = [_side_by_side(device) for device in devices]
    origins = source.placed(resolved)["origins"]
    told = {
        "names": _names(resolved),
        "measured_bytes": measured,
        "side_by_side": at_once,
        "origins": origins,
    }
    return {**document, **told}, columns


def of(document: Mapping[str, Any], columns: Columns) -> Mixes:
    """Creates mixes from the document and columns of the core."""
    tiers = tuple(
        Tier(
            name,
            tier["read_s"] * 1e9,
            tier["write_s"] * 1e9,
            tier["price"],
            tier["price_basis"],
            measured,
            at_once,
        )
        for name, tier, measured, at_once in zip(
            document["names"],
            document["tiers"],
            document["measured_bytes"],
            document["side_by_side"],
            strict=True,
        )
    )
    counts = (int(document["reads"]), int(document["writes"]))
    sizes = (int(document["read_bytes"]), int(document["write_bytes"]))
    origins = tuple(View(origin) for origin in document["origins"])
    return Mixes(document["name"], tiers, counts, _frame(tiers, columns), sizes, origins=origins)


def _names(resolved: Mapping[str, Any]) -> list[str]:
    """Returns the names of the tiers, which are the presets or, without a preset, the kinds.

    Names that occur several times get a number.
    """
    presets = {
        origin["path"]: origin["value"]
        for origin in resolved["origins"]
        if origin["path"].endswith(".preset")
    }
    tiers = resolved["scenario"]["stack"]["tier"]
    names = []
    for number, tier in enumerate(tiers):
        kind = tier["device"]["kind"]
        preset = presets.get(f"stack.tier[{number}].device.preset", kind)
        names.append(str(preset))
    return [
        name if names.count(name) == 1 else f"{name}_{number}" for number, name in enumerate(names)
    ]


def _measured_bytes(device: Mapping[str, Any]) -> int | None:
    if device["kind"] != "measured":
        return None
    return int(parse(device["unit"]).value)


def _side_by_side(device: Mapping[str, Any]) -> int:
    return int(device["parallelism"]) if device["kind"] == "measured" else 1


def _frame(tiers: tuple[Tier, ...], columns: Columns) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    names = [tier.name for tier in tiers]
    extents = {f"{name}_extents": columns[f"extents.{i}"] for i, name in enumerate(names)}
    steps = sum(columns[f"steps.{i}"] for i in range(len(names)))
    shares = {name: columns[f"steps.{i}"] / steps for i, name in enumerate(names)}
    seconds, cost = columns["mean_s"], columns["price"]
    if len({tier.price_basis for tier in tiers if tier.price is not None}) > 1:
        cost = np.full_like(cost, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        iops = 1 / seconds
        scores = {
            "mean_ns": seconds * 1e9,
            "iops": iops,
            "cost": cost,
            "iops_per_cost": iops / cost,
        }
    frame = pl.DataFrame({**shares, **extents, **scores})
    finite = [
        pl.when(pl.col(score).is_finite()).then(pl.col(score)).alias(score) for score in scores
    ]
    return frame.with_columns(finite)
