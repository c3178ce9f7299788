"""Checks that the GitHub workflow in the documents is valid, and that its commands run in a sample
project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from nacre.devices import mounting
from serving import scenario

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
FAULT_TEST = """\
def test_a_slow_disk_is_reported_as_slow(nacre_device):
    device = nacre_device("disk.toml")
    device.control.add_fault("delay", {"latency": "5 ms"})
    assert device.control.step("read", 0, 4096).latency_ns > 5e6
"""


def workflow() -> dict[str, Any]:
    block = re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block is not None
    found: dict[str, Any] = yaml.safe_load(block[1])
    return found


def commands() -> list[str]:
    (job,) = workflow()["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Creates a sample project for the workflow."""
    scenario(tmp_path, mib=1)
    (tmp_path / "tests" / "faults").mkdir(parents=True)
    (tmp_path / "tests" / "faults" / "test_disk.py").write_text(FAULT_TEST)
    for name, command in {"work": "sleep 60", "check": 'test -n "$NACRE_URI"'}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{command}\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def ran(command: str, project: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, shell=True, cwd=project, env={**os.environ, "PATH": path},
        text=True, capture_output=True, timeout=300, check=False,
    )  # fmt: skip


def test_every_step_uses_an_action_or_runs_a_command() -> None:
    (job,) = workflow()["jobs"].values()
    assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert [command.split()[0] for command in commands()] == ["sudo", "pip", "pytest", "nacre"]


def test_the_packages_are_those_required_for_mounting() -> None:
    installed = set(commands()[0].split()) - {"sudo", "apt-get", "install", "-y"}
    assert set(mounting._NEEDED.values()) - installed <= {"e2fsprogs"}, "e2fsprogs is essential"


def test_its_tests_run(project: Path) -> None:
    done = ran(f"{commands()[2]} -p no:cacheprovider", project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(("check", "status"), [('test -n "$NACRE_URI"', 0), ("false", 1)])
def test_its_step_fails_if_a_check_fails(project: Path, check: str, status: int) -> None:
    (project / "check").write_text(f"#!/bin/sh\n{check}\n")
    command = commands()[3].replace("--times 50", "--times 1 --within 0.1")
    assert command != commands()[3]
    done = ran(command, project)
    assert done.returncode == status, done.stdout + done.stderr
