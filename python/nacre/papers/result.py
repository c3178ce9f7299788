"""Result of a reproduction: rows, records, and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from nacre.papers.judging.evidence import Fit, fits, summed
from nacre.papers.judging.judge import Row, failed, outlived, rows
from nacre.papers.measures.measures import Results
from nacre.papers.running.outcome import Outcomes, Result
from nacre.papers.running.served import Served
from nacre.papers.running.target import Target
from nacre.papers.spec.plan import Job
from nacre.results import base
from nacre.results.mixes import Mixes
from nacre.results.record import Record

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


class Reproduction(base.Result):
    """Comparison of simulated with published results. Each claim is a row.

    If the reproduction was loaded, `rows` are the saved rows. Otherwise, they are computed from the
    `ended` runs.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        ended: Mapping[Job, Result | Exception],
        rows: Sequence[Row] | None = None,
    ) -> None:
        self.targets = tuple(targets)
        self._outcomes = Outcomes(dict(ended))
        self._rows = rows

    @cached_property
    def listed(self) -> list[Row]:
        """Returns the rows as `nacre reproduce --json` prints them."""
        if self._rows is not None:
            return list(self._rows)
        return [
            row
            for target in self.targets
            for row in rows(Results(target.paper, self._outcomes), target.figures)
        ]

    @property
    def rows(self) -> pl.DataFrame:
        """Returns a table with a row per claim.

        `published` is a number, and `stated` is a statement.
        """
        from nacre.papers.showing.frame import frame

        return frame(self.listed)

    def to_polars(self) -> pl.DataFrame:
        """Returns the table `rows`."""
        return self.rows

    def to_dict(self) -> dict[str, list[Row]]:
        """Returns the document that `nacre reproduce --json` prints."""
        return {"rows": self.listed}

    @property
    def complete(self) -> bool:
        """Whether every run has ended, successfully or not."""
        return all(
            point.job in self._outcomes.ended for target in self.targets for point in target.points
        )

    @property
    def passed(self) -> bool:
        """Whether all runs ended, all claims hold, and predictions outnumber fitted values."""
        overdone = any(fit.overdone for fit in self.fits)
        return self.complete and not any(map(failed, self.listed)) and not overdone

    @property
    def fits(self) -> list[Fit]:
        """For each paper, the numbers of fitted values and of predictions that hold.

        Includes only papers whose figures were all reproduced.
        """
        whole = {t.paper.name for t in self.targets if set(t.figures) == set(t.paper.figures)}
        return fits([row for row in self.listed if row["paper"] in whole])

    @property
    def outlived(self) -> list[str]:
        """Names of the rows that hold although they are marked as known misses."""
        return [row["id"] for row in self.listed if outlived(row)]

    @property
    def records(self) -> Mapping[str, Record]:
        """Records of simulated points by name, e.g. `envy/cleaners: greedy, 50/50`."""
        return {name: of for name, of in self.results.items() if isinstance(of, Record)}

    @property
    def mixes(self) -> Mapping[str, Mixes]:
        """Scored tier mixes, by point.

        Points that are simulated have no scored mixes.
        """
        return {name: of for name, of in self.results.items() if isinstance(of, Mixes)}

    @property
    def served(self) -> Mapping[str, Served]:
        """Results of sysbench, by point. Points that do not serve a device have no such results."""
        return {name: of for name, of in self.results.items() if isinstance(of, Served)}

    @property
    def results(self) -> Mapping[str, Result]:
        """Results of every successful point by name: records, mixes, and results of sysbench."""
        return {
            f"{target.paper.name}/{point.name}": result
            for target in self.targets
            for point in target.points
            if (result := self._outcomes.get(point)) is not None
        }

    @property
    def by_job(self) -> Mapping[Job, Result]:
        """Results by run. A run that several points share occurs once."""
        ended = self._outcomes.ended.items()
        return {job: of for job, of in ended if not isinstance(of, Exception)}

    def failure(self, job: Job) -> Exception | None:
        """Returns the exception of a failed run, or None if it succeeded or has not ended."""
        found = self._outcomes.ended.get(job)
        return found if isinstance(found, Exception) else None

    @property
    def not_run(self) -> Mapping[str, str]:
        """Missing requirements of runs, by figure, e.g. `pcm-enterprise/sysbench`."""
        return {
            f"{target.paper.name}/{name}": why
            for target in self.targets
            for name in target.figures
            for point in target.paper.needed([name])
            if (why := self._outcomes.why_not_run(point))
        }

    def drawings(self) -> dict[str, Callable[[], alt.TopLevelMixin]]:
        """Returns plot functions by the names of figures, such as `envy/fig8`.

        Omits figures whose runs lack a requirement on this machine.
        """
        lacking = self.not_run
        return {
            f"{target.paper.name}/{name}": _drawer(target, name, self._outcomes)
            for target in self.targets
            for name in target.figures
            if name in target.paper.drawings and f"{target.paper.name}/{name}" not in lacking
        }

    def __repr__(self) -> str:
        return f"<nacre.Reproduction {'; '.join(summed(self.listed))}>"


def _drawer(target: Target, name: str, outcomes: Outcomes) -> Callable[[], alt.TopLevelMixin]:
    def draw() -> alt.TopLevelMixin:
        from nacre.papers.showing.figure import figure

        return figure(Results(target.paper, outcomes), name)

    return draw
