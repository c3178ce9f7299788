"""Tests the claims of the NVRAM cards: they are complete, the plan has their runs, and each claim
can fail."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from nacre.papers.result import Reproduction
from nacre.papers.running.target import Target
from nacre.papers.spec.plan import Point
from nacre.papers.work import targets
from nacre.results.record import Record

CAPS = {"read": 1_722_860.0, "write": 1_728_912.0}
"""Limit of the link in requests per second, by operation."""

ALONE_S = 6e-6
"""Latency of a single request in seconds, including host software."""

SAVED = {("10 J", "new"): 0.37216, ("35 J", "after ten years"): 0.903444}
DUMP = {"needs_j": 26.8535, "s": 2.68535}


def as_published(point: Point, factor: float = 1.0) -> Record:
    """Returns a record that agrees with the paper and the closed forms, or deviates from them by a
    factor."""
    labels = dict(point.labels)
    op = labels.get("operation", "read")
    depth = int(labels.get("depth", "256"))
    iops = min(depth / ALONE_S, CAPS[op]) * factor
    latency = {"mean_ns": 1e9 * depth / iops * factor**2}
    latency |= dict.fromkeys(("p50_ns", "p99_ns", "p999_ns"), 2e4 * factor)
    latency |= {"mean_ci95_ns": 1e-4 * latency["mean_ns"] * factor**8, "count": 2}
    data: dict[str, Any] = {
        "name": point.name,
        "origins": [
            {"path": "workload.arrival.queue_depth", "value": depth, "confidence": "", "source": ""}
        ],
        "throughput": {"iops": iops, "bytes_per_s": 4096 * iops},
        "latency": {"read": None, "write": None} | {op: latency},
        "components": [{"path": "stack"}],
    }
    saved = SAVED.get((labels.get("energy", ""), labels.get("years", "")), 0.5)
    dumps = DUMP | {"saves_share": saved}
    columns = {f"stack.dump.{name}": np.array([value * factor]) for name, value in dumps.items()}
    columns[f"latency.{op}.upto_ns"] = np.array([1e4, 2e4])
    columns[f"latency.{op}.count"] = np.array([1, 1], np.uint64)
    return Record(data, columns)


def distorted(seed: int, point: Point) -> Record:
    """Returns a record whose numbers differ randomly from the published ones, by a factor of up to
    thirty."""
    phase = sum(repr(point.job.overrides()).encode()) * 0.7 + seed
    return as_published(point, 30 ** math.sin(phase * phase))


@pytest.fixture(scope="module")
def target() -> Target:
    (found,) = targets("nvram-cards")
    return found


def judged(target: Target, make: Any) -> Reproduction:
    return Reproduction([target], {point.job: make(point) for point in target.points})


def test_records_as_published_pass(target: Target) -> None:
    found = judged(target, as_published)
    assert [row for row in found.listed if row["pass"] is False or row["simulated"] is None] == []


def test_every_claim_can_fail(target: Target) -> None:
    """Multiplies every number of a record by a random factor that differs between points. Every
    claim with a criterion must fail for at least one seed."""
    missed: set[str] = set()
    for seed in range(1, 40):
        found = judged(target, partial(distorted, seed))
        missed |= {row["id"] for row in found.listed if row["pass"] is False}
    asserted = {
        row["id"] for row in judged(target, as_published).listed if row["kind"] != "unclosed"
    }
    assert missed == asserted


def test_every_figure_can_be_drawn(target: Target) -> None:
    found = judged(target, as_published)
    drawn = {name: make().to_dict() for name, make in found.drawings().items()}
    assert len(drawn) == len(target.figures)
