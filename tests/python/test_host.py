"""Tests warnings that `[host]` has no effect."""

from __future__ import annotations

import warnings
from pathlib import Path

import nacre
import pytest
from nacre.cli.app import app
from typer.testing import CliRunner

DISK = (
    '[workload]\nkind = "uniform"\nrequests = 100\nfootprint = "1 MiB"\n'
    '[host]\nqueue_depth = 2\ntimeout = "1 s"\n'
    '[stack]\nkind = "measured"\nread = "10 us"\nwrite = "10 us"\ncapacity = "1 MiB"\n'
)
ONLY = "host is only used by nacre run and nacre step: "


@pytest.fixture
def disk(tmp_path: Path) -> str:
    path = tmp_path / "disk.toml"
    path.write_text(DISK)
    return str(path)


def test_runs_and_single_requests_use_the_host(disk: str) -> None:
    assert nacre.run(disk).components[0].path == "host"
    (late,) = nacre.step(disk, [("read", 0, 4096)], {"host.timeout": "3 us"})
    assert not late.is_done
    # The request is tried six times.
    assert late.latency_ns == pytest.approx(6 * 3_000)
    assert [one.component for one in late.spent] == ["host"]


def test_memories_and_power_loss_tests_warn_that_it_is_ignored(disk: str) -> None:
    with pytest.warns(UserWarning, match=ONLY + "a program"):
        nacre.open(disk)
    with pytest.warns(UserWarning, match=ONLY + "power-loss"):
        nacre.crash(disk, points=10)
    # The warning also appears if an override adds `[host]`.
    text = DISK.replace('[host]\nqueue_depth = 2\ntimeout = "1 s"\n', "")
    Path(disk).write_text(text)
    with pytest.warns(UserWarning, match=ONLY):
        nacre.open(disk, {"host.queue_depth": 2})
    nacre.open(disk)


@pytest.mark.filterwarnings("default")
def test_commands_print_the_warning(disk: str) -> None:
    before = warnings.showwarning
    result = CliRunner().invoke(app, ["crash", disk, "--points", "10"])
    assert result.exit_code == 0
    assert f"warning: {ONLY}power-loss tests issue their own requests\n" in result.stderr
    assert warnings.showwarning is before


def test_a_served_device_warns(disk: str, tmp_path: Path) -> None:
    told: list[str] = []
    nacre.serve(
        disk,
        image=tmp_path / "disk.img",
        listen=f"unix:{tmp_path / 'socket'}",
        tell=told.append,
        stop=lambda: True,
    )
    assert told == [ONLY + "clients have their own timeouts and queues"]
