"""Tests saved points of studies. No point is lost, run twice, or overwritten."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import nacre
import polars as pl
import pytest
from nacre.base import toml
from nacre.errors import ConfigError
from nacre.studies.keep import store
from nacre.studies.keep.lock import Lock
from studying import noted_tasks

NACRE = Path(sys.executable).with_name("nacre")
SCENARIO: dict[str, Any] = {
    "workload": {
        "kind": "zipf",
        "footprint": "1 MiB",
        "requests": 300,
        "arrival": {"kind": "closed", "queue_depth": 2},
    },
    "stack": {"kind": "measured", "read": "10 us", "write": "20 us", "price": "1 /GiB"},
}
STUDY: dict[str, Any] = {
    "scenario": SCENARIO,
    "axis": [
        {"path": "workload.theta", "range": {"from": 0.1, "to": 1.2, "points": 12}},
        {"path": "stack.read", "values": ["10 us", "20 us"]},
    ],
    "objective": [{"of": "iops"}],
}
SLOW = 1_500_000
"""Number of requests of a point that takes some tenths of a second, so that the study can be
stopped."""


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """Returns the table of a study that was not interrupted."""
    return nacre.study(STUDY, workers=1).table


SLOW_STUDY = STUDY | {"set": {"workload.requests": SLOW}}


@pytest.fixture(scope="module")
def undisturbed() -> pl.DataFrame:
    return nacre.study(SLOW_STUDY).table


def started(study: Path, *arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [NACRE, "study", study, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_points(out: Path, process: "subprocess.Popen[str]") -> None:
    """Waits until the first points are on the disk. The study must still be running."""
    deadline = time.monotonic() + 60
    while not list((out / "points").glob("[0-9]*.parquet")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def results(out: Path) -> pl.DataFrame:
    return pl.read_parquet(out / "results.parquet")


@contextmanager
def small_files(limit: int) -> Iterator[None]:
    """Limits the size of files, which has the effect of a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_resumed_study_gives_the_same_table(
    blow: signal.Signals, undisturbed: pl.DataFrame, tmp_path: Path
) -> None:
    file = tmp_path / "slow.toml"
    file.write_text(toml.document(SLOW_STUDY))
    out = tmp_path / "out"
    process = started(file, "--out", out)
    wait_for_points(out, process)
    process.send_signal(blow)
    _, said = process.communicate(timeout=60)
    kept = sum(pl.read_parquet(part).height for part in (out / "points").glob("[0-9]*"))
    assert 0 < kept < 24
    if blow is signal.SIGINT:
        assert process.returncode == 130
        assert said == "error: interrupted: finished runs are shown; continue with --resume\n"
        assert results(out).height == kept
    process = started(file, "--out", out, "--resume", "--json")
    answer, said = process.communicate(timeout=100)
    assert process.returncode == 0, said
    found = json.loads(answer)
    assert found["complete"]
    assert found["points"] == {"all": 24, "done": 24, "failed": 0, "reused": kept}
    assert results(out).equals(undisturbed)
    assert found["rows"] == undisturbed.to_dicts()


