"""Tests that a run which continues from a saved state gives the results of an uninterrupted run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import nacre
import pytest

ROOT = Path(__file__).parents[2]
REQUESTS = 700
ENDS = ("warm_up", "until_steady", "until_confident", "requests", "duration")


def _of_scenario(path: Path) -> dict[str, Any]:
    tree = tomllib.loads(path.read_text())
    for end in ENDS:
        tree.get("run", {}).pop(end, None)
    return tree


def _of_preset(path: Path) -> dict[str, Any]:
    workload = {
        "kind": "uniform",
        "footprint": "32 MiB",
        "request": "4 KiB",
        "requests": 10_000,
        "read_share": "70 %",
        "arrival": {"kind": "closed", "queue_depth": 16},
    }
    return {"workload": workload, "stack": {"preset": path.stem}}


def _is_quickly_saved(path: Path) -> bool:
    """Returns whether the device of a catalog entry has a small state. The state of a full-size
    flash drive is large."""
    return str(tomllib.loads(path.read_text())["kind"]) != "ssd"


SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
PRESETS = sorted(filter(_is_quickly_saved, (ROOT / "catalog" / "devices").glob("*.toml")))
TREES = {path.stem: _of_scenario(path) for path in SCENARIOS}
TREES |= {f"preset-{path.stem}": _of_preset(path) for path in PRESETS}


@pytest.mark.parametrize("name", TREES)
def test_two_half_runs_equal_one_run(name: str, tmp_path: Path) -> None:
    tree, place = TREES[name], tmp_path / "half.state"
    nacre.run(tree, {"run.requests": REQUESTS}, save_state=place)
    second = nacre.run(tree, {"run.requests": REQUESTS}, start=place)
    whole = nacre.run(tree, {"run.requests": 2 * REQUESTS, "run.warm_up": REQUESTS})
    for field in ("requests", "throughput", "latency", "time_spent", "components"):
        assert second[field] == whole[field], field
