"""Regenerates the figures in docs/gallery.md by running the code on that page.

.venv/bin/python tools/gallery.py
"""

from __future__ import annotations

import contextlib
import doctest
import re
import shutil
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
_BLOCK = re.compile(r'^```(toml|pycon)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def main() -> None:
    """Runs the code blocks of the page in an empty folder, and saves their SVG files."""
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for language, title, content in _BLOCK.findall((DOCS / "gallery.md").read_text()):
            if language == "toml":
                Path(title).write_text(content)
            else:
                test = doctest.DocTestParser().get_doctest(content, names, "gallery", None, 0)
                if doctest.DocTestRunner().run(test, clear_globs=False).failed:
                    sys.exit(1)
                names |= test.globs
        for figure in Path().glob("gallery-*.svg"):
            shutil.copy(figure, DOCS / "pictures" / figure.name)


if __name__ == "__main__":
    main()
