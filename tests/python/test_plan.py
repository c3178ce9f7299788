"""Tests plans, i.e. caches and device mixes for a trace and a budget."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import nacre
import pytest
from exploring import MSR
from nacre.errors import ConfigError
from nacre.results.curves import CacheCurves
from nacre.results.traces import TraceInfo
from nacre.words import headlines
from refusing import fails_with

PRICES = {"pcm_ssd": 24.0, "emlc_ssd": 6.0, "disk_15k_kim": 1.0}


@pytest.fixture(scope="module")
def week(folder: Path) -> nacre.simulate.Plan:
    trace = folder / "week.csv"
    trace.write_text(MSR)
    return nacre.plan(trace, PRICES, "USD 2023", policies=("lru",), steps=4)


def test_a_plan_is_the_curves_and_the_mixes_of_its_trace(week: nacre.simulate.Plan) -> None:
    assert week.info.to_dict() == nacre.traces.info(week.trace).to_dict()
    assert week.caches.to_dict() == nacre.traces.caches(week.trace, ["lru"]).to_dict()
    assert week.mixes.to_polars().equals(nacre.mixes(dict(week.scenario), steps=4).to_polars())
    assert week.prices == PRICES
    assert "in USD 2023" in week.summary().headline[-1]


def curves(missed: dict[str, dict[int, float]]) -> CacheCurves:
    """Returns cache curves with the given miss ratios by policy and number of blocks."""
    rows = [
        {"policy": policy, "blocks": blocks, "block": {"all": share}}
        for policy, shares in missed.items()
        for blocks, share in shares.items()
    ]
    return CacheCurves("some", {"rows": rows, "block_bytes": 4096})


def test_the_named_cache_has_the_fewest_misses_of_its_size() -> None:
    first = {"lru": {10: 0.25, 100: 0.17}, "arc": {10: 0.187, 100: 0.17}}
    said = headlines.of_caches(curves({**first, "sieve": {10: 0.186, 100: 0.17}}), {}, "USD")
    assert "with sieve misses 18.6 %" in said[0]
    # If the displayed values are equal, the headline names the first policy, followed by the other
    # policy.
    tied = headlines.of_caches(curves({**first, "sieve": {10: 0.18697, 100: 0.17}}), {}, "USD")
    assert "with arc misses 18.7 %" in tied[0]
    assert "18.7 % with sieve" in tied[0]


def test_a_plan_has_the_latency_of_a_flush(week: nacre.simulate.Plan) -> None:
    tree = json.loads(json.dumps(week.scenario))
    buffered = dict(zip(week.mixes.names, ("evo970_1tb", "pm983_960gb", "disk_15k"), strict=True))
    for tier, preset in zip(tree["stack"]["tier"], buffered.values(), strict=True):
        tier["device"] = {"preset": preset}
    flushed = TraceInfo({**week.info.to_dict(), "flushes": 2})
    found = replace(week, scenario=tree, info=flushed)
    ns = found.flush_ns()
    for name, preset in buffered.items():
        device = {"stack": {"preset": preset}}
        assert ns[name] == nacre.step(device, [("write", 0, 4096), ("flush", 0, 0)])[1].latency_ns
    assert ns["pcm_ssd"] > ns["emlc_ssd"] > 0 == ns["disk_15k_kim"]
    # A flush is sent to every tier of a mix. Its latency is that of the slowest tier.
    for row in found.to_polars().to_dicts():
        assert row["flush_ns"] == max(ns[name] for name in ns if row[name] > 0)
    fact = found.summary().facts[-1]
    assert fact.startswith("2 of 1,500 requests are flushes.")
    assert fact in unescape(nacre.report({"plan": found}))
    assert "flushes" not in " ".join(week.summary().facts)
    assert found.to_dict()["flush_ns"] == ns


def test_a_plan_is_saved_and_loaded(week: nacre.simulate.Plan, tmp_path: Path) -> None:
    again = nacre.simulate.Plan.load(week.save(tmp_path / "plan"))
    assert headlines.of_plan(again, 5) == headlines.of_plan(week, 5)
    assert again.scenario == week.scenario
    with fails_with("invalid-content", ConfigError):
        nacre.simulate.Plan.load(tmp_path)


def test_repricing_also_changes_the_scenario(week: nacre.simulate.Plan) -> None:
    other = week.repriced({"disk_15k_kim": 2})
    assert other.prices == {**PRICES, "disk_15k_kim": 2}
    found = nacre.mixes(dict(other.scenario), steps=4).to_polars()["cost"].to_list()
    assert other.mixes.to_polars()["cost"].to_list() == pytest.approx(found)


def test_a_budget_buys_whole_blocks_of_each_device(week: nacre.simulate.Plan) -> None:
    trees = week.cache_scenarios(0.01)
    sizes = [tree["stack"]["level"][0]["device"]["capacity"] for tree in trees]
    assert sizes == [f"{4096 * int(0.01 / price * 2**30 // 4096)} B" for price in PRICES.values()]
    for money, said in ((1e-9, "does not buy a block"), (float("nan"), "expected an amount")):
        with pytest.raises(ConfigError, match=said):
            week.cache_scenarios(money)


def test_the_value_of_an_assumption_is_the_best_mix_without_it(week: nacre.simulate.Plan) -> None:
    rows = week.if_prices_differ().rows
    assert [row[:2] for row in rows[:2]] == [["unchanged", ""], ["price of pcm_ssd", "20 % less"]]
    assert len(rows) == 1 + 2 * len(PRICES)
    best = week.repriced({"disk_15k_kim": 0.8}).mixes.best(1)
    assert rows[-2][-1] == f"{best['cost'][0]:.4g}"
    others = week.with_latencies()
    means = [each.pure()["mean_ns"][0] for each in (week.mixes, *list(others.values())[:2])]
    assert means == pytest.approx([means[0], 0.8 * means[0], 1.2 * means[0]])
    assert len(week.if_latencies_differ(others).rows) == len(others) == 2 * len(PRICES)


def test_a_plan_with_unknown_names_is_an_error() -> None:
    with pytest.raises(ConfigError, match="pcm_sd"):
        nacre.plan("pgbench", {"pcm_sd": 1, "emlc_ssd": 2}, "USD")
    with fails_with("stopped"):
        nacre.plan("pgbench", PRICES, "USD", progress=lambda *_: True)
