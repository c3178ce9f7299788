"""Finds points of a study with equal preconditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from nacre.scenario.source import parsed
from nacre.studies.engines.task import Part, Task

_WAYS = ("precondition", "until_steady", "fill")
"""Settings of `run` that prepare a stack before simulated time starts."""
_SETTINGS = tuple(f"run.{way}" for way in _WAYS)


def prepared_alike(tasks: Mapping[str, Task]) -> list[list[str]]:
    """Groups tasks with equal preconditions. Each group contains two or more keys."""
    alike: dict[str, list[str]] = defaultdict(list)
    for key, task in tasks.items():
        if len(tasks) < 2 or isinstance(task, Part) or not _preconditions(task):
            continue
        with task.source.cited():
            made_of = parsed(task.source).preparation(list(task.settings))
        if made_of is not None:
            alike[made_of].append(key)
    return [keys for keys in alike.values() if len(keys) > 1]


def _preconditions(task: Task) -> bool:
    return any(way in task.source.text for way in _WAYS) or any(
        path.startswith(_SETTINGS) for path, _ in task.settings
    )
