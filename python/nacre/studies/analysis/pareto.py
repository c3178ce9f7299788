"""Pareto front of a study, and influence of the axes on the objectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from nacre.studies.spec.design import Objective, Questions

VARIANCE = "variance"
PED_ANOVA = "PED-ANOVA"
INTERACTIONS, SEEDS = "(together)", "(seed)"
_USUAL = (Objective("iops", "max"), Objective("p99_ns", "min"), Objective("cost", "min"))


def conditions(questions: Questions) -> list[str]:
    """Returns the axes that are conditions. Designs are compared only within equal conditions."""
    return [axis.name for axis in questions.axes if axis.condition]


def groups(designs: pl.DataFrame, names: Sequence[str]) -> list[pl.DataFrame]:
    """Divides the designs by their conditions, in the order of the study.

    Without conditions, returns one group.
    """
    found = designs.partition_by(names, maintain_order=True) if names else []
    return found or [designs]


def pareto(
    designs: pl.DataFrame, objectives: Sequence[Objective], given: Sequence[str] = ()
) -> pl.DataFrame:
    """Returns feasible designs that no other design dominates.

    Each condition has a separate front.
    """
    if given:
        return pl.concat([pareto(group, objectives) for group in groups(designs, given)])
    known = designs.filter(
        pl.col("feasible"),
        *(pl.col(o.column).is_not_null() & pl.col(o.column).is_finite() for o in objectives),
    )
    if not objectives or not known.height:
        return known.clear()
    signs = np.array([-1.0 if objective.goal == "max" else 1.0 for objective in objectives])
    values = known.select(o.column for o in objectives).to_numpy().astype(float) * signs
    front = known.filter(pl.Series(_undominated(values)))
    return front.sort(objectives[0].column, descending=objectives[0].goal == "max",
                      maintain_order=True)  # fmt: skip


def _undominated(values: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[Any]]:
    """Returns, for each row, whether no other row dominates it."""
    kept = np.zeros(len(values), dtype=bool)
    front: list[int] = []
    # In this order, no row dominates an earlier row.
    for index in np.lexsort(values.T[::-1]):
        row = values[index]
        rivals = values[front]
        beaten = ((rivals <= row).all(axis=1) & (rivals < row).any(axis=1)).any()
        if not beaten:
            front.append(int(index))
            kept[index] = True
    return kept


def sensitivity(questions: Questions, points: pl.DataFrame) -> pl.DataFrame:
    """Returns the share of each objective that each axis explains.

    For a study of axes, the share of an axis is the first-order Sobol index of a full grid. This
    index is the share of the objective's variance that the axis alone explains. Interactions and
    the seed explain the rest. If combinations are missing, axes are correlated and the shares have
    no meaning, so the result is empty. A search prefers good regions, so the variance of its points
    has no meaning. For a search, the shares are those of PED-ANOVA (Watanabe et al., IJCAI 2023),
    which compares the best 10 % of the points with all points. The columns are `objective`, `axis`,
    `share`, and `method`.

    If there are conditions, each objective is divided by its mean under each condition. The shares
    then describe only the other axes.
    """
    schema = {"objective": pl.String, "axis": pl.String, "share": pl.Float64, "method": pl.String}
    rows = []
    objectives = questions.objectives or _USUAL
    sound = points.filter(pl.col("error").is_null())
    for objective in objectives:
        known = sound.filter(
            pl.col(objective.column).is_not_null() & pl.col(objective.column).is_finite()
        )
        if given := conditions(questions):
            of_condition = pl.col(objective.column).mean().over(given)
            known = known.with_columns(pl.col(objective.column) / of_condition)
        if known[objective.column].n_unique() < 2:
            continue
        method = PED_ANOVA if questions.search else VARIANCE
        find = _importances if questions.search else _shares
        shares = find(questions, known, objective)
        rows += [(objective.column, axis, share, method) for axis, share in shares]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _shares(
    questions: Questions, known: pl.DataFrame, objective: Objective
) -> list[tuple[str, float]]:
    column = objective.column
    names = [axis.name for axis in questions.axes]
    repeated = len(questions.seeds) > 1
    if questions.confidence:
        known, repeated = _with_common_seeds(known), True
    if questions.seeds or questions.confidence:
        names.append("seed")
    if not _is_factorial(known, names):
        return []
    total = _sum_of_squares(known[column])
    found = [(name, _between(known, name, column) / total) for name in names]
    without = {"seed", *conditions(questions)}
    axes = [(name, share) for name, share in found if name not in without]
    axes.sort(key=lambda row: -row[1])
    if repeated:
        axes.append((SEEDS, max(0.0, 1 - _between(known, "design", column) / total)))
    rest = 1 - sum(share for _, share in axes)
    if len(questions.axes) > 1:
        axes.append((INTERACTIONS, max(0.0, rest)))
    return axes


def _with_common_seeds(known: pl.DataFrame) -> pl.DataFrame:
    """Returns the runs whose seed all designs have in common."""
    everyone = known["design"].n_unique()
    return known.filter(pl.col("design").n_unique().over("seed") == everyone)


def _is_factorial(known: pl.DataFrame, names: Sequence[str]) -> bool:
    """Returns whether every combination of the values of all axes occurs once."""
    sizes = [known[name].n_unique() for name in names]
    complete = all(known[name].null_count() == 0 for name in names)
    return complete and int(np.prod(sizes)) == known.height


def _between(known: pl.DataFrame, name: str, column: str) -> float:
    """Returns the sum of squares between the group means."""
    values = known.select(pl.col(name).alias("group"), pl.col(column).alias("value"))
    groups = values.group_by("group", maintain_order=True).agg(
        pl.len().alias("count"), pl.col("value").mean().alias("mean")
    )
    squares = pl.col("count") * (pl.col("mean") - values["value"].mean()) ** 2
    return float(groups.select(squares.sum()).item())


def _sum_of_squares(values: pl.Series) -> float:
    centered = values.cast(pl.Float64).to_numpy() - float(values.cast(pl.Float64).to_numpy().mean())
    return float((centered**2).sum())


def _importances(
    questions: Questions, known: pl.DataFrame, objective: Objective
) -> list[tuple[str, float]]:
    from nacre.studies.points.search import importances

    if known.height < 10:
        return []
    rows = known.to_dicts()
    found = importances(questions.axes, rows, objective)
    return sorted(found.items(), key=lambda row: -row[1])
