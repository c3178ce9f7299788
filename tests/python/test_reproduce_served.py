"""Tests rows of served devices. If a requirement is missing, the rows are skipped. Otherwise, they
get a verdict, and no processes, mounts, or files remain."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from nacre.cli import reproduce as command
from nacre.errors import Error
from nacre.papers import work
from nacre.papers.result import Reproduction
from nacre.papers.running import oltp, served
from nacre.papers.running.runs import Runs
from nacre.papers.running.served import NotRunError, Served
from nacre.papers.running.tasks import Serving, task_of
from nacre.papers.spec.paper import read
from nacre.papers.spec.plan import Job
from nacre.scenario.source import read as source_of
from nacre.studies.engines.local import Local
from nacre.studies.engines.task import Base, Outcome, Task
from nacre.studies.keep.store import Memory
from nacre.studies.points.point import Points
from refusing import fails_with

FIGURE = "pcm-enterprise/sysbench"
SCENARIO = """\
schema = 1
name = "small"
[workload]
kind = "uniform"
footprint = "1 MiB"
requests = 100
read_share = "100 %"
arrival = { kind = "closed", queue_depth = 4 }
[stack]
kind = "measured"
read = "10 us"
write = "20 us"
"""
SAID = """\
File operations:
    reads/s:                      57.14
General statistics:
    total time:                          3.5000s
    total number of events:              200

Latency (ms):
         min:                                   17.00
         avg:                                   17.50
