"""Mixes of the tiers of a scenario with their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nacre.base.text import amount, size
from nacre.base.view import View
from nacre.errors import Error, config_error, unknown
from nacre.results.base import Result

if TYPE_CHECKING:
    import polars as pl

    from nacre.results.record import Record

SCORES = ("iops_per_cost", "iops", "mean_ns", "cost")
"""Scores by which mixes can be sorted. For `mean_ns` and `cost`, lower is better."""
_LEAST = ("mean_ns", "cost")


@dataclass(frozen=True)
class Tier:
    """A tier with its name, its idle latencies in nanoseconds, and its price."""

    name: str
    read_ns: float
    write_ns: float
    price: float | None
    """Price per GiB in the currency `price_basis`."""
    price_basis: str | None = None
    """Currency of the price, e.g. `USD 2023`, or None if it is not given."""
    measured_bytes: int | None = None
    """Access size in bytes at which the latencies were measured, for a device that is defined by
    latencies."""
    side_by_side: int = 1
    """Number of accesses that the device serves in parallel."""


class Mixes(Result):
    """All mixes of some tiers in equal steps of the shares, with optimal static placement.

    Accesses are serial, and each takes the idle latency for its size. `iops` is the inverse of the
    mean latency, without queueing. A request that spans several extents counts as one access to
    each extent. `cost` is the mean price per GiB. If the prices of the tiers have different
    currencies, the cost is unknown, and `findings` contains a note.
    """

    def __init__(
        self,
        name: str,
        tiers: tuple[Tier, ...],
        accesses: tuple[int, int],
        frame: pl.DataFrame,
        sizes: tuple[int, int] = (0, 0),
        budget: float | None = None,
        *,
        origins: Sequence[View] = (),
        simulated: Mapping[str, Record] | None = None,
    ) -> None:
        self.name = name
        self.tiers = tiers
        self.reads, self.writes = accesses
        self.read_bytes, self.write_bytes = sizes
        self.budget = budget
        """Maximum price per GiB, or None if the mixes are not limited by a price."""
        self.origins = origins
        """All values of the scenario with their origins."""
        self.simulated = dict(simulated or {})
        """Records of the simulated mixes, by descriptions of the mixes."""
        self._frame = frame

    @property
    def names(self) -> list[str]:
        """Names of the tiers, the fastest first."""
        return [tier.name for tier in self.tiers]

    @property
    def bases(self) -> list[str]:
        """Currencies of the tiers' prices, without duplicates."""
        priced = (tier for tier in self.tiers if tier.price is not None)
        return list(dict.fromkeys(tier.price_basis or "not stated" for tier in priced))

    @property
    def findings(self) -> list[str]:
        """Limitations of the scores."""
        found = []
        if len(self.bases) > 1:
            priced = ", ".join(
                f"{tier.name} in {tier.price_basis or 'something not stated'}"
                for tier in self.tiers
                if tier.price is not None
            )
            found.append(
                f"tiers are priced in different currencies, so costs cannot be compared: {priced};"
                ' convert them, e.g. --prices "USD 2009=1.42 USD 2023", or give all tiers price and'
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
        """Number of extents to place."""
        return int(sum(self._frame[f"{name}_extents"][0] for name in self.names))

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per mix with the share and the extents of each tier, and the scores.

        The column of a share has the name of its tier. If the extents cannot be divided evenly, the
        numbers of extents are rounded. `mean_ns` is the mean latency. If the price of a used tier
        is unknown, `cost` and `iops_per_cost` are null.
        """
        return self._frame

    def best(self, count: int = 10, by: str = "iops_per_cost") -> pl.DataFrame:
        """Returns the `count` best mixes by `iops_per_cost`, `iops`, `mean_ns`, or `cost`.

        Cheaper mixes come first on ties.

        Raises `Error` if the score is unknown for all mixes, or if there are no mixes.
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
            raise Error(f"no mix has a known {by}; they can be sorted by iops{why}", "no-data")
        order = known.sort(by, "cost", descending=[by not in _LEAST, False], maintain_order=True)
        return order.head(count)

    def pure(self) -> pl.DataFrame:
        """Returns the mixes that consist of a single tier, in the order of the tiers."""
        import polars as pl

        return pl.concat(self._frame.filter(pl.col(name) == 1) for name in self.names)

    def without(self, *tiers: str) -> Mixes:
        """Returns the mixes that use none of these tiers."""
        import polars as pl

        for name in tiers:
            if name not in self.names:
                raise config_error([unknown("no tier called", name, self.names)])
        left = self._frame.filter(*(pl.col(name) == 0 for name in tiers))
        return self._of(self.tiers, left)

    def within(self, cost: float) -> Mixes:
        """Returns the mixes up to this price per GiB. There may be none."""
        import polars as pl

        return self._of(self.tiers, self._frame.filter(pl.col("cost") <= cost), cost)

    def repriced(self, prices: Mapping[str, float], basis: str) -> Mixes:
        """Returns the mixes with a new price per GiB for every tier, in the currency `basis`.

        Raises `ConfigError` if a tier lacks a price, or if a price is for an unknown tier.
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
        left = self.simulated
        if left:
            known = {called(row, self.names) for row in frame.iter_rows(named=True)}
            left = {name: record for name, record in left.items() if name in known}
        return Mixes(
            self.name,
            tiers,
            (self.reads, self.writes),
            frame,
            (self.read_bytes, self.write_bytes),
            budget,
            origins=self.origins,
            simulated=left,
        )

    @property
    def ordered_by(self) -> str:
        """Default score for sorting: IOPS per cost if prices are known, otherwise IOPS."""
        return "iops_per_cost" if self._frame["iops_per_cost"].count() else "iops"

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `nacre mixes --json` prints."""
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

    def __len__(self) -> int:
        return int(self._frame.height)

    def __repr__(self) -> str:
        return f"<nacre.Mixes {self.name}: {len(self)} mixes of {', '.join(self.names)}>"


def called(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Describes a mix, e.g. `5 % pcm_ssd, 95 % disk`."""
    return ", ".join(f"{100 * row[name]:.3g} % {name}" for name in names if row[name])
