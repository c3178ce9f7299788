"""A fitted or assumed value, and runs in which it is decreased or increased by 20 %."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from nacre.base import quantity, toml
from nacre.papers.judging.trial import with_setting
from nacre.papers.spec.plan import Job

LESS, MORE = Decimal("0.8"), Decimal("1.2")
"""Factors by which a value is multiplied."""


@dataclass(frozen=True)
class Value:
    """A fitted or assumed value of a scenario."""

    path: str
    given: str | int | float | tuple[str, ...]
    confidence: str
    source: str

    def times(self, factor: Decimal) -> str | None:
        """Returns the value times a factor, as text for a scenario.

        A whole number changes by at least one. Returns None if the value is zero or not a number.
        """
        if isinstance(self.given, tuple):
            texts = [_times(text, factor) for text in self.given]
            return toml.value(texts) if texts and None not in texts else None
        if isinstance(self.given, bool) or not self.given:
            return None
        if isinstance(self.given, int):
            step = 1 if factor > 1 else -1
            return str(step * max(step * round(self.given * factor), step * self.given + 1))
        if isinstance(self.given, float):
            return str(Decimal(str(self.given)) * factor)
        return _times(self.given, factor)

    def moved(self, job: Job) -> tuple[Job, Job]:
        """Returns the run with the decreased value, and the run with the increased value."""
        less, more = (
            with_setting(job, self.path, self.times(factor) or "") for factor in (LESS, MORE)
        )
        return less, more


def _times(text: str, factor: Decimal) -> str | None:
    found = quantity.maybe(text)
    if found is None or not found.number:
        return None
    return quantity.like(found.value * factor, found).text()
