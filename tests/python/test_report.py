"""Tests reports of saved results, e.g. their headlines. Reports need no other files."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import nacre
import pytest
from exploring import MSR
from nacre.cli.app import app
from nacre.errors import ConfigError
from nacre.kinds.reports import load, name_of, report
from nacre.simulate.power_loss import crash_random
from nacre.words import headlines
from refusing import fails_with
from typer.testing import CliRunner

ONE_SERVER: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "footprint": "1 MiB",
        "requests": 2000,
        "arrival": {"kind": "closed", "queue_depth": 1},
    },
    "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
}
STUDY = {
    "scenario": ONE_SERVER,
    "axis": [{"path": "stack.read", "values": ["10 us", "30 us"]}],
    "objective": [{"of": "mean_ns"}],
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    nacre.run(ONE_SERVER).save(tmp_path / "fast")
    nacre.run(ONE_SERVER, {"stack.read": "30 us"}).save(tmp_path / "slow")
    nacre.study(STUDY, out=tmp_path / "study")
    nacre.mixes("tiers", {"run.requests": 2000}, steps=4).save(tmp_path / "mixes")
    nacre.crash("disk-15k", points=50).save(tmp_path / "crash")
    (tmp_path / "week.csv").write_text(MSR)
    return tmp_path


def page(*paths: Path) -> str:
    return unescape(report({name_of(path, paths): load(path) for path in paths}))


def test_a_page_of_every_kind_of_result_is_readable_and_self_contained(
    results: Path,
) -> None:
    names = ("fast", "slow", "study", "mixes", "crash", "week.csv")
    shown = page(*(results / name for name in names))
    for sentence in (
        "fast has the lowest mean read latency, 10.0 us; slow follows with 30.0 us.",
        "100 k requests per second. A read takes 10.0 us.",
        "The busiest component is stack, 100.0 % of the time.",
        "A read spends 100.0 % of its time in stack (read).",
        "2 designs. The best mean latency is 10.0 us, with read 10 us.",
        "The best of 15 mixes is ",
        "and every durability guarantee held.",
        "1,500 requests in 1.50 s, 33.3 % of them reads, to 1.95 MiB."
        " An LRU cache of 10 % of that, 200 KiB, would miss ",
    ):
        assert sentence in shown, sentence
    assert "<script" not in shown
    assert not re.findall(r'(?:src|href)="(?!#)', shown)


def test_a_study_reports_the_assumptions_and_costs_of_its_best_designs(tmp_path: Path) -> None:
    cache = {"run.warm_up": 0, "workload.requests": 3000}
    nacre.study(
        {
            "scenario": "server-cache-zipf",
            "set": cache,
            "axis": [{"path": "stack.level[0].device.capacity", "values": ["4 MiB", "64 MiB"]}],
            "objective": [{"of": "mean_ns"}, {"of": "cost"}],
        },
        out=tmp_path / "study",
    )
    shown = page(tmp_path / "study")
    assert "The best designs side by side" in shown
    assert "Energy, wear and cost" in shown
    assert "Latency breakdown" in shown
    assert re.search(r"Assumed values: [1-9]\d* values", shown)
    assert ">cost, kim-2014 ratio<" in shown, "the axis of costs has their currency"
    assert len(re.findall(r"kim-2014 ratio", shown)) > 4


def test_a_study_reports_saturation_of_its_best_designs(tmp_path: Path) -> None:
    nacre.study(STUDY, out=tmp_path / "able")
    assert (
        "None of the best designs is overloaded: stack of 10 us is the busiest component, 100.0 %"
        in (page(tmp_path / "able"))
    )
    # One server with a service time of 100 us receives 30,000 requests per second.
    server = {**ONE_SERVER["workload"], "arrival": {"kind": "poisson", "rate": "30 kHz"}}
    slow = {"path": "stack.read", "values": ["100 us", "200 us"]}
    asked = {**STUDY, "scenario": {**ONE_SERVER, "workload": server}, "axis": [slow]}
    nacre.study(asked, out=tmp_path / "slow")
    assert "Among the best designs, 100 us is saturated: requests arrive" in page(tmp_path / "slow")


def test_mixes_report_their_assumptions_and_simulated_results(
    results: Path, tmp_path: Path
) -> None:
    plain = page(results / "mixes")
    assert re.search(r"Assumed values: [1-9]\d* values", plain)
    assert "Mixes are evaluated without a simulation: no energy, wear, or queueing." in plain
    runner = CliRunner()
    out = tmp_path / "simulated"
    asked = ["mixes", "tiers", "--set", "workload.requests=20000", "--steps", "4"]
    done = runner.invoke(app, [*asked, "--simulate", "2", "--out", str(out)])
    assert done.exit_code == 0, done.output
    shown = page(out)
    for part in ("The best mixes, simulated", "Energy, wear and cost", "Latency breakdown"):
        assert part in shown
    assert "not run" not in shown


def test_power_losses_report_their_assumptions_and_limits(results: Path, tmp_path: Path) -> None:
    shown = page(results / "crash")
    assert re.search(r"Assumed values: [1-9]\d* values", shown)
    assert "stack.write_cache" in shown
    assert "workload.read_share" not in shown, "the workload is drawn"
    assert "For energy, wear, cost, and performance" in shown
    drawn = crash_random(3, points=20)
    assert {origin.path.split(".")[0] for origin in drawn.origins} == {"stack"}
    drawn.save(tmp_path / "drawn")
    assert "Assumed values: " in page(tmp_path / "drawn")


def test_results_of_one_kind_are_compared(results: Path, tmp_path: Path) -> None:
    nacre.study({**STUDY, "name": "again"}, out=tmp_path / "again")
    nacre.mixes("tiers", {"run.requests": 2000}, steps=2).save(tmp_path / "fewer")
    nacre.crash("disk-15k", points=20).save(tmp_path / "few")
    (tmp_path / "day.csv").write_text(MSR)
    one = page(results / "study", results / "mixes", results / "crash", results / "week.csv")
    assert "Studies side by side" not in one
    names = ("study", "again", "mixes", "fewer", "crash", "few", "week.csv", "day.csv")
    shown = page(*(tmp_path / name for name in names))
    for kind in ("Studies", "Mixes", "Power losses", "Traces"):
        assert f"{kind} side by side" in shown


def test_the_folder_that_the_explorer_names_for_a_study_is_reported(tmp_path: Path) -> None:
    nacre.study(STUDY, out=tmp_path / "speeds-1" / "study")
    (tmp_path / "speeds-1" / "study.toml").write_text("")
    assert "2 designs." in page(tmp_path / "speeds-1")


def test_a_headline_has_the_latency_of_the_slowest_requests() -> None:
    queued = {"workload.arrival": {"kind": "poisson", "rate": "30 kHz"}}
    for settings, said in (
        ({}, r"A read takes 10\.0 us\."),
        (queued, r"A read takes \S+ us on average, with a 99th percentile of \S+ us\."),
    ):
        assert re.search(said, " ".join(headlines.of_record(nacre.run(ONE_SERVER, settings))))
    cache = nacre.run("server-cache-zipf", {"workload.requests": 3000, "run.warm_up": 0})
    assert "on average, and 919 us at most." in " ".join(headlines.of_record(cache))


def test_the_scenario_of_a_record_can_be_run_again_to_the_same_record(
    results: Path, tmp_path: Path
) -> None:
    (text,) = re.findall(
        r"<pre[^>]*>(schema.*?|\[.*?|.*?\[workload\].*?)</pre>", page(results / "slow"), re.S
    )
    (tmp_path / "again.toml").write_text(text)
    again = nacre.run(tmp_path / "again.toml")
    saved = nacre.results.Record.load(results / "slow")
    assert again.latency == saved.latency
    assert again.throughput == saved.throughput


def test_costs_in_different_currencies_show_the_currency(tmp_path: Path) -> None:
    prices = {"a": "USD 2009", "b": "USD 2023"}
    for name, basis in prices.items():
        settings = {"stack.capacity": "1 GiB", "stack.price": "2 /GiB", "stack.price_basis": basis}
        nacre.run(ONE_SERVER, settings).save(tmp_path / name)
    shown = page(tmp_path / "a", tmp_path / "b")
    assert "2.00 USD 2009" in shown
    assert "2.00 USD 2023" in shown
    assert "cost, USD 2009" in page(tmp_path / "a", tmp_path / "a")


def test_equal_records_are_reported_as_equal(results: Path) -> None:
    record = nacre.results.Record.load(results / "fast")
    assert headlines.of_records({"a": record, "b": record}) == [
        "Both have the same mean read latency, 10.0 us."
    ]
    assert headlines.of_records({"a": record}) == []


def test_overloaded_designs_are_reported_next_to_the_others() -> None:
    # Servers with service times of 10 us and 100 us each receive 30,000 requests per second.
    asked = {"workload.arrival": {"kind": "poisson", "rate": "30 kHz"}}
    runs = {
        name: nacre.run(ONE_SERVER, {**asked, "stack.read": read})
        for name, read in (("able", "10 us"), ("slow", "100 us"), ("slower", "1 ms"))
    }
    said = headlines.of_records(runs)[-1]
    assert said.startswith("slow, slower are saturated: requests arrive faster")
    del runs["slow"], runs["slower"]
    assert not headlines.overloaded(runs)


def test_mixes_are_read_back(results: Path) -> None:
    found = nacre.mixes("tiers", {"run.requests": 2000}, steps=4)
    loaded = nacre.results.Mixes.load(results / "mixes")
    assert loaded.to_dict() == found.to_dict()
    (results / "mixes" / "mixes.parquet").write_bytes(b"no table")
    with fails_with("invalid-content", ConfigError):
        nacre.results.Mixes.load(results / "mixes")


def test_a_directory_without_results_is_reported_with_the_valid_kinds(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ConfigError, match="give a trace, or a directory that `nacre run`"):
            load(path)


def test_a_result_is_found_by_its_folder_and_by_its_file(results: Path) -> None:
    for name in ("fast/record.json", "study/study.json", "mixes/mixes.json", "crash/crash.json"):
        file = results / name
        assert type(load(file)) is type(load(file.parent))
    (results / "crash" / "crash.json").write_text('{"points": 3}')
    with fails_with("invalid-content", ConfigError):
        load(results / "crash")


def test_any_result_is_a_section_of_a_report_with_its_figures() -> None:
    checked, record = nacre.check(ONE_SERVER), nacre.run(ONE_SERVER)
    page = nacre.report({"checked": checked, "run": record})
    assert re.findall("<h2>(.*?)</h2>", page) == ["checked", "run"]
    assert "workload.footprint" in page.partition("<h2>run</h2>")[0]
    assert dir(record.plot) == [*record.summary().figures]
    assert "latency" in dir(record.plot)
    assert "wear" not in dir(record.plot)
