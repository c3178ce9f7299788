"""Writes docs/sensitivity.md: what predictions do when fitted and assumed values move by a fifth.

    python3 tools/sensitivity.py FOLDER

FOLDER holds `PAPER.json`, printed by `nacre reproduce PAPER --sensitivity --json`, of all papers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "docs/sensitivity.md"
HEAD = """# What predictions rest on

A prediction is a published number that no value of the model was fitted to ([Validation](validation.md)).
It still rests on values that were fitted to other numbers, and on values that no source gives and that are assumed.
`nacre reproduce PAPER --sensitivity` runs every prediction with five seeds, which gives its interval at 95 %, and then with every such value a fifth less and a fifth more, one at a time.
*Decides* names the values with which the verdict changes; *moves it* those that move the result by more than 1 % and change no verdict.
A count of channels, a power of two or a share of 100 % cannot move by a fifth: what the model refuses is counted as refused, and whole numbers are rounded.
The share of reads is what a row measures: a fifth less is another workload.
`nvram-cards` and `pcm-enterprise` have no predictions.
"""  # noqa: E501


def main() -> None:
    """Writes the page."""
    folder = Path(sys.argv[1])
    parts = [HEAD]
    for path in sorted(folder.glob("*.json")):
        rows = json.loads(path.read_text(encoding="utf-8"))
        if rows:
            parts.append("\n".join(section(path.stem, rows)) + "\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def section(paper: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    """The lines of a paper's section."""
    held = [row for row in rows if row["holds"]]
    firm = [row for row in held if not any(value["flips"] for value in row["values"])]
    yield f"## {paper}\n"
    count = len(firm) or "none"
    yield f"{len(held)} of {len(rows)} predictions hold, {count} of these with every value moved.\n"
    yield "| prediction | published | simulated | decides | moves it | 1 % or less, refused |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        yield from table_row(row)


def table_row(row: Mapping[str, Any]) -> Iterator[str]:
    """One prediction."""
    decides, moves, still, refused = [], [], 0, 0
    for value in row["values"]:
        ends = [value[side]["simulated"] for side in ("less", "more")]
        if all(end is None for end in ends):
            refused += 1
        elif value["flips"]:
            decides.append(f"`{name(value)}` ({change(row, value)})")
        elif any(abs(end / row["simulated"] - 1) > 0.01 for end in ends if end is not None):
            moves.append(f"`{name(value)}`")
        else:
            still += 1
    figure, metric = row["id"].split("/")[1], row["metric"]
    is_exact = row["half_width"] <= 1e-6 * row["simulated"]
    interval = "" if is_exact else f" +- {number(row['half_width'])}"
    published = f"{number(row['published'])} {row['unit']}".strip()
    verdict = "" if row["holds"] else " (misses)"
    yield (
        f"| {figure}: {metric} | {published}, {row['tolerance']} "
        f"| {number(row['simulated'])}{interval}{verdict} | {', '.join(decides) or 'none'} "
        f"| {', '.join(moves) or 'none'} | {still}, {refused} |"
    )


def name(value: Mapping[str, Any]) -> str:
    """A value by its setting, without the path of its stack."""
    return str(value["value"]).removeprefix("stack.")


def change(row: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    """What a value that decides makes of a prediction, on the sides where the verdict changes."""
    sides = [
        f"{side}: {number(value[side]['simulated'])}"
        for side in ("less", "more")
        if value[side]["simulated"] is not None and value[side]["holds"] != row["holds"]
    ]
    return ", ".join(sides)


def number(value: float) -> str:
    """Three digits, or whole thousands."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    main()
