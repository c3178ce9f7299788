"""Tests that the tables of a drive use memory only for mapping units that were accessed."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import nacre
import pytest

PETABYTE = """
[workload]
kind = "uniform"
requests = 1000
footprint = "1 TiB"
read_share = "0 %"
request = "1 MiB"
arrival = { kind = "closed" }
[run]
fill = { share = "0.02 %", request = "1 GiB" }
[stack]
kind = "ssd"
channels = 32
ways = 32
planes = 4
blocks = 512
pages = 512
page = "1 MiB"
unit = "1 MiB"
read = ["50 us"]
program = ["500 us"]
erase = "3 ms"
bus = "1.2 GB/s"
buffer = "16 GiB"
link = "7 GB/s"
"""

MEASURE = """
import resource, sys
import nacre
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
nacre.run("disk-15k")
before = peak()
nacre.run(sys.argv[1], save_state=sys.argv[2])
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kibibytes only on Linux")
def test_a_petabyte_drive_uses_memory_only_for_written_units(tmp_path: Path) -> None:
    scenario, state = tmp_path / "petabyte.toml", tmp_path / "state"
    scenario.write_text(PETABYTE)
    command = [sys.executable, "-c", MEASURE, str(scenario), str(state)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    # The host sees 1 / 1.28 of 2^30 units of flash. 1/5000 of these units are written sequentially,
    # and a thousand more randomly. Each unit takes ten bytes of tables. All tables would take 8 GB.
    written = 10 * (2**30 / 1.28 / 5000 + 1000)
    assert int(found.stdout) < written + (24 << 20)
    assert state.stat().st_size < written + (24 << 20)
    reading = PETABYTE.replace("fill =", "# fill =").replace('"0 %"', '"100 %"')
    scenario.write_text(reading)
    assert nacre.run(scenario, start=state).requests.reads == 1000


SPARSE = """
import resource, sys
import nacre
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
nacre.run(sys.argv[1])
before = peak()
nacre.run(sys.argv[1], {"workload.requests": 500_000})
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kibibytes only on Linux")
def test_random_writes_use_ten_bytes_per_unit(tmp_path: Path) -> None:
    scenario = tmp_path / "petabyte.toml"
    settings = PETABYTE.replace("fill =", "# fill =").replace('"1 TiB"', '"800 TiB"')
    scenario.write_text(settings)
    command = [sys.executable, "-c", SPARSE, str(scenario)]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    # Requests also use memory, but the amount is not proportional to their number.
    assert int(found.stdout) < 10 * 500_000 + (4 << 20)


LARGE = """
[workload]
kind = "uniform"
requests = 10
footprint = "1 MiB"
[stack]
preset = "tlc_nvme"
blocks = 3_000
"""
STUDY = """
[[axis]]
path = "stack.blocks"
values = [150, 3_000]
"""
OPEN = """
import json, nacre
try:
    nacre.open("large.toml")
except nacre.errors.ConfigError as error:
    print(json.dumps({"code": error.code, "data": error.data, "error": str(error)}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is left")
@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["-m", "nacre", "run", "large.toml", "--json"], 2),
        (["-m", "nacre", "serve", "large.toml", "large.img", "--json"], 2),
        (["-m", "nacre", "study", "study.toml", "--out", "out", "--json"], 2),
        (["-c", OPEN], 0),
    ],
    ids=["run", "serve", "study", "open"],
)
def test_tables_that_do_not_fit_are_rejected_with_their_size(
    command: list[str], status: int, tmp_path: Path
) -> None:
    (tmp_path / "large.toml").write_text(LARGE)
    (tmp_path / "study.toml").write_text('scenario = "large.toml"' + STUDY)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        preexec_fn=limited,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == status, done
    told = json.loads(done.stdout)
    assert told["code"] == "too-little-memory", told
    assert told["data"]["needed"] > told["data"]["available"] > 0
    assert re.search(
        r"its tables take \d+\.\d GiB of memory .* and this machine has", told["error"]
    )
    assert not list(tmp_path.glob("large.img*"))


def test_a_drive_with_too_many_units_is_rejected_with_the_limit() -> None:
    settings = {"stack.pages": 4096, "stack.unit": "256 KiB"}
    with pytest.raises(
        nacre.errors.ConfigError, match="34359738368 units, and 17179869183 are the most"
    ):
        nacre.check(tomllib.loads(PETABYTE), settings)
