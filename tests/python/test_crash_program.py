"""Tests `nacre crash` with a program: interrupts, programs that are never ready, and processes that
outlive the program."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from serving import NACRE, scenario, until

SOON_S = 60
"""Timeout in seconds, which is longer than any correct wait in these tests."""
FOREVER = "sleep 600"


@pytest.fixture
def device(tmp_path: Path) -> str:
    """Returns the scenario of a device on which every acknowledged write is durable."""
    return str(scenario(tmp_path, mib=1))


def begun(*arguments: str) -> subprocess.Popen[str]:
    """Starts `nacre crash` with these arguments."""
    return subprocess.Popen(
        [str(NACRE), "crash", *arguments],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ended(process: subprocess.Popen[str], within_s: float = SOON_S) -> tuple[int, str, str]:
    """Waits until the process exits. Returns its exit status and its output."""
    try:
        out, err = process.communicate(timeout=within_s)
    finally:
        process.kill()
    return process.returncode, " ".join(out.split()), err


def is_alive(pid: int) -> bool:
    """Returns whether a process exists and has not exited."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def noted(path: Path) -> int:
    """Waits for a file that a program writes. Returns the process ID in the file."""
    until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_check_is_not_a_violation(
    device: str, tmp_path: Path, number: signal.Signals
) -> None:
    note = tmp_path / "check"
    check = f"echo $$ > {note}; {FOREVER}"
    process = begun(device, "--within", "0", "--check", check, "--", "true")
    pid = noted(note)
    process.send_signal(number)
    status, out, err = ended(process)
    assert status == 130, err
    assert "interrupted: 0 of 10 power losses were tested" in err
    assert "failed" not in out
    assert not is_alive(pid)


def test_a_check_that_is_ended_by_the_same_signal_is_not_a_violation(
    device: str, tmp_path: Path
) -> None:
    """A service manager sends the stop signal to every process at once, so the check may end before
    `nacre crash`. A check that was stopped by this signal does not count as failed."""
    note = tmp_path / "check"
    process = begun(
        device, "--within", "0", "--check", f"echo $$ > {note}; {FOREVER}", "--", "true"
    )
    pid = noted(note)
    process.send_signal(signal.SIGTERM)
    os.killpg(pid, signal.SIGTERM)
    status, out, err = ended(process)
    assert status == 130, err
    assert "failed" not in out


def test_an_interrupted_program_can_clean_up(device: str, tmp_path: Path) -> None:
    note, away = tmp_path / "program", tmp_path / "away"
    program = f"trap 'touch {away}; exit' TERM; echo $$ > {note}; while :; do sleep 0.1; done"
    process = begun(device, "--within", "600", "--", "sh", "-c", program)
    pid = noted(note)
    process.send_signal(signal.SIGTERM)
    status, out, err = ended(process)
    assert status == 130, err
    assert "power was cut 0 times" in out, "the round was cut short"
    assert away.exists()
    assert not is_alive(pid)


def test_a_program_that_never_gets_ready_is_an_error(device: str) -> None:
    options = ("--within", "0.1", "--ready", "--ready-timeout", "0.3")
    status, out, err = ended(begun(device, *options, "--check", "true", "--", "sleep", "600"))
    assert status == 1
    assert "round 1: the program did not create $NACRE_READY within 0.3 s" in err
    assert not out
    assert kept(err).exists()


def test_a_program_that_ends_before_it_is_ready_is_an_error(device: str) -> None:
    options = ("--within", "0.1", "--ready", "--check", "true")
    program = 'test "$NACRE_ROUND" = 1 && exit 7; touch "$NACRE_READY"; sleep 1'
    status, out, err = ended(begun(device, *options, "--", "sh", "-c", program))
    assert status == 1
    assert "round 2: the program ended with status 7 before it created $NACRE_READY" in err
    assert not out
    assert kept(err).exists()


def kept(err: str) -> Path:
    """Returns the path of the image that an error names."""
    return Path(err.rpartition("is kept in ")[2].strip()) / "device.img"


def test_ready_timeout_without_ready_is_rejected(device: str) -> None:
    status, _, err = ended(begun(device, "--ready-timeout", "3", "--", "true"))
    assert status == 2
    assert "--ready-timeout" in err
    assert "add: --ready" in err


OUTLIVES = """
import os, sys, time
note, how = sys.argv[1], sys.argv[2]
clears = how != "outlives"
if os.fork() == 0:
    os.setsid()
    if how != "clears" and os.fork():
        os._exit(0)
    code = f"import os, time; open({note!r}, 'w').write(f'{{os.getpid()}}\\\\n'); time.sleep(600)"
    os.execve(sys.executable, [sys.executable, "-c", code], {} if clears else dict(os.environ))
while not os.path.exists(note):
    time.sleep(0.01)
open(os.environ["NACRE_READY"], "w").close()
time.sleep(1 if clears else 0)
"""


@pytest.mark.parametrize("how", ["outlives", "clears", "both"])
def test_no_process_of_a_program_is_left_running(device: str, tmp_path: Path, how: str) -> None:
    """The program leaves a process behind in a separate session. The process has lost its parent,
    its environment variables, or both. `nacre crash` kills this process, too."""
    (tmp_path / "outlives.py").write_text(OUTLIVES)
    note = tmp_path / "survivor"
    program = [sys.executable, str(tmp_path / "outlives.py"), str(note), how]
    options = ("--within", "0", "--ready", "--times", "1")
    check = f"! grep -q . /proc/$(cat {note})/cmdline"
    status, out, err = ended(begun(device, *options, "--check", check, "--", *program))
    assert status == 0, out + err
    assert not is_alive(noted(note))


