"""Tests messages and results that users could misread."""

from __future__ import annotations

import bz2
import importlib
import zipfile
from pathlib import Path

import nacre
import pytest
from nacre.words.records import facts

CSV = "timestamp_us,op,offset,length\n0,read,0,4096\n5,write,0,4096\n"
TIERS = {
    "workload": {"kind": "uniform", "footprint": "64 GiB", "requests": 1000},
    "stack": {
        "kind": "tiers",
        "capacity": "64 GiB",
        "placement": "static_optimal",
        "tier": [
            {"device": {"preset": name}, "share": "50 %"} for name in ("pcm_ssd", "disk_15k_kim")
        ],
    },
}
DISK = {"workload": {"kind": "trace"}, "stack": {"preset": "disk_15k"}}


def test_mixes_reject_a_workload_past_the_end_of_the_stack_like_a_run() -> None:
    beyond = {"workload.footprint": "65 GiB"}
    said = []
    for ask in (nacre.run, nacre.mixes):
        with pytest.raises(
            nacre.errors.ConfigError, match="it reaches to byte 69793218560"
        ) as refused:
            ask(TIERS, beyond)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_tables_that_exceed_the_memory_are_rejected_with_their_size() -> None:
    # 4 PiB in extents of 64 KiB are 2^36 extents, with 96 bytes of counters each.
    huge = {"stack.capacity": "4 PiB", "stack.extent": "64 KiB"}
    with pytest.raises(nacre.errors.Error, match=r"its tables take 6144\.0 GiB of memory"):
        nacre.mixes(TIERS, huge, steps=2)


def test_an_assumed_time_unit_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "disk.ssdsim"
    path.write_text("".join(f"{1000 * i} 0 {8 * i} 8 {i % 2}\n" for i in range(50)))
    assumed = "times are taken to be ns, which the file does not say"
    given = DISK | {"workload": {"kind": "trace", "file": str(path), "format": "ssdsim"}}
    found = nacre.traces.info(path, format="ssdsim")
    assert any(assumed in line for line in found.warnings)
    record = nacre.run(given)
    assert any(assumed in line for line in facts(record))
    told = nacre.run(given, {"workload.time_unit": "100ns"})
    assert told.simulated_s > record.simulated_s
    assert not any(assumed in line for line in facts(told))
    fitted = nacre.traces.fit(path, format="ssdsim")
    assert any(assumed in line for line in fitted.warnings)
    assert f"# note: {assumed}" in fitted.text
    warned = nacre.traces.info(path, format="ssdsim", time_unit="100ns").warnings
    assert not any(assumed in line for line in warned)


def test_a_partial_write_bypasses_the_cache_and_is_counted(tmp_path: Path) -> None:
    # Parts of blocks are written and then read. The first read of a block misses, and the second
    # read hits.
    requests = [("write", 0), ("read", 1), ("read", 2)]
    lines = [
        f"{1000 * (100 * turn + i)},{op},{512 + 8192 * i},2048\n"
        for op, turn in requests
        for i in range(100)
    ]
    path = tmp_path / "parts.csv"
    path.write_text(f"{CSV.splitlines()[0]}\n{''.join(lines)}")
    cache = {
        "kind": "server_cache",
        "level": [{"device": {"preset": "pcm_ssd", "capacity": "64 MiB"}}],
        "backing": {"preset": "network_store"},
    }
    record = nacre.run({"workload": {"kind": "trace", "file": str(path)}, "stack": cache})
    counters = record.components[0].counters
    assert (counters.write_parts, counters.read_misses, counters.read_hits) == (100, 100, 100)
    curve = nacre.traces.mrc(path)
    assert curve.miss_ratio(64 << 20, "reads") == 0, "which counts a write of a part as a use"


def test_a_study_uses_a_cleaning_function_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "def most_invalid(view):\n    return int((view.programmed - view.valid).argmax())\n"
    (tmp_path / "cleaners_of_ours.py").write_text(body)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    ours = importlib.import_module("cleaners_of_ours").most_invalid
    small = {
        "workload.requests": 2000,
        "workload.footprint": "128 MiB",
        "stack.pages": 8,
        "stack.planes": 1,
    }
    axis = {"path": "stack.garbage_collection.policy", "values": [ours, "greedy"]}
    found = nacre.study({"scenario": "ssd", "set": small, "axis": [axis]}, workers=1)
    assert found.table["error"].to_list() == [None, None]
    assert found.table["policy"].to_list() == ["most_invalid", "greedy"]
    assert min(found.table["write_amplification"]) > 1, "both have cleaned"


def test_traces_and_numbers_are_accepted_in_common_forms(tmp_path: Path) -> None:
    marked = tmp_path / "marked.csv"
    marked.write_bytes(b"\xef\xbb\xbf" + CSV.encode())
    assert nacre.traces.info(marked).records == 2
    packed, archive = tmp_path / "packed.csv.bz2", tmp_path / "archive.zip"
    packed.write_bytes(bz2.compress(CSV.encode()))
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a.csv", CSV)
    for path, remedy in ((packed, "unpack it with bunzip2"), (archive, "unpack it with unzip")):
        with pytest.raises(nacre.errors.TraceError, match=remedy):
            nacre.traces.info(path)
    measured = {"kind": "measured", "read": "10 us", "write": "10 us"}
    plain = {"kind": "uniform", "footprint": "1 MiB", "requests": 2000}
    told = nacre.run({"workload": plain, "stack": measured}).latency
    for other in (
        {"stack.read": "10 \u00b5s"},
        {"workload.requests": "2e3"},
        {"workload.requests": "2k"},
    ):
        assert nacre.run({"workload": plain, "stack": measured}, other).latency == told


def test_a_count_of_one_is_singular(tmp_path: Path) -> None:
    single = tmp_path / "single.csv"
    single.write_text("".join(CSV.splitlines(keepends=True)[:2]))
    record = nacre.run(DISK, {"workload.file": str(single)})
    assert facts(record)[0].startswith("1 request in ")
    assert repr(record).startswith("<nacre.Record scenario: 1 request; ")
    assert ": 1 request, 1 of them reads;" in repr(nacre.traces.info(single))
    assert " at 1 size; " in repr(nacre.traces.caches(single, ["lru"], ["1 MiB"]))
