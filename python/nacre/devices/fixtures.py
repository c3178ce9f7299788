"""Fixtures for tests of programs that use storage: `pytest -p nacre.devices.fixtures`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from nacre.devices.mounting import cannot_mount, mounted
from nacre.devices.server import Served, served
from nacre.devices.serving import ServeOptions
from nacre.scenario.source import Scenario


class Serve(Protocol):
    """Serves the stack of a scenario until the test ends, as `nacre.devices.served` does."""

    def __call__(
        self,
        scenario: Scenario,
        overrides: Mapping[str, object] | None = None,
        options: ServeOptions | None = None,
    ) -> Served:
        """Starts to serve a device, and returns when it listens."""


@pytest.fixture
def nacre_device() -> Iterator[Serve]:
    """Serves devices, e.g. `nacre_device("ssd")`, which then have a `uri` and a `control`."""
    with ExitStack() as devices:

        def serve(
            scenario: Scenario,
            overrides: Mapping[str, object] | None = None,
            options: ServeOptions | None = None,
        ) -> Served:
            return devices.enter_context(served(scenario, overrides, options=options))

        yield serve


class Mount(Protocol):
    """Serves the stack of a scenario, with a file system that is mounted until the test ends."""

    def __call__(
        self,
        scenario: Scenario,
        overrides: Mapping[str, object] | None = None,
        options: ServeOptions | None = None,
    ) -> tuple[Path, Served]:
        """The folder of the file system, and the device below it."""


@pytest.fixture
def nacre_mount(nacre_device: Serve) -> Iterator[Mount]:
    """Mounts file systems on served devices without root, e.g. of `nacre_mount("ssd")`.

    The fixture returns the folder and the device. If a required program is not installed, the test
    is skipped with a reason.
    """
    if why := cannot_mount():
        pytest.skip(f"nacre_mount: {why}")
    with ExitStack() as mounts:

        def mount(
            scenario: Scenario,
            overrides: Mapping[str, object] | None = None,
            options: ServeOptions | None = None,
        ) -> tuple[Path, Served]:
            device = nacre_device(scenario, overrides, options)
            return mounts.enter_context(mounted(device.uri)), device

        yield mount
