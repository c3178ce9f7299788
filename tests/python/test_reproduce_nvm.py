"""Tests the claims about disk caches in servers: every result has rows, published results pass, and
other results fail."""

from typing import Any

import numpy as np
import pytest
from nacre.papers.result import Reproduction
from nacre.papers.running.target import Target
from nacre.papers.spec.plan import Point
from nacre.papers.work import targets
from nacre.results.record import Record

CELLS = {"SLC": (25.0, 250.0), "MLC": (50.0, 900.0), "PCRAM": (0.12, 45.0)}
LIVES = {
    "fixed, t = 1": 1.0,
    "density alone": 5.0,
    "strength alone": 4.0,
    "strength and density": 18.0,
    "programmable": 20.0,
    "fixed, t = 12": 6.0,
}


@pytest.fixture(scope="module")
def target() -> Target:
    (found,) = targets("nvm-servers")
    return found


def spent(activity: str, mean_us: float) -> dict[str, Any]:
    return {"component": "stack", "activity": activity, "mean_ns": 1000 * mean_us, "share": 1.0}


def made_up(point: Point, better: float = 1.0) -> Record:
    """Returns a record with published results, improved by the factor `better`."""
    labels = dict(point.labels)
    document: dict[str, Any] = {"name": point.name, "origins": [], "drained_s": 10.0}
    document["simulated_s"] = 10.0
    columns: dict[str, Any] = {}
    kind, counters, energy = "flash_disk_cache", {}, {"read": 1.0, "write": 1.0, "idle": 1.0}
    disk: dict[str, int] = {}
    match point.group:
        case "device":
            read, write = CELLS[labels["medium"]]
            erases = {"slc_endurance": 100_000, "mlc_endurance": 10_000}
            document["scenario"] = {"stack": erases}
            document["time_spent"] = {
                "read": [spent("read", read)],
                "write": [spent("write", write)],
            }
        case "decoder":
            document["time_spent"] = {"read": [spent("correct", 15.0 * int(labels["t"]))]}
        case "throughput":
            size = {"256 MiB": 1.0, "512 MiB": 1.35, "1 GiB": 1.35**2}[labels["dram"]]
            times = {"MLC": 0.95, "SLC": 1.0, "PCRAM": 1.65}[labels["cache"]]
            document["throughput"] = {"units_per_s": size * times}
            document["energy_j"] = {"stack": 5.0, "stack.backing": 80.0}
            document["latency"] = {"read": {"mean_ns": 1e6}}
            for name in ("hash", "page_status", "block_status", "global_status"):
                columns[f"stack.tables.{name}_bytes"] = np.array([2.0**20])
            for name in ("", "_before"):
                columns[f"stack.backing.flash.pages_valid{name}"] = np.array([500_000.0])
        case "modes":
            document["latency"] = {"read": {"mean_ns": 0.9e6}}
        case "tables":
            kind = "pcm_disk_cache"
            document["throughput"] = {"units_per_s": 1.0}
            joules = {"PCRAM": 0.001, "DRAM": 0.01}[labels["tables"]]
            columns["stack.tables.energy_j"] = np.array([joules])
        case "levels":
            between = {"SLC": 1.0, "PCRAM before SLC": 1.3, "PCRAM": 1.65}[labels["cache"]]
            document["throughput"] = {"units_per_s": between}
        case "area" | "strength":
            # The point for flash with one-bit correction belongs to both curves.
            has_flash = labels.get("memory") != "DRAM"
            with_flash = 2 * better * (0.97 if labels.get("code") == "t = 12" else 1.0)
            document["throughput"] = {"units_per_s": with_flash if has_flash else 1.0}
            disk = {"reads": 700, "writes": 100} if has_flash else {"reads": 900, "writes": 100}
            document["area_mm2"] = 131.0
            document["energy_j"] = {"stack": 5.0 if has_flash else 10.0, "stack.backing": 80.0}
            document["energy_j"]["stack.backing"] += 0.0 if has_flash else 10.0
        case "regions":
            is_split = labels["regions"] == "split"
            counters = {
                "read_hits": 60 if is_split else 50,
                "read_misses": 40,
                "collected_programs": 10 if is_split else 20,
                "host_programs": 100,
            }
        case "micro":
            hits = {"uniform": 50, "Zipf, 0.8": 60, "Zipf, 1.2": 80, "Zipf, 1.6": 95}
            hit = hits.get(labels["workload"], 70)
            counters = {"read_hits": hit, "read_misses": 100 - hit}
            columns["stack.flash.pages_valid"] = np.array([16_384.0])
        case "life":
            pages = 20_000 * LIVES[labels["controller"]]
            columns["stack.life.pages_to_half"] = np.array([pages / 2])
            columns["stack.life.pages_to_end"] = np.array([pages])
            columns["stack.life.pages_to_first_gone"] = np.array([pages / 10])
            columns["stack.life.pages_to_first_lost"] = np.array([pages / 5])
            at_half = 0.9 if labels["controller"].startswith("fixed") else 0.5
            columns["stack.wearing.pages_taken"] = np.array([0.3, at_half, 1.0]) * pages
            columns["stack.wearing.usable_share"] = np.array([0.9, 0.5, 0.0])
            # Half of the requests are inserted. In the last quarter of the lifetime, requests
            # take longer.
            asked = columns["stack.wearing.pages_taken"] * 2
            columns["stack.wearing.pages_asked"] = asked
            slower = np.arange(1000) >= 750
            columns["time.reads"] = np.where(slower, 0.9, 1.03) * asked[-1] / 1000
            columns["time.writes"] = np.zeros(1000)
    document["components"] = [
        {"path": "stack", "kind": kind, "counters": counters, "energy_j": energy},
        {"path": "stack.backing", "kind": "hdd", "counters": disk, "energy_j": {"idle": 80.0}},
    ]
    return Record(document, columns)


