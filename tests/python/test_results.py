"""Tests the result directories of interrupted and failed runs."""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import nacre
import pytest
from nacre import kinds
from nacre.files.staging import Staging
from nacre.kinds import records
from nacre.kinds.records import FIGURE_FILES
from nacre.results.record import Record

TABLE = {
    "workload": {
        "kind": "uniform",
        "footprint": "64 MiB",
        "requests": 3000,
        "arrival": {"kind": "poisson", "rate": "30 kHz"},
    },
    "stack": {"preset": "emlc_ssd"},
}
TEXT = """\
schema = 1
[workload]
kind = "uniform"
footprint = "64 MiB"
requests = 3000
arrival = { kind = "poisson", rate = "30 kHz" }
[stack]
preset = "emlc_ssd"
"""
RECORD_FILES = ["latency.parquet", "record.json", "time.parquet"]


@pytest.fixture(scope="module")
def record() -> Record:
    return nacre.run(TABLE)


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def script(folder: Path, change: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `nacre` after the Python code `change`."""
    (folder / "small.toml").write_text(TEXT)
    (folder / "changed.py").write_text(
        f"import sys\nfrom nacre.cli import main\n{change}\nsys.argv[0] = 'nacre'\nmain()\n"
    )
    command = [sys.executable, "changed.py", *arguments]
    return subprocess.run(
        command, cwd=folder, text=True, capture_output=True, timeout=120, check=False
    )


def test_figures_of_an_earlier_run_are_removed_with_its_record(
    record: Record, tmp_path: Path
) -> None:
    record.save(tmp_path)
    for name in (*FIGURE_FILES, "notes.txt", "mine.svg"):
        (tmp_path / name).write_text("old")
    record.save(tmp_path)
    assert names(tmp_path) == sorted([*RECORD_FILES, "notes.txt", "mine.svg"])


def test_figures_of_an_earlier_run_are_kept_with_its_record(record: Record, tmp_path: Path) -> None:
    (tmp_path / "latency.svg").write_text("old")
    (tmp_path / "record.json").mkdir()
    (tmp_path / "record.json" / "in the way").write_text("")
    with pytest.raises(OSError, match="record"):
        record.save(tmp_path)
    assert not list(tmp_path.glob(".nacre-*"))


def test_drawing_stops_between_two_files_and_keeps_finished_figures(
    record: Record, tmp_path: Path
) -> None:
    asked: list[int] = []

    def third_time() -> bool:
        asked.append(1)
        return len(asked) == 3

    with Staging(tmp_path / "d") as staging:
        records.write(staging, record)
        assert names(tmp_path / "d") == sorted([staging._stage.name, *RECORD_FILES])
        assert not kinds.draw(record, staging.put, third_time)
    assert names(tmp_path / "d") == sorted([*RECORD_FILES, "latency.svg"])
    assert Record.load(tmp_path / "d") == record


def test_an_interrupt_while_figures_are_drawn_leaves_a_complete_record(tmp_path: Path) -> None:
    change = (
        "import os, signal, nacre.figures.export as export\n"
        "draw = export.svg\n"
        "def svg(*arguments):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return draw(*arguments)\n"
        "export.svg = svg\n"
    )
    done = script(tmp_path, change, "run", "small.toml", "--out", "d")
    assert done.returncode == 130
    assert done.stderr == "error: interrupted; the run is complete; figures are missing\n"
    assert "3,000 requests" in done.stdout
    assert "stopped early" not in done.stdout
    assert names(tmp_path / "d") == sorted([*RECORD_FILES, "latency.svg"])
    assert Record.load(tmp_path / "d").complete


def test_a_figure_that_does_not_fit_keeps_the_record(tmp_path: Path) -> None:
    largest = 60_000  # larger than the record, smaller than a PNG
    change = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({largest}, {largest}))\n"
    done = script(tmp_path, change, "run", "small.toml", "--out", "d", "--json")
    assert done.returncode == 1
    assert re.fullmatch(
        r"error: d/\w+\.(png|svg): the file would exceed the size limit of this system\n"
        r"error: the record is saved in d; its figures are missing\n",
        done.stderr,
    )
    assert Record.load(tmp_path / "d").to_dict() == json.loads(done.stdout)
    assert set(RECORD_FILES) <= set(names(tmp_path / "d"))
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != largest


@pytest.mark.parametrize(
    "failure",
    [
        "raise nacre.errors.InternalError("
        "'a bug in Nacre 0.1.0: assertion failed:\\n  left == right', 'bug')",
        "raise type('PanicException', (BaseException,), {})('assertion failed: left == right')",
    ],
)
def test_a_failed_assertion_of_the_model_is_one_line(tmp_path: Path, failure: str) -> None:
    change = (
        "import nacre, nacre.cli.run as command\n"
        f"def broken(*_, **__):\n    {failure}\n"
        "command.run_scenario = broken\n"
    )
    done = script(tmp_path, change, "run", "small.toml")
    assert done.returncode == 1
    assert re.fullmatch(
        r"error: this is a bug in Nacre 0\.1\.0: .*assertion failed: left == right.*;"
        r" please report it with the command you ran\n",
        done.stderr,
    )


NO_STACK = "threading.stack_size(1 << 46); threading.Thread(target=print).start()"
"""Code that requests a thread stack that is larger than any address space."""
BEGUN_TWICE = "thread = threading.Thread(target=print); thread.start(); thread.start()"


@pytest.mark.parametrize(
    ("failure", "code", "told"),
    [
        (
            NO_STACK,
            "out-of-threads",
            "the system allows no further process or thread; see the limits",
        ),
        ("raise MemoryError", "too-little-memory", "there is not enough memory"),
        (BEGUN_TWICE, "bug", "this is a bug in Nacre"),
        ("raise RuntimeError('no thread')", "bug", "this is a bug in Nacre"),
    ],
)
def test_a_system_error_is_not_a_bug(tmp_path: Path, failure: str, code: str, told: str) -> None:
    change = (
        "import threading, nacre.cli.run as command\n"
        f"def broken(*_, **__):\n    {failure}\n"
        "command.run_scenario = broken\n"
    )
    done = script(tmp_path, change, "run", "small.toml", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout[done.stdout.index("{") :])["code"] == code
    assert done.stderr.startswith(f"error: {told}")
    assert done.stderr.count("\n") == 1


def test_an_error_without_a_file_is_not_blamed_on_standard_output(tmp_path: Path) -> None:
    change = (
        "import nacre.cli.run as command\n"
        "def broken(*_, **__):\n    raise OSError('/tmp: it is a directory')\n"
        "command.run_scenario = broken\n"
    )
    done = script(tmp_path, change, "run", "small.toml", "--json")
    assert done.returncode == 1
    assert done.stderr == "error: /tmp: it is a directory\n"
    assert json.loads(done.stdout) == {
        "error": "/tmp: it is a directory",
        "code": "os-error",
        "data": {},
        "problems": [],
    }