def test_equal_points_run_once_and_a_study_can_grow(
    table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = noted_tasks(monkeypatch)
    small = STUDY | {"axis": [STUDY["axis"][1]]}
    nacre.study(small, out=tmp_path / "a", workers=1)
    assert len(run) == 2
    nacre.study(small, out=tmp_path / "a", workers=1, resume=True)
    assert len(run) == 2
    nacre.study(STUDY, out=tmp_path / "a", workers=1, resume=True)
    # The default value of theta is 0.99, which is not a value of the axis.
    assert len(run) == 2 + 24
    assert results(tmp_path / "a").equals(table)
    # If two points have equal settings in different forms, one run provides both rows.
    same = {"name": "same", "zip": {"stack.write": ["20 us", "20 us"], "run.seed": [1, 1]}}
    both = nacre.study(STUDY | {"axis": [same | {"labels": ["a", "b"]}]}, workers=1).table
    assert both["key"].n_unique() == 1
    assert both["iops"].n_unique() == 1
    assert len(run) == 2 + 24 + 1


def test_points_can_be_read_with_duckdb_and_by_number(table: pl.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = nacre.study(STUDY, out=out, workers=1, figures=True)
    query = f"select theta, iops from '{out / 'results.parquet'}' where read = '20 us' order by 1"
    rows = duckdb.connect().execute(query).fetchall()
    expected = table.filter(pl.col("read") == "20 us").select("theta", "iops")
    assert rows == expected.rows()
    assert sorted(path.name for path in out.iterdir()) == [
        ".lock",
        "by_axis.png",
        "by_axis.svg",
        "points",
        "results.parquet",
        "sensitivity.png",
        "sensitivity.svg",
        "study.json",
    ]
    assert [path.name for path in (out / "points").iterdir()] == ["000000.parquet"]
    loaded = nacre.studies.StudyResult.load(out)
    assert loaded.table.equals(result.table)
    assert loaded.complete
    assert loaded.sensitivity().equals(result.sensitivity())
    assert loaded.record(3).latency == nacre.run(SCENARIO, {
        "workload.theta": 0.2, "stack.read": "20 us"}).latency  # fmt: skip


def test_truncated_files_are_ignored(table: pl.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "out"
    nacre.study(STUDY, out=out, workers=1)
    (part,) = (out / "points").iterdir()
    points = pl.read_parquet(part)
    # Imitate a kill after the merged file was written and before its parts were removed, and a kill
    # during a write.
    store._write(out / "points" / "000007.parquet", part.read_bytes())
    (out / "points" / ".000008-a1b2c3d4.parquet").write_bytes(part.read_bytes()[:50])
    (out / "results.parquet").unlink()
    again = nacre.study(STUDY, out=out, workers=1, resume=True)
    assert again.table.equals(table)
    (only,) = (out / "points").iterdir()
    assert pl.read_parquet(only).equals(points)


def test_a_foreign_directory_is_unchanged(tmp_path: Path) -> None:
    out = tmp_path / "out"
    nacre.study(STUDY | {"axis": [STUDY["axis"][1]]}, out=out, workers=1)
    before = (out / "results.parquet").read_bytes()

    def told(directory: Path, *, resume: bool = False) -> str:
        with pytest.raises(ConfigError) as raised:
            nacre.study(STUDY, out=directory, resume=resume, workers=1)
        return str(raised.value)

    assert "holds a study already; give --resume" in told(out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    assert "has files that do not belong to a study" in told(tmp_path / "mine", resume=True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "study.json").write_text('{"mine": 1}')
    assert "is a store of another version" in told(tmp_path / "foreign")
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["study.json"]
    with store.Store(out, {}, {}, points=1, resume=True):
        assert f"another study writes to {out} (process {os.getpid()})" in told(out, resume=True)
    identity = json.loads((out / "study.json").read_bytes())
    for schema in ("nacre-study-9", None):
        (out / "study.json").write_text(json.dumps(identity | {"schema": schema}))
        said = told(out, resume=True)
        assert f"is a store of another version: {schema or 'an unknown one'}" in said
        assert "writes nacre-study-1; continue with the Nacre that wrote it" in said
    (out / "study.json").write_text(json.dumps(identity))
    (out / "points" / "000000.parquet").write_bytes(b"PAR1 no more")
    assert "remove it; its points are run again" in told(out, resume=True)
    assert (out / "results.parquet").read_bytes() == before


@pytest.mark.parametrize(
    ("lock", "others"),
    [
        (b"", {"notes.txt": b"mine"}),
        (b"", {}),
        (b"4711\n", {}),
        (b"1234567890123456 keep me", {}),
        (b"nacre 1\nand more", {}),
        (b"nacre 4711\n", {"notes.txt": b"mine"}),
    ],
)
def test_the_lock_of_another_program_is_unchanged(
    lock: bytes, others: dict[str, bytes], tmp_path: Path
) -> None:
    files = {".lock": lock, **others}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    for resume in (False, True):
        with pytest.raises(ConfigError, match="a study; give another directory"):
            nacre.study(STUDY, out=tmp_path, resume=resume, workers=1)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_a_lock_file_replaced_by_another_process_is_not_removed(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").write_bytes(b"mine")
    lock.remove()
    lock.close()
    assert (tmp_path / ".lock").read_bytes() == b"mine"


def test_the_lock_of_a_killed_run_is_taken_over(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    (killed / ".lock").write_bytes(b"nacre 4711\n")
    (killed / "..lock-a1b2c3d4").write_bytes(b"nac")
    with store.Store(killed, {}, {}, points=1, resume=False):
        assert (killed / ".lock").read_text() == f"nacre {os.getpid()}\n"
    assert sorted(path.name for path in killed.iterdir()) == [".lock", "points", "study.json"]


def test_a_disk_with_too_little_space_is_reported_before_any_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage())
    with pytest.raises(ConfigError, match=r"0 MiB left; 24 points need about 2 MiB"):
        nacre.study(STUDY, out=tmp_path / "a" / "b", workers=1)
    assert not list(tmp_path.iterdir())


class _Usage:
    free = 1000


def test_a_full_disk_ends_the_study_and_keeps_finished_points(
    table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FLUSH_S", (0.0, 0.0))
    out = tmp_path / "out"
    writes = 0
    write = store.Store._write

    def filling(self: store.Store, frame: pl.DataFrame) -> None:
        nonlocal writes
        writes += 1
        with small_files(64 if writes == 4 else 1 << 30):
            write(self, frame)

    monkeypatch.setattr(store.Store, "_write", filling)
    with pytest.raises(OSError, match=r"points/000003\.parquet") as failure:
        nacre.study(STUDY, out=out, workers=1)
    assert failure.value.filename == str(out / "points" / "000003.parquet")
    names = sorted(path.name for path in (out / "points").iterdir())
    assert names == ["000000.parquet", "000001.parquet", "000002.parquet"]
    again = nacre.study(STUDY, out=out, resume=True, workers=1)
    assert again.table.equals(table)
