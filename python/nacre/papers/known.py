"""Published results of papers, with their latest simulated results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypedDict

from nacre.base.text import NOTHING
from nacre.errors import config_error, unknown
from nacre.papers.judging.evidence import summed
from nacre.papers.judging.judge import Row, number
from nacre.papers.result import Reproduction
from nacre.papers.running.target import Target
from nacre.papers.showing.table import error, notes, verdict
from nacre.papers.showing.table import published as printed
from nacre.papers.spec.paper import SHIPPED
from nacre.papers.spec.plan import as_study
from nacre.papers.work import jobs_of, targets

REPRODUCED = SHIPPED / "reproduced.json"
"""Rows of the latest reproduction that is part of the package. `make reproduced` writes this
file."""
_OUTCOME = ("simulated", "error", "pass", "note")
_ASKED = ("published", "law", "tolerance", "kind")
"""Fields that determine the verdict. If one of them has changed, an earlier verdict is not used."""


class Made(TypedDict, total=False):
    """Date of a reproduction, and the versions of Nacre and of its models."""

    date: str
    version: str
    changed: list[str]
    """Names of models whose version has changed since the reproduction."""
    folder: str


@dataclass(frozen=True)
class Claim:
    """One claim of a paper as text.

    If the claim was reproduced, it includes the simulated result.
    """

    row: Row
    made: Made | None

    @property
    def is_known(self) -> bool:
        """Whether there is a simulated result."""
        return self.made is not None

    @property
    def published(self) -> str:
        """Published value as text."""
        return printed(self.row)

    @property
    def simulated(self) -> str:
        """Simulated value as text."""
        return number(self.row["simulated"], self.row["unit"]) if self.made else NOTHING

    @property
    def error(self) -> str:
        """Relative error as text."""
        return error(self.row)

    @property
    def verdict(self) -> str:
        """Verdict: `pass`, `miss` (known), `FAIL` (not known), `unclosed`, or `not run`.

        An `unclosed` claim has no criterion.
        """
        is_told = self.made or self.row["kind"] == "unclosed"
        return verdict(self.row) if is_told else "not run"


@dataclass(frozen=True)
class Paper:
    """Published results of a paper."""

    target: Target

    @property
    def name(self) -> str:
        """Name of the paper for `nacre reproduce`."""
        return self.target.paper.name

    @property
    def title(self) -> str:
        """Title of the paper."""
        return self.target.paper.title

    @property
    def figures(self) -> Sequence[str]:
        """Names of the figures and tables about which there are claims."""
        return self.target.figures

    @property
    def seconds(self) -> float:
        """Approximate run time in seconds on one core, from the reproduction in the package.

        If that reproduction does not include the paper, the estimate is that of the plan.
        """
        took = _took(REPRODUCED).get(self.name)
        return sum(jobs_of([self.target]).values()) if took is None else took

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Returns a row for each claim, as in `Reproduction.listed`. Runs nothing."""
        return tuple(Reproduction([self.target], {}).listed)

    def claims(self, known: Mapping[str, tuple[Row, Made]] | None = None) -> list[Claim]:
        """Returns all claims. Results that are missing in `known` are those in the package."""
        found = {**_shipped(REPRODUCED), **(known or {})}
        return [Claim(*_merged(row, found.get(row["id"]))) for row in self.rows]

    def runs(self, figure: str) -> list[str]:
        """Names of a figure's groups of runs that simulate a workload.

        Each group can be a study.
        """
        plan = self.target.paper.plan
        names = dict.fromkeys(point.group for point in self.target.paper.needed([figure]))
        return [
            name
            for name in names
            if not (plan[name].mixes or plan[name].dilate or plan[name].ending)
        ]

    def study(self, runs: str) -> dict[str, Any]:
        """Returns a group of runs as a study, which users can change and run."""
        plan = self.target.paper.plan
        if runs not in plan:
            raise config_error([unknown("no runs called", runs, plan)])
        return as_study(plan[runs])


@cache
def published() -> Mapping[str, Paper]:
    """Returns all papers by name, with their claims."""
    return {target.paper.name: Paper(target) for target in targets(None)}


def said(claims: Iterable[Claim]) -> tuple[list[str], list[str]]:
    """Returns a line per paper with the number of rows that hold, and notes about single rows."""
    claims = list(claims)
    return summed([c.row for c in claims]), notes([c.row for c in claims if c.is_known])


def _merged(row: Row, known: tuple[Row, Made] | None) -> tuple[Row, Made | None]:
    """Returns a row with its known result, unless the criteria of the row have changed."""
    if known is None or any(known[0].get(key) != row[key] for key in _ASKED):  # type: ignore[literal-required]
        return row, None
    outcome = {key: known[0][key] for key in _OUTCOME}  # type: ignore[literal-required]
    merged: Row = {**row, **outcome, "not_run": ""}  # type: ignore[typeddict-item]
    return merged, known[1]


@cache
def _shipped(place: Path) -> Mapping[str, tuple[Row, Made]]:
    """Reads the rows of the reproduction in the file `place`.

    Returns the rows by their identifiers.
    """
    try:
        document = json.loads(place.read_bytes())
    except FileNotFoundError:
        return {}
    now = versions()
    changed = [name for name, version in document["models"].items() if now.get(name) != version]
    made: Made = {"date": document["date"], "version": document["version"], "changed": changed}
    return {row["id"]: (row, made) for row in document["rows"]}


@cache
def _took(place: Path) -> Mapping[str, float]:
    """Reads the processor time of each paper in seconds from the file of a reproduction."""
    try:
        seconds: dict[str, float] = json.loads(place.read_bytes()).get("seconds", {})
    except FileNotFoundError:
        return {}
    return seconds


def versions() -> dict[str, int]:
    """Returns the version of every model."""
    from nacre.scenario.models import models

    return {f"{model.family}/{model.kind}": model.version for model in models()}


def shipped_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Returns the part of the rows that the package contains: results and criteria."""
    keys = ("id", *_ASKED, *_OUTCOME)
    return [
        {key: row[key] for key in keys}  # type: ignore[literal-required]
        for row in rows
        if row["simulated"] is not None or row["pass"] is not None
    ]
