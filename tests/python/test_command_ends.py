"""Tests that every command exits soon after Ctrl-C, SIGTERM, or SIGHUP, and that its finished
results can be read. Before the signal, the command listens only where docs/security.md allows it.

Limits are in processor time, which does not depend on other load on the machine. The tests find
commands that continue to work, or that wait for an event that never occurs.
"""

from __future__ import annotations

import fcntl
import os
import pty
import resource
import signal
import socket
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import nacre
import psutil
import pytest
import typer.main
from exploring import ENDLESS, SMALL
from listening import listening, sockets
from nacre.base import toml
from nacre.cli import main
from nacre.cli.app import app
from nacre.cli.failure import INTERRUPTED
from nacre.cli.interrupt import Interruption
from nacre.interop.mqsim import comparison
from serving import NACRE, scenario, until
from test_mqsim import DRIVE, SYNTHETIC, files
from typer.core import TyperGroup
from typer.testing import CliRunner

BEGAN = 128166372003061629
"""Time of the first request of a trace in the Microsoft format, in units of 100 ns."""
WORKED_S = 0.7
"""Processor time in seconds after which a command counts as started."""
ENDS_S = 1.0
"""Maximum processor time in seconds per processor from the signal to the exit."""

BRIEF = {
    "check",
    "catalog list",
    "catalog show",
    "describe",
    "new",
    "schema",
    "step",
    "import fio",
    "import mqsim",
    "trace formats",
}
"""Commands that read a few lines and finish immediately."""

BETWEEN_PARTS = {"image check", "image repair"}
"""Commands that take long only for images of several gigabytes. A signal stops these commands
between two parts of the image (see the test `what_is_ended_leaves_the_image_and_no_copy` in the
crate `nacre-image`)."""

TIERS = {
    "workload": ENDLESS["workload"],
    "stack": {
        "kind": "tiers",
        "capacity": "1 GiB",
        "extent": "1 MiB",
        "migration_bandwidth": "100 kB/s",
        "placement": {"kind": "dynamic", "epoch": "4 h", "least_saving": "1 ms"},
        "tier": [
            {"share": "50 %", "device": {"preset": "pcm_ssd"}},
            {"share": "50 %", "device": {"preset": "disk_15k_kim"}},
        ],
    },
}
STUDY = {
    "scenario": ENDLESS,
    "axis": [
        {"name": "asked", "path": "workload.requests", "values": [1000, 10**12]},
        {"path": "stack.read", "values": ["1 us", "2 us"]},
    ],
}


def ended(process: subprocess.Popen[bytes]) -> tuple[int, int, resource.struct_rusage]:
    """Waits until the process exits. Returns the process ID, the exit status, and the processor
    time of the process and its children."""
    until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
    number, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return number, process.returncode, usage


@dataclass
class Case:
    """A command that runs until a signal stops it."""

    arguments: str
    begins: str = "working"
    """Condition that means that the command has finished its start: `working`, or a line of its
    standard output. A `reading` command receives a trace on standard input. An `asking` command has
    sent a request to a server that never replies."""
    check: Callable[[Path], None] = lambda _folder: None
    statuses: tuple[int, ...] = (130,)
    worked_s: float = WORKED_S
    listens: int = 0
    """Number of TCP ports on which the command listens, all on the loopback address."""
    sockets: tuple[str, ...] = ()
    """Unix sockets on which the command listens."""


def is_record(folder: Path) -> None:
    record = nacre.results.Record.load(folder / "out")
    assert record.complete is False
    assert record.requests.completed > 0


def is_study(folder: Path) -> None:
    points = list((folder / "out").rglob("*.parquet"))
    assert points, "finished points are saved"


def is_image(folder: Path) -> None:
    assert nacre.devices.images.check(folder / "new.img").is_good


def is_nothing(folder: Path) -> None:
    assert not [path for path in folder.iterdir() if "out" in path.name]


def ctl(arguments: str) -> Case:
    return Case(f"ctl {arguments}", "asking")


