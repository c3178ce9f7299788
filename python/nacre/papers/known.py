"""What papers published, with what was last simulated for it."""

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
"""The rows of the last reproduction, as `make reproduced` writes them."""
_OUTCOME = ("simulated", "error", "pass", "note")
_ASKED = ("published", "law", "tolerance", "kind")
"""What a row is judged by: where that has changed, an outcome from before says nothing."""


class Made(TypedDict, total=False):
    """When the rows of a reproduction were made, by which version, from which models."""

    date: str
    version: str
    changed: list[str]
    """Models whose version has changed since."""
    folder: str


@dataclass(frozen=True)
class Claim:
    """One claim of a paper in words, with what was simulated for it if that is known."""

    row: Row
    made: Made | None

    @property
    def is_known(self) -> bool:
        """Whether something was simulated for it."""
        return self.made is not None

    @property
    def published(self) -> str:
        """What the paper says."""
        return printed(self.row)

    @property
    def simulated(self) -> str:
        """What the model says."""
        return number(self.row["simulated"], self.row["unit"]) if self.made else NOTHING

    @property
    def error(self) -> str:
        """How far off that is."""
        return error(self.row)

    @property
    def verdict(self) -> str:
        """`pass`, `miss` where that is known, `FAIL` where not; `unclosed`; `not run`."""
        is_told = self.made or self.row["kind"] == "unclosed"
        return verdict(self.row) if is_told else "not run"


@dataclass(frozen=True)
class Paper:
    """What a paper published."""

    target: Target

    @property
    def name(self) -> str:
        """Its name, as `nacre reproduce` takes it."""
        return self.target.paper.name

    @property
    def title(self) -> str:
        """What it is called."""
        return self.target.paper.title

    @property
    def figures(self) -> Sequence[str]:
        """The figures and tables with claims about them."""
        return self.target.figures

    @property
    def seconds(self) -> float:
        """About how long its runs take on one core: what they took, as it is shipped.

        Of a paper that is not in what is shipped it is what its plan guesses.
        """
        took = _took(REPRODUCED).get(self.name)
        return sum(jobs_of([self.target]).values()) if took is None else took

    @cached_property
    def rows(self) -> Sequence[Row]:
        """A row for each claim, as of `Reproduction.listed`, before anything is run."""
        return tuple(Reproduction([self.target], {}).listed)

    def claims(self, known: Mapping[str, tuple[Row, Made]] | None = None) -> list[Claim]:
        """Every claim, with its row in `known` or else in the reproduction that is shipped."""
        found = {**_shipped(REPRODUCED), **(known or {})}
        return [Claim(*_merged(row, found.get(row["id"]))) for row in self.rows]

    def runs(self, figure: str) -> list[str]:
        """The runs behind a figure that are a study: they simulate, and serve nothing."""
        plan = self.target.paper.plan
        names = dict.fromkeys(point.group for point in self.target.paper.needed([figure]))
        return [name for name in names if not plan[name].mixes and not plan[name].dilate]

    def study(self, runs: str) -> dict[str, Any]:
        """Runs of the paper as a study, which can be changed and run."""
        plan = self.target.paper.plan
        if runs not in plan:
            raise config_error([unknown("no runs called", runs, plan)])
        return as_study(plan[runs])


@cache
def published() -> Mapping[str, Paper]:
    """The papers whose results are recomputed, by name, with every claim of theirs."""
    return {target.paper.name: Paper(target) for target in targets(None)}


def said(claims: Iterable[Claim]) -> tuple[list[str], list[str]]:
    """How many of each class hold, a line for each paper; and what is to be said about rows."""
    claims = list(claims)
    return summed([c.row for c in claims]), notes([c.row for c in claims if c.is_known])


def _merged(row: Row, known: tuple[Row, Made] | None) -> tuple[Row, Made | None]:
    """A row with the outcome that is known of it, unless it is now judged otherwise."""
    if known is None or any(known[0].get(key) != row[key] for key in _ASKED):  # type: ignore[literal-required]
        return row, None
    outcome = {key: known[0][key] for key in _OUTCOME}  # type: ignore[literal-required]
    merged: Row = {**row, **outcome, "not_run": ""}  # type: ignore[typeddict-item]
    return merged, known[1]


@cache
def _shipped(place: Path) -> Mapping[str, tuple[Row, Made]]:
    """The rows of the reproduction at `place`, by their names."""
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
    """What each paper took of processors in the reproduction at `place`, in seconds."""
    try:
        seconds: dict[str, float] = json.loads(place.read_bytes()).get("seconds", {})
    except FileNotFoundError:
        return {}
    return seconds


def versions() -> dict[str, int]:
    """The version of every model."""
    from nacre.scenario.models import models

    return {f"{model.family}/{model.kind}": model.version for model in models()}


def shipped_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """What is shipped of the rows of a reproduction: their outcome, and what it was judged by."""
    keys = ("id", *_ASKED, *_OUTCOME)
    return [
        {key: row[key] for key in keys}  # type: ignore[literal-required]
        for row in rows
        if row["simulated"] is not None or row["pass"] is not None
    ]
