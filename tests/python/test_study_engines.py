"""Tests that all engines return equal tables, even if workers crash."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import nacre
import polars as pl
import pytest
from nacre.base import toml
from nacre.errors import ConfigError, Error
from nacre.scenario.source import Source
from nacre.studies.engines import cluster, local
from nacre.studies.engines.cluster import Cluster
from nacre.studies.engines.engine import Chunks
from nacre.studies.engines.local import Local
from nacre.studies.engines.task import DIED, Base, Outcome, Task, evaluate, identity
from refusing import fails_with
from studying import noted_tasks

SOURCE = Source("", "x", ".")
NACRE = Path(sys.executable).with_name("nacre")
STUDY: dict[str, Any] = {
    "scenario": {
        "workload": {
            "kind": "zipf",
            "footprint": "1 MiB",
            "requests": 700_000,
            "arrival": {"kind": "closed", "queue_depth": 2},
        },
        "stack": {"kind": "measured", "read": "10 us", "write": "20 us", "price": "1 /GiB"},
    },
    "axis": [
        {
            "name": "theta",
            "zip": {
                "workload.theta": [step / 10 for step in range(1, 21)],
                "workload.footprint": ["256 KiB", *["1 MiB"] * 19],
            },
        },
        {"path": "stack.capacity", "values": ["1 GiB", "512 KiB"]},
    ],
}
"""Study whose points take some time. 19 of 40 points fail, because their data does not fit the
device."""


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return nacre.study(STUDY).table


def test_half_of_the_points_fail(table: pl.DataFrame) -> None:
    assert table["error"].is_null().to_list() == [True, True] + [True, False] * 19


class Dask:
    """A Dask scheduler and its workers, in processes that a test can kill."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._stack = ExitStack()
        file = folder / "scheduler.json"
        connection = ("--scheduler-file", str(file), "--no-dashboard")
        self._start("dask_scheduler", *connection, "--port", "0", "--host", "127.0.0.1")
        # Without a nanny, a worker does not restart after a kill.
        self.workers = [
            self._start("dask_worker", *connection, "--nthreads", "1", "--no-nanny")
            for _ in range(workers)
        ]
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address: str = json.loads(file.read_text())["address"]

    def _start(self, module: str, *arguments: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"distributed.cli.{module}", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def two_workers(tmp_path: Path) -> Iterator[Dask]:
    dask = Dask(tmp_path, 2)
    yield dask
    dask.close()


def test_a_cluster_whose_worker_is_killed_gives_the_table_of_a_local_run(
    two_workers: Dask, table: pl.DataFrame, tmp_path: Path
) -> None:
    file, out = tmp_path / "study.toml", tmp_path / "out"
    file.write_text(toml.document(STUDY))
    arguments = ["--engine", "dask", "--address", two_workers.address, "--out", str(out)]
    process = subprocess.Popen(
        [str(NACRE), "study", str(file), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list((out / "points").glob("[0-9]*.parquet")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    two_workers.workers[0].kill()
    kept = sum(pl.read_parquet(part).height for part in (out / "points").glob("[0-9]*"))
    assert 0 < kept < 40, "the worker was killed in the middle"
    _, said = process.communicate(timeout=60)
    assert said == ""
    assert process.returncode == 1, "points failed"
    assert pl.read_parquet(out / "results.parquet").equals(table)


class LosingClient:
    """A client that loses every result once, as if the worker had crashed, and then receives the
    result again."""

    status = "running"

    def nthreads(self) -> dict[str, int]:
        return {"worker": 1}

    def submit(self, *call: Any, **_: Any) -> "LostOnce":
        return LostOnce(call[2])

    def cancel(self, futures: list["LostOnce"]) -> None:
        assert futures == []


class LostOnce:
    """A future with a lost result. Dask calls back for the lost result, but not for the recomputed
    result."""

    def __init__(self, tasks: list[Task]) -> None:
        self.key, self.status = tasks[0].key, "lost"
        self._tasks = tasks

    def add_done_callback(self, call: Any) -> None:
        call(self)

    def done(self) -> bool:
        self.status = "finished"
        return True

    def result(self) -> list[Outcome]:
        return [Outcome(task.key, "{}", None, 0.5) for task in self._tasks]


def test_a_result_lost_with_its_worker_is_recomputed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Cluster("tcp://here")
    monkeypatch.setattr(engine, "_client", LosingClient())
    base = Base(identity())
    tasks = [Task(str(number), SOURCE, ()) for number in range(3)]
    found = [each.key for each in engine.outcomes(base, tasks) if each is not None]
    assert sorted(found) == ["0", "1", "2"]


def test_a_missing_cluster_is_reported_before_any_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.5)
    for address, told in (("tcp://127.0.0.1:1", "Timed out"), ("here", "missing port number")):
        with pytest.raises(ConfigError, match=f"--address: there is no Dask scheduler .{told}"):
            nacre.study(STUDY, engine="dask", address=address, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


DEADLY = """
import os, signal, sys
from nacre.studies.engines import task, worker
run = task._evaluated
def evaluated(base, each):
    if dict(each.settings)["workload.theta"] in {deadly}:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(base, each)
task._evaluated = evaluated
worker.main()
"""


def test_a_point_that_kills_its_worker_is_a_row_and_the_others_are_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick = STUDY | {"axis": STUDY["axis"][:1], "set": {"workload.requests": 100}}
    expected = nacre.study(quick, workers=1).table
    monkeypatch.setattr(local, "WORKER", ("-c", DEADLY.format(deadly=("0.3", "1.5"))))
    found = nacre.study(quick, workers=2).table
    deadly = pl.Series([place in (2, 14) for place in range(20)])
    assert found.filter(deadly)["error"].to_list() == [DIED, DIED]
    assert found.filter(deadly)["error_code"].to_list() == ["process-failed"] * 2
    assert found.filter(~deadly).equals(expected.filter(~deadly))


def test_a_worker_that_cannot_start_ends_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "WORKER", ("-c", "import nothing_of_the_kind"))
    with pytest.raises(Error, match="did not start: ModuleNotFoundError: No module named"):
        nacre.study(STUDY, workers=1)


THREADLESS = """
import threading
def start(thread):
    raise RuntimeError("can't start new thread")
threading.Thread.start = start
from nacre.studies.engines import worker
worker.main()
"""


def test_a_worker_without_a_thread_ends_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "WORKER", ("-c", THREADLESS))
    with pytest.raises(Error, match="did not start: RuntimeError: can't start new thread"):
        nacre.study(STUDY, workers=1)


def test_a_temporary_cluster_that_cannot_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_process(*_: Any, **__: Any) -> Any:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", no_process)
        with pytest.raises(Error, match=r"of this machine could not be started: .*unavailable"):
            nacre.study(STUDY, engine="dask")
    monkeypatch.setattr(cluster, "WORKERS_S", 0.001)
    with fails_with("no-answer"):
        nacre.study(STUDY, engine="dask")


def test_finished_points_are_kept_if_the_system_refuses_another_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quick = STUDY | {"axis": STUDY["axis"][:1], "set": {"workload.requests": 100}}
    expected = nacre.study(quick, workers=1).table
    start = subprocess.Popen
    started = 0

    def refused(*arguments: Any, **settings: Any) -> Any:
        nonlocal started
        started += 1
        if started > 1:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return start(*arguments, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(local, "WORKER", ("-c", DEADLY.format(deadly=("1.5",))))
        patched.setattr(subprocess, "Popen", refused)
        told = "a worker process could not be started: Resource temporarily unavailable; see"
        with pytest.raises(Error, match=told):
            nacre.study(quick, workers=1, out=tmp_path / "out")
    run = noted_tasks(monkeypatch)
    found = nacre.study(quick, workers=1, out=tmp_path / "out", resume=True).table
    assert found.equals(expected)
    assert 0 < len(run) < expected.height, "what came back before is not run again"


def test_workers_exit_with_their_parent(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    endless = {"workload.requests": 10**12}
    file.write_text(toml.document(STUDY | {"axis": STUDY["axis"][:1], "set": endless}))
    process = subprocess.Popen(
        [NACRE, "study", file, "--out", tmp_path / "out"],
        env=os.environ | {"TMPDIR": str(scratch)},
    )
    children: list[int] = []
    deadline = time.monotonic() + 60
    try:
        while not children:
            assert time.monotonic() < deadline
            listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            commands = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in listed}
            children = [pid for pid, line in commands.items() if b"engines.worker" in line]
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    while any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes()
              for pid in children):  # fmt: skip
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert not list(scratch.iterdir()), "the folder that they had in common"


def test_short_points_are_sent_in_chunks_and_long_ones_singly() -> None:
    tasks = [Task(str(number), SOURCE, ()) for number in range(1000)]
    chunks = Chunks(tasks, 0.25, 64)
    assert [task.key for task in chunks.next(2)] == ["0"]
    for _ in range(50):
        chunks.took(0.01)
    assert len(chunks.next(2)) == 25
    for _ in range(50):
        chunks.took(1.0)
    assert len(chunks.next(2)) == 1
    for _ in range(100):
        chunks.took(1e-4)
    assert len(chunks.next(2)) == 64
    sizes = []
    while len(chunks):
        sizes.append(len(chunks.next(2)))
    assert sum(sizes) == 1000 - 1 - 25 - 1 - 64
    assert sizes[-3:] == [1, 1, 1], "the last ones are shared out"


def test_workers_receive_the_next_point_early_until_few_are_left() -> None:
    class Worker:
        is_trying = False

        def __init__(self) -> None:
            self.held: list[Task] = []
            self.chunks = 0

        def send(self, tasks: list[Task]) -> None:
            self.held += tasks
            self.chunks += 1

    engine = Local(2)
    for points, ahead in ((9 + 1, 2), (8 + 1, 1), (1, 1)):
        chunks, worker = (
            Chunks([Task(str(number), SOURCE, ()) for number in range(points)], 0.25, 64),
            Worker(),
        )
        chunks.took(1.0)
        engine._workers = [worker, worker]  # type: ignore[list-item]
        for _ in range(3):
            engine._feed(worker, chunks, deque())  # type: ignore[arg-type]
        assert worker.chunks == ahead, points
        assert len(worker.held) == ahead


def test_a_worker_with_another_version_is_rejected() -> None:
    with pytest.raises(Error, match=r"another version of Nacre: .*, not 0\.0\.1"):
        evaluate(Base("0.0.1"), [])
    assert identity().startswith(nacre.__version__)


def test_leaving_an_engine_stops_its_work() -> None:
    with Local(2) as engine:
        from nacre.studies.points.planner import sound

        endless = STUDY | {"axis": STUDY["axis"][:1], "set": {"workload.requests": 10**12}}
        design, planner = sound(endless)
        tasks = [Task(point.key, design.source, point.settings) for point in planner.ask()]
        outcomes = engine.outcomes(Base(identity()), tasks)
        assert next(outcomes) is None
        pids = [worker._process.pid for worker in engine._workers]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_missing_engines_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match=r"Dask is not installed; pip install 'nacre\[dask\]'"):
        nacre.study(STUDY, engine="dask")
    monkeypatch.setitem(sys.modules, "optuna", None)
    search = {"search": {}, "budget": {"points": 4}, "objective": [{"of": "iops"}]}
    with pytest.raises(ConfigError, match=r"Optuna is not installed; pip install"):
        nacre.study(STUDY | search)
