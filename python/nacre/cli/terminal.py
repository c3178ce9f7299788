"""Prints text: tables with color on a terminal, and plain lines in a pipe."""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nacre.base.table import Table
from nacre.base.text import printable

if TYPE_CHECKING:
    from rich.console import Console

_GAPS = (3, 2, 1)
"""Numbers of spaces between columns. The first number with which the table fits is used."""
_WORD_MAX = 32
"""Words of prose that are longer than this number of characters may be broken."""
_UNIT = re.compile(r"(?<=\d) (?=[a-zA-Z%]{1,3}\b)")
"""Matches the space between a number and its unit or prefix."""
_PROSE_LEAST = 28
"""Minimum width of a column with prose, in characters."""


class OutputError(Exception):
    """Error while writing to standard output. `cause` is the reason."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@contextmanager
def _output() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(error) from None


def write_text(text: str) -> None:
    """Writes trusted text without escaping it."""
    with _output():
        sys.stdout.write(text)


def write_line(text: str = "") -> None:
    """Writes one line of output, and escapes control characters."""
    write_text(f"{printable(text)}\n")


def write_prose(text: str, indent: str = "") -> None:
    """Writes a sentence, wrapped to the width of the terminal."""
    if not sys.stdout.isatty():
        return write_line(f"{indent}{text}")
    for line in _folded(text, shutil.get_terminal_size().columns, indent, f"{indent}  "):
        write_line(line)
    return None


def write_json(document: Any) -> None:
    """Writes the JSON document of a command."""
    unicode = codecs.lookup(sys.stdout.encoding or "ascii").name.startswith("utf")
    text = json.dumps(document, indent=2, ensure_ascii=not unicode, allow_nan=False)
    write_text(f"{text}\n")


def write_json_line(document: Any) -> None:
    """Writes one line of JSON: an event of a running command."""
    write_text(f"{json.dumps(document, allow_nan=False)}\n")


def write_table(table: Table) -> None:
    """Writes a table in the form for a terminal or for a pipe."""
    table = replace(table, rows=[[printable(cell) for cell in row] for row in table.rows])
    if sys.stdout.isatty():
        _terminal(table)
    else:
        _plain(table)


def flush() -> None:
    """Flushes standard output. Raises `OutputError` if this fails."""
    with _output():
        sys.stdout.flush()


def _plain(table: Table) -> None:
    widths = [max(map(len, column)) for column in _columns(table)]
    named = [table.columns] if any(table.columns) else []
    for row in [*named, *table.rows]:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, table.numeric, strict=True)
        )
        write_text("  ".join(cells).rstrip() + "\n")


def _terminal(table: Table) -> None:
    from rich.console import Console

    console = Console()
    for gap in _GAPS:
        if _least_width(table, gap) <= console.width:
            return _rich(table, gap, console)
    return _listed(table, console.width)


def _least_width(table: Table, gap: int) -> int:
    """Returns the minimum width at which no number, path, or short word is broken."""
    from rich.cells import cell_len

    width = gap * (len(table.columns) - 1)
    for name, cells in zip(table.columns, _columns(table), strict=True):
        if name in table.prose:
            words = (word for cell in cells for word in cell.split())
            longest = max(min(cell_len(word), _WORD_MAX) for word in words)
            width += max(longest, min(max(map(cell_len, cells)), _PROSE_LEAST))
        else:
            width += max(map(cell_len, cells))
    return width


def _rich(table: Table, gap: int, console: Console) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        box=box.SIMPLE_HEAD,
        header_style="" if os.environ.get("NO_COLOR") else "bold",
        padding=(0, gap - 1, 0, 0),  # The box style adds a space between columns.
        pad_edge=False,
        show_edge=False,
    )
    for name, number in zip(table.columns, table.numeric, strict=True):
        drawn.add_column(
            name,
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=name not in table.prose,
        )
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    with _output():
        console.print(drawn)


def _listed(table: Table, width: int) -> None:
    """Prints a table that is wider than the terminal: each row becomes a list of its values."""
    names = max(map(len, table.columns)) + 4
    for row in table.rows:
        write_text(f"{row[0]}\n")
        for name, cell in zip(table.columns[1:], row[1:], strict=True):
            if cell:
                first, later = f"  {name}".ljust(names), " " * names
                lines = (
                    _folded(cell, width, first, later) if name in table.prose else [first + cell]
                )
                write_text("".join(f"{line}\n" for line in lines))


def _folded(text: str, width: int, first: str, later: str) -> list[str]:
    """Wraps text to `width` between words, but never between a number and its unit."""
    lines = textwrap.wrap(
        _UNIT.sub("\u00a0", text),
        width,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]


def _columns(table: Table) -> Sequence[Sequence[str]]:
    """Returns the cells of each column. The first cell of a column is its name."""
    return list(zip(table.columns, *table.rows, strict=True))
