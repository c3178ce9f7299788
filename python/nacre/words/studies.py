"""Summarizes studies as tables and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from nacre.base.table import Table
from nacre.base.text import NOTHING, amount, count, duration, percent, si, significant
from nacre.studies.analysis.pareto import conditions, groups
from nacre.studies.analysis.table import COSTS, bases, ci95
from nacre.studies.points.repeats import columns
from nacre.studies.result import StudyResult
from nacre.studies.spec.design import Objective

BEST = 12
_USUAL = ("iops", "p99_ns", "cost")
_PERCENTILES = {"p999": "p99.9", "p9999": "p99.99"}


def best(result: StudyResult, most: int = BEST) -> Table:
    """Returns a table of the best designs, up to `most` per condition.

    These are the designs on the Pareto front and its contenders. If there is no front, they are
    sorted by the first objective or in the order of the study.
    """
    front = ranked(result)
    given = conditions(result.questions)
    return _designs_table(result, pl.concat([group.head(most) for group in groups(front, given)]))


def others(result: StudyResult, most: int = BEST) -> Table:
    """Returns other designs, up to `most` per condition, with the reason why `best` omits them."""
    shown = {int(row[0]) for row in best(result).rows}
    left = _sorted(result, result.designs.filter(~pl.col("point").is_in(shown)))
    on_front = set(ranked(result)["point"])
    given = conditions(result.questions)
    rest = pl.concat([group.head(most) for group in groups(left, given)])
    table = _designs_table(result, rest)
    why = [
        "on the front" if row["point"] in on_front
        else "dominated" if row["feasible"] else "violates a constraint"
        for row in rest.iter_rows(named=True)
    ]  # fmt: skip
    if not result.questions.objectives:
        return table
    rows = [[*row, reason] for row, reason in zip(table.rows, why, strict=True)]
    return Table("", [*table.columns, "left out"], [*table.numeric, False], rows)


def _sorted(result: StudyResult, designs: pl.DataFrame) -> pl.DataFrame:
    """Sorts designs by the first objective under each condition. Infeasible designs are last."""
    objectives = result.questions.objectives
    if not objectives:
        return designs
    first = objectives[0]
    of = groups(designs, conditions(result.questions))
    by, down = ["feasible", first.column], [True, first.goal == "max"]
    return pl.concat(
        [group.sort(by, descending=down, nulls_last=True, maintain_order=True) for group in of]
    )


def _designs_table(result: StudyResult, front: pl.DataFrame) -> Table:
    """Returns a table with a row per design."""
    objectives = result.questions.objectives
    repeated = result.designs["runs"].max() != 1
    certain = "certain" in front.columns
    shown = [o.column for o in objectives] or [
        name for name in _USUAL if front[name].null_count() < front.height
    ]
    limits = [c.column for c in result.questions.constraints if c.column not in shown]
    shown += list(dict.fromkeys(limits))
    axes = [axis.name for axis in result.questions.axes]
    rows = [
        [
            str(row["point"]),
            *(NOTHING if row[a] is None else _label(row[a]) for a in axes),
            *(_with_interval(name, row) for name in shown),
            *([str(row["runs"])] if repeated else []),
            *([_standing(row)] if repeated and certain else []),
        ]
        for row in front.iter_rows(named=True)
    ]
    names = ["point", *axes, *(counted(name, result) for name in shown)]
    names += ["runs"] * repeated + ["on the front"] * (repeated and certain)
    numeric = [True, *[False] * len(axes), *[True] * len(shown), True, False]
    return Table("", names, numeric[: len(names)], rows)


def ranked(result: StudyResult) -> pl.DataFrame:
    """Returns the front and its contenders, or, if there is no front, all feasible designs."""
    objectives = result.questions.objectives
    if not objectives:
        return result.designs
    front = pl.concat([result.pareto(), result.contenders()], how="diagonal")
    if front.height:
        given = conditions(result.questions)
        return pl.concat(groups(front, given)) if given else front
    return _sorted(result, result.designs.filter("feasible"))


def _with_interval(name: str, row: Mapping[str, Any]) -> str:
    """Formats a mean, and the half-width of its interval if it is above zero.

    For example, `251 us +- 2.10 us`.
    """
    half_width = row.get(ci95(name))
    text = cell(name, row[name])
    return f"{text} +- {cell(name, half_width)}" if half_width else text


def _standing(row: Mapping[str, Any]) -> str:
    """Returns "yes" if the design is certainly on the front, otherwise "perhaps"."""
    return "yes" if row["certain"] else "perhaps"


def counted(name: str, result: StudyResult) -> str:
    """Returns the title of a column. The title of a cost includes its currency."""
    if name not in COSTS:
        return title(name)
    known = bases(result.table)
    if len(known) > 1:
        return f"{title(name)}, in different currencies"
    return f"{title(name)}, {known[0]}" if known else title(name)


def decisive(result: StudyResult) -> Table:
    """Returns a table of the influence of axes, with a row per axis and a column per objective."""
    found = result.sensitivity()
    objectives = found["objective"].unique(maintain_order=True).to_list()
    axes = found["axis"].unique(maintain_order=True).to_list()
    share = {(o, a): s for o, a, s in found.select("objective", "axis", "share").iter_rows()}
    rows = [[axis, *(percent(share.get((o, axis))) for o in objectives)] for axis in axes]
    methods = ", ".join(found["method"].unique(maintain_order=True).to_list())
    within_each = ", within each condition" if conditions(result.questions) else ""
    columns = [f"share of {methods} by axis{within_each}", *(title(name) for name in objectives)]
    return Table("", columns, [False, *[True] * len(objectives)], rows)


def facts(result: StudyResult) -> list[str]:
    """Returns sentences about the whole study."""
    lines = []
    objectives = result.questions.objectives
    if objectives:
        front, feasible = result.pareto().height, int(result.designs["feasible"].sum())
        kept = " that meet all constraints" if result.questions.constraints else ""
        given = conditions(result.questions)
        under = f", one for each {' and '.join(given)}" if given else ""
        lines.append(
            f"{front:,} of {feasible:,} designs{kept} are on the Pareto"
            f" {'fronts' if given else 'front'} of {_wanted(objectives)}{under}"
        )
        for objective in objectives:
            unknown = result.designs.filter("feasible")[objective.column].null_count()
            if unknown:
                lines.append(f"note: {title(objective.column)} of {unknown:,} designs is unknown")
        if feasible and not front:
            lines.append(
                f"note: no Pareto front; designs are sorted by {title(objectives[0].column)}"
            )
    if result.failed.height:
        lines += failures(result)
    return lines + _chance(result) + _remarks(result)


def _chance(result: StudyResult) -> list[str]:
    """Returns notes about results that may be due to chance."""
    designs, wanted = result.designs, result.questions.confidence
    if designs.height < 2 and not wanted:
        return []
    if designs["runs"].max() == 1:
        hint = 'give [study] confidence = "2 %", or seeds'
        return [f"note: each design ran once, so small differences may be noise: {hint}"]
    lines = []
    perhaps = result.contenders().height + result.pareto()["certain"].to_list().count(False)
    if perhaps:
        lines.append(
            f"note: {_designs(perhaps)} may or may not be on the front: the difference from others"
            " is within noise at 95 %, seed by seed"
        )
    if wanted:
        wide = [_is_wide(row, result) for row in designs.iter_rows(named=True)]
        if any(wide):
            most = max(designs["runs"].to_list())
            lines.append(
                f"note: {_designs(sum(wide))} not known within {percent(wanted.share)}, after"
                f" {most:,} runs at most: allow more repeats, or run longer"
            )
    return lines


def _is_wide(row: Mapping[str, Any], result: StudyResult) -> bool:
    wanted = result.questions.confidence
    return wanted is not None and any(
        (row[ci95(name)] or 0) > wanted.share * abs(row[name] or 0)
        for name in columns(result.questions)
    )


def _designs(number: int) -> str:
    return "1 design" if number == 1 else f"{number:,} designs"


_SAID = {
    "saturated": "requests arrived faster than they were served, so latencies grow with the"
    " length of the run",
    "not_steady": "the run was not in a steady state",
    "few_writes": "too few writes to measure write amplification: garbage collection did not"
    " cycle through the flash",
    "unwritten_reads": "reads were of data that was never written: set run.fill",
    "failed_requests": "failed requests are excluded from rates and latencies",
    "more_than_share": "a share of a drive gets more than its share of the load, but pays only"
    " for its capacity",
    "dependent": "no confidence interval for the mean of a run: increase run.warm_up or"
    " workload.requests",
    "not_narrow": "the confidence interval of a mean is wider than run.until",
    "longer_than_measured": "large requests took one measured latency per unit, one after the"
    " other",
    "energy_incomplete": "energy excludes components without energy data",
    "lifetime_incomplete": "lifetime excludes devices without a known endurance",
    "cost_incomplete": "cost excludes devices without a known price",
}
"""Notes that a summary shows for findings of records."""


def _remarks(result: StudyResult) -> list[str]:
    """Returns notes about limitations of the results."""
    lines = []
    found = result.designs["findings"].drop_nulls().str.split(", ").to_list()
    repeated = result.designs["runs"].max() != 1
    for kind, said in _SAID.items():
        if kind == "dependent" and repeated:
            continue  # intervals are those over the seeds
        if number := sum(kind in kinds for kinds in found):
            lines.append(f"note: {_designs(number)}: {said} (column findings)")
    counted = bases(result.table)
    if len(counted) > 1 or any(" and " in basis for basis in counted):
        lines.append(
            "note: costs are in different currencies and are not compared:"
            f' {"; ".join(counted)}; convert them, e.g. [prices] "USD 2009" = "1.42 USD 2023",'
            " or give all devices price and price_basis alike"
        )
    if not result.questions.search and _has_holes(result) and not result.sensitivity().height:
        lines.append("note: no variance shares: combinations are missing")
    return lines


def _has_holes(result: StudyResult) -> bool:
    """Returns whether combinations of axes lack results."""
    sound = result.table.height - result.failed.height
    names = [axis.name for axis in result.questions.axes]
    unset = any(result.table[name].null_count() for name in names)
    return len(names) > 1 and (sound < result.total or unset)


def failures(result: StudyResult, most: int = 3) -> list[str]:
    """Returns the errors of failed points, the most frequent first."""
    reasons = (
        result.failed.group_by("error", maintain_order=True)
        .agg(pl.len().alias("count"), pl.col("point").first())
        .sort("count", descending=True, maintain_order=True)
    )
    lines = []
    for error, number, point in reasons.head(most).iter_rows():
        first = str(error).splitlines()[0]
        lines.append(f"{number:,} failed, such as point {point}: {first}")
    if reasons.height > most:
        lines.append(f"and {reasons.height - most} other errors; see the column error")
    return lines


def cell(name: str, value: Any) -> str:
    """Formats a value of a column."""
    if value is None:
        return NOTHING
    if not isinstance(value, int | float):
        return str(value)
    if name.endswith("_ns"):
        return duration(value)
    if name.endswith("_s") and not name.endswith("per_s"):
        return duration(value * 1e9)
    if name == "energy_j":
        return f"{significant(value)} J"
    if name == "hit_ratio":
        return percent(value)
    if name == "cost":
        return amount(value)
    if name in ("iops", "bytes_per_s", "units_per_s"):
        return si(value)
    return count(value) if isinstance(value, int) else significant(value)


def title(name: str) -> str:
    """Returns the title of a column without its unit, because the cells contain the unit."""
    special = {
        "iops": "IOPS",
        "iops_per_cost": "IOPS per cost",
        "bytes_per_s": "bytes/s",
        "energy_j": "energy",
        "lifetime_days": "lifetime in days",
    }
    if name in special:
        return special[name]
    if name.endswith("_ns"):
        words = name.removesuffix("_ns").split("_")
        return f"{' '.join(_PERCENTILES.get(word, word) for word in words)} latency"
    return name.replace("_", " ")


def _wanted(objectives: Sequence[Objective]) -> str:
    words = {"max": "high", "min": "low"}
    return " and ".join(f"{words[o.goal]} {title(o.column)}" for o in objectives)


def _label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
