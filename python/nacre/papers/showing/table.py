"""Tables and notes about the rows of a reproduction."""

from __future__ import annotations

from collections.abc import Sequence

from nacre.base.table import Table
from nacre.base.text import NOTHING
from nacre.papers.judging.held_out import Held, Without
from nacre.papers.judging.judge import Row, failed, number, unexpected
from nacre.papers.judging.sensitivity import Doubt, Sensitivity

_MOVED = 0.01
"""Relative change above which a row is listed."""
_COLUMNS = (
    "figure", "metric", "class", "published", "simulated", "error", "passes", "verdict",
)  # fmt: skip


def claims(rows: Sequence[Row]) -> Table:
    """Returns a table with a line per claim: published value, simulated value, and verdict."""
    several = len({row["paper"] for row in rows}) > 1
    cells = [
        [
            f"{row['paper']}/{row['figure']}" if several else row["figure"],
            row["metric"],
            row["class"],
            published(row),
            number(row["simulated"], row["unit"]),
            error(row),
            row["tolerance"] or NOTHING,
            verdict(row),
        ]
        for row in rows
    ]
    numeric = [False, False, False, False, True, True, False, False]
    return Table("", _COLUMNS, numeric, cells, prose=["metric", "published", "passes"])


def verdict(row: Row) -> str:
    """Returns the verdict: `pass`, `miss` (known), `FAIL` (not known), `unclosed`, or `not run`.

    An `unclosed` claim has no criterion.
    """
    if row["kind"] == "unclosed":
        return "unclosed"
    if failed(row):
        return "FAIL" if unexpected(row) else "miss"
    return "not run" if row["pass"] is None else "pass"


def error(row: Row) -> str:
    """Formats the relative error with its sign.

    Returns a placeholder if there is no reference value.
    """
    off = row["error"]
    return NOTHING if off is None else f"{round(100 * off, 1) + 0.0:+.1f} %"


def published(row: Row) -> str:
    """Formats the published value."""
    said = row["published"]
    return said if isinstance(said, str) else number(said, row["unit"])


def notes(rows: Sequence[Row]) -> list[str]:
    """Returns notes about single rows, and about fitted values."""
    said: dict[str, None] = {}
    for row in rows:
        about = f"{row['figure']}, {row['metric']}"
        if row["not_run"]:
            said[f"{row['figure']}, {row['not_run']}"] = None
            continue
        if failed(row) and row["misses"]:
            said[f"{about}: misses: {row['misses']}"] = None
        if row["note"]:
            said[f"{about}: {row['note']}"] = None
    for row in rows:
        said |= dict.fromkeys(f"{row['paper']}, fitted: {value}" for value in row["fitted"])
    return list(said)


def moves(found: Sequence[Sensitivity]) -> list[Table]:
    """Returns tables of confidence intervals over seeds, and of values that affect rows."""
    seeds = [[row["figure"], row["metric"], _simulated(row), _half_width(row)] for row in found]
    values = [
        [row["figure"], row["metric"], doubt["value"], doubt["confidence"], *_moved(row, doubt)]
        for row in found
        for doubt in row["values"]
        if doubt["flips"] or matters(row, doubt)
    ]
    return [
        Table(
            "Over seeds", ("figure", "metric", "simulated", "95 %"), [False, False, True, True],
            seeds, prose=["metric"],
        ),
        Table(
            "Values changed by 20 %",
            ("figure", "metric", "value", "confidence", "less", "more", "verdict"),
            [False, False, False, False, True, True, False],
            values, prose=["metric", "value"],
        ),
    ]  # fmt: skip


def without(found: Sequence[Held]) -> Table:
    """Returns a table of the effects of fitted values on rows.

    A row is listed if its result changes by more than 1 % without the fitted value, or if its
    verdict changes.
    """
    cells = [
        [held["value"], held["neutral"], row["figure"], row["metric"], *_compared(row)]
        for held in found
        for row in held["rows"]
        if row["held"] != row["holds"] or _differ(row["fitted"], row["without"])
    ]
    return Table(
        "Without one fitted value at a time",
        ("fitted", "in its place", "figure", "metric", "before", "without", "verdict"),
        [False, False, False, False, True, True, False],
        cells, prose=["metric", "fitted"],
    )  # fmt: skip


def _compared(row: Without) -> list[str]:
    if row["without"] is None:
        return [number(row["fitted"], row["unit"]), "refused", NOTHING]
    verdict = "stays" if row["held"] == row["holds"] else "flips"
    return [*(number(row[key], row["unit"]) for key in ("fitted", "without")), verdict]


def _differ(before: float | None, after: float | None) -> bool:
    return bool(before) and after is not None and abs(after / (before or 1) - 1) > _MOVED


def _simulated(row: Sensitivity) -> str:
    return number(row["simulated"], row["unit"])


def _half_width(row: Sensitivity) -> str:
    known = row["half_width"]
    return NOTHING if known is None else f"+- {number(known, row['unit'])}"


def _moved(row: Sensitivity, doubt: Doubt) -> list[str]:
    ends = [
        "refused" if at["simulated"] is None else number(at["simulated"], row["unit"])
        for at in (doubt["less"], doubt["more"])
    ]
    return [*ends, "flips" if doubt["flips"] else "stays"]


def matters(row: Sensitivity, doubt: Doubt) -> bool:
    """Returns whether a change of the value changes the result of a row by more than 1 %."""
    base = row["simulated"]
    ends = [at["simulated"] for at in (doubt["less"], doubt["more"])]
    return any(_differ(base, end) for end in ends)
