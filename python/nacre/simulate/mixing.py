"""Every mix of the tiers of a scenario, and what it is worth."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nacre import _core
from nacre.base.quantity import parse
from nacre.base.text import amount, size
from nacre.base.view import View
from nacre.errors import Error, Problem, config_error, unknown
from nacre.files.saving import SIMULATED_FILE
from nacre.scenario.prices import Prices, priced
from nacre.scenario.source import (
    Scenario,
    Source,
    assignments,
    read,
)

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import polars as pl

    from nacre.results.record import Record

Columns: TypeAlias = "Mapping[str, np.ndarray[Any, Any]]"

STEPS_MAX = 1000

SCORES = ("iops_per_cost", "iops", "mean_ns", "cost")
"""What mixes are ordered by; of a time or a cost, the least is best."""
_LEAST = ("mean_ns", "cost")

Progress: TypeAlias = Callable[[int, int | None], bool | None]
"""Called about ten times a second with requests counted and in all (or None); returning True
ends it there."""


@dataclass(frozen=True)
class Tier:
    """One tier: its name, what a mean access takes when nothing else is asked, and its price."""

    name: str
    read_ns: float
    write_ns: float
    price: float | None
    """Of a GiB, counted in `price_basis`."""
    price_basis: str | None = None
    """What the price is counted in, such as `USD 2023`; None where that is not said."""
    measured_bytes: int | None = None
    """Of a device known by its latencies: the size of the accesses that it was measured with."""
    side_by_side: int = 1
    """How many of these it works on at one time."""


class Mixes:
    """Every mix of some tiers in equal steps, its extents placed best for the whole workload.

    Scored as one access after the other, each taking what its size takes: `iops` is one over the
    mean latency of an idle device, with no queues. A request that touches several extents is an
    access to each. `cost` is the mean price of a GiB; where the prices of the tiers are counted in
    different things, no mix has one, and `findings` says so.
    """

    def __init__(
        self,
        name: str,
        tiers: tuple[Tier, ...],
        accesses: tuple[int, int],
        frame: pl.DataFrame,
        sizes: tuple[int, int] = (0, 0),
        budget: float | None = None,
    ) -> None:
        self.name = name
        self.tiers = tiers
        self.reads, self.writes = accesses
        self.read_bytes, self.write_bytes = sizes
        self.budget = budget
        """What a GiB may cost, where only mixes within that are kept."""
        self.origins: Sequence[View] = ()
        """Every value of the scenario, with where it comes from."""
        self.simulated: Mapping[str, Record] = {}
        """The records of the mixes that were run, too: `nacre mixes --simulate`."""
        self._frame = frame

    @property
    def names(self) -> list[str]:
        """The names of the tiers, the fastest first."""
        return [tier.name for tier in self.tiers]

    @property
    def bases(self) -> list[str]:
        """What the prices of the tiers are counted in, each once."""
        priced = (tier for tier in self.tiers if tier.price is not None)
        return list(dict.fromkeys(tier.price_basis or "not stated" for tier in priced))

    @property
    def findings(self) -> list[str]:
        """What keeps the scores from being taken at their face."""
        found = []
        if len(self.bases) > 1:
            priced = ", ".join(
                f"{tier.name} in {tier.price_basis or 'something not stated'}"
                for tier in self.tiers
                if tier.price is not None
            )
            found.append(
                f"prices are counted in different things, so no mix has a cost: {priced};"
                ' convert them, as --prices "USD 2009=1.42 USD 2023", or give all tiers price and'
                " price_basis alike"
            )
        longest = max(
            total / count if count else 0.0
            for total, count in ((self.read_bytes, self.reads), (self.write_bytes, self.writes))
        )
        for tier in self.tiers:
            measured = tier.measured_bytes
            if measured is not None and longest > measured * tier.side_by_side:
                at_once = f", {tier.side_by_side:,} at a time" if tier.side_by_side > 1 else ""
                found.append(
                    f"{tier.name} was measured with accesses of {size(measured)}; one of"
                    f" {size(longest)} takes their latency for each of its parts{at_once}, which"
                    " devices that stream do not"
                )
        return found

    @property
    def extents(self) -> int:
        """The extents that are placed."""
        return int(sum(self._frame[f"{name}_extents"][0] for name in self.names))

    def frame(self) -> pl.DataFrame:
        """A row per mix: the share and the extents of each tier, then its scores.

        A share is in a column of its tier's name; where the extents cannot be divided so, the
        tier has a part of one more or less. `mean_ns` is the mean latency; `cost` and
        `iops_per_cost` are null where the price of a tier that the mix uses is not known.
        """
        return self._frame

    def best(self, count: int = 10, by: str = "iops_per_cost") -> pl.DataFrame:
        """The best mixes by one of: iops_per_cost, iops, mean_ns, cost; ties go to the cheaper.

        Raises `Error` where nothing is known to order them by, and where no mix is left.
        """
        if by not in SCORES:
            raise config_error([unknown("no score called", by, SCORES)])
        if not self._frame.height:
            kept = (
                "" if self.budget is None else f": none costs {amount(self.budget)} or less a GiB"
            )
            raise Error(f"no mix is left{kept}", "no-data")
        known = self._frame.drop_nulls(by)
        if not known.height:
            why = "".join(f"; {finding}" for finding in self.findings)
            raise Error(f"no mix has a known {by}; by iops they can be ordered{why}", "no-data")
        order = known.sort(by, "cost", descending=[by not in _LEAST, False], maintain_order=True)
        return order.head(count)

    def pure(self) -> pl.DataFrame:
        """The mixes of one tier alone, in the order of the tiers."""
        import polars as pl

        return pl.concat(self._frame.filter(pl.col(name) == 1) for name in self.names)

    def without(self, *tiers: str) -> Mixes:
        """Only the mixes that use none of these tiers."""
        import polars as pl

        for name in tiers:
            if name not in self.names:
                raise config_error([unknown("no tier called", name, self.names)])
        left = self._frame.filter(*(pl.col(name) == 0 for name in tiers))
        return self._of(self.tiers, left)

    def within(self, cost: float) -> Mixes:
        """Only the mixes of which a GiB costs no more; there may be none."""
        import polars as pl

        return self._of(self.tiers, self._frame.filter(pl.col("cost") <= cost), cost)

    def repriced(self, prices: Mapping[str, float], basis: str) -> Mixes:
        """The same mixes where a GiB of each tier has another price, all counted in `basis`.

        Raises `ConfigError` for a tier without a price, and for a price of no tier.
        """
        import polars as pl

        for name in {*prices, *self.names} - {*prices}.intersection(self.names):
            raise config_error([unknown("a price and a tier have to meet:", name, self.names)])
        tiers = tuple(
            replace(tier, price=prices[tier.name], price_basis=basis) for tier in self.tiers
        )
        held = {name: pl.col(f"{name}_extents") for name in self.names}
        paid = pl.sum_horizontal(held[name] * prices[name] for name in self.names)
        cost = paid / pl.sum_horizontal(held.values())
        frame = self._frame.with_columns(cost.alias("cost"))
        return self._of(
            tiers, frame.with_columns((pl.col("iops") / pl.col("cost")).alias("iops_per_cost"))
        )

    def _of(
        self, tiers: tuple[Tier, ...], frame: pl.DataFrame, budget: float | None = None
    ) -> Mixes:
        counts, sizes = (self.reads, self.writes), (self.read_bytes, self.write_bytes)
        found = Mixes(self.name, tiers, counts, frame, sizes, budget)
        found.origins = self.origins
        return found

    def plot(self, by: str = "iops_per_cost") -> alt.TopLevelMixin:
        """The score over the shares of the first two tiers: the surface, seen from above."""
        from nacre.figures.mixes import mixes

        return mixes(self, by)

    def to_dict(self) -> dict[str, Any]:
        """What `nacre mixes --json` prints."""
        by = "iops_per_cost" if self._frame["cost"].count() else "iops"
        return {
            "name": self.name,
            "reads": self.reads,
            "writes": self.writes,
            "read_bytes": self.read_bytes,
            "write_bytes": self.write_bytes,
            "extents": self.extents,
            "tiers": [vars(tier) for tier in self.tiers],
            "cost_basis": None if self.bases in ([], ["not stated"]) else " and ".join(self.bases),
            "budget": self.budget,
            "findings": self.findings,
            "best": self.best(by=by).to_dicts(),
            "pure": self.pure().to_dicts(),
            "mixes": self._frame.to_dicts(),
            "origins": [dict(origin) for origin in self.origins],
        }

    def save(self, directory: str | os.PathLike[str], *, figures: bool = False) -> Path:
        """Writes mixes.json, mixes.parquet, mixes.csv and, if wanted, the figure."""
        from nacre.files.saving import Staging

        with Staging(Path(directory)) as staging:
            staging.mixes(self)
            if figures:
                staging.figures_of_mixes(self)
        return Path(directory)

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Mixes:
        """Reads what `nacre mixes --out` left; raises `ConfigError` for another directory."""
        import polars as pl

        folder = Path(directory)
        try:
            document = json.loads((folder / "mixes.json").read_bytes())
            frame = pl.read_parquet((folder / "mixes.parquet").read_bytes())
            tiers = tuple(Tier(**tier) for tier in document["tiers"])
            counts = (document["reads"], document["writes"])
            sizes = (document["read_bytes"], document["write_bytes"])
            found = cls(document["name"], tiers, counts, frame, sizes, document.get("budget"))
            found.origins = _views(document.get("origins", []))
            found.simulated = _simulated(folder)
            return found
        except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
            problem = f"it holds no mixes: {' '.join(str(error).split())}"
            hint = "give what `nacre mixes --out` wrote"
            raise config_error(
                [Problem(code="invalid-content", path=str(folder), problem=problem, hint=hint)]
            ) from None

    def __len__(self) -> int:
        return int(self._frame.height)

    def __repr__(self) -> str:
        return f"<nacre.Mixes {self.name}: {len(self)} mixes of {', '.join(self.names)}>"

    def _repr_html_(self) -> str:
        from nacre.pages.html import paragraphs, table
        from nacre.words.mixes import counted, ranking, tiers

        return paragraphs([f"{self.name}: {counted(self)}"]) + "".join(
            map(table, (tiers(self), ranking(self)))
        )


def mixes(
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    steps: int = 20,
    prices: Prices | None = None,
    budget: float | None = None,
    progress: bool | Progress = False,
) -> Mixes:
    """Scores every mix of the tiers of a scenario, in `steps` equal parts of their capacity.

    The stack of the scenario is of kind `tiers`; shares, sizes and placement it gives are not
    used. The workload is read once, and nothing is simulated. `prices` converts prices that are
    counted in different things, as of `run`. With a `budget` only mixes of which a GiB costs no
    more are kept. `progress` shows a bar on standard error, or calls a function of yours.

    Raises `ConfigError` for a stack that is no tiers, for a workload without an end, for more
    steps than extents and for a budget that no mix keeps, and `Error` if `progress` ended it.
    """
    if budget is not None and not 0 < budget < math.inf:
        hint = "give what a GiB may cost, in what the prices are counted in"
        problem = Problem(
            code="out-of-range",
            path="budget",
            problem="it is no price",
            given=str(budget),
            hint=hint,
        )
        raise config_error([problem])
    source, settings = read(scenario), assignments(overrides)
    priced(source, settings, prices)
    count = operator.index(steps)
    if not 1 <= count <= STEPS_MAX:
        problem = Problem(
            code="out-of-range",
            path="steps",
            problem="the whole cannot be divided into so many",
            given=str(count),
            hint=f"give a whole number from 1 to {STEPS_MAX}",
        )
        raise config_error([problem])
    if not (isinstance(progress, bool) or callable(progress)):
        raise TypeError(f"progress is True, False or a function; given {progress!r}")
    with ExitStack() as stack:
        tick: Progress | None
        if progress is True:
            from nacre.base.progress import Bar

            tick = stack.enter_context(Bar("counting", "requests"))
        else:
            tick = progress or None
        document, columns = counted(source, settings, count, tick)
    found = of(document, columns)
    return found if budget is None else _within(found, budget)


def _within(found: Mixes, budget: float) -> Mixes:
    """The mixes within a budget; raises `ConfigError` where there are none."""
    within = found.within(budget)
    if not len(within):
        least = found.frame()["cost"].min()
        why = "".join(f"; {finding}" for finding in found.findings)
        hint = f"no mix has a known cost{why}"
        if isinstance(least, float):
            counted_in = "".join(f" {basis}" for basis in found.bases if basis != "not stated")
            hint = f"the cheapest mix costs {amount(round(least, 4))}{counted_in} a GiB"
        problem = Problem(
            code="out-of-range",
            path="budget",
            problem="no mix costs so little",
            given=amount(budget),
            hint=hint,
        )
        raise config_error([problem])
    return within


def _simulated(folder: Path) -> dict[str, Record]:
    """The records that `nacre mixes --simulate` left beside the mixes."""
    from nacre.results.record import Record

    listed = folder / SIMULATED_FILE
    if not listed.is_file():
        return {}
    names = json.loads(listed.read_bytes())
    return {str(name): Record.load(folder / str(place)) for name, place in names.items()}


def _views(origins: Sequence[Mapping[str, Any]]) -> Sequence[View]:
    return tuple(View(origin) for origin in origins)


def counted(
    source: Source,
    settings: list[tuple[str, str]],
    steps: int,
    progress: Progress | None = None,
) -> tuple[dict[str, Any], Columns]:
    """What `of` makes mixes of: tiers and accesses, and the columns of every mix."""
    answering = None if progress is None else _answering(progress)
    with source.cited():
        given = (source.text, source.name, source.directory, settings)
        found = _core.mixes(*given, steps, answering)
        if found is None:
            raise Error("stopped before the whole workload was counted", "stopped")
        resolved = json.loads(_core.check(*given))
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
    """The mixes that were counted."""
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
    found = Mixes(document["name"], tiers, counts, _frame(tiers, columns), sizes)
    found.origins = _views(document.get("origins", []))
    return found


def _answering(progress: Progress) -> Callable[[int, int | None], bool]:
    return lambda done, total: bool(progress(done, total))


def _names(resolved: Mapping[str, Any]) -> list[str]:
    """What the tiers are called: by their preset, else by their kind.

    Where that does not tell them apart, they are numbered.
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
