"""Tests prices in different currencies, which are converted with factors of the user."""

from typing import Any

import nacre
import pytest
from nacre.errors import ConfigError
from nacre.scenario.prices import given
from refusing import fails_with

DEVICE = {"kind": "measured", "capacity": "1 GiB", "read": "1 us", "write": "1 us"}
TIERS: dict[str, Any] = {
    "workload": {"kind": "uniform", "requests": 200, "footprint": "1 GiB"},
    "stack": {
        "kind": "tiers",
        "tier": [
            {"device": DEVICE | {"price": "10 /GiB", "price_basis": "USD 2009"}},
            {"device": DEVICE | {"price": "2 /GiB", "price_basis": "USD 2023"}},
        ],
    },
}
FACTOR = {"USD 2009": "1.5 USD 2023"}


def test_a_run_sums_converted_prices() -> None:
    apart = nacre.run(TIERS)
    assert apart.cost is None
    assert "prices_differ" in [finding.kind for finding in apart.findings]
    together = nacre.run(TIERS, prices=FACTOR)
    assert (together.cost, together.cost_basis) == (15 + 2, "USD 2023")
    assert not [found for found in together.findings if found.kind == "prices_differ"]
    origin = next(o for o in together.origins if o.path == "stack.tier[0].device.price")
    assert "15" in str(origin.value)


def test_mixes_and_studies_compare_converted_prices() -> None:
    assert nacre.mixes(TIERS, steps=2).findings
    found = nacre.mixes(TIERS, steps=2, prices=FACTOR)
    assert not found.findings
    assert found.pure()["cost"].to_list() == [15, 2]
    axis = {"path": "stack.tier[0].device.price", "values": ["10 /GiB", "20 /GiB"]}
    table = nacre.study({"scenario": TIERS, "prices": FACTOR, "axis": [axis]}, workers=1).table
    assert table["cost"].to_list() == [17, 32]
    assert table["cost_basis"].unique().to_list() == ["USD 2023"]


def test_unconvertible_prices_are_named() -> None:
    with pytest.raises(ConfigError, match='there is no factor from "USD 2023"'):
        nacre.run(TIERS, prices={"USD 2009": "1.5 EUR 2023"})
    for wrong in ("1.5", "USD", "0 USD 2023", "-1 USD 2023"):
        with fails_with("invalid-value", ConfigError):
            nacre.run(TIERS, prices={"USD 2009": wrong})
    with pytest.raises(ConfigError, match="--prices: it is not a factor and a currency"):
        given(["1.5 USD 2023"])
    assert given(["USD 2009=1.5 USD 2023"]) == FACTOR
