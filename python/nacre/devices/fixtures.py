"""Fixtures for tests of programs that use storage: `pytest -p nacre.devices.fixtures`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Protocol

import pytest

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
        """Returns when the device listens."""


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
