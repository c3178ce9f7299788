"""A claim, with its published value, tolerance, and class as evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from nacre.papers.spec.entry import Entry
from nacre.papers.spec.plan import Group, Selection, selection

Kind: TypeAlias = Literal["exact", "close", "trend", "unclosed"]
Class: TypeAlias = Literal["prediction", "calibration", "arithmetic", "trend", "unclosed"]
"""Evidence class of a row. Only predictions are evidence for a model."""
_WITHIN = {"exact": 0.02, "close": 0.10}
"""Default tolerance of each kind of claim, relative to the published value."""
_BOUNDS = ("above", "at_least", "at_most", "below")


@dataclass(frozen=True)
class Tolerance:
    """Tolerance of a simulated number.

    It consists of a maximum difference from the published or closed-form value, and of bounds.
    """

    relative: float | None = None
    absolute: float | None = None
    bounds: Mapping[str, float] = field(default_factory=dict)
    law: float | None = None


@dataclass(frozen=True)
class Claim:
    """One published number or statement, and the computation of its simulated result.

    If the paper gives no number, `published` is None. The reference is then the closed-form value
    `law` of the tolerance. `because` explains why a row is not a prediction. `misses` explains why
    a row is a known miss.
    """

    id: str
    figure: str
    metric: str
    published: float | str | None
    unit: str
    kind: Kind
    grade: Class
    because: str
    misses: str
    source: str
    note: str
    check: str
    measure: str
    of: Selection
    to: Selection | None
    tolerance: Tolerance


def read_claim(entry: Entry, groups: Mapping[str, Group]) -> Claim:
    """Reads a claim from an entry. Checks every reference to the plan."""
    kind = cast("Kind", entry.one_of("kind", get_args(Kind)))
    published: Any = entry.value("published", (str, int, float), None)
    claim = Claim(
        id=entry.value("id", str),
        figure=entry.value("figure", str),
        metric=entry.value("metric", str),
        published=float(published) if isinstance(published, int | float) else published,
        unit=entry.value("unit", str, ""),
        kind=kind,
        grade=cast("Class", entry.one_of("class", get_args(Class))),
        because=entry.value("because", str, ""),
        misses=entry.value("misses", str, ""),
        source=entry.value("source", str),
        note=entry.value("note", str, ""),
        check=entry.value("check", str, "value"),
        measure=entry.value("measure", str),
        of=selection(entry, "of", groups),
        to=selection(entry, "to", groups) if entry.value("to", dict, None) else None,
        tolerance=_tolerance(entry, kind, published),
    )
    entry.done()
    _graded(entry, claim)
    return claim


def _graded(entry: Entry, claim: Claim) -> None:
    """Checks that the class of a claim does not overstate its evidence."""
    if claim.kind == "unclosed" and not claim.note:
        raise entry.error('it is unclosed: add the reason as "note"')
    if claim.kind == "unclosed" and claim.misses:
        raise entry.error('it is unclosed: it cannot miss, so remove "misses"')
    if (claim.kind == "unclosed") != (claim.grade == "unclosed"):
        raise entry.error(f"kind {claim.kind} and class {claim.grade} exclude each other")
    if claim.grade == "prediction" and not isinstance(claim.published, float):
        raise entry.error("only a published number can be predicted; its class is trend")
    if claim.grade == "trend" and claim.kind != "trend":
        raise entry.error(f"kind {claim.kind} is not a trend; choose another class")
    if claim.grade in ("calibration", "arithmetic") and not claim.because:
        raise entry.error(f'it is {claim.grade}: add the reason as "because"')


def _tolerance(entry: Entry, kind: Kind, published: float | str | None) -> Tolerance:
    bounds = {
        key: entry.value(key, float) for key in _BOUNDS if entry.value(key, float, None) is not None
    }
    relative: float | None = entry.value("within", float, None)
    absolute: float | None = entry.value("within_absolute", float, None)
    law: float | None = entry.value("law", float, None)
    if law is not None and published is not None:
        raise entry.error('it has both "published" and a "law": give one')
    against = published if law is None else law
    if kind in _WITHIN and isinstance(against, str):
        raise entry.error(f'"published" is a statement; kind {kind} needs a number')
    if kind != "unclosed" and against is None:
        raise entry.error('"published" is missing; give a "law" where the paper prints nothing')
    if relative is None and absolute is None:
        relative = _WITHIN.get(kind)
    if kind != "unclosed" and relative is None and absolute is None and not bounds:
        raise entry.error(f"nothing decides whether it passes; give one of: {', '.join(_BOUNDS)}")
    return Tolerance(relative, absolute, bounds, law)
