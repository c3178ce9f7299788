"""Fixtures and settings for all Python tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import nacre
import numpy as np
import pytest
from nacre.results.record import Record

if TYPE_CHECKING:
    from exploring import Server, Watched
    from playwright.sync_api import Browser

Worn = Callable[..., Record]

# Make examples deterministic, so that a failure is reproducible. Slow generation of examples on a
# busy machine is not a failure.
hypothesis.settings.register_profile(
    "house",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session")
def worn() -> Worn:
    """Returns a function that creates a record with wear, given columns of blocks and garbage
    collection."""
    run = nacre.run(
        {
            "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 1000},
            "stack": {"kind": "measured", "read": "10 us", "write": "10 us"},
        }
    )

    def make(
        erases: Sequence[int] = (3, 5, 4, 8),
        valid_share: Sequence[float] = (0.9, 0.7, 1.0, 0.6),
        cost: Sequence[float] = (np.nan, 2.0, 1.5),
        endurance: int | None = 100,
        paths: Sequence[str] = ("stack",),
    ) -> Record:
        data, columns = run.to_dict(), dict(run.columns)
        own = data["components"][0]
        span_s = data["simulated_s"] / max(len(cost), 1)
        numbers = np.array(erases)
        data["components"] = [
            own
            | {
                "path": path,
                "wear": {
                    "host": 100,
                    "cleaned": 150,
                    "leveled": 20,
                    "metadata": 5,
                    "padding": 0,
                    "programs": 275,
                    "erases": 12,
                    "valid": None,
                    "block_erases": {
                        "blocks": len(erases),
                        "min": int(numbers.min()),
                        "mean": float(numbers.mean()),
                        "max": int(numbers.max()),
                        "stddev": float(numbers.std()),
                    },
                    "endurance": endurance,
                    "row_programs": None,
                    "write_amplification": 2.75,
                    "cleaning_cost": 1.5,
                },
                "tables": {
                    "blocks": {"rows": len(erases), "columns": ["erases", "valid_share"]},
                    "cleaning": {"rows": len(cost), "columns": ["end_s", "cost"]},
                },
            }
            for path in paths
        ]
        for path in paths:
            columns |= {
                f"{path}.blocks.erases": numbers.astype(np.uint64),
                f"{path}.blocks.valid_share": np.array(valid_share, dtype=float),
                f"{path}.cleaning.end_s": span_s * np.arange(1.0, len(cost) + 1),
                f"{path}.cleaning.cost": np.array(cost, dtype=float),
            }
        data |= {"write_amplification": 2.75, "cleaning_cost": 1.5, "erases": 12 * len(paths)}
        return Record(data | {"name": "worn", "lifetime_days": 3151.0}, columns)

    return make


@pytest.fixture(scope="module")
def folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """Temporary folder that all tests of a module share. If a test fails, the folder is not
    removed."""
    made = tmp_path_factory.mktemp("shared")
    yield made
    if not request.session.testsfailed:
        shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from exploring import chromium

    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def server(browser: Browser, folder: Path) -> Iterator[Server]:
    from exploring import Server

    assert browser.is_connected()
    started = Server(folder)
    yield started
    started.close()


@pytest.fixture
def watched(browser: Browser, server: Server) -> Iterator[Watched]:
    """Opens a page with the token. Fails if the page logs an error or contacts another machine."""
    from exploring import PATIENCE_MS, Watched

    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    context.set_default_timeout(PATIENCE_MS)
    made = Watched(context.new_page(), server.base)
    made.page.goto(server.address)
    made.ready()
    yield made
    context.close()
    assert made.complaints == []
    assert made.foreign == []
