"""Tests the power-loss tests of devices, from Python and from the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nacre
import pytest
from drawing import makers
from nacre.errors import ConfigError
from nacre.kinds.reports import _others_side_by_side
from serving import NACRE, scenario

CACHED = """
schema = 1
[workload]
kind = "uniform"
requests = 1
footprint = "1 MiB"
[stack]
kind = "hdd"
capacity = "3 MiB"
rotation = "15000 /min"
heads = 1
track_to_track_seek = "0.2 ms"
average_seek = "3.4 ms"
full_stroke_seek = "6.6 ms"
outer_rate = "200 MB/s"
inner_rate = "120 MB/s"
write_cache = "64 KiB"
"""


@pytest.fixture
def disk(tmp_path: Path) -> str:
    """Returns the scenario of a disk with a volatile write cache."""
    path = tmp_path / "cached.toml"
    path.write_text(CACHED)
    return str(path)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `nacre crash` with these arguments, and waits until it exits."""
    return subprocess.run(
        [str(NACRE), "crash", *arguments], text=True, capture_output=True, timeout=250, check=False
    )


def test_a_volatile_cache_loses_unflushed_data_and_reports_it(disk: str) -> None:
    found = nacre.crash(disk, points=1_000)
    tried = next(each for each in found.faults if each.fault == "power_loss")
    assert found.finding is None
    assert found.points >= 1_000
    assert found.guarantees.persistence == "on_flush"
    assert tried.guarantee == "survives"
    assert tried.stale_blocks >= tried.lost_reported > 0
    assert found.branches.bytes_lost > 0
    assert sum(times for _, times in found.recovery.bars) == found.recovery.count


def test_a_seed_reproduces_its_results(disk: str) -> None:
    first, second, other = (nacre.crash(disk, points=300, seed=seed) for seed in (3, 3, 4))
    assert first == second
    assert first.requests != other.requests


def test_undetectable_faults_are_counted_and_violate_no_guarantee(disk: str) -> None:
    found = nacre.crash(disk, points=1_000, faults=["misdirected_program"])
    tried = next(each for each in found.faults if each.fault == "misdirected_program")
    assert tried.guarantee == "no means of detection"
    assert tried.injected > 0
    assert tried.lost_silently > 0
    assert found.finding is None


def test_silent_corruption_is_reported_first_and_is_not_a_success(
    disk: str, tmp_path: Path
) -> None:
    options = ("--points", "1000", "--fault", "misdirected_program")
    done = command(disk, *options, "--out", str(tmp_path / "out"))
    found = nacre.results.Crash.load(tmp_path / "out")
    assert (found.finding, found.is_good) == (None, False)
    assert done.returncode == 1
    first, *rest = done.stdout.splitlines()
    assert first == (
        f"In {found.silent} of {found.device_runs} device runs the device returned corrupted data"
        " without an error, through misdirected program"
    )
    assert "no durability guarantee was violated: the device cannot detect those faults" in rest
    headline = found.summary().headline
    assert headline[0] == f"{first}."
    page = (tmp_path / "out" / "crash.html").read_text()
    for text in (done.stdout, page, *headline):
        assert "every durability guarantee held" not in text
    lines = _others_side_by_side({"a": found, "b": found})
    assert "silent corruption" in lines
    assert "<td>kept" not in lines


def test_a_device_given_as_a_table_has_a_name() -> None:
    workload = {"kind": "uniform", "footprint": "1 MiB", "requests": 1}
    stack = {"kind": "measured", "capacity": "1 MiB", "read": "10 us", "write": "20 us"}
    unnamed = nacre.crash({"workload": workload, "stack": stack}, points=20)
    assert unnamed.name == "scenario"
    named = nacre.crash({"name": "mine", "workload": workload, "stack": stack}, points=20)
    assert named.name == "mine"
    drawn = nacre.crash("onyx", points=300).to_dict() | {"name": named.name}
    (figure,) = makers(nacre.results.Crash(drawn)).values()
    assert figure().to_dict()["title"]["subtitle"][0].startswith("mine: share of ")


def test_errors_are_reported_with_their_names(disk: str) -> None:
    with pytest.raises(ConfigError, match=r"no fault called.*did you mean"):
        nacre.crash(disk, faults=["bitrot"])
    with pytest.raises(ConfigError, match="points"):
        nacre.crash(disk, points=-1)
    unlimited = {"stack": {"kind": "network", "read": "90 us", "write": "90 us"}}
    uniform = {"kind": "uniform", "footprint": "1 MiB", "requests": 1}
    with pytest.raises(ConfigError, match="set its capacity"):
        nacre.crash({"workload": uniform, **unlimited})


