"""Shell completion for names of scenarios, models, catalog entries, and papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path


def scenarios(incomplete: str) -> list[str]:
    """Completes built-in scenarios, scenario files, and folders."""
    from nacre.scenario.source import scenarios as shipped

    return [*_beginning(incomplete, (row.name for row in shipped())), *_files(incomplete)]


def models(incomplete: str) -> list[str]:
    """Completes models, their families, and catalog entries."""
    from nacre.scenario.catalog import entries
    from nacre.scenario.models import models as known

    names = {name for model in known() for name in (model.kind, model.family)}
    return _beginning(incomplete, sorted(names | set(entries())))


def stacks(incomplete: str) -> list[str]:
    """Completes arguments of `nacre new`."""
    from nacre.scenario.examples import EXAMPLES
    from nacre.scenario.models import stacks as known

    return _beginning(incomplete, [*known(), *EXAMPLES])


def shipped(incomplete: str) -> list[str]:
    """Completes arguments of `nacre catalog show`."""
    from nacre.scenario.catalog import entries
    from nacre.scenario.source import scenarios

    return _beginning(incomplete, sorted({*entries(), *(row.name for row in scenarios())}))


def papers(incomplete: str) -> list[str]:
    """Completes names of papers."""
    from nacre.papers.spec.paper import papers as known

    return _beginning(incomplete, known())


def files(incomplete: str) -> list[str]:
    """Completes files of scenarios and studies."""
    return list(_files(incomplete))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _files(incomplete: str) -> Iterator[str]:
    folder, slash, begun = incomplete.rpartition("/")
    try:
        found = sorted(Path(folder + slash or ".").iterdir())
    except OSError:
        return
    for path in found:
        is_hidden = path.name.startswith(".") and not begun
        if path.name.startswith(begun) and not is_hidden:
            if path.is_dir():
                yield f"{folder}{slash}{path.name}/"
            elif path.suffix == ".toml":
                yield f"{folder}{slash}{path.name}"
