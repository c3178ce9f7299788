"""Helpers for tests of studies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from nacre.studies.engines.local import Local
from nacre.studies.engines.task import Outcome, Task


def noted_tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Returns a list that records the tasks that later studies of this process send to their
    workers."""
    run: list[Task] = []
    outcomes = Local.outcomes

    def noting(self: Local, base: Any, tasks: Any) -> Iterator[Outcome | None]:
        run.extend(tasks)
        return outcomes(self, base, tasks)

    monkeypatch.setattr(Local, "outcomes", noting)
    return run