"""
LOAD = {"name": "small", "threads": 1, "dilation": 100.0}
SERVER = {"answered": 220, "late": 3, "modeled": {}, "wall": {}}


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "small.toml").write_text(SCENARIO)
    return Job(str(tmp_path / "small.toml"), (), dilate=100.0)


class Making(Local):
    """An engine that returns invented results of served devices, and records its batches of
    tasks."""

    def __init__(self, made: Callable[[Task], dict[str, Any]]) -> None:
        super().__init__()
        self._made = made
        self.waves: list[list[Task]] = []

    def outcomes(self, base: Base, tasks: Sequence[Task]) -> Iterator[Outcome | None]:
        self.waves.append(list(tasks))
        yield from super().outcomes(base, [t for t in tasks if not isinstance(t, Serving)])
        for task in filter(lambda t: isinstance(t, Serving), tasks):
            try:
                yield Outcome(task.key, json.dumps(self._made(task)), None, 0.0)
            except Error as error:
                yield Outcome(task.key, None, str(error), 0.0)


def reproduced(made: Callable[[Task], dict[str, Any]]) -> Reproduction:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(served, "missing", list)
        return work.conduct(work.targets(FIGURE), engine=Making(made), watch=None)


def reading(latency_us: Callable[[str, int], float]) -> Callable[[Task], dict[str, Any]]:
    """Returns a function that invents results of served devices. Their modeled latency depends on
    the kind of device and the number of threads.

    The latencies that the client measures are much longer, and no row depends on these latencies.
    """

    def made(task: Task) -> dict[str, Any]:
        settings = dict(task.settings)
        stack = settings.get("stack", "")
        kind = "cache" if "server_cache" in stack else "PCM" if "pcm_ssd" in stack else "eMLC"
        threads = int(settings["workload.arrival.queue_depth"])
        read = {"count": 100, "mean_ns": 1e3 * latency_us(kind, threads)}
        server = {"modeled": {"read": read}}
        return {"origins": [], "server": server, "throughput": {"iops": 1.0}, "requests": 10}

    return made


def alike(kind: str, threads: int) -> float:
    """Returns the simulated read latency of a device in microseconds. With several threads, reads
    of the PCM drive wait for its channel."""
    pcm = 6.7 if threads == 1 else 8.2
    return {"eMLC": 108.0, "cache": 82.7, "PCM": pcm}[kind]


def verdicts(found: Reproduction) -> dict[str, bool | None]:
    return {row["id"].removeprefix(f"{FIGURE}/"): row["pass"] for row in found.listed}


def test_without_programs_rows_are_skipped_and_name_the_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = work.conduct(work.targets(FIGURE), watch=None)
    assert {row["pass"] for row in found.listed} == {None}
    assert all("sysbench" in row["not_run"] for row in found.listed)
    assert found.not_run[FIGURE].startswith("sysbench, nbdfuse, ")
    assert "are missing (apt install sysbench libnbd-bin" in found.not_run[FIGURE]
    assert found.complete
    assert found.passed
    assert found.drawings() == {}
    assert repr(found) == (
        "<nacre.Reproduction pcm-enterprise: no prediction is made; arithmetic 0 of 7, unclosed 1, "
        "not run 7>"
    )
    command.carry_out(work.targets(FIGURE), tmp_path / "out", as_json=False)
    out, err = capsys.readouterr()
    assert out.count("apt install") == 1
    assert err.startswith(f"warning: {FIGURE} is not run: sysbench, ")


def test_without_sysbench_the_rows_report_that_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "shutil.which", lambda name: None if name == "sysbench" else f"/usr/bin/{name}"
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(served, "DEVICES", ())
    found = work.conduct(work.targets(FIGURE), watch=None)
    said = "not run: sysbench is missing (apt install sysbench)"
    assert {row["not_run"] for row in found.listed} == {said}


def test_without_root_or_devices_the_rows_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(served, "DEVICES", ("/dev/none",))
    monkeypatch.setattr(served, "caged", lambda *_: pytest.fail("it was tried"))
    with pytest.raises(NotRunError, match="root, /dev/none are missing"):
        served.check_here()


def test_results_are_judged() -> None:
    rows = verdicts(reproduced(reading(alike)))
    assert rows.pop("transport") is None
    assert set(rows.values()) == {True}


@pytest.mark.parametrize(
    ("wrong", "fails"),
    [
        (lambda _kind, _threads: 108.0, {"pcm", "cache", "below"}),
        (lambda kind, threads: alike("PCM" if kind == "cache" else kind, threads), {"below"}),
        (lambda kind, threads: alike("eMLC" if kind == "cache" else kind, threads), {"cache"}),
        (lambda kind, threads: alike(kind, threads) * (2 if threads == 8 else 1), set()),
    ],
    ids=["all alike", "cache as PCM", "cache as eMLC", "threads held up"],
)
def test_every_served_row_can_fail(wrong: Callable[[str, int], float], fails: set[str]) -> None:
    rows = verdicts(reproduced(reading(wrong)))
    expected = {f"{row}-{threads}" for row in fails for threads in (1, 8)} | {"modeled"}
    assert {row for row, passed in rows.items() if passed is False} == expected


def test_a_failed_run_fails_its_rows() -> None:
    def broken(_task: Task) -> dict[str, Any]:
        raise Error("mkfs.ext4: no")

    found = reproduced(broken)
    rows = verdicts(found)
    assert rows.pop("transport") is None
    assert set(rows.values()) == {False}
    assert found.not_run == {}


def test_served_runs_come_last_and_one_at_a_time(monkeypatch: pytest.MonkeyPatch, job: Job) -> None:
    monkeypatch.setattr(served, "missing", list)
    jobs = {Job(job.scenario, (("run.seed", f"{n}"),), dilate=float(n % 2)): 1.0 for n in range(6)}
    with Making(lambda _: {"origins": []}) as engine:
        assert Runs(engine, Memory(None)).run(jobs, None)
    assert [len(wave) for wave in engine.waves] == [3, 1, 1, 1]
    served_ones = [task for wave in engine.waves for task in wave if isinstance(task, Serving)]
    assert [[task] for task in served_ones] == engine.waves[1:]


def test_results_of_sysbench_are_converted_to_device_time(tmp_path: Path) -> None:
    found = Served(served.document(LOAD, SAID, SERVER))
    assert found.throughput.iops == pytest.approx(200 / 3.5 * 100)
    assert found.latency.read.mean_ns == pytest.approx(175_000)
    assert found.server == {"answered": 220, "late": 3, "modeled": {}, "wall": {}}
    found.save(tmp_path)
    assert Served(json.loads((tmp_path / "served.json").read_text())) == found
    with pytest.raises(Error, match="unexpected output of sysbench: FATAL"):
        served.document(LOAD, "FATAL", SERVER)


def test_requests_of_mounting_are_excluded() -> None:
    def export(answered: int, reads: int, mean_ns: float) -> dict[str, Any]:
        latencies = {"read": {"count": reads, "mean_ns": mean_ns} if reads else None, "write": None}
        return {"answered": answered, "late": answered // 10, "modeled": latencies, "wall": {}}

    server = served.since(export(20, 20, 50.0), export(120, 120, 100.0))
    # The mean is (120 x 100 - 20 x 50) / 100.
    assert server["modeled"] == {"read": {"count": 100, "mean_ns": 110.0}, "write": None}
    assert (server["answered"], server["late"]) == (100, 10)
    assert served.since(export(0, 0, 0.0), export(1, 1, 7.0))["modeled"]["read"]["mean_ns"] == 7.0
    assert served.since(export(1, 1, 7.0), export(1, 1, 7.0))["modeled"]["read"] is None


TOLD = """\
SQL statistics:
    transactions:                        160    (43.20 per sec.)
    queries:                             2560   (691.20 per sec.)
