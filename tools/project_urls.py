"""Inserts the project's URLs into its metadata, for builds from a repository.

    python3 tools/project_urls.py URL [ROOT]

The source tree contains no repository URL. The release passes it as URL.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def named(metadata: str, url: str) -> str:
    """Returns `pyproject.toml` with URLs that are derived from the repository URL."""
    url = url.rstrip("/")
    if "[project.urls]" in metadata:
        raise ValueError("the metadata has addresses already")
    section = (
        "[project.urls]\n"
        f'Repository = "{url}"\n'
        f'Documentation = "{url}/blob/main/docs/tutorial.md"\n'
        f'Changelog = "{url}/blob/main/CHANGELOG.md"\n'
        f'Issues = "{url}/issues"\n\n'
    )
    return metadata.replace("[project.scripts]\n", f"{section}[project.scripts]\n", 1)


def cited(citation: str, url: str) -> str:
    """Returns `CITATION.cff` with the repository URL."""
    return f'{citation.rstrip()}\nrepository-code: "{url.rstrip("/")}"\n'


def main() -> None:
    """Changes both files in the source tree."""
    url = sys.argv[1]
    root = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT
    for name, change in (("pyproject.toml", named), ("CITATION.cff", cited)):
        path = root / name
        path.write_text(change(path.read_text(encoding="utf-8"), url), encoding="utf-8")


if __name__ == "__main__":
    main()
