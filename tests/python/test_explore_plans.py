"""Tests the explorer's responses about traces and plans."""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nacre
import numpy as np
import pytest
from exploring import MSR, Client, client
from nacre.explorer import traces
from refusing import fails_with
from serving import NACRE


@pytest.fixture(scope="module")
def inside(folder: Path) -> Iterator[Client]:
    with client(folder) as made:
        yield made


PRICES = {"pcm_ssd": 24, "emlc_ssd": 6, "disk_15k_kim": 1}
TIERS = [{"name": name, "price": price} for name, price in PRICES.items()]


def sent(inside: Client, name: str = "monday.csv") -> str:
    answer = inside.put(f"/api/traces/{name}", content=MSR.encode())
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def test_a_plan_is_repriced_without_reading_the_trace(inside: Client) -> None:
    asked = {"trace": sent(inside), "currency": "USD", "tiers": TIERS}
    last = inside.done("/api/plans", asked)
    assert last["state"] == "done", last
    name = last["address"].partition("=")[2]
    shown = inside.get(f"/api/plans/{name}").json()
    assert shown["headline"][0].startswith("A cache of ")
    assert "per GiB in USD" in shown["headline"][-1]
    assert tomllib.loads(shown["toml"])["stack"]["kind"] == "tiers"
    assert len(shown["worth"]["rows"]) == 7
    assert shown["latencies"] is None
    best = float(shown["best"][0]["rows"][0][6])
    cheaper = inside.get(f"/api/plans/{name}?budget={best * 0.9}").json()
    assert float(cheaper["best"][0]["rows"][0][6]) < best
    none = inside.get(f"/api/plans/{name}?budget=0.5").json()
    assert none["headline"][-1:] == ["No mix of these tiers costs at most 0.5 per GiB."]
    dear = inside.get(f"/api/plans/{name}?price.disk_15k_kim=2").json()
    assert float(dear["best"][0]["rows"][0][6]) > best
    assert dear["prices"] == {"pcm_ssd": 24, "emlc_ssd": 6, "disk_15k_kim": 2}
    tiers = tomllib.loads(dear["toml"])["stack"]["tier"]
    assert [tier["device"]["price"] for tier in tiers] == ["24 /GiB", "6 /GiB", "2 /GiB"]
    command = shlex.split(dear["caches"]["shell"])
    (curves,) = inside.explorer.folder.root.glob(f"plans/{name}/curves.json")
    answer = subprocess.run(
        [NACRE, *command[1:], "--json"], check=True, capture_output=True, text=True
    )
    assert json.loads(answer.stdout)["caches"] == json.loads(curves.read_text())["caches"]
    for figure in ("mixes", "caches"):
        assert inside.get(f"/api/plans/{name}/figures/{figure}").status_code == 200
    assert inside.get(f"/api/plans/{name}?budget=much").json()["problems"][0]["path"] == "budget"

    bought = {"currency": "USD", "tiers": TIERS[:2], "money": 0.01}
    last = inside.done(f"/api/plans/{name}/caches", bought)
    runs = last["address"].removeprefix("/design?compare=").split(",")
    sizes = [
        inside.get(f"/api/runs/{run}").json()["scenario"]["stack"]["level"][0]["device"]["capacity"]
        for run in runs
    ]
    assert sizes == [f"{4096 * int(0.01 / price * 2**30 // 4096)} B" for price in (24, 6)]


def test_a_plan_shows_the_effect_of_other_latencies(inside: Client) -> None:
    asked = {"trace": sent(inside), "currency": "USD", "tiers": TIERS}
    name = inside.done("/api/plans", asked)["address"].partition("=")[2]
    last = inside.done(f"/api/plans/{name}/latencies", {})
    assert last["state"] == "done", last
    rows = inside.get(f"/api/plans/{name}").json()["latencies"]["rows"]
    assert [row[:2] for row in rows[:2]] == [
        ["latency of pcm_ssd", "20 % less"],
        ["latency of pcm_ssd", "20 % more"],
    ]
    assert len(rows) == 6
    path = inside.explorer.folder.root / "plans" / name
    means = [
        nacre.results.Mixes.load(place).pure()["mean_ns"][0]
        for place in (
            path,
            path / "latencies" / "pcm_ssd-less",
            path / "latencies" / "pcm_ssd-more",
        )
    ]
    assert np.allclose(means, np.array([1, 0.8, 1.2]) * means[0], rtol=1e-9)


def test_every_error_of_a_plan_has_its_field(inside: Client) -> None:
    tiers = [{"name": "pcm_ssd", "price": None}, {"name": "emlc_ssd", "price": 0}]
    asked = {"trace": "pgbench", "currency": " ", "tiers": tiers}
    problems = inside.post("/api/plans", json=asked).json()["problems"]
    assert [each["path"] for each in problems] == ["currency", "price-pcm_ssd", "price-emlc_ssd"]
    asked = {"trace": "pgbench", "currency": "USD", "tiers": []}
    assert inside.post("/api/plans", json=asked).json()["problems"][0]["path"] == "tiers"
    assert inside.post("/api/plans", json={**asked, "trace": "../x"}).status_code == 404


def test_invalid_and_too_large_uploads_leave_no_files(
    inside: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = inside.get("/api/traces").json()
    prose = inside.put("/api/traces/notes.txt", content=b"not a trace\n" * 50)
    assert prose.status_code == 422
    assert "no known trace format" in prose.json()["error"]
    monkeypatch.setattr(traces, "UPLOAD_MAX", 1000)
    assert inside.put("/api/traces/large.csv", content=MSR.encode()).status_code == 413
    streamed = inside.put("/api/traces/large.csv", content=iter([MSR.encode()] * 3))
    assert streamed.status_code == 413
    assert inside.get("/api/traces").json() == before
    home = inside.explorer.folder.root / "traces"
    assert not [path for path in home.glob("*") if path.name.startswith(("notes", "large"))]


def test_prices_of_mixes_are_changed_as_the_scenario_would() -> None:
    given = {
        "stack.tier[0].device.price": "3 /GiB",
        "stack.tier[0].device.price_basis": "USD",
        "stack.tier[1].device.price": "2 /GiB",
        "stack.tier[1].device.price_basis": "USD",
        "stack.tier[2].device.price": "1 /GiB",
        "stack.tier[2].device.price_basis": "USD",
        "workload.requests": 2000,
    }
    told = nacre.mixes("tiers", given, steps=5)
    found = nacre.mixes("tiers", {"workload.requests": 2000}, steps=5)
    other = found.repriced(dict(zip(found.names, (3, 2, 1), strict=True)), "USD")
    assert other.tiers == told.tiers
    assert np.allclose(
        other.to_polars().select("cost", "iops_per_cost").to_numpy(),
        told.to_polars().select("cost", "iops_per_cost").to_numpy(),
        rtol=1e-12,
    )
    assert other.within(1.5).to_polars()["cost"].max() <= 1.5  # type: ignore[operator]
    with fails_with("unknown-name", nacre.errors.ConfigError):
        found.repriced({"pcm_ssd": 1.0}, "USD")