"""


def test_results_of_a_database_are_converted_to_device_time() -> None:
    found = Served(oltp.document(LOAD, TOLD, SERVER))
    assert found.requests == 160
    assert found.throughput.units_per_s == pytest.approx(43.20 * 100)
    assert found.wall_s == pytest.approx(160 / 43.20)
    assert found.server == {"answered": 220, "late": 3, "modeled": {}, "wall": {}}
    with pytest.raises(Error, match="unexpected output of sysbench: FATAL"):
        oltp.document(LOAD, "FATAL", SERVER)


def test_without_a_database_only_its_rows_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "missing", list)
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with Making(reading(alike)) as engine:
        found = work.conduct(work.targets("pcm-enterprise/oltp"), engine=engine, watch=None)
    assert {row["pass"] for row in found.listed} == {None}
    assert "apt install mariadb-server mariadb-client" in found.not_run["pcm-enterprise/oltp"]
    assert not engine.waves or not any(engine.waves)
    rows = verdicts(reproduced(reading(alike)))
    assert rows.pop("transport") is None
    assert set(rows.values()) == {True}


def test_runs_of_a_database_and_of_files_differ(job: Job) -> None:
    source = source_of(job.scenario)
    points = Points(source, {})
    tasks = [task_of(replace(job, transactions=n), source, points) for n in (0, 20, 30)]
    assert len({task.key for task in tasks}) == 3
    assert [task.load["transactions"] for task in tasks if isinstance(task, Serving)] == [0, 20, 30]


def test_transactions_need_a_served_device(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text('title = "none"\n')
    (tmp_path / "plan.toml").write_text(
        '[[runs]]\nname = "database"\nscenario = "small"\ntransactions = 2\n'
    )
    with pytest.raises(Error, match='give "dilate"'):
        read(tmp_path)


@pytest.mark.parametrize(
    "setting", ["read_share=50 %", "kind=zipf", "arrival.think=1 us", "arrival.kind=poisson"]
)
def test_a_workload_that_sysbench_cannot_run_is_rejected(job: Job, setting: str) -> None:
    path, _, value = setting.partition("=")
    settings: dict[str, Any] = {f"workload.{path}": value}
    if "poisson" in value:
        settings = {"workload.arrival": '{ kind = "poisson", rate = "1 Hz" }'}
    with fails_with("not-supported"):
        served.load_of(Job(job.scenario, tuple(settings.items()), dilate=1.0))


def test_a_group_is_either_mixed_or_served(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").write_text('title = "none"\n')
    (tmp_path / "plan.toml").write_text(
        '[[runs]]\nname = "both"\nscenario = "small"\nmixes = 2\ndilate = 2\n'
    )
    with pytest.raises(Error, match="give one"):
        read(tmp_path)


CHILD = "import os, sys, time; print(os.getpid(), file=open(sys.argv[1], 'w')); time.sleep(60)"


def test_a_served_run_ends_at_its_timeout(tmp_path: Path) -> None:
    started = [sys.executable, "-S", "-c", CHILD, str(tmp_path / "pid")]
    with fails_with("process-failed"):
        served.caged(started, limit_s=0.3)


def test_a_failure_has_a_reason() -> None:
    started = [sys.executable, "-S", "-c", "import sys; sys.exit('mount: no')"]
    with pytest.raises(Error, match="ended with 1: mount: no"):
        served.caged(started)


PARENT = """
import sys
from nacre.papers.running import oltp, served
served.caged([*served.CAGE, *sys.argv[1:]])
"""
NESTED = """
mount -t tmpfs nacre "$1" && touch "$1/inside" && touch "$2"
sleep 61.25 &
wait
"""


def test_a_served_run_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """The processes and mounts of a served run are in namespaces. If the parent is killed, the
    kernel ends these processes and removes the mounts."""
    if (
        os.geteuid()
        or not all(map(shutil.which, ("setpriv", "unshare", "mount")))
        or served._forbidden()
    ):
        pytest.skip("needs root, mounts, setpriv and unshare")
    place, told = tmp_path / "place", tmp_path / "told"
    place.mkdir()
    nested = ["sh", "-c", NESTED, "nested", str(place), str(told)]
    before = set(sleepers())
    with subprocess.Popen([sys.executable, "-c", PARENT, *nested]) as parent:
        while not (told.exists() and (begun := set(sleepers()) - before)):
            assert parent.poll() is None
            time.sleep(0.01)
        parent.kill()
    for pid in begun:
        gone(pid)
    assert list(place.iterdir()) == []
    assert not os.path.ismount(place)


def sleepers() -> list[int]:
    """Returns the sleeping processes that the test above has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\x0061.25\x00":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def gone(pid: int) -> None:
    """Waits until a process has exited. A zombie counts as exited."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.01)
    pytest.fail(f"process {pid} still runs")


def test_a_figure_with_skipped_rows_has_no_failure_status(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        command.carry_out(work.targets(FIGURE), None, as_json=True)
    except typer.Exit as end:
        pytest.fail(f"status {end.exit_code}")
