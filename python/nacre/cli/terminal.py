"""Text for people: tables with colour on a terminal, plain lines in a pipe."""

from __future__ import annotations

import json
import sys
from typing import Any

from nacre.summary import Table


def write_line(text: str = "") -> None:
    """Writes one line of output."""
    sys.stdout.write(f"{text}\n")


def write_json(document: Any) -> None:
    """Writes the one JSON document a command answers with."""
    write_line(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def write_table(table: Table) -> None:
    """Writes a table, for a terminal or for a pipe."""
    if sys.stdout.isatty():
        _rich(table)
    else:
        _plain(table)


def _plain(table: Table) -> None:
    rows = [list(table.columns), *(list(row) for row in table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.columns))]
    for row in rows:
        cells = (
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, table.numeric, strict=True)
        )
        write_line("  ".join(cells).rstrip())


def _rich(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for name, number in zip(table.columns, table.numeric, strict=True):
        drawn.add_column(name, justify="right" if number else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console().print(drawn)
