"""Tests mixes of the tiers of a scenario: scores, files, the command, and its errors."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nacre
import polars as pl
import pytest
from nacre.results.mixes import Mixes, called
from nacre.words.mixes import counted
from refusing import fails_with

SMALL: dict[str, Any] = {
    "name": "small",
    "workload": {
        "kind": "zipf",
        "requests": 20_000,
        "footprint": "32 MiB",
        "theta": 0.9,
        "scatter": False,
        "read_share": "80 %",
        "arrival": {"kind": "poisson", "rate": "100 Hz"},
    },
    "stack": {
        "kind": "tiers",
        "extent": "1 MiB",
        "capacity": "64 MiB",
        "placement": "static_optimal",
        "tier": [
            {"share": "10 %", "device": {"preset": "pcm_ssd"}},
            {"share": "30 %", "device": {"preset": "emlc_ssd"}},
            {"share": "60 %", "device": {"preset": "disk_15k_kim"}},
        ],
    },
}
TOML = """\
[workload]
kind = "zipf"
requests = 20_000
footprint = "32 MiB"
arrival = { kind = "poisson", rate = "100 Hz" }
[stack]
kind = "tiers"
extent = "1 MiB"
capacity = "64 MiB"
tier = [
    { share = "10 %", device = { preset = "pcm_ssd" } },
    { share = "90 %", device = { preset = "disk_15k_kim" } },
]
"""
NAMES = ["pcm_ssd", "emlc_ssd", "disk_15k_kim"]
PRICES = (24, 6, 1)

Runner = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def small() -> nacre.results.Mixes:
    return nacre.mixes(SMALL, steps=10)


@pytest.fixture
def command(tmp_path: Path) -> Runner:
    (tmp_path / "two.toml").write_text(TOML)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "nacre", "mixes", *arguments]
        return subprocess.run(
            line, check=False, cwd=tmp_path, text=True, capture_output=True, timeout=120
        )

    return run


def test_every_mix_exists_once_and_costs_the_sum_of_its_parts(small: nacre.results.Mixes) -> None:
    frame = small.to_polars()
    assert (small.names, small.extents, frame.height) == (NAMES, 64, 66)
    assert frame.select(NAMES).unique().height == 66
    assert small.reads + small.writes == 20_000
    for row in frame.to_dicts():
        assert sum(row[name] for name in NAMES) == pytest.approx(1)
        assert sum(row[f"{name}_extents"] for name in NAMES) == 64
        extents = (row[f"{name}_extents"] for name in NAMES)
        price = sum(part * price for part, price in zip(extents, PRICES, strict=True)) / 64
        assert row["cost"] == pytest.approx(price)
        assert row["iops"] == pytest.approx(1e9 / row["mean_ns"])
        assert row["iops_per_cost"] == pytest.approx(row["iops"] / price)


def test_one_tier_alone_takes_the_mean_of_its_reads_and_writes(small: nacre.results.Mixes) -> None:
    for tier, row in zip(small.tiers, small.pure().to_dicts(), strict=True):
        mean = (small.reads * tier.read_ns + small.writes * tier.write_ns) / 20_000
        assert row["mean_ns"] == pytest.approx(mean)


def test_the_best_mixes_come_first_by_every_score(small: nacre.results.Mixes) -> None:
    frame = small.to_polars()
    assert small.best(1)["iops_per_cost"][0] == frame["iops_per_cost"].max()
    assert small.best(1, "mean_ns")["mean_ns"][0] == frame["mean_ns"].min()
    assert small.best(1, "cost")["disk_15k_kim"][0] == 1
    assert small.best(5)["iops_per_cost"].is_sorted(descending=True)
    # Mixes that differ only in unused extents have equal latency. The cheaper mix is first.
    assert small.best(66, "iops").filter(pl.col("iops") == frame["iops"].max())["cost"].is_sorted()
    with pytest.raises(nacre.errors.ConfigError, match=r'no score called "speed".*iops_per_cost'):
        small.best(by="speed")


def test_mixes_without_a_tier_use_only_the_others(small: nacre.results.Mixes) -> None:
    left = small.without("pcm_ssd")
    assert len(left) == 11
    assert left.to_polars()["pcm_ssd"].max() == 0
    with pytest.raises(nacre.errors.ConfigError, match="pcm_sd"):
        small.without("pcm_sd")


def test_a_mix_without_a_known_price_is_sorted_by_iops() -> None:
    unpriced = {"stack.tier[2].device": '{ kind = "measured", read = "5 ms", write = "5 ms" }'}
    found = nacre.mixes(SMALL, unpriced, steps=4)
    assert found.names == ["pcm_ssd", "emlc_ssd", "measured"]
    known = found.to_polars().filter(pl.col("measured") == 0)["cost"]
    assert known.null_count() == 0
    assert found.to_polars()["cost"].null_count() == len(found) - known.len()
    assert found.best(1, "iops").height == 1
    assert "Best IOPS per cost" in found.plot().to_dict()["title"]["text"]


def test_tiers_with_prices_in_different_currencies_have_no_cost() -> None:
    dollars = {"stack.tier[2].device.price_basis": "USD 2023"}
    found = nacre.mixes(SMALL, dollars, steps=4)
    assert [tier.price_basis for tier in found.tiers] == ["kim-2014 ratio"] * 2 + ["USD 2023"]
    assert found.to_polars()["cost"].null_count() == len(found)
    assert found.to_polars()["iops"].null_count() == 0
    assert "disk_15k_kim in USD 2023; convert them, e.g. --prices" in found.findings[0]
    with fails_with("no-data"):
        found.best()
    assert found.to_dict()["best"][0]["iops"] == found.to_polars()["iops"].max()


def test_a_request_larger_than_a_page_takes_the_time_of_a_simulated_run() -> None:
    large = {"workload.request": "64 KiB", "workload.requests": 1000}
    found = nacre.mixes(SMALL, large, steps=4)
    assert found.read_bytes == 65536 * found.reads
    assert "reads of 64 KiB" in counted(found)
    # The disk was measured at 4 KiB with 5 ms. 64 KiB take sixteen times as long.
    assert found.tiers[2].read_ns == pytest.approx(80e6)
    assert [finding[:40] for finding in found.findings] == [
        "disk_15k_kim was measured with accesses ",
    ]
    assert found.findings[0].startswith(
        "disk_15k_kim was measured with accesses of 4 KiB; one of 64 KiB takes their latency for"
    )
    # The other devices were also measured at 4 KiB, and serve 32 requests in parallel.
    larger = nacre.mixes(SMALL, large | {"workload.request": "256 KiB"}, steps=4)
    assert [finding.split(";")[0] for finding in larger.findings] == [
        "pcm_ssd was measured with accesses of 4 KiB",
        "emlc_ssd was measured with accesses of 4 KiB",
        "disk_15k_kim was measured with accesses of 4 KiB",
    ]
    assert "for each of its parts, 32 at a time" in larger.findings[0]
    assert not nacre.mixes(SMALL, {"workload.requests": 100}, steps=4).findings


def test_a_flash_drive_is_a_tier_with_the_times_of_its_parts() -> None:
    drive = {
        "kind": "ssd",
        "channels": 2,
        "ways": 1,
        "planes": 1,
        "blocks": 256,
        "pages": 64,
        "page": "4 KiB",
        "unit": "4 KiB",
        "read": ["50 us"],
        "program": ["500 us"],
        "erase": "3 ms",
        "bus": "400 MB/s",
        "command": "0 s",
        "link": "1 GB/s",
        "buffer": "1 MiB",
        "over_provisioning": "10 %",
        "price": "2 /GiB",
        "price_basis": "kim-2014 ratio",
    }
    tiers = [
        {"share": "10 %", "device": {"preset": "pcm_ssd"}},
        {"share": "90 %", "device": drive},
    ]
    found = nacre.mixes(SMALL | {"stack": SMALL["stack"] | {"tier": tiers}}, steps=4)
    assert (found.names, len(found)) == (["pcm_ssd", "ssd"], 5)
    assert not found.findings
    # A read senses a page, and the data crosses the channel and the link. A write ends in the
    # buffer.
    assert found.tiers[1].read_ns == pytest.approx(50_000 + 10_240 + 4_096)
    assert found.tiers[1].write_ns == pytest.approx(4_096)
    alone = found.pure().filter(pl.col("ssd") == 1)
    mean = (found.reads * found.tiers[1].read_ns + found.writes * 4_096) / 20_000
    assert alone["mean_ns"].to_list() == [pytest.approx(mean)]
    assert alone["cost"].to_list() == [2]


def test_the_surface_has_a_field_for_every_mix(small: nacre.results.Mixes) -> None:
    spec: dict[str, Any] = small.plot().to_dict()
    fields = max(spec["datasets"].values(), key=len)
    best = small.best(1).to_dicts()[0]
    assert len(fields) == 66
    top = max(fields, key=lambda field: field["value"])
    assert (top["x"], top["y"]) == (100 * best["pcm_ssd"], 100 * best["emlc_ssd"])
    assert f"{best['iops_per_cost']:,.0f}" in spec["title"]["text"]
    (basis,) = small.bases
    assert spec["title"]["text"].startswith(f"Best IOPS per cost, {basis}: ")
    assert spec["layer"][0]["encoding"]["color"]["legend"]["title"] == f"IOPS per cost, {basis}"
    assert spec["layer"][0]["encoding"]["color"]["legend"]["titleLimit"] == 0, "it is not cut short"
    assert "pcm_ssd" in small._repr_html_()


def test_two_tiers_make_a_line(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TOML)
    found = nacre.mixes(tmp_path / "two.toml", steps=8)
    spec: dict[str, Any] = found.plot("iops").to_dict()
    assert len(max(spec["datasets"].values(), key=len)) == 9


@pytest.mark.parametrize(
    ("overrides", "steps", "text"),
    [
        ({"stack": '{ preset = "pcm_ssd" }'}, 20, "`nacre mixes` needs a stack of kind tiers"),
        ({}, 65, "give 1 to 64; there are 64 extents"),
        ({}, 0, "give a whole number from 1 to 1000"),
        ({"workload": '{ kind = "tpca", rate = "10 kHz" }'}, 5, "never ends; give run.requests"),
    ],
)
def test_errors_name_the_remedy(overrides: dict[str, str], steps: int, text: str) -> None:
    with pytest.raises(nacre.errors.ConfigError, match=text):
        nacre.mixes(SMALL, overrides, steps=steps)


def test_a_progress_function_can_stop_it() -> None:
    seen = []

    def stop(done: int, total: int | None) -> bool:
        seen.append((done, total))
        return True

    many = {"workload.requests": 50_000_000}
    with fails_with("stopped"):
        nacre.mixes(SMALL, many, progress=stop)
    assert [total for _, total in seen] == [50_000_000]
    with pytest.raises(TypeError, match="progress"):
        nacre.mixes(SMALL, progress=3)  # type: ignore[arg-type]


def test_the_command_prints_tables_and_writes_files(command: Runner, tmp_path: Path) -> None:
    done = command("two.toml", "--steps", "4", "--simulate", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    for said in ("5 mixes of 64 extents", "5.00 ms", "alone", "IOPS per price", "busiest"):
        assert said in done.stdout
    assert "saturated" not in done.stdout
    files = {"mixes.csv", "mixes.json", "mixes.parquet", "mixes.png", "mixes.svg"}
    files |= {"simulated", "simulated.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == files
    table = pl.read_parquet(tmp_path / "out" / "mixes.parquet")
    assert table.equals(nacre.mixes(tmp_path / "two.toml", steps=4).to_polars())
    assert pl.read_csv(tmp_path / "out" / "mixes.csv").height == 5


def test_json_is_one_document_with_the_simulated_mixes(command: Runner) -> None:
    done = command("two.toml", "--steps", "4", "--simulate", "5", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert [tier["name"] for tier in found["tiers"]] == ["pcm_ssd", "disk_15k_kim"]
    assert len(found["mixes"]) == len(found["simulated"]) == 5
    # The rate of 100 requests per second is half of the maximum rate of the disk alone.
    disk = next(row for row in found["simulated"] if row["disk_15k_kim"] == 1)
    assert disk["iops"] == pytest.approx(200)
    assert disk["simulated_iops"] == pytest.approx(100, rel=0.05)
    # The scaled-down store uses the full throughput of each drive, which exceeds its share.
    assert disk["findings"] == "more_than_share"
    assert (disk["busiest"], disk["busy"]) == ("disk_15k_kim", pytest.approx(0.5, rel=0.05))
    # In M/D/1 at half load, the waiting time is rho S / (2 (1 - rho)) = S / 2.
    assert disk["simulated_mean_ns"] == pytest.approx(7.5e6, rel=0.05)


def test_a_saturated_mix_is_reported(command: Runner) -> None:
    # The rate is 300 requests per second, and the disk serves 200.
    rate = "workload.arrival.rate=300 Hz"
    done = command("two.toml", "--set", rate, "--steps", "4", "--simulate", "5")
    assert done.returncode == 0, done.stderr
    disks = [line for line in done.stdout.splitlines() if "disk_15k_kim 100.0 %" in line]
    assert disks
    assert all("saturated" in line for line in disks)


def test_errors_have_exit_status_2(command: Runner) -> None:
    done = command("server-cache")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`nacre mixes` needs a stack of kind tiers" in done.stderr
    done = command("two.toml", "--set", "workload.kind=tpca", "--steps", "0")
    assert done.returncode == 2


def test_a_budget_keeps_only_mixes_within_it(command: Runner) -> None:
    cheap = nacre.mixes(SMALL, steps=10, budget=5)
    assert cheap.to_polars().equals(nacre.mixes(SMALL, steps=10).within(5).to_polars())
    assert cheap.budget == 5
    with pytest.raises(nacre.errors.Error, match="no mix is left: none costs"):
        cheap.within(0.5).best()
    assert counted(cheap).endswith("at most 5 per GiB")
    done = command("two.toml", "--steps", "4", "--budget", "7", "--json")
    found = json.loads(done.stdout)
    assert found["budget"] == 7
    assert {mix["pcm_ssd"] for mix in found["mixes"]} == {0, 0.25}


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (
            "0.5",
            "budget: no mix is within the budget, given 0.5; the cheapest mix costs 1 kim-2014",
        ),
        ("-1", "budget: expected a price, given -1.0"),
        ("nan", "budget: expected a price, given nan"),
    ],
)
def test_a_budget_below_every_mix_is_an_error(
    command: Runner, tmp_path: Path, budget: str, said: str
) -> None:
    done = command("two.toml", "--steps", "4", "--budget", budget, "--out", "none")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "none").exists()


def test_limited_mixes_keep_their_simulated_records() -> None:
    small = nacre.mixes(SMALL, steps=4)
    rows = small.to_polars().to_dicts()
    runs = {called(row, small.names): nacre.run(SMALL, {"run.requests": 10}) for row in rows[:2]}
    known = Mixes(
        small.name, small.tiers, (1, 1), small.to_polars(), origins=small.origins, simulated=runs
    )
    assert known.simulated == runs
    prices = dict.fromkeys(known.names, 2.0)
    assert known.repriced(prices, "USD 2023").simulated == runs
    for name in known.names:
        left = known.without(name)
        names = {called(row, known.names) for row in left.to_polars().to_dicts()}
        assert left.simulated.keys() == names & runs.keys()
