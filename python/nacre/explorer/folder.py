"""The result folder. The explorer serves files only from this folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, TypeAlias

from nacre.errors import Error
from nacre.files.atomic import write_file

__all__ = ["Folder", "Kind", "MissingError", "slug", "write_file"]

Kind: TypeAlias = Literal["runs", "papers", "plans", "studies", "crashes", "traces"]

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,119}")
_LENGTH = 48


class MissingError(Error):
    """The folder has no result with this name."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "file-not-found")


class Folder:
    """Results by kind, each in a separate directory, e.g. `runs/ssd-3`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def new(self, kind: Kind, name: str) -> Path:
        """Creates a directory with a unique name that consists of the given name and a number."""
        home = self.root / kind
        home.mkdir(parents=True, exist_ok=True)
        base = slug(name)
        number = 1 + max((_number(path.name, base) for path in home.iterdir()), default=0)
        while True:
            try:
                (home / f"{base}-{number}").mkdir()
            except FileExistsError:
                number += 1
            else:
                return home / f"{base}-{number}"

    def find(self, kind: Kind, name: str) -> Path:
        """Returns the directory of a result.

        Raises `MissingError` if it does not exist or is a link.
        """
        path = self.root / kind / name
        if not _NAME.fullmatch(name) or path.is_symlink() or not path.exists():
            raise MissingError(f"there is nothing called {name[:120]} among the {kind}")
        return path

    def listed(self, kind: Kind) -> list[Path]:
        """Returns the directories of the results of a kind, the latest first."""
        home = self.root / kind
        if not home.is_dir():
            return []
        found = [
            path for path in home.iterdir() if _NAME.fullmatch(path.name) and not path.is_symlink()
        ]
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def slug(name: str) -> str:
    """Returns a name similar to `name` that is a valid file name on all file systems."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return plain[:_LENGTH].strip("-") or "unnamed"


def _number(name: str, base: str) -> int:
    rest = name.removeprefix(f"{base}-")
    return int(rest) if rest != name and rest.isascii() and rest.isdigit() else 0