def judged(target: Target, better: float = 1.0) -> Reproduction:
    return Reproduction([target], {p.job: made_up(p, better) for p in target.points})


def test_every_result_of_the_paper_has_its_rows(target: Target) -> None:
    figures = [
        "cells",
        "decoder",
        "density",
        "fig5",
        "levels",
        "fig3",
        "regions",
        "micro",
        "life",
        "strength",
        "wear-out",
    ]
    assert target.figures == figures


def test_results_as_published_pass(target: Target) -> None:
    found = judged(target)
    assert [row for row in found.listed if row["pass"] is False or row["simulated"] is None] == []
    rows = {row["id"].removeprefix("nvm-servers/"): row["simulated"] for row in found.listed}
    assert rows["fig5/doubling"] == pytest.approx(35)
    lives = [name for name in rows if name.startswith("life/")]
    at_end = ("slower", "first-gone", "first-lost", "tenth", "programmable", "nine-tenths", "end")
    assert {f"life/{name}" for name in at_end} <= set(lives)
    assert [rows[f"life/{name}"] for name in at_end] == pytest.approx([20] * len(at_end))
    # Table I: 0.0254 divided by 0.0081, and 0.0153 divided by 0.0041.
    assert rows["density/slc-pcram"] == pytest.approx(3.1358, abs=1e-4)
    assert rows["density/mlc-dram"] == pytest.approx(3.7317, abs=1e-4)


def test_a_system_without_gains_fails(target: Target) -> None:
    failed = {row["id"] for row in judged(target, better=0.3).listed if row["pass"] is False}
    assert failed == {
        f"nvm-servers/fig3/{workload}-{row}"
        for workload in ("dbt2", "specweb")
        for row in ("throughput", "accesses")
    }


def test_every_figure_can_be_drawn(target: Target) -> None:
    drawn = {name: make().to_dict() for name, make in judged(target).drawings().items()}
    assert list(drawn) == [f"nvm-servers/{figure}" for figure in target.figures]
    empty = [name for name, drawing in drawn.items() if not all(drawing["datasets"].values())]
    assert empty == []
    bars = str(drawn["nvm-servers/fig3"])
    assert all(part in bars for part in ("memory, idle", "dbt2: DRAM + flash", "diamond"))
    assert "fixed, t = 12" in str(drawn["nvm-servers/wear-out"])
    assert "until half of its pages are retired" in str(drawn["nvm-servers/life"])
