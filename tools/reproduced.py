"""Reproduces every paper and saves the results, which the explorer shows before the first run.

    .venv/bin/python tools/reproduced.py out/reproduced [rows.json...]

The output contains the date, the versions of Nacre and of each model, and the processor time of
each paper's runs. Rows of other reproductions can be added, e.g. from a machine with sysbench. If a
row occurs several times, the last row with a result is used.
"""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nacre
from nacre.papers.known import REPRODUCED, shipped_rows, versions


def main(folder: Path, others: list[Path]) -> None:
    """Reproduces all papers, and writes the results that are part of the package."""
    found: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    for name in nacre.papers.published():
        before = _spent()
        found += shipped_rows(nacre.reproduce(name, out=folder / name, figures=False).listed)
        seconds[name] = round(_spent() - before, 1)
        sys.stdout.write(f"{name}: {seconds[name]} s of processors\n")
    found += [row for other in others for row in shipped_rows(json.loads(other.read_bytes()))]
    rows = {row["id"]: row for row in found}.values()
    date = datetime.now(UTC).date().isoformat()
    about = {"date": date, "version": nacre.__version__, "models": versions(), "seconds": seconds}
    head = json.dumps(about)[:-1]
    told = [json.dumps(row, ensure_ascii=False) for row in rows]
    REPRODUCED.write_text(f'{head}, "rows": [\n' + ",\n".join(told) + "\n]}\n")
    sys.stdout.write(f"{REPRODUCED}: {len(told)} rows of {date}\n")


def _spent() -> float:
    """Returns the processor time of this process and its ended children, in seconds."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
