"""Rows as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from nacre.reproduce.judge import Row, number
from nacre.reproduce.outcome import NOT_RUN
from nacre.summary import Table
from nacre.text import NOTHING

_COLUMNS = ("figure", "metric", "published", "simulated", "error", "passes", "verdict")


def claims(rows: Sequence[Row]) -> Table:
    """A line per claim: what was published, what came out, whether that holds."""
    several = len({row["paper"] for row in rows}) > 1
    cells = [
        [
            f"{row['paper']}/{row['figure']}" if several else row["figure"],
            row["metric"],
            _published(row),
            number(row["simulated"], row["unit"]),
            NOTHING if row["error"] is None else f"{100 * row['error']:+.1f} %",
            row["tolerance"] or NOTHING,
            verdict(row),
        ]
        for row in rows
    ]
    numeric = [False, False, False, True, True, False, False]
    return Table("", _COLUMNS, numeric, cells, prose=["metric", "published", "passes"])


def verdict(row: Row) -> str:
    """`pass`, `FAIL` or `unclosed`; `not run` where the runs were stopped."""
    if row["kind"] == "unclosed":
        return "unclosed"
    return {True: "pass", False: "FAIL", None: "not run"}[row["pass"]]


def notes(rows: Sequence[Row]) -> list[str]:
    """What is to be said about single rows, and the values that were fitted."""
    said: dict[str, None] = {}
    for row in rows:
        if row["note"].startswith(NOT_RUN):
            said[f"{row['figure']}, {row['note'].partition('; ')[0]}"] = None
        elif row["note"]:
            said[f"{row['figure']}, {row['metric']}: {row['note']}"] = None
    for row in rows:
        said |= dict.fromkeys(f"{row['paper']}, fitted: {value}" for value in row["fitted"])
    return list(said)


def _published(row: Row) -> str:
    published = row["published"]
    return published if isinstance(published, str) else number(published, row["unit"])
