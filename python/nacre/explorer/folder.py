"""The folder that results go to, and the only one that anything is served from."""

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
    """There is nothing of that name in the folder."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "file-not-found")


class Folder:
    """Results by kind, each in its own directory: `runs/ssd-3`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def new(self, kind: Kind, name: str) -> Path:
        """Makes a directory that nobody else has, named after what it will hold."""
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
        """What is kept under a name; raises `MissingError` for what is not, and for a link."""
        path = self.root / kind / name
        if not _NAME.fullmatch(name) or path.is_symlink() or not path.exists():
            raise MissingError(f"there is nothing called {name[:120]} among the {kind}")
        return path

    def listed(self, kind: Kind) -> list[Path]:
        """Everything of a kind, the latest first."""
        home = self.root / kind
        if not home.is_dir():
            return []
        found = [
            path for path in home.iterdir() if _NAME.fullmatch(path.name) and not path.is_symlink()
        ]
        return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def slug(name: str) -> str:
    """A name that any file system takes, and that reads like the given one."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return plain[:_LENGTH].strip("-") or "unnamed"


def _number(name: str, base: str) -> int:
    rest = name.removeprefix(f"{base}-")
    return int(rest) if rest != name and rest.isascii() and rest.isdigit() else 0
