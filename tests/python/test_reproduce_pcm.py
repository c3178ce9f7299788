"""Tests the claims of PCM for enterprise storage: every result has rows that can fail, and figures
are plotted."""

from collections.abc import Mapping
from typing import Any

import nacre
import numpy as np
import pytest
from nacre.papers.result import Reproduction
from nacre.papers.running.served import Served
from nacre.papers.running.target import Target
from nacre.papers.spec.plan import Job, Point
from nacre.papers.work import targets
from nacre.results.record import Record

READ_US = {"PCM": 6.7, "PCM cache over eMLC": 82.7, "eMLC": 108.0}
DEVICES = {"PCM": (6.7, 128.3, 24), "eMLC": (108.0, 37.1, 6)}
PRICES = (24.0, 6.0, 1.0)
STORES = ("retail", "bank", "telecom")
WITHOUT_US = {"retail": 60, "bank": 24, "telecom": 62}
"""Additional latency of a store without PCM in microseconds, i.e. the benefit of PCM."""
COMPANIES = ("manufacturing", "media", "medical")


@pytest.fixture(scope="module")
def target() -> Target:
    (found,) = targets("pcm-enterprise")
    return found


def latency(mean_us: float) -> dict[str, Any]:
    mean = mean_us * 1000
    return {"count": 1000, "mean_ns": mean, "p50_ns": mean, "p99_ns": 2 * mean}


def made_up(
    point: Point, without_us: Mapping[str, int] = WITHOUT_US
) -> Record | nacre.results.Mixes | Served:
    """Returns the results of runs in which PCM has the benefit that the paper reports."""
    labels = dict(point.labels)
    document: dict[str, Any] = {"name": point.name, "origins": []}
    columns: dict[str, Any] = {}
    match point.group.rpartition("-")[2]:
        case "tiers":
            return mixes(gain=30)
        case "shapes":
            return mixes(gain=100 * (int(labels["reads"]) - 50) / 45)
        case "device":
            read, write, price = DEVICES[labels["device"]]
            share = int(labels["reads"]) / 100
            kinds = {"read": latency(read), "write": latency(write)}
            kinds["read"]["count"], kinds["write"]["count"] = 1000 * share, 1000 * (1 - share)
            document["latency"] = {kind: of if of["count"] else None for kind, of in kinds.items()}
            document["scenario"] = {"stack": {"price": f"{price} /GiB"}}
            document["components"] = [{"path": "stack", "kind": "measured"}]
        case "spread":
            read, write, _ = DEVICES[labels["device"]]
            document["latency"] = {"read": latency(read), "write": latency(write)}
            for kind in ("read", "write"):
                columns[f"latency.{kind}.upto_ns"] = np.array([5e3, 2e5])
                columns[f"latency.{kind}.count"] = np.array([500, 500])
        case "chip":
            speed = {"PCM": 2.5e6, "flash": 20.48e6}[labels["chip"]]
            document["throughput"] = {"bytes_per_s": speed}
        case "store":
            shares = [int(share) for share in labels["mix"].split("/")]
            slower = 1.02 if labels["placement"] == "dynamic" else 1.0
            mean = 50 + 5000 * max(0, 50 - shares[0] - shares[1]) / 50
            mean += without_us[labels["store"]] * (shares[0] < 5)
            document["latency"] = {"read": latency(mean * slower), "write": None}
            devices = [
                {"device": {"price": f"{price} /GiB"}, "share": f"{share} %"}
                for price, share in zip(PRICES, shares, strict=True)
            ]
            document["scenario"] = {"stack": {"tier": devices}}
            document["components"] = [{"path": "stack", "kind": "tiers"}]
            columns["stack.tiers.extents"] = np.array(shares, dtype=float)
        case "cache" | "data":
            mean = 300.0 if labels["cache"].startswith("F") else 190.0
            document["latency"] = {"read": latency(mean), "write": None}
        case "size":
            mean = 900.0 - int(labels["size"])
            document["latency"] = {"read": latency(mean), "write": None}
        case "sysbench" | "oltp":
            return benchmark(READ_US[labels["device"]])
        case "blocks":
            document["latency"] = {"read": latency(READ_US[labels["device"]])}
            document["throughput"] = {"iops": 1.0}
    return Record(document, columns)


def benchmark(read_us: float) -> Served:
    """Returns the result of a served device with this modeled read latency."""
    server = {"modeled": {"read": latency(read_us)}}
    speed = {"iops": 1.0, "units_per_s": 1.0}
    return Served({"name": "", "requests": 10, "server": server, "throughput": speed})


