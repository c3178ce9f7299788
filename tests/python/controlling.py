"""Helpers for tests of the control socket: a small served drive, and calls of `nacre ctl`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nacre.cli.app import app
from nacre.devices.control import Control
from nbd_client import Client
from serving import Server
from typer.testing import CliRunner, Result

KIB = 1024
DRIVE = """\
schema = 1
name = "drive"
[workload]
kind = "uniform"
footprint = "1 MiB"
requests = 1
[stack]
preset = "tlc_nvme"
channels = 1
ways = 1
planes = 1
blocks = 64
pages = 24
spare_blocks = 4
factory_bad = "0 %"
program = ["50 us"]
over_provisioning = "25 %"
buffer = "256 KiB"
"""


def drive(folder: Path) -> Path:
    (folder / "drive.toml").write_text(DRIVE)
    return folder / "drive.toml"


@contextmanager
def serving(
    folder: Path, *options: str, device: Path | str = "disk-15k", image: Path | None = None
) -> Iterator[Server]:
    server = Server(folder, "--dilate", "1", *options, device=device, image=image)
    try:
        yield server
    finally:
        server.close()


def served_drive(folder: Path) -> Iterator[Server]:
    """Serves the drive with metrics. Tests use this function as a fixture."""
    with serving(folder, "--metrics", "tcp:127.0.0.1:0", device=drive(folder)) as server:
        yield server


def client_of(server: Server) -> Iterator[Client]:
    """Connects a client to the served drive. Tests use this function as a fixture."""
    with Client(server.uri) as client:
        yield client


def control_of(server: Server) -> Iterator[Control]:
    """Connects to the control socket of the served drive. Tests use this function as a fixture."""
    with Control(server.image) as control:
        yield control


def ctl(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["ctl", *map(str, arguments)])


def told(*arguments: object) -> str:
    done = ctl(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused(*arguments: object, status: int = 2) -> str:
    done = ctl(*arguments)
    assert done.exit_code == status, done.output
    assert not done.stdout
    return done.stderr


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
