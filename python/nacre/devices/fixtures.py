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
    """Like `nacre.devices.served`, serves the stack of a scenario, but until the test ends."""

    def __call__(
        self,
        scenario: Scenario,
        overrides: Mapping[str, object] | None = None,
        options: ServeOptions | None = None,
    ) -> Served:
        """Starts to serve a device. Returns when the server listens."""


@pytest.fixture
def nacre_device() -> Iterator[Serve]:
    """Returns a function that serves devices for a test, e.g. `nacre_device("ssd").uri`."""
    with ExitStack() as devices:

        def serve(
            scenario: Scenario,
            overrides: Mapping[str, object] | None = None,
            options: ServeOptions | None = None,
        ) -> Served:
            return devices.enter_context(served(scenario, overrides, options=options))

        yield serve


class Mount(Protocol):
    """Serves the stack of a scenario with a mounted file system until the test ends."""

    def __call__(
        self,
        scenario: Scenario,
        overrides: Mapping[str, object] | None = None,
        options: ServeOptions | None = None,
    ) -> tuple[Path, Served]:
        """Returns the folder of the file system, and the served device."""


@pytest.fixture
def nacre_mount(nacre_device: Serve) -> Iterator[Mount]:
    """Returns a function that mounts file systems on served devices without root.

    A test calls the returned function, e.g. `nacre_mount("ssd")`, and gets the mounted folder and
    the device.

    If a required program is not installed, the test is skipped with a reason.
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