CASES = {
    "run": Case("run endless.toml --out out", check=is_record),
    "crash": Case("crash device.toml --points 1000000000 --out out"),
    "mixes": Case("mixes tiers.toml --out out", check=is_nothing),
    "reproduce": Case("reproduce envy --out out"),
    "study": Case("study study.toml --out out", check=is_study, worked_s=3.0),
    "report": Case(f"report {' '.join(f'r{n}' for n in range(60))} --html page.html"),
    "explore": Case("explore --out out", "Ctrl-C", statuses=(0,), listens=1),
    "serve": Case(
        "serve device.toml new.img",
        "Ctrl-C",
        check=is_image,
        statuses=(0,),
        sockets=("new.img.sock", "new.img.ctl"),
    ),
    "compare mqsim": Case("compare mqsim ssd.xml workload.xml"),
    "trace info": Case("trace info -", "reading"),
    "trace mrc": Case("trace mrc - -o out.csv", "reading", check=is_nothing),
    "trace convert": Case("trace convert - -o out.nacre", "reading", check=is_nothing),
    "trace sample": Case("trace sample - --fraction 0.5 -o out.nacre", "reading", check=is_nothing),
    "trace fit": Case("trace fit -", "reading"),
    "ctl stats": ctl("stats mute.img"),
    "ctl wear": ctl("wear mute.img"),
    "ctl record": ctl("record mute.img out.nacre"),
    "ctl power-fail": ctl("power-fail mute.img"),
    "ctl media-error": ctl("media-error mute.img 0 512"),
    "ctl fault add": ctl("fault add mute.img stall"),
    "ctl fault list": ctl("fault list mute.img"),
    "ctl fault clear": ctl("fault clear mute.img"),
    "ctl step": ctl("step mute.img read:0:512"),
    "ctl snapshot": ctl("snapshot mute.img copy.img"),
    "ctl stop": ctl("stop mute.img"),
}


MORE = {"trace mrc --policy": Case("trace mrc pgbench --policy all -o out.csv", check=is_nothing)}
"""Commands that work differently with an option."""


