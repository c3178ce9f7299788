"""Keeps the outcome of a reproduction, which the explorer shows before anything is run.

    .venv/bin/nacre reproduce --out out/reproduced
    .venv/bin/python tools/reproduced.py out/reproduced/rows.json [MORE...]

What is kept has the date of the rows, the version of the product and that of each model. Of a row
that several files have the last one counts, where it was run.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import nacre
from nacre.reproduce.known import REPRODUCED, shipped_rows, versions


def main(sources: list[Path]) -> None:
    """Writes what is shipped."""
    latest = max(source.stat().st_mtime for source in sources)
    date = datetime.fromtimestamp(latest, UTC).date().isoformat()
    found = [row for source in sources for row in shipped_rows(json.loads(source.read_bytes()))]
    rows = {row["id"]: row for row in found}.values()
    about = {"date": date, "version": nacre.__version__, "models": versions()}
    head = json.dumps(about)[:-1]
    told = [json.dumps(row, ensure_ascii=False) for row in rows]
    REPRODUCED.write_text(f'{head}, "rows": [\n' + ",\n".join(told) + "\n]}\n")
    sys.stdout.write(f"{REPRODUCED}: {len(told)} rows of {date}\n")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
