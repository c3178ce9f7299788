"""Which points of a study are preconditioned alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from nacre import _core
from nacre.scenario import Source
from nacre.study.task import Task

_SETTINGS = ("run.precondition", "run.until_steady")


def prepared_alike(source: Source, tasks: Mapping[str, Task]) -> list[str]:
    """The keys of tasks that have their preconditioning in common with others."""
    if len(tasks) < 2 or not (_preconditions(source) or any(map(_sets_it, tasks.values()))):
        return []
    alike: dict[str, list[str]] = defaultdict(list)
    with source.cited():
        for key, task in tasks.items():
            made_of = _core.preparation(source.text, source.name, list(task.settings))
            if made_of is not None:
                alike[made_of].append(key)
    return [key for keys in alike.values() if len(keys) > 1 for key in keys]


def _preconditions(source: Source) -> bool:
    return "precondition" in source.text or "until_steady" in source.text


def _sets_it(task: Task) -> bool:
    return any(path.startswith(_SETTINGS) for path, _ in task.settings)