def test_the_stack_is_generated_from_the_seed_and_printed() -> None:
    done = command("--seed", "5", "--points", "300", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert "[stack]" in document["scenario"]
    assert document["points"] >= 300
    assert document["finding"] is None


def test_a_seed_has_all_of_64_bits() -> None:
    last = 2**64 - 1
    assert nacre.simulate.crash_random(last, points=20).seed == last
    with pytest.raises(ConfigError, match=str(last)):
        nacre.simulate.crash_random(last + 1, points=20)


def test_results_are_one_page_and_one_document(disk: str, tmp_path: Path) -> None:
    done = command(disk, "--points", "300", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "every durability guarantee held" in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "crash.html",
        "crash.json",
    ]
    page = (tmp_path / "out" / "crash.html").read_text()
    assert "every durability guarantee held" in page
    assert "http" not in page.replace("http://www.w3.org/", "")


def test_without_a_scenario_overrides_are_rejected() -> None:
    done = command("--set", "stack.capacity=1 MiB")
    assert done.returncode == 2
    assert "the stack, faults, and settings are random" in done.stderr


COUNTS = """
import os, sys
sys.path.insert(0, {tests!r})
from nbd_client import Client
client = Client(os.environ["NACRE_URI"])
number = int.from_bytes(client.read(0, 8), "little")
while True:
    number += 1
    for place in range(4):
        client.write(4096 * place, number.to_bytes(8, "little") * 512)
        {flush}
    with open({heard!r}, "w") as heard:
        heard.write(str(number))
    open(os.environ["NACRE_READY"], "w").close()
"""
CHECKS = """
import os, sys
sys.path.insert(0, {tests!r})
from nbd_client import Client
client = Client(os.environ["NACRE_URI"])
found = [int.from_bytes(client.read(4096 * place, 8), "little") for place in range(4)]
heard = int(open({heard!r}).read() or 0)
sys.exit(f"heard {{heard}}\\nfound {{found}}" if min(found) < heard else 0)
"""

READY = ("--ready", "--ready-timeout", "200")
"""Options with which the time until the power loss counts from the first write of the program. The
start-up time of the program then has no effect."""


def programs(folder: Path, flush: str) -> tuple[list[str], str]:
    """Returns a program that increments counters in four blocks, and a check that no counter has
    decreased."""
    tests, heard = str(Path(__file__).parent), str(folder / "heard")
    Path(heard).write_text("0")
    texts = {
        "count.py": COUNTS.format(tests=tests, heard=heard, flush=flush),
        "check.py": CHECKS.format(tests=tests, heard=heard),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    return [sys.executable, str(folder / "count.py")], f"{sys.executable} {folder / 'check.py'}"


def test_power_is_cut_under_a_program_and_its_data_is_checked(tmp_path: Path) -> None:
    count, check = programs(tmp_path, "")
    device = str(scenario(tmp_path, mib=1))
    pulls = ["--times", "2", "--within", "0.3", *READY]
    done = command(device, *pulls, "--check", check, "--json", "--", *count)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [each["check"] for each in document["rounds"]] == [0, 0]
    assert all(each["ended"] is None for each in document["rounds"])
    assert int((tmp_path / "heard").read_text()) > 0


def test_a_program_that_does_not_flush_loses_its_data(disk: str, tmp_path: Path) -> None:
    count, check = programs(tmp_path, "")
    # The disk is so slow that its cache is never empty, even if the program rarely runs.
    Path(disk).write_text(CACHED.replace("15000 /min", "600 /min"))
    pulls = ["--times", "20", "--within", "1", *READY]
    done = command(disk, *pulls, "--check", check, "--", *count)
    assert done.returncode == 1, done.stdout
    assert "the check failed with status 1: heard" in " ".join(done.stdout.split())
    assert "\\n" not in done.stdout
    kept = Path(done.stdout.split("the image is kept in ")[1].strip())
    assert (kept / "device.img").exists()
    shutil.rmtree(kept)


def test_options_that_would_be_ignored_are_rejected(disk: str) -> None:
    done = command("--check", "true", "--times", "3")
    assert done.returncode == 2
    assert done.stderr.count("add: -- COMMAND") == 2
    done = command(disk, "--points", "10", "--out", "x", "--", "true")
    assert done.returncode == 2
    assert all(name in done.stderr for name in ("--points", "--out"))


def test_an_error_in_the_scenario_of_a_program_is_a_user_error(tmp_path: Path) -> None:
    for name in ("nope.toml", "unknown-name"):
        done = command(str(tmp_path / name), "--", "true")
        assert done.returncode == 2, done.stderr
        assert name in done.stderr
