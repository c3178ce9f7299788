"""Tests runs with a split trace. With every engine, the parts are combined into one record."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.base import toml
from nacre.cli.app import app
from nacre.errors import ConfigError, Error
from nacre.studies import split
from nacre.studies.work import engine_called
from refusing import fails_with
from typer.testing import CliRunner, Result

NACRE = Path(sys.executable).with_name("nacre")
CACHE: dict[str, Any] = {
    "workload": {"kind": "trace", "file": "pgbench", "placement": "compact", "limit": 100_000},
    "stack": {
        "kind": "server_cache",
        "lookup": "1 us",
        "backing": {"kind": "measured", "capacity": "4 GiB", "read": "90 us", "write": "80 us"},
        "level": [{"device": {"kind": "measured", "capacity": "96 MiB",
                              "read": "7 us", "write": "20 us", "price": "24 /GiB"}}],
    },
    "run": {"warm_up": 20_000},
}  # fmt: skip
VOLUMES = """timestamp_us,op,offset,length,volume
0,read,0,4096,7
1,write,4096,4096,9
40,read,0,8192,9
55,read,0,4096,7
90,write,1048576,4096,7
"""

VOLUMES_ON_COPIES: dict[str, Any] = {
    "workload": {"kind": "trace", "file": "volumes.csv"},
    "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("volumes.csv").write_text(VOLUMES)
    Path("cache.toml").write_text(toml.document(CACHE))
    return tmp_path


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["run", *arguments])


def without_split(record: nacre.results.Record) -> dict[str, Any]:
    return {key: value for key, value in record.to_dict().items() if key != "split"}


def test_every_engine_makes_the_same_record() -> None:
    here = nacre.studies.run_split(CACHE, "hash:3")
    assert here == nacre.studies.run_split(CACHE, "hash:3", workers=1)
    assert here == nacre.studies.run_split(CACHE, "hash:3", engine="dask")
    assert here.requests.issued == here.requests.completed
    assert sum(part["requests"] for part in here["split"]["copies"]) == here.requests.issued


def test_the_summary_describes_the_split() -> None:
    from nacre.words.records import facts

    record = nacre.studies.run_split(VOLUMES_ON_COPIES, "volume")
    assert "2 parts by volume, each on a copy of the stack" in facts(record)


def test_a_trace_that_can_be_read_only_once_is_rejected(folder: Path) -> None:
    os.mkfifo(folder / "pipe.csv")
    of_pipe = {**VOLUMES_ON_COPIES, "workload": {"kind": "trace", "file": "pipe.csv"}}
    for scenario in (of_pipe, {**of_pipe, "workload": {"kind": "trace", "file": "/dev/stdin"}}):
        given = scenario["workload"]["file"]
        if given == "/dev/stdin" and Path(given).is_file():
            continue
        with pytest.raises(ConfigError) as refused:
            nacre.studies.run_split(scenario, "volume")
        assert str(refused.value) == (
            "workload.file: it is read once for the split and once by each part, and is not a file,"
            f' given "{given}"; write it to a file first, or remove --split'
        )


def test_one_part_equals_the_run_without_a_split() -> None:
    plain, part = nacre.run(CACHE), nacre.studies.run_split(CACHE, "hash:1")
    assert without_split(part) == without_split(plain)
    assert part.columns.keys() == plain.columns.keys()


def test_a_split_by_hash_has_the_hits_of_the_whole_cache() -> None:
    whole = nacre.run(CACHE)
    exact = whole.hit_ratio()
    assert exact is not None
    for parts in (2, 4, 8):
        # Extents that are smaller than 1 MiB are not adjacent in the compacted addresses.
        small = {"workload.part.extent": "256 KiB", "stack.backing.capacity": "64 GiB"}
        record = nacre.studies.run_split(CACHE, f"hash:{parts}", small if parts == 8 else {})
        found = record.hit_ratio()
        # The share of a part with n extents deviates by 1 / sqrt(n), here 5 to 10 %, so the sizes
        # of caches deviate accordingly. With the slope of the curve, this changes hits by 1 %.
        assert found is not None
        assert abs(found - exact) < 0.015, (parts, found, exact)
        assert record.bytes.read == pytest.approx(whole.bytes.read, rel=0.01)
        assert record.cost == whole.cost


def test_volumes_are_separate_runs() -> None:
    record = nacre.studies.run_split(VOLUMES_ON_COPIES, "volume")
    assert (record.requests.reads, record.requests.writes) == (3, 2)
    assert [part["requests"] for part in record["split"]["copies"]] == [3, 2]
    # On a single device, the write to the second volume would have waited.
    assert record.latency.write is not None
    assert record.latency.write.max_ns == 20_000
    assert record.components[0].servers == 2


def test_a_killed_run_continues_with_its_finished_parts(folder: Path) -> None:
    arguments = ["cache.toml", "--split", "hash:12", "--workers", "1", "--out", "out"]
    process = subprocess.Popen([NACRE, "run", *arguments], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(folder.glob("out/parts/[0-9a-f]*.part"))) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "out" / "record.json").exists()
    kept = {path.name: path.stat().st_mtime_ns for path in folder.glob("out/parts/[0-9a-f]*.part")}
    taken: list[str] = []

    class Watched(split.Kept):
        def add(self, key: str, text: str) -> None:
            taken.append(key)
            super().add(key, text)

    plan = split.planned("cache.toml", "hash:12")
    with engine_called("local") as engine:
        record = split.conduct(plan, engine, Watched(folder / "out" / "parts"))
    assert len(taken) == 12 - len(kept)
    assert not {f"{key}.part" for key in taken} & kept.keys()
    assert nacre.studies.run_split("cache.toml", "hash:12", keep="out/parts") == record
    assert not (folder / "out" / "parts").exists(), "the record is there, and the parts are gone"


def test_an_existing_folder_is_kept(folder: Path) -> None:
    mine = folder / "out" / "parts"
    mine.mkdir(parents=True)
    assert command("cache.toml", "--split", "hash:2", "--out", "out").exit_code == 0
    assert list(mine.iterdir()) == []


def test_a_file_in_place_of_the_folder_of_parts_is_an_error(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "parts").write_text("mine")
    done = command("cache.toml", "--split", "hash:2", "--out", "out")
    assert done.exit_code == 2
    assert "parts: " in done.stderr
    assert (folder / "out" / "parts").read_text() == "mine"


def test_a_pipe_as_a_certificate_is_an_error_without_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    names = ("--tls-ca", "--tls-cert", "--tls-key")
    certificates = [word for name in names for word in (name, "pipe")]
    address = ["--engine", "dask", "--address", "tls://127.0.0.1:1"]
    done = subprocess.run(
        [NACRE, "run", "cache.toml", "--split", "hash:2", *address, *certificates],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "--tls-ca: it is a pipe, a socket or a device" in done.stderr


def test_a_progress_function_receives_parts_and_can_stop_the_run() -> None:
    seen: list[tuple[int, int]] = []
    nacre.studies.run_split(
        CACHE, "hash:2", progress=lambda done, total: seen.append((done, total))
    )
    assert seen[0] == (0, 2)
    assert seen[-1] == (2, 2)
    with pytest.raises(KeyboardInterrupt):
        nacre.studies.run_split(CACHE, "hash:2", progress=lambda *_: True)


def test_a_part_that_fails_is_named() -> None:
    with pytest.raises(
        Error, match=r"part \d of 2: .*the stack ends at byte.*placement = .compact"
    ):
        nacre.studies.run_split(CACHE, "hash:2", {"workload.placement": "as_recorded",
                                          "stack.backing.capacity": "2 MiB",
                                          "stack.level[0].device.capacity": "8 KiB"})  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--split", "hash"], '--split: it needs the number of parts, given "hash"'),
        (["--split", "hash:0"], "--split: it makes no parts"),
        (["--split", "disk:2"], "--split: unknown way to split a trace"),
        (["--split", "volume"], "--split: the trace "),
        (
            ["--split", "hash:2", "--set", "run.requests=5", "--set", "run.warm_up=0"],
            "run.requests (--set run.requests=5): parts",
        ),
        (["--split", "hash:2", "--set", "workload.file=no.csv"], "workload.file: the file cannot"),
        (["--split", "hash:2", "--address", "tcp://here:1"], "only the engine dask has an address"),
        (["--engine", "dask"], "--engine: it applies only to a run with --split; add --split"),
        (["--tls-ca", "ca.pem"], "--tls-ca: it applies only to a run with --split; add --split"),
        (["--workers", "2"], "--workers: it applies only to a run with --split; add --split"),
    ],
)
def test_errors_are_reported_before_any_run(arguments: list[str], told: str) -> None:
    done = command("cache.toml", *arguments)
    assert done.exit_code == 2, done.stderr
    assert told in done.stderr


def test_the_command_prints_the_record_of_all() -> None:
    done = command("cache.toml", "--split", "hash:2", "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert (
        document["requests"]["issued"] == nacre.studies.run_split(CACHE, "hash:2").requests.issued
    )
    assert document["split"]["by"] == "hash"
    assert document["split"]["shared"] == [
        "stack.level[0].device.capacity",
        "stack.backing.capacity",
    ]
    with fails_with("not-supported", ConfigError):
        nacre.studies.run_split("server-cache-zipf", "hash:2")
