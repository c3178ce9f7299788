"""Tests the claims of eNVy: they are complete, the plan has their runs, and each claim can fail."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from nacre.papers.judging.judge import Row
from nacre.papers.result import Reproduction
from nacre.papers.running.target import Target
from nacre.papers.spec.plan import Point
from nacre.papers.work import targets
from nacre.results.record import Record

LOCALITIES = ("50/50", "40/60", "30/70", "20/80", "10/90", "5/95")
FIFO = (1.69, 1.72, 1.85, 2.03, 2.53, 3.07)
"""Cleaning cost of a single FIFO with hot and cold data at 80 % utilization, in closed form. The
greedy policy has the same limit."""
GATHERED = (4.0, 3.84, 3.37, 2.56, 1.44, 0.98)
"""Cleaning cost of perfectly separated data at 80 % utilization, in closed form."""
HYBRID = (1.9, 1.88, 1.8, 1.7, 1.2, 0.9)
TIMES = {"read": 4.0, "drain": 1.5, "clean": 3.0, "erase": 0.8}
BILL = {
    "page table, at a dollar a MiB": 24.0,
    "page table": 2_880.0,
    "flash": 30_000.0,
    "SRAM instead of the flash": 120_000.0,
}
PAGES = ("128 B", "256 B", "512 B", "1 KiB")
SIMULATED_S = 10.0


def as_published(point: Point) -> dict[str, Any]:
    """Returns a record that agrees with all statements of the paper."""
    labels = dict(point.labels)
    at = LOCALITIES.index(labels.get("locality", "50/50"))
    cost, rate, write_ns, dollars = 1.97, 30_000.0, 200.0, 68_700.0
    match point.group:
        case "utilizations":
            share = int(labels["utilization"].split()[0]) / 100
            cost = share / (1 - share)
        case "cleaners" | "scattered":
            curves = {"hybrid": HYBRID, "locality gathering": GATHERED}
            cost = curves.get(labels["cleaner"], FIFO)[at]
        case "steps" | "raised":
            cost = GATHERED[at]
        case "parallel":
            rate *= 2.0 if labels["operations"] == "8" else 1.0
        case "partitions":
            doublings = round(math.log2(int(labels["size"])))
            ends = {0: GATHERED[at], 7: FIFO[at]}
            cost = ends.get(doublings, HYBRID[at] * (1 + 0.1 * abs(doublings - 4)))
        case "segment-counts":
            cost = HYBRID[at] * (1 + 8 / int(labels["segments"]))
        case "rates":
            rate = min(float(labels["rate"]), 30_000.0)
            asked = int(labels["rate"])
            write_ns = 200.0 if rate < 30_000 else 7_000.0 + 0.012 * asked
        case "fills":
            share = int(labels["utilization"].split()[0])
            rate = 35_000.0 - 60 * share - 1_000 * max(0, share - 80)
        case "no-flash-work":
            rate = 75_000.0
        case "committed":
            rate = 29_500.0
        case "bill":
            dollars = BILL.get(labels["part"], 254_000.0)
        case "page-sizes":
            dollars -= 5_000.0 * PAGES.index(labels["page"])
    servers = int(labels.get("operations", "1"))
    return {
        "name": point.name,
        "origins": [],
        "simulated_s": SIMULATED_S,
        "cleaning_cost": cost,
        "lifetime_days": 3_151.0,
        "cost": dollars,
        "scenario": {"stack": {"page": labels.get("page", "256 B")}},
        "throughput": {"units_per_s": rate},
        "latency": {"read": {"mean_ns": 180.0}, "write": {"mean_ns": write_ns}},
        "components": [array(servers)],
        "restored": 1.0,
        "rollback_ns": 640.0,
    }


def array(servers: int) -> dict[str, Any]:
    """Returns a saturated device with this number of concurrent operations."""
    flash = {name: TIMES[name] * servers for name in ("drain", "clean", "erase")}
    host = {"read": TIMES["read"], "suspend": SIMULATED_S - sum(TIMES.values())}
    resources = [
        {"name": "controller", "servers": 1, "busy": host},
        {"name": "flash", "servers": servers, "busy": flash},
    ]
    drained = TIMES["drain"] / 4e-6 * servers
    if servers == 1:
        drained = 10_376 * SIMULATED_S
        flash["drain"] = drained * 4e-6
        host["suspend"] = SIMULATED_S - host["read"] - sum(flash.values())
    return {
        "path": "stack",
        "kind": "envy",
        "wear": {"block_erases": {"max": 250, "min": 150}},
        "busy": dict(TIMES),
        "resources": resources,
        "counters": {"pages_drained": drained, "bytes_written": 12 * drained},
    }


@pytest.fixture(scope="module")
def target() -> Target:
    (found,) = targets("envy")
    return found


def judged(target: Target, make: Callable[[Point], dict[str, Any]]) -> Reproduction:
    return Reproduction([target], {point.job: Record(make(point), {}) for point in target.points})


def test_every_result_of_the_paper_has_its_rows(target: Target) -> None:
    assert target.figures == [
        "fig6", "fig8", "fig8-scattered", "evenness", "fig9", "fig10", "fig13", "fig14", "fig15",
        "time-split", "no-flash-work", "lifetime", "price", "page-sizes",
        "concurrency", "transactions", "prototype",
    ]  # fmt: skip


def test_records_as_published_pass(target: Target) -> None:
    found = judged(target, as_published)
    assert [row for row in found.listed if row["pass"] is False or row["simulated"] is None] == []
    assert found.passed
    assert found.outlived == [row["id"] for row in found.listed if row["misses"]]


def test_every_claim_can_fail(target: Target) -> None:
    """Multiplies every number of a record by a random factor that differs between points. Every
    claim with a criterion must fail for at least one seed."""
    missed: set[str] = set()
    for seed in range(1, 40):
        found = judged(target, partial(distorted, seed))
        missed |= {row["id"] for row in found.listed if row["pass"] is False}
    asserted = {row["id"] for row in judged(target, as_published).listed if asserts(row)}
    assert missed == asserted


def asserts(row: Row) -> bool:
    return row["kind"] != "unclosed"


def distorted(seed: int, point: Point) -> dict[str, Any]:
    """Returns a record whose numbers differ randomly from the published ones, by a factor of up to
    three."""
    made = as_published(point)
    phase = sum(repr(point.job.overrides()).encode()) * 0.7 + len(point.job.ending) + seed
    factor = 3 ** math.sin(phase * phase)
    for name in ("cleaning_cost", "lifetime_days", "cost"):
        made[name] *= factor
    made["throughput"]["units_per_s"] *= factor
    made["latency"]["read"]["mean_ns"] *= factor
    made["latency"]["write"]["mean_ns"] *= factor
    made["simulated_s"] *= factor
    made["restored"] *= factor
    (array,) = made["components"]
    array["wear"]["block_erases"]["max"] *= factor
    array["busy"]["clean"] *= factor**2
    array["counters"]["bytes_written"] *= factor
    return made


def test_every_figure_of_the_paper_can_be_drawn(target: Target) -> None:
    found = judged(target, as_published)
    drawn = {name: make().to_dict() for name, make in found.drawings().items()}
    figures = (
        "fig6",
        "fig8",
        "fig8-scattered",
        "fig9",
        "fig10",
        "fig13",
        "fig14",
        "fig15",
        "time-split",
        "page-sizes",
    )
    assert set(drawn) == {f"envy/{name}" for name in figures}
    for name, spec in drawn.items():
        claims = [row for row in found.listed if f"envy/{row['figure']}" == name]
        texts = [row["text"] for data in spec["datasets"].values() for row in data if "line" in row]
        assert len(texts) == len(claims)


def test_what_a_figure_marks_as_published_is_what_its_claims_say(target: Target) -> None:
    spec = judged(target, as_published).plot("fig15").to_dict()
    marks = [row for data in spec["datasets"].values() for row in data if "low" in row]
    assert [(mark["x"], mark["value"]) for mark in marks] == [
        (20_000, 180), (20_000, 200), (35_000, 7_200), (50_000, 7_600),
    ]  # fmt: skip
    assert [round(mark["low"]) for mark in marks] == [162, 180, 5_760, 6_080]
