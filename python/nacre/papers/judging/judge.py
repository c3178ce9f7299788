"""Compares simulated with published results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from nacre.base.text import significant
from nacre.papers.measures.measures import Results, check, remark
from nacre.papers.running.outcome import UnknownError, UnmadeError
from nacre.papers.running.served import NotRunError
from nacre.papers.spec.claim import Claim, Tolerance
from nacre.papers.spec.plan import Job
from nacre.results.record import Record

_SAYS: Mapping[str, tuple[str, Callable[[float, float], bool]]] = {
    "above": (">", lambda value, bound: value > bound),
    "at_least": (">=", lambda value, bound: value >= bound),
    "at_most": ("<=", lambda value, bound: value <= bound),
    "below": ("<", lambda value, bound: value < bound),
}
_ROUNDING = 1e-9


# Other programs read these fields. The functional syntax is necessary because `pass` is a Python
# keyword.
Row = TypedDict(
    "Row",
    {
        "id": str,
        "paper": str,
        "figure": str,
        "metric": str,
        "published": float | str | None,
        "law": float | None,
        "simulated": float | None,
        "unit": str,
        "error": float | None,
        "kind": str,
        "class": str,
        "because": str,
        "pass": bool | None,
        "misses": str,
        "source": str,
        "tolerance": str,
        "note": str,
        "not_run": str,
        "fitted": list[str],
    },
)
"""One claim with its simulated result and verdict.

`published` is None if the paper gives no number. In this case, a closed-form value (`law`) may be
the reference. `error` is relative to this reference, and None for a statement. `because` explains
why a row is not a prediction. `pass` is None if the row has no criterion, or if required runs were
stopped or lack a requirement on this machine. `not_run` then contains the reason. `misses` explains
a known miss.
"""


def rows(results: Results, figures: Sequence[str]) -> list[Row]:
    """Returns a row for each claim about these figures, in the order of the paper."""
    return [row_of(claim, results) for claim in results.paper.claims if claim.figure in figures]


def failed(row: Row) -> bool:
    """Returns whether the claim of a row does not hold."""
    return row["pass"] is False


def unexpected(row: Row) -> bool:
    """Returns whether the claim of a row does not hold and is not marked as a known miss."""
    return failed(row) and not row["misses"]


def outlived(row: Row) -> bool:
    """Returns whether the claim of a row holds although it is marked as a known miss."""
    return row["pass"] is True and bool(row["misses"])


def row_of(claim: Claim, results: Results) -> Row:
    """Evaluates one claim."""
    simulated, why, not_run, verdict = None, "", "", None
    try:
        simulated = check(claim, results)
    except UnknownError as error:
        why = str(error)
        not_run = why if isinstance(error, UnmadeError) else ""
    if simulated is not None:
        verdict = _passes(simulated, claim)
    elif _over(claim, results):
        verdict = False
    return {
        "id": f"{results.paper.name}/{claim.figure}/{claim.id}",
        "paper": results.paper.name,
        "figure": claim.figure,
        "metric": claim.metric,
        "published": claim.published,
        "law": claim.tolerance.law,
        "simulated": simulated,
        "unit": claim.unit,
        "error": _error(simulated, _against(claim)),
        "kind": claim.kind,
        "class": claim.grade,
        "because": claim.because,
        "pass": None if claim.kind == "unclosed" else verdict,
        "misses": claim.misses,
        "source": claim.source,
        "tolerance": "" if claim.kind == "unclosed" else allowed(claim.tolerance, claim.unit),
        "note": "; ".join(part for part in (why, remark(claim, results), claim.note) if part),
        "not_run": not_run,
        "fitted": _fitted(claim, results),
    }


def allowed(tolerance: Tolerance, unit: str) -> str:
    """Formats a tolerance, e.g. `within 2 %` or `<= 1.2`."""
    words = [f"{_SAYS[key][0]} {bound:g}" for key, bound in tolerance.bounds.items()]
    of = "" if tolerance.law is None else f" of {tolerance.law:g}"
    if tolerance.relative is not None:
        words.append(f"within {100 * tolerance.relative:g} %{of}")
    if tolerance.absolute == 0:
        words.append("equal")
    elif tolerance.absolute is not None:
        words.append(f"within {tolerance.absolute:g} {'points' if unit == '%' else unit}".rstrip())
    return ", ".join(words)


def _passes(simulated: float, claim: Claim) -> bool:
    tolerance = claim.tolerance
    if not math.isfinite(simulated):
        return False
    if not all(_SAYS[key][1](simulated, bound) for key, bound in tolerance.bounds.items()):
        return False
    against = _against(claim)
    if not isinstance(against, float):
        return True
    off = abs(simulated - against)
    limits = []
    if tolerance.relative is not None:
        limits.append(tolerance.relative * abs(against))
    if tolerance.absolute is not None:
        limits.append(tolerance.absolute)
    return all(off <= limit * (1 + _ROUNDING) for limit in limits)


def _against(claim: Claim) -> float | str | None:
    """Returns the closed-form value of a claim if there is one, otherwise the published value."""
    return claim.published if claim.tolerance.law is None else claim.tolerance.law


def _error(simulated: float | None, against: float | str | None) -> float | None:
    if simulated is None or not isinstance(against, float) or not against:
        return None
    return simulated / against - 1


def _over(claim: Claim, results: Results) -> bool:
    """Returns whether the result of a claim can no longer be computed.

    This is the case if one of the claim's runs failed, or if all of them have ended.

    A run that lacks a requirement on this machine counts as neither failed nor ended.
    """
    ended = [results.outcomes.ended.get(job) for job in _jobs(claim, results)]
    told = [one for one in ended if one is not None and not isinstance(one, NotRunError)]
    return len(told) == len(ended) or any(isinstance(one, Exception) for one in told)


def _jobs(claim: Claim, results: Results) -> list[Job]:
    selections = [claim.of, claim.to] if claim.to else [claim.of]
    return [point.job for s in selections for point in results.paper.points(s)]


def _fitted(claim: Claim, results: Results) -> list[str]:
    """Returns fitted values in the runs of a claim, with the data to which each was fitted."""
    found: dict[str, None] = {}
    for job in _jobs(claim, results):
        record = results.outcomes.ended.get(job)
        if isinstance(record, Record):
            for origin in record.origins:
                if origin["confidence"] == "fitted":
                    value = said(origin["value"])
                    found[f"{origin['path']} = {value} ({origin['source']})"] = None
    return list(found)


def said(value: object) -> str:
    """Formats a value of a scenario for output."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def number(value: float | None, unit: str) -> str:
    """Formats a published or simulated number with its unit for output."""
    if value is None:
        return "-"
    if unit and value.is_integer():
        return f"{value:,.0f} {unit}"
    digits = 4 if 1000 <= abs(value) < 100_000 else 3
    return f"{significant(value, digits)} {unit}".rstrip()
