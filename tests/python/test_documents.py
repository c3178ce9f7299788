"""Runs the examples of the documents, and compares their output.

The examples of a document run in order in one folder, which is initially empty. The word after the
fence determines the type of a block:

- `toml title="name.toml"` writes a file,
- `console` runs each line after `$ ` and compares what it prints; `...` stands for any text,
- `python` is executed and `pycon` compared as a doctest; both see the names of earlier blocks.

Other blocks (`sh`, `text`) are not run.
"""

import contextlib
import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nacre
import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("", "start/", "how-to/", "accuracy/")
DOCUMENTS = [
    ROOT / "README.md",
    *(path for folder in FOLDERS for path in sorted((ROOT / "docs" / folder).glob("*.md"))),
]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS_MAX = 120


def blocks(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Yields the line, language, attributes, and content of every fenced block."""
    for match in BLOCK.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2], match[3]


PROGRESS = re.compile(r"\w+: .* left")


def matches(shown: str, printed: str) -> bool:
    """Returns whether `printed` equals the output that the document shows. `...` stands for any
    text."""
    pattern = ".*?".join(re.escape(part.rstrip("\n")) for part in shown.split("..."))
    # Commands print progress only if they take long, which depends on the machine.
    lines = [
        line.rstrip() for line in printed.rstrip().splitlines() if not PROGRESS.fullmatch(line)
    ]
    printed = "\n".join(lines)
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def run_console(content: str, folder: Path, place: str) -> None:
    """Runs the commands of a console block, and compares their output."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }
    for step in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_MAX,
        )
        assert matches(shown.rstrip(), done.stdout), f"{place}: {command}\n{done.stdout}"


def run_session(content: str, names: dict[str, object], place: str) -> None:
    """Runs an interactive session, and compares its output."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(content, names, place, place, 0)
    complaints: list[str] = []
    runner = doctest.DocTestRunner(optionflags=flags)
    failed = runner.run(test, out=complaints.append, clear_globs=False).failed
    names.update(test.globs)
    assert not failed, "".join(complaints)


@contextlib.contextmanager
def servers_ended(folder: Path) -> Iterator[None]:
    """Stops servers that remain after a document has failed."""
    try:
        yield
    finally:
        for socket in folder.glob("*.ctl"):
            with contextlib.suppress(nacre.errors.Error), nacre.devices.Control(socket) as control:
                control.stop()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_examples_of_a_document_give_the_shown_output(document: Path, tmp_path: Path) -> None:
    names: dict[str, object] = {"__name__": "__document__"}
    with contextlib.chdir(tmp_path), servers_ended(tmp_path):
        for line, language, attributes, content in blocks(document.read_text()):
            place = f"{document.relative_to(ROOT)}:{line}"
            if language == "console":
                run_console(content, tmp_path, place)
            elif language == "python":
                exec(compile(content, place, "exec"), names)
            elif language == "pycon":
                run_session(content, names, place)
            elif title := re.search(r'title="([^"]+)"', attributes):
                Path(title[1]).write_text(content)


def test_an_example_with_other_output_is_detected() -> None:
    assert matches("read 5 us\n...\nhit 90 %", "read 5 us\nmore\nlines\nhit 90 %\n")
    assert not matches("read 5 us\nhit 90 %", "read 5 us\nhit 91 %\n")
    assert not matches("read 5 us", "read 5 us\nand more\n")
