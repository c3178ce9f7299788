"""Checks the types of all Python examples in documents and notebooks with `mypy --strict`.

usage: typed_examples.py [FOLDER]. The checked modules are kept in FOLDER.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|pycon)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code(text: str, is_session: bool) -> str:
    """Returns the statements of a code block."""
    if not is_session:
        return text
    lines = (line[4:] for line in text.splitlines() if line.startswith((">>> ", "... ")))
    return "\n".join(lines) + "\n"


def modules() -> Iterator[tuple[str, str]]:
    """Yields one module for each document with examples, and one for each notebook."""
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for document in documents:
        blocks = BLOCK.findall(document.read_text())
        if blocks:
            name = re.sub(r"\W", "_", str(document.relative_to(ROOT).with_suffix("")))
            yield name, "\n".join(code(text, kind == "pycon") for kind, text in blocks)
    for notebook in sorted((ROOT / "examples").glob("*.ipynb")):
        cells = json.loads(notebook.read_text())["cells"]
        code_cells = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        yield notebook.stem, "\n\n".join(code_cells) + "\n"


def main(folder: Path) -> int:
    """Writes the modules and checks them. Returns the exit status of mypy."""
    paths = []
    for name, text in modules():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", *map(str, paths)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(main(Path(temporary)))
