"""Examples that are part of the package."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = {
    "first_look.ipynb": "a notebook: a cache of phase-change memory, in Python",
    "cache_for_the_money.toml": "a study: server caches for networked storage, by IOPS and cost",
    "equal_cost_caches.py": "server caches of PCM and flash at equal cost",
    "crash_database.py": "tests that a database loses no committed row when power fails",
    "remount.sh": "remounts the file system of a served device after a power loss",
}
"""Describes each example."""
_RUN = {".py": "python", ".toml": "nacre study", ".sh": "sh", ".ipynb": "jupyter notebook"}


def text(name: str) -> str:
    """Returns the content of an example."""
    return (FOLDER / name).read_text(encoding="utf-8")


def runs_with(name: str, file: Path) -> str:
    """Returns the command that runs an example after it was written to `file`."""
    return f"{_RUN[Path(name).suffix]} {file}"
