"""Tests epochs of a tiered store in the record, in files, and in a figure."""

from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.results.record import Record
from refusing import fails_with

DYNAMIC = {
    "name": "moving",
    "workload": {
        "kind": "zipf",
        "requests": 20_000,
        "footprint": "32 MiB",
        "scatter": False,
        "arrival": {"kind": "poisson", "rate": "50 Hz"},
    },
    "stack": {
        "kind": "tiers",
        "extent": "1 MiB",
        "capacity": "32 MiB",
        "placement": {"kind": "dynamic", "epoch": "40 s", "least_saving": "100 ms"},
        "tier": [
            {"share": "25 %", "device": {"preset": "pcm_ssd"}},
            {"share": "75 %", "device": {"preset": "disk_15k_kim"}},
        ],
    },
}


@pytest.fixture(scope="module")
def record() -> Record:
    return nacre.run(DYNAMIC)


def test_epochs_sum_to_the_counters_of_the_store(record: Record) -> None:
    epochs, store = record.epochs(), record.components[0]
    assert epochs.columns == [
        "component", "end_s", "accesses", "fastest_share", "migrated_bytes",
    ]  # fmt: skip
    assert epochs["end_s"].to_list() == [40.0 * (i + 1) for i in range(epochs.height)]
    # The last epoch ends after the last request.
    assert epochs["accesses"].sum() <= store.counters.reads + store.counters.writes
    assert 0 < epochs["migrated_bytes"].sum() <= store.counters.migrated_bytes
    assert epochs["fastest_share"][-1] > 2 * epochs["fastest_share"][0]


def test_the_figure_has_a_step_per_epoch_and_is_saved_with_the_record(
    record: Record, tmp_path: Path
) -> None:
    spec: dict[str, Any] = record.plot.tiers().to_dict()
    epochs = record.epochs()
    shares, moved = sorted(spec["datasets"].values(), key=lambda rows: "moved" in rows[0])
    assert [row["share"] for row in shares[::2]] == epochs["fastest_share"].to_list()
    assert [row["moved"] * 1e6 for row in moved[::2]] == pytest.approx(
        epochs["migrated_bytes"].to_list()
    )
    record.save(tmp_path)
    assert (tmp_path / "epochs.parquet").is_file()
    assert Record.load(tmp_path).epochs().equals(epochs)


def test_a_store_without_migrations_has_no_epochs() -> None:
    still = nacre.run(DYNAMIC, {"stack.placement": "fixed", "workload.requests": 1000})
    assert still.epochs().height == 0
    with fails_with("no-data"):
        still.plot.tiers()