def test_processes_left_by_a_check_are_not_waited_for(device: str, tmp_path: Path) -> None:
    note = tmp_path / "left"
    check = f"setsid sh -c 'echo $$ > {note}; {FOREVER}' & while ! test -s {note}; do :; done"
    status, out, err = ended(
        begun(device, "--within", "0", "--times", "1", "--check", check, "--", "true")
    )
    assert status == 0, err
    assert "the check passed 1 times" in out
    assert not is_alive(noted(note))


WRITES = """
import os, sys
sys.path.insert(0, {folder!r})
from nbd_client import Client, NbdError
with Client(os.environ["NACRE_URI"]) as client:
    for turn in range(1, 1 << 20):
        block = turn % 256
        is_written = False
        while not is_written:
            try:
                now = (turn >> 8).to_bytes(4, "big") + bytes([block % 255 + 1]) * 4092
                client.write(4096 * block, now)
                if turn % 16 == 0:
                    client.flush()
                is_written = True
            except NbdError:
                pass
        if turn == 256:
            open(os.environ["NACRE_READY"], "w").close()
"""
READS = """
import os, sys
sys.path.insert(0, {folder!r})
from nbd_client import Client
with Client(os.environ["NACRE_URI"]) as client:
    passes = []
    for block in range(256):
        found = client.read(4096 * block, 4096)
        passes.append(int.from_bytes(found[:4], "big"))
        if found[4:] != bytes([block % 255 + 1]) * 4092:
            sys.exit(f"block {{block}} holds {{found[4:5]}}")
        # Blocks of the interrupted pass come first, then blocks of the pass before.
        if passes[-1] not in (passes[0], passes[0] - 1) or passes[-1] > min(passes):
            sys.exit(f"block {{block}} holds what pass {{passes[-1]}} wrote")
"""


def under_faults(
    device: str, tmp_path: Path, *faults: str, times: int = 2, recovery: float = 0.0
) -> tuple[int, dict[str, Any]]:
    """Runs `nacre crash` with a program that writes 256 blocks repeatedly, and a check that each
    block holds its last write. Returns the exit status and the document."""
    for name, text in (("writes", WRITES), ("reads", READS)):
        (tmp_path / name).write_text(text.format(folder=str(Path(__file__).parent)))
    options = ["--json", "--ready", "--within", "0.3", "--times", str(times)]
    options += ["--recovery", str(recovery), "--check", f"{sys.executable} {tmp_path / 'reads'}"]
    named = [word for fault in faults for word in ("--fault", fault)]
    program = [sys.executable, str(tmp_path / "writes")]
    # Two rounds start a dozen interpreters, one after another.
    status, out, err = ended(begun(device, *options, *named, "--", *program), 4 * SOON_S)
    assert out, err
    return status, json.loads(out)


@pytest.mark.parametrize("fault", ["lost_program", "misdirected_program"])
def test_medium_faults_affect_the_program_and_the_check_detects_them(
    device: str, tmp_path: Path, fault: str
) -> None:
    status, found = under_faults(device, tmp_path, fault)
    last = found["rounds"][-1]
    struck = sum(each["touched"] for of in found["rounds"] for each in of["faults"])
    assert struck > 0
    assert [of["kind"] for of in last["faults"]] == [fault]
    assert (status, found["failed"]) == (1, 1)
    assert "holds" in last["said"]
    shutil.rmtree(found["kept"])


def test_device_faults_are_active_only_while_the_program_runs(device: str, tmp_path: Path) -> None:
    late = 'delay, latency = "2 ms", operations = ["flush"]'
    status, found = under_faults(
        device, tmp_path, late, 'error, operations = ["write"], every = 50'
    )
    assert (status, found["failed"]) == (0, 0)
    for of in found["rounds"]:
        delay, error = of["faults"]
        assert (delay["kind"], error["kind"]) == ("delay", "error")
        assert delay["touched"] > 0
        assert error["errors"] == error["touched"] > 0
        assert delay["silent_bytes"] == error["silent_bytes"] == 0


def test_power_also_fails_during_recoveries(device: str, tmp_path: Path) -> None:
    status, found = under_faults(device, tmp_path, recovery=1.0)
    assert (status, found["failed"]) == (0, 0)
    assert all(of["recovering"] for of in found["rounds"])
    first, second = found["rounds"]
    assert first["check_cut_s"] is None, "how long a check takes is not known yet"
    assert second["check_cut_s"] > 0


def test_an_impossible_fault_is_reported_before_the_program_runs(
    device: str, tmp_path: Path
) -> None:
    note = tmp_path / "ran"
    for fault, said in (
        ("gremlin", "gremlin"),
        ("stall, duration = 5 s", "its settings are not TOML"),
        ('error, share = "120 %"', "share"),
    ):
        status, _, err = ended(begun(device, "--fault", fault, "--", "touch", str(note)))
        assert status == 2, err
        assert said in err
    assert not note.exists()
