"""Tests the screening of values: values without an effect are changed together, and every value
with an effect is found."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from nacre.papers.judging import screening
from nacre.papers.judging.value import Value
from nacre.papers.spec.plan import Job

QUIET = [Value(f"stack.quiet{n}", f"{n + 1} us", "assumed", "") for n in range(10)]
LOUD = Value("stack.loud", "8 us", "fitted", "")
LATE = Value("stack.late", "9 us", "assumed", "")
"""A value that changes only run 2."""
JOBS = [Job("a scenario", (("run", str(number)),)) for number in range(5)]


class Made:
    """Invented runs. The only number of each run is computed from its settings."""

    def __init__(self) -> None:
        self.ran: list[Job] = []

    def run(self, groups: Iterable[Iterable[Job]], _watch: object) -> bool:
        self.ran += [job for group in groups for job in group]
        return True

    def numbers(self, job: Job, instead: Job) -> list[float | None]:
        assert instead == job or instead in self.ran
        settings = dict(instead.settings)
        late = len(settings.get(LATE.path, "")) if settings["run"] == "2" else 0
        return [len(settings.get(LOUD.path, "")) + 10 * late]


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(screening, "_accepted", lambda _job, _value: True)
    return Made()


def changing(trial: Any, values: Sequence[Value]) -> dict[str, set[Value]]:
    found = screening.changing(trial, dict.fromkeys(JOBS, values), None)
    assert found is not None
    return {dict(job.settings)["run"]: of for job, of in found.items()}


def test_values_without_an_effect_are_changed_together(trial: Any) -> None:
    assert changing(trial, [*QUIET, LOUD]) == {run: {LOUD} for run in "01234"}
    # The first and the last run each take two runs per value. The other runs take two runs for all
    # values without effect.
    assert len(set(trial.ran)) == 2 * 2 * 11 + 3 * (2 + 2)


def test_a_value_that_changes_only_one_run_is_found(trial: Any) -> None:
    found = changing(trial, [*QUIET, LOUD, LATE])
    assert found.pop("2") == {LOUD, LATE}
    assert found == {run: {LOUD} for run in "0134"}


def test_a_stopped_reproduction_finds_nothing(trial: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "run", lambda _groups, _watch: False)
    assert screening.changing(trial, {job: [LOUD] for job in JOBS}, None) is None
