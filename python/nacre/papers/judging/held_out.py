"""Recomputes the rows of a paper with one fitted value at a time replaced by a neutral value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from nacre.papers.judging.judge import said
from nacre.papers.judging.trial import JUDGED, Swaps, Trial, with_setting
from nacre.papers.running.runs import Runs, Watch
from nacre.papers.running.target import Target
from nacre.papers.spec.claim import Claim
from nacre.papers.spec.paper import HeldOut
from nacre.papers.spec.plan import Job


class Without(TypedDict):
    """A row that was recomputed without one fitted value.

    `without` is None if the model rejects the neutral value.
    """

    id: str
    figure: str
    metric: str
    unit: str
    fitted: float | None
    held: bool | None
    without: float | None
    holds: bool | None


class Held(TypedDict):
    """A fitted value, its neutral replacement with the reason, and every row that used it."""

    value: str
    neutral: str
    why: str
    rows: list[Without]


def held_out(target: Target, runs: Runs, watch: Watch | None) -> list[Held] | None:
    """Returns one entry for each fitted value in the target's runs.

    Returns None if `watch` stopped the runs.

    The table `[[held_out]]` in `claims.toml` of the paper defines the neutral values.
    """
    claims = [
        claim
        for claim in target.paper.claims
        if claim.figure in target.figures and claim.grade in JUDGED
    ]
    trial = Trial(target, claims, runs)
    if not trial.run([trial.jobs], watch):
        return None
    swaps = {
        held: {job: with_setting(job, held.path, held.neutral) for job in jobs}
        for held, jobs in _used(target, trial).items()
    }
    if not trial.run([each.values() for each in swaps.values()], watch):
        return None
    return [_held(held, trial, claims, each) for held, each in swaps.items()]


def _used(target: Target, trial: Trial) -> dict[HeldOut, list[Job]]:
    """Returns fitted values for which there is a neutral value, and the runs that use them."""
    known = {(held.path, held.fitted): held for held in target.paper.held_out}
    found: dict[HeldOut, list[Job]] = {}
    for job, origin in trial.origins():
        if origin["confidence"] == "fitted":
            held = known.get((origin["path"], said(origin["value"])))
            if held is not None:
                found.setdefault(held, []).append(job)
    return found


def _held(held: HeldOut, trial: Trial, claims: Sequence[Claim], swaps: Swaps) -> Held:
    return {
        "value": f"{held.path} = {held.fitted}",
        "neutral": held.neutral,
        "why": held.why,
        "rows": [_without(claim, trial, swaps) for claim in claims if trial.of(claim) & set(swaps)],
    }


def _without(claim: Claim, trial: Trial, swaps: Swaps) -> Without:
    row, other = trial.judge(claim, {}), trial.judge(claim, swaps)
    return {
        "id": row["id"],
        "figure": row["figure"],
        "metric": row["metric"],
        "unit": row["unit"],
        "fitted": row["simulated"],
        "held": row["pass"],
        "without": other["simulated"],
        "holds": None if other["simulated"] is None else other["pass"],
    }
