"""Evidence for the models of a paper: number of rows that hold, and number of fitted values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from nacre.papers.judging.judge import Row
from nacre.papers.spec.claim import Class

_OTHERS = [name for name in get_args(Class) if name not in ("prediction", "unclosed")]
_PLURAL = {"trend": "trends"}


@dataclass(frozen=True)
class Fit:
    """Number of fitted values in the models of a paper, and number of predictions that hold."""

    paper: str
    values: int
    predictions: int

    @property
    def overdone(self) -> bool:
        """Whether the number of fitted values is at least the number of predictions that hold."""
        return self.values > 0 and self.values >= self.predictions

    def __str__(self) -> str:
        said = f"{self.paper}: {_amount(self.values, 'fitted value')} for "
        said += f"{_amount(self.predictions, 'prediction')} that hold"
        if self.predictions:
            said += f", {self.values / self.predictions:.1f} to one"
        return f"{said}: too many fitted values" if self.overdone else said


def fits(rows: Sequence[Row]) -> list[Fit]:
    """Returns one entry per paper. `rows` must contain all rows of each paper."""
    return [_fit(paper, of) for paper, of in _by_paper(rows).items()]


def summed(rows: Sequence[Row]) -> list[str]:
    """Returns one line per paper.

    For example, `envy: 5 of 7 predictions hold; trends 14 of 15, calibration 5 of 5`.
    """
    return [f"{paper}: {_counted(of)}" for paper, of in _by_paper(rows).items()]


def _by_paper(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["paper"], []).append(row)
    return found


def _fit(paper: str, rows: Sequence[Row]) -> Fit:
    values = {value for row in rows for value in row["fitted"]}
    holding = [row for row in rows if row["class"] == "prediction" and row["pass"] is True]
    return Fit(paper, len(values), len(holding))


def _counted(rows: Sequence[Row]) -> str:
    predictions = [row for row in rows if row["class"] == "prediction"]
    head = f"{_share(predictions)} predictions hold" if predictions else "no prediction is made"
    parts = []
    for name in _OTHERS:
        if of := [row for row in rows if row["class"] == name]:
            parts.append(f"{_PLURAL.get(name, name)} {_share(of)}")
    if unclosed := sum(row["class"] == "unclosed" for row in rows):
        parts.append(f"unclosed {unclosed}")
    if not_run := sum(row["pass"] is None and row["class"] != "unclosed" for row in rows):
        parts.append(f"not run {not_run}")
    return f"{head}; {', '.join(parts)}" if parts else head


def _share(rows: Sequence[Row]) -> str:
    return f"{sum(row['pass'] is True for row in rows)} of {len(rows)}"


def _amount(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
