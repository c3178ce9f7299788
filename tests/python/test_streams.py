"""Tests the command line with streams that are closed, full, or narrow, or have another
encoding."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import nacre
import pytest

SCENARIO = """\
schema = 1
name = "NAME"
[workload]
kind = "uniform"
footprint = "64 MiB"
read_share = "70 %"
requests = 5_000
arrival = { kind = "poisson", rate = "30 kHz" }
[stack]
preset = "emlc_ssd"
"""
RECORD_FILES = {"record.json", "latency.parquet", "time.parquet"}


@pytest.fixture(autouse=True)
def scenario(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO.replace("NAME", "small"))
    (tmp_path / "named.toml").write_text(SCENARIO.replace("NAME", r"caf\u00e9 \u001b[31m\u20ac"))


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command that can call `nacre`."""
    line = f'nacre() {{ "{sys.executable}" -m nacre "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder, env=os.environ | environment, text=True, capture_output=True, timeout=120,
        check=False,
    )  # fmt: skip


def on_terminal(columns: int, folder: Path, *arguments: str) -> str:
    """Returns the output of a command on a terminal of the given width."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "nacre", *arguments],
        cwd=folder, env=environment | {"TERM": "xterm"}, stdout=terminal,
    )  # fmt: skip
    os.close(terminal)
    written = b""
    while chunk := _read(control):
        written += chunk
    os.close(control)
    assert process.wait(timeout=120) == 0
    return written.decode()


def _read(control: int) -> bytes:
    try:
        return os.read(control, 65536)
    except OSError:  # Linux reports this when the other end is closed
        return b""


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("flag", ["", "--json"])
def test_a_closed_pipe_keeps_the_results(tmp_path: Path, flag: str) -> None:
    done = shell(f"nacre run small.toml --out d {flag} | true; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert done.returncode in (0, 141)  # `true` may exit late
    assert done.stderr == ""
    assert nacre.results.Record.load(tmp_path / "d").complete


def test_a_pipe_closed_before_the_start_keeps_the_results(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "nacre", "run", "small.toml", "--out", "e"]
    gone = subprocess.run(command, cwd=tmp_path, stdout=writing, check=False, timeout=120)
    os.close(writing)
    assert gone.returncode == 141
    assert nacre.results.Record.load(tmp_path / "e").complete


def test_a_full_standard_output_keeps_the_results(tmp_path: Path) -> None:
    done = shell("nacre run small.toml --out d > /dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: the disk is full")
    assert nacre.results.Record.load(tmp_path / "d").complete


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_not_a_bug(tmp_path: Path, closed: str) -> None:
    done = shell(f"nacre run small.toml --out d {closed}", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert nacre.results.Record.load(tmp_path / "d").complete
    assert shell(f"nacre run nowhere.toml {closed}", tmp_path).returncode == 2


@pytest.mark.parametrize("option", ["--help", "--version", "run --help"])
def test_help_that_cannot_be_written_is_one_line(tmp_path: Path, option: str) -> None:
    done = shell(f"nacre {option} > /dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: the disk is full")
    assert done.stderr.count("\n") == 1


def test_an_interrupt_while_the_commands_are_loaded_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "early.py").write_text(
        "import sys\nfrom nacre.cli import main\n"
        "class Impatient:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'nacre.cli.app': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\nmain()\n"
    )
    done = shell(f'"{sys.executable}" early.py', tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("command", ["mixes tiers", "trace mrc pgbench"])
@pytest.mark.parametrize("place", ["numpy", "NumpyVersion"])
def test_an_interrupt_while_numpy_is_loaded_is_no_bug(
    tmp_path: Path, command: str, place: str
) -> None:
    impatient = (
        "class Impatient:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'numpy': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\n"
        if place == "numpy"
        else "import numpy.lib\n"
        "def impatient(_):\n"
        "    raise KeyboardInterrupt\n"
        "numpy.lib.NumpyVersion = impatient\n"
    )
    (tmp_path / "early.py").write_text(
        f"import sys\nfrom nacre.cli import main\n{impatient}main()\n"
    )
    done = shell(f'"{sys.executable}" early.py {command}', tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "error: interrupted\n")


def test_a_limited_encoding_gets_escapes_and_equal_json(tmp_path: Path) -> None:
    done = shell("nacre run named.toml --out d", tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert r"caf\xe9" in done.stdout
    printed = shell("nacre run named.toml --json", tmp_path, PYTHONIOENCODING="ascii")
    assert json.loads(printed.stdout)["name"] == "caf\u00e9 \x1b[31m\u20ac"


@pytest.mark.parametrize("name", ["bad\\xff.toml", "nowhere\\xff.toml", "nothing\\xff"])
def test_names_that_are_not_utf_8_are_not_a_bug(tmp_path: Path, name: str) -> None:
    (tmp_path / os.fsdecode(b"bad\xff.toml")).write_text(SCENARIO)
    done = shell(f"nacre check $'{name}'", tmp_path)
    assert done.returncode == (0 if name.startswith("bad") else 2), done.stderr
    assert "bug" not in done.stderr


def test_results_can_be_saved_under_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    made = shell(
        "nacre run small.toml --out $'o\\xff' && nacre report $'o\\xff' --html p", tmp_path
    )
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "p").read_text().count("<h2>") == 1


def test_a_name_cannot_send_control_characters_to_the_terminal(tmp_path: Path) -> None:
    shown = on_terminal(100, tmp_path, "run", "named.toml")
    assert r"\x1b[31m" in shown
    assert "\x1b[31m" not in shown
    wrong = shell("nacre run $'no\\x1b[2Jsuch'", tmp_path)
    assert r"no\x1b[2Jsuch" in wrong.stderr
    assert "\x1b" not in wrong.stderr


@pytest.mark.parametrize("columns", [80, 60])
def test_numbers_and_paths_are_not_wrapped_on_a_narrow_terminal(
    tmp_path: Path, columns: int
) -> None:
    settings = ["--set", "workload.requests=20000", "--set", "run.warm_up=0"]
    piped = shell(f"nacre run server-cache-zipf {' '.join(settings)}", tmp_path).stdout
    arguments = ["run", "server-cache-zipf", *settings]
    shown = plain(on_terminal(columns, tmp_path, *arguments))
    assert max(map(len, shown.splitlines())) <= columns
    latencies = next(line for line in piped.splitlines() if line.startswith("reads"))
    for cell in re.split(r"  +", latencies):
        assert cell in shown
    for word in ("stack.level[0].device", "server_cache", "write_misses", "bytes_written"):
        assert word in shown
    for number in re.findall(r"\b\d+,\d+\b", piped):
        assert number in shown


def test_a_table_too_wide_for_the_terminal_becomes_a_list(tmp_path: Path) -> None:
    shown = plain(on_terminal(40, tmp_path, "check", "small.toml"))
    assert re.search(r"^stack\.read\.latency\r\n  is +\S+ us\r\n", shown, re.MULTILINE)


def test_a_boolean_is_shown_as_in_toml(tmp_path: Path) -> None:
    shown = shell("nacre check server-cache", tmp_path).stdout
    assert re.search(r"^workload\.strict +(true|false) ", shown, re.MULTILINE)


def test_json_output_contains_the_errors(tmp_path: Path) -> None:
    for verb in ("check", "run"):
        done = shell(f"nacre {verb} small.toml --set wrklod.x=1 --set nonsense --json", tmp_path)
        assert done.returncode == 2
        answer = json.loads(done.stdout)
        assert done.stderr == "".join(f"error: {line}\n" for line in answer["error"].split("\n"))
        assert [problem["path"] for problem in answer["problems"]] == ["--set", "wrklod"]
    missing = shell("nacre run nowhere.toml --json", tmp_path)
    assert json.loads(missing.stdout)["problems"] == []


@pytest.mark.parametrize("place", ["''", "-"])
def test_an_output_needs_a_name(tmp_path: Path, place: str) -> None:
    before = sorted(tmp_path.iterdir())
    for command in ("nacre run small.toml --out", "nacre report x --html"):
        done = shell(f"{command} {place}", tmp_path)
        assert done.returncode == 2
        assert "name" in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("seed", "bound"), [(-1, 0), (2**63, 2**63 - 1)])
def test_a_seed_out_of_range_is_a_user_error(tmp_path: Path, seed: int, bound: int) -> None:
    done = shell(f"nacre run small.toml --seed {seed}", tmp_path)
    assert done.returncode == 2
    assert re.search(rf"--seed.*\b{bound}\b", done.stderr)
