"""Result of a study."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre import _core
from nacre.base.view import View
from nacre.errors import Error, invalid
from nacre.results.base import Result
from nacre.results.record import Record
from nacre.studies.keep import store
from nacre.studies.keep.parquet import record
from nacre.studies.keep.store import TABLE_FILE, Memory
from nacre.studies.spec import document
from nacre.studies.spec.design import Design, Questions

if TYPE_CHECKING:
    import polars as pl

    from nacre.studies.analysis.noise import Front


class StudyResult(Result):
    """Result of a study: a table of points, and their analysis."""

    def __init__(
        self,
        questions: Questions,
        table: pl.DataFrame,
        total: int,
        kept: Memory | None = None,
        directory: Path | None = None,
    ) -> None:
        self._questions = questions
        self._kept, self._directory = kept, directory
        self.table = table
        """Table with a row per completed point. If a point has no results, `error` explains why."""
        self.total = total
        """Number of points of the study."""

    @property
    def name(self) -> str:
        """Name of the study."""
        return self._questions.name

    @property
    def questions(self) -> Questions:
        """Axes, objectives, and constraints of the study."""
        return self._questions

    @property
    def directory(self) -> Path | None:
        """Directory in which the points are saved, or None if they are only in memory."""
        return self._directory

    @property
    def complete(self) -> bool:
        """Whether all points have ended, successfully or not."""
        return self.table.height == self.total

    @property
    def failed(self) -> pl.DataFrame:
        """Points that failed, each with its error."""
        return self.table.filter(self.table["error"].is_not_null())

    @cached_property
    def designs(self) -> pl.DataFrame:
        """Table with a row per combination: means over its seeds, and whether all constraints hold.

        `runs` is the number of seeds. For each number `x`, `x_ci95` is the half-width of the 95 %
        confidence interval. The half-width is null for a single run.
        """
        from nacre.studies.analysis import table

        return table.designs(self._questions, self.table)

    def pareto(self) -> pl.DataFrame:
        """Returns the Pareto front: designs that no other design dominates.

        The first design is the best in the first objective. If there are no objectives, the front
        is empty. If there are conditions, the table contains a front for each condition. `certain`
        is true if no other design is better in all objectives at the 95 % level, compared seed by
        seed. If each design ran only once, `certain` is null.
        """
        import polars as pl

        known = self._noise
        column = (
            pl.lit(None, pl.Boolean) if known is None else pl.col("design").is_in(known.certain)
        )
        return self._front.with_columns(column.alias("certain"))

    def contenders(self) -> pl.DataFrame:
        """Returns designs that are not on the front and that no design on it beats significantly.

        The significance level is 95 %.
        """
        import polars as pl

        known = self._noise
        found: frozenset[int] = frozenset() if known is None else known.contenders
        return self.designs.filter(pl.col("design").is_in(found))

    @cached_property
    def _front(self) -> pl.DataFrame:
        from nacre.studies.analysis import pareto

        given = pareto.conditions(self._questions)
        return pareto.pareto(self.designs, self._questions.objectives, given)

    @cached_property
    def _noise(self) -> Front | None:
        from nacre.studies.analysis import noise, pareto

        on_front = set(self._front["design"])
        found = [
            noise.front(
                self.table,
                group,
                [design for design in group["design"] if design in on_front],
                self._questions.objectives,
            )
            for group in pareto.groups(self.designs, pareto.conditions(self._questions))
        ]
        return noise.together(found)

    def sensitivity(self) -> pl.DataFrame:
        """Returns the share of each objective that each axis explains.

        The columns are `objective`, `axis`, `share`, and `method`. For a study of axes, the shares
        are shares of the variance. For a search, they are those of PED-ANOVA. If the study has no
        objectives, the shares refer to IOPS, p99, and cost.
        """
        from nacre.studies.analysis import pareto

        return pareto.sensitivity(self._questions, self.table)

    def record(self, point: int) -> Record:
        """Returns the record of a point, without columns. Raises `Error` if there is none."""
        found = self.table.filter(self.table["point"] == point)["key"]
        data = None
        if found.len():
            if self._kept is not None:
                data = self._kept.record(found[0])
            elif self._directory is not None:
                data = record(self._directory, found[0])
        if data is None:
            raise Error(f"the study has no record of a point {point}", "no-data")
        return Record(data, {})

    def origins(self, point: int) -> Sequence[View]:
        """Returns all values of a point with their origins.

        The result is empty if the scenario is not saved.
        """
        design = self._questions
        found = self.table.filter(self.table["point"] == point)["settings"]
        if not (isinstance(design, Design) and found.len()):
            return ()
        lines = (line.partition("=") for line in found[0].split("\n") if line)
        settings = [(path, value) for path, _, value in lines]
        source = design.source
        text = source.call(_core.check, settings)
        return tuple(View(origin) for origin in source.placed(json.loads(text))["origins"])

    def to_polars(self) -> pl.DataFrame:
        """Returns the table of points."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """Returns name, number of points, and a row for each completed point."""
        return {"name": self.name, "total": self.total, "points": self.table.to_dicts()}

    def __repr__(self) -> str:
        return f"<nacre.StudyResult {self.name}: {summed(self)}>"


def read(folder: Path) -> StudyResult:
    """Loads the output of `nacre study --out`. Raises `ConfigError` if there is none."""
    import polars as pl

    kept = store.opened(folder)
    reading = document.read(kept["study"])
    questions = reading.design or reading.questions
    try:
        frame = pl.read_parquet((folder / TABLE_FILE).read_bytes())
    except FileNotFoundError:
        raise invalid(
            "unfinished",
            str(folder),
            "the study was killed before it had a table",
            hint="continue with it: nacre study ... --resume",
        ) from None
    return StudyResult(questions, frame, kept["points"], None, folder)


def summed(result: StudyResult) -> str:
    """Formats the number of points, e.g. `24 points, 1 failed`."""
    done = result.table.height
    text = f"{done:,} points" if result.complete else f"{done:,} of {result.total:,} points"
    failed = result.failed.height
    return f"{text}, {failed:,} failed" if failed else text
