"""Pages made of saved results: what they say first, and that they need nothing else."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import nacre
import pytest
from exploring import MSR
from nacre.errors import ConfigError
from nacre.report import headline, report
from nacre.report.results import load, name_of
from nacre.saving import Staging

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
    with Staging(tmp_path / "crash") as staging:
        staging.crash(nacre.crash("disk-15k", points=50))
    (tmp_path / "week.csv").write_text(MSR)
    return tmp_path


def page(*paths: Path) -> str:
    return unescape(report({name_of(path, paths): load(path) for path in paths}))


def test_a_page_of_every_kind_of_result_says_what_a_person_would_and_needs_no_network(
    results: Path,
) -> None:
    names = ("fast", "slow", "study", "mixes", "crash", "week.csv")
    shown = page(*(results / name for name in names))
    for sentence in (
        "fast has the lowest mean read latency, 10.0 us; slow follows with 30.0 us.",
        "100 k requests a second. A read takes 10.0 us.",
        "The busiest part is stack, 100.0 % of the time.",
        "A read spends 100.0 % of its time in stack (read).",
        "2 designs. The best mean latency is 10.0 us, with read 10 us.",
        "The best of 15 mixes is ",
        "and every promise was kept.",
        "1,500 requests in 1.50 s, 33.3 % of them reads, to 1.95 MiB."
        " An LRU cache of a tenth of that, 200 KiB, would miss ",
    ):
        assert sentence in shown, sentence
    assert "<script" not in shown
    assert not re.findall(r'(?:src|href)="(?!#)', shown)


def test_a_headline_says_what_the_slowest_take() -> None:
    queued = {"workload.arrival": {"kind": "poisson", "rate": "30 kHz"}}
    for settings, said in (
        ({}, r"A read takes 10\.0 us\."),
        (queued, r"A read takes \S+ us on average, and one in a hundred more than \S+ us\."),
    ):
        assert re.search(said, " ".join(headline.of_record(nacre.run(ONE_SERVER, settings))))
    cache = nacre.run("server-cache-zipf", {"workload.requests": 3000, "run.warm_up": 0})
    assert "on average, and 919 us at most." in " ".join(headline.of_record(cache))


def test_the_scenario_of_a_record_can_be_run_again_to_the_same_record(
    results: Path, tmp_path: Path
) -> None:
    (text,) = re.findall(
        r"<pre>(schema.*?|\[.*?|.*?\[workload\].*?)</pre>", page(results / "slow"), re.S
    )
    (tmp_path / "again.toml").write_text(text)
    again = nacre.run(tmp_path / "again.toml")
    saved = nacre.Record.load(results / "slow")
    assert again.latency == saved.latency
    assert again.throughput == saved.throughput


def test_costs_in_different_things_stand_with_what_they_are_counted_in(tmp_path: Path) -> None:
    prices = {"a": "USD 2009", "b": "USD 2023"}
    for name, basis in prices.items():
        settings = {"stack.capacity": "1 GiB", "stack.price": "2 /GiB", "stack.price_basis": basis}
        nacre.run(ONE_SERVER, settings).save(tmp_path / name)
    shown = page(tmp_path / "a", tmp_path / "b")
    assert "2.00 USD 2009" in shown
    assert "2.00 USD 2023" in shown
    assert "cost, USD 2009" in page(tmp_path / "a", tmp_path / "a")


def test_records_alike_are_said_to_be(results: Path) -> None:
    record = nacre.Record.load(results / "fast")
    assert headline.of_records({"a": record, "b": record}) == [
        "All 2 have the same mean read latency, 10.0 us."
    ]
    assert headline.of_records({"a": record}) == []


def test_mixes_are_read_back(results: Path) -> None:
    found = nacre.mixes("tiers", {"run.requests": 2000}, steps=4)
    loaded = nacre.Mixes.load(results / "mixes")
    assert loaded.to_dict() == found.to_dict()
    (results / "mixes" / "mixes.parquet").write_bytes(b"no table")
    with pytest.raises(ConfigError, match="it holds no mixes"):
        nacre.Mixes.load(results / "mixes")


def test_what_holds_no_result_is_told_with_what_does(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(ConfigError, match="give a trace, or what `nacre run`"):
            load(path)


def test_a_result_is_found_by_its_folder_and_by_its_file(results: Path) -> None:
    for name in ("fast/record.json", "study/study.json", "mixes/mixes.json", "crash/crash.json"):
        file = results / name
        assert type(load(file)) is type(load(file.parent))
    (results / "crash" / "crash.json").write_text('{"points": 3}')
    with pytest.raises(ConfigError, match="holds nothing that losses of power found"):
        load(results / "crash")
