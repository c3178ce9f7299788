"""Writes docs/sensitivity.md: effects of +-20 % changes of fitted and assumed values on rows.

    .venv/bin/python tools/sensitivity.py FOLDER

FOLDER contains `PAPER.json` for each paper, i.e. the output of `nacre reproduce PAPER --sensitivity
--json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from nacre.papers.judging.judge import number
from nacre.papers.judging.sensitivity import Doubt, Sensitivity
from nacre.papers.showing.table import matters

PAGE = Path(__file__).parent.parent / "docs/sensitivity.md"
HEAD = """# Sensitivity of predictions

A prediction is a published number to which no value of the model was fitted ([Accuracy](accuracy/README.md)).
A prediction still depends on assumed values, and on values that were fitted to other numbers.
`nacre reproduce PAPER --sensitivity` simulates every published number with five seeds to compute a 95 % confidence interval. The command then changes each assumed or fitted value by \u00b120 %, one at a time.
The command lists all predictions. The command also lists calibrations and trends whose verdict depends on a value.
The column *decides* lists values that change the verdict. The column *changes* lists values that change the result by more than 1 % but do not change the verdict.
Nacre rounds whole numbers after the change. Some values, such as powers of two and shares of 100 %, cannot change by 20 %. If the model rejects a changed value, Nacre counts the value as rejected.
The read share is part of the measured workload, so a changed read share gives a different workload.
`nvram-cards` and `pcm-enterprise` have no predictions.
"""  # noqa: E501


def main() -> None:
    """Writes the page."""
    folder = Path(sys.argv[1])
    parts = [HEAD]
    for path in sorted(folder.glob("*.json")):
        rows: list[Sensitivity] = json.loads(path.read_text(encoding="utf-8"))
        if rows:
            parts.append("\n".join(section(path.stem, rows)) + "\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def section(paper: str, rows: list[Sensitivity]) -> Iterator[str]:
    """Yields the lines of the section about a paper."""
    yield f"## {paper}\n"
    if predictions := [row for row in rows if row["class"] == "prediction"]:
        yield from table("prediction", predictions, predictions)
    if others := [row for row in rows if row["class"] != "prediction"]:
        yield from table("row", others, [row for row in others if decided(row)])


def table(what: str, rows: list[Sensitivity], listed: list[Sensitivity]) -> Iterator[str]:
    """Yields the number of `rows` that hold, and a table of the rows in `listed`."""
    held = [row for row in rows if row["holds"]]
    count = sum(not decided(row) for row in held) or "none"
    of = "predictions" if what == "prediction" else "rows of calibration and trends"
    yield f"{len(held)} of {len(rows)} {of} hold; {count} of these hold with every changed value.\n"
    if listed:
        yield f"| {what} | published | simulated | decides | changes | 1 % or less, rejected |"
        yield "|---|---|---|---|---|---|"
        yield from map(line, listed)
        yield ""


def decided(row: Sensitivity) -> bool:
    """Returns whether a change of a value changes the verdict."""
    return any(doubt["flips"] for doubt in row["values"])


def line(row: Sensitivity) -> str:
    """Formats one row."""
    decides, moves, still, refused = [], [], 0, 0
    for doubt in row["values"]:
        name = f"`{doubt['value'].removeprefix('stack.')}`"
        if doubt["less"]["simulated"] is None and doubt["more"]["simulated"] is None:
            refused += 1
        elif doubt["flips"]:
            decides.append(f"{name} ({turned(row, doubt)})")
        elif matters(row, doubt):
            moves.append(name)
        else:
            still += 1
    published, within = row["published"], row["half_width"]
    said = published if isinstance(published, str) else number(published, row["unit"])
    # If a result does not depend on the seed, differences are only due to rounding.
    varies = within is not None and within > 1e-6 * abs(row["simulated"] or 0.0)
    interval = f" +- {number(within, '')}" if varies else ""
    cells = [
        f"{row['figure']}: {row['metric']}",
        f"{said}, {row['tolerance']}",
        f"{number(row['simulated'], '')}{interval}{'' if row['holds'] else ' (misses)'}",
        ", ".join(decides) or "none",
        ", ".join(moves) or "none",
        f"{still}, {refused}",
    ]
    return f"| {' | '.join(cells)} |"


def turned(row: Sensitivity, doubt: Doubt) -> str:
    """Returns the results of a row for the changed values that change its verdict."""
    sides = {"less": doubt["less"], "more": doubt["more"]}
    return ", ".join(
        f"{side}: {number(at['simulated'], '')}"
        for side, at in sides.items()
        if at["simulated"] is not None and at["holds"] != row["holds"]
    )


if __name__ == "__main__":
    main()