def commands(group: TyperGroup, before: str = "") -> Iterator[str]:
    """Yields the full name of each command."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def test_every_command_is_interrupted_by_a_test_or_is_short() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    assert sorted(commands(group)) == sorted([*BRIEF, *BETWEEN_PARTS, *CASES])


@pytest.fixture(scope="module")
def inputs(folder: Path) -> Path:
    """Returns a folder with the input files of the commands."""
    documents: dict[str, Mapping[str, object]] = {
        "small": SMALL,
        "endless": ENDLESS,
        "tiers": TIERS,
        "study": STUDY,
    }
    for name, document in documents.items():
        (folder / f"{name}.toml").write_text(toml.document(document))
    scenario(folder, "device")
    record = nacre.run(SMALL)
    for number in range(60):
        record.save(folder / f"r{number}")
    files(folder, DRIVE, SYNTHETIC)
    rival = folder / comparison.PROGRAM
    rival.write_text("#!/bin/sh\nwhile :; do :; done\n")
    rival.chmod(0o755)
    return folder


def fed(process: subprocess.Popen[bytes]) -> None:
    """Writes an endless trace to the standard input of the process."""
    assert process.stdin is not None
    line = "{},host,0,Read,{},4096,100\n".format
    with suppress(BrokenPipeError, ValueError):
        for part in range(10**6):
            numbers = range(1000 * part, 1000 * part + 1000)
            lines = (line(BEGAN + 100 * n, 4096 * (n * 7919 % 500000)) for n in numbers)
            process.stdin.write("".join(lines).encode())


def took(process: psutil.Process) -> float:
    """Returns the processor time of the process and its children so far, in seconds."""
    spent = 0.0
    for one in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            spent += times.user + times.system
    return spent


ASKED: list[socket.socket] = []
"""Connections that never receive a reply."""


def has_begun(process: subprocess.Popen[bytes], case: Case, mute: socket.socket) -> None:
    if case.begins == "asking":
        asked, _ = mute.accept()
        assert asked.recv(1000).endswith(b"\n")
        ASKED.append(asked)
    elif case.begins in ("working", "reading"):
        known = psutil.Process(process.pid)
        until(lambda: process.poll() is not None or took(known) > case.worked_s)
    else:
        assert process.stdout is not None
        assert any(case.begins.encode() in line for line in process.stdout)
    assert process.poll() is None, f"it ended by itself: {process.communicate()[0].decode()}"


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
"""Signals that all commands handle in the same way (`nacre.cli.interrupt`). Each command is tested
with one signal."""


ENDED = [
    *zip(CASES | MORE, cycle(SIGNALS), strict=False),
    *((name, signal.SIGHUP) for name in ("run", "study", "explore", "serve")),
]


@pytest.mark.parametrize(("name", "number"), ENDED)
def test_a_signal_ends_the_command_and_keeps_finished_results(
    name: str,
    number: signal.Signals,
    inputs: Path,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    case = (CASES | MORE)[name]
    for path in inputs.iterdir():
        (tmp_path / path.name).symlink_to(path)
    with socket.socket(socket.AF_UNIX) as mute:
        mute.bind(str(tmp_path / "mute.img.ctl"))
        mute.listen()
        mute.settimeout(20)
        process = subprocess.Popen(
            [NACRE, *case.arguments.split()],
            cwd=tmp_path,
            env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            feeder = threading.Thread(target=fed, args=[process], daemon=True)
            if case.begins == "reading":
                feeder.start()
            has_begun(process, case, mute)
            doors = [host for host, _ in listening(process.pid)]
            assert doors == ["127.0.0.1"] * case.listens
            assert {path.name for path in sockets(process.pid)} == set(case.sockets)
            spent, began = took(psutil.Process(process.pid)), time.monotonic()
            process.send_signal(number)
            _, status, usage = ended(process)
            wall = time.monotonic() - began
        finally:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError, ValueError):
                    pipe.close()  # type: ignore[union-attr]  # both are pipes
    more = usage.ru_utime + usage.ru_stime - spent
    record_property("wall_s", f"{wall:.2f}")
    record_property("processor_s", f"{more:.2f}")
    assert status in case.statuses, status
    assert more < ENDS_S * (os.cpu_count() or 1)
    case.check(tmp_path)


def test_closing_the_terminal_keeps_finished_results(inputs: Path, tmp_path: Path) -> None:
    """If the terminal closes during a run, the run stops and saves its record, although writes of
    its progress bar fail."""
    terminal, its_end = pty.openpty()
    process = subprocess.Popen(
        [NACRE, "run", str(inputs / "endless.toml"), "--out", "out"],
        cwd=tmp_path,
        stdin=its_end,
        stdout=its_end,
        stderr=its_end,
        env=os.environ | {"TERM": "xterm"},
        preexec_fn=owns_terminal,
    )
    os.close(its_end)
    try:
        shown = b""
        while b"simulating" not in shown:
            shown += os.read(terminal, 1000)
        os.close(terminal)
        _, status, _ = ended(process)
    finally:
        process.kill()
    assert status != -signal.SIGHUP
    is_record(tmp_path)


def owns_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_under_nohup_a_command_continues(inputs: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        ["nohup", str(NACRE), "run", str(inputs / "endless.toml"), "--out", "out"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        known = psutil.Process(process.pid)
        until(lambda: took(known) > WORKED_S)
        process.send_signal(signal.SIGHUP)
        spent = took(known)
        until(lambda: process.poll() is not None or took(known) > spent + WORKED_S)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _, status, _ = ended(process)
    finally:
        process.kill()
    assert status == INTERRUPTED
    is_record(tmp_path)


MUTE = {
    "run": "run mute",
    "check": "check mute",
    "crash": "crash mute",
    "serve": "serve mute a.img",
    "serve --export": "serve device.toml a.img --export b=mute:b.img",
    "study": "study mute",
    "mixes": "mixes mute",
    "run --from": "run small.toml --from mute",
    "workload.file": 'run device.toml --set workload={kind="trace",file="mute"}',
    "trace info": "trace info mute",
    "trace mrc": "trace mrc mute",
    "import fio": "import fio mute",
}
"""Commands that read from a pipe that has no writer."""


@pytest.mark.parametrize(("name", "number"), list(zip(MUTE, cycle(SIGNALS), strict=False)))
def test_a_command_ends_while_it_waits_for_a_pipe(
    name: str, number: signal.Signals, inputs: Path, tmp_path: Path
) -> None:
    for path in inputs.iterdir():
        (tmp_path / path.name).symlink_to(path)
    os.mkfifo(tmp_path / "mute.toml")
    arguments = MUTE[name].replace("mute", str(tmp_path / "mute.toml")).split()
    process = subprocess.Popen([NACRE, *arguments], cwd=tmp_path, stderr=subprocess.PIPE)
    writing: list[int] = []
    try:
        until(lambda: process.poll() is not None or is_read(tmp_path / "mute.toml", writing))
        assert process.poll() is None, process.communicate()
        process.send_signal(number)
        _, status, _ = ended(process)
    finally:
        process.kill()
        process.communicate()
        for handle in writing:
            os.close(handle)
    assert status == INTERRUPTED
    assert not (tmp_path / "a.img").exists()


def is_read(pipe: Path, writing: list[int]) -> bool:
    """Returns whether the pipe has a reader. Opens the pipe for writing, but writes nothing."""
    with suppress(OSError):
        writing.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    return bool(writing)


def test_a_state_is_not_saved_to_a_pipe(inputs: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mute")
    state = str(tmp_path / "mute")
    command = [str(NACRE), "run", str(inputs / "small.toml"), "--save-state", state]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stdout
    assert "not a saved state" in done.stderr


def test_the_first_ctrl_c_ends_immediately_without_results() -> None:
    with Interruption(nothing_yet=True) as begun:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert not begun.asked
        begun.leaves_something()
        signal.raise_signal(signal.SIGTERM)
        assert begun.asked
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_a_run_that_is_interrupted_before_it_starts_ends_immediately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it continues and builds a stack")

    monkeypatch.setattr("nacre.cli.run.run_scenario", built)
    done = CliRunner().invoke(app, ["run", "disk-15k", "--out", str(tmp_path / "out")])
    assert done.exit_code == INTERRUPTED
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["heed", "app"])
def test_ctrl_c_during_start_up_ends_without_a_traceback(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nacre.cli.app.heed", lambda: None)
    monkeypatch.setattr(f"nacre.cli.app.{place}", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == INTERRUPTED