def mixes(gain: float) -> nacre.results.Mixes:
    """Returns two mixes of two tiers. The mix with PCM is better by `gain` percent."""
    import polars as pl
    from nacre.results.mixes import Mixes, Tier

    tiers = (Tier("pcm", 6700.0, 128_300.0, 24.0), Tier("flash", 108e3, 37.1e3, 6.0))
    score = [100.0, 100.0 + gain]
    frame = {"pcm": [0.0, 0.5], "flash": [1.0, 0.5], "cost": [6.0, 15.0], "iops_per_cost": score}
    return Mixes("made up", tiers, (1, 0), pl.DataFrame(frame))


def judged(target: Target, made: dict[Job, Any]) -> Reproduction:
    return Reproduction([target], made)


@pytest.fixture(scope="module")
def found(target: Target) -> Reproduction:
    return judged(target, {point.job: made_up(point) for point in target.points})


def test_every_result_of_the_paper_has_its_rows(target: Target) -> None:
    of_stores = [name for store in STORES for name in (store, f"{store}-surface")]
    of_companies = [name for company in COMPANIES for name in (company, f"{company}-sizes")]
    assert target.figures == [
        "performance", "read-latency", "write-latency", "crossover", "crossover-cost", "chips",
        *of_stores, "bound", "gains",
        *of_companies, "caches", "public", "sysbench", "oltp",
    ]  # fmt: skip


def test_results_as_published_pass(found: Reproduction) -> None:
    assert [row for row in found.listed if row["pass"] is False or row["simulated"] is None] == []
    rows = {row["id"].removeprefix("pcm-enterprise/"): row["simulated"] for row in found.listed}
    assert rows["crossover/speed"] == pytest.approx(0.4738, abs=1e-4)
    assert rows["crossover-cost/cost"] == pytest.approx(0.8543, abs=1e-4)
    # The mix 5/50/45 costs 4.65 and takes 50 us. The best mix without PCM, 0/50/50, costs 3.5 and
    # takes 110 us.
    assert rows["retail/static-gain"] == pytest.approx(100 * (3.5 * 110 / (4.65 * 50) - 1))
    notes = {row["id"].removeprefix("pcm-enterprise/"): row["note"] for row in found.listed}
    assert notes["retail/dynamic-gain"].startswith("highest at 5/50/45; ")
    assert rows["retail-surface/best-static"] == 5
    assert rows["bound/bound"] == pytest.approx(1.02)


def test_every_asserted_claim_can_fail(target: Target) -> None:
    """Every asserted claim fails for results in which PCM has no benefit, dynamic placement is
    better, and devices and stores are equal."""
    made: dict[Job, Any] = {}
    for point in target.points:
        record = made_up(point)
        if isinstance(record, nacre.results.Mixes):
            made[point.job] = mixes(gain=0 if point.group.endswith("tiers") else 30)
            continue
        if isinstance(record, Served):
            made[point.job] = benchmark(60.0)
            continue
        labels, data = dict(point.labels), record.to_dict()
        for kind in ("read", "write"):
            if data.get("latency", {}).get(kind):
                data["latency"][kind]["mean_ns"] = 5e4
        if labels.get("placement") == "dynamic":
            data["latency"]["read"]["mean_ns"] = 4e4
        if point.group == "device":
            slower = 1 + 0.01 * (labels["device"] == "PCM")
            for kind in filter(None, data["latency"].values()):
                kind["mean_ns"] *= slower
        if point.group == "spread":
            data["latency"]["read"]["mean_ns"] *= 2
        if point.group == "chip":
            data["throughput"]["bytes_per_s"] = 1e6
        made[point.job] = Record(data, record.columns if point.group == "store" else {})
    rows = judged(target, made).listed
    missed = {row["id"] for row in rows if row["pass"] is False}
    alike = {point.job: made_up(point, dict.fromkeys(STORES, 35)) for point in target.points}
    missed |= {row["id"] for row in judged(target, alike).listed if row["pass"] is False}
    assert missed == {row["id"] for row in rows if row["kind"] != "unclosed"}


def test_every_figure_can_be_drawn(found: Reproduction) -> None:
    drawn = {name: make().to_dict() for name, make in found.drawings().items()}
    figures = {row["figure"] for row in found.listed} - {"bound"}
    assert set(drawn) == {f"pcm-enterprise/{figure}" for figure in figures}
    for name, spec in drawn.items():
        claims = [row for row in found.listed if f"pcm-enterprise/{row['figure']}" == name]
        texts = [row["text"] for data in spec["datasets"].values() for row in data if "line" in row]
        assert len(texts) == len(claims)
    surface = max(drawn["pcm-enterprise/retail-surface"]["datasets"].values(), key=len)
    assert {row["label"] for row in surface} >= {"0/0/100", "10/40/50", "100/0/0"}


def test_the_simulated_devices_are_those_of_the_paper() -> None:
    for figure in ("performance", "crossover", "crossover-cost", "chips"):
        rows = nacre.reproduce("pcm-enterprise", figure)
        assert rows.passed, rows.listed
