"""Compares the drives of the catalog with their data sheets."""

from __future__ import annotations

import nacre
import pytest
from nacre.papers.result import Reproduction
from nacre.papers.running.target import Target
from nacre.papers.work import conduct, targets


@pytest.fixture(scope="module")
def target() -> Target:
    (found,) = targets("drives")
    return found


def test_every_run_is_of_a_drive_of_the_catalog(target: Target) -> None:
    for point in target.points:
        found = nacre.check(point.job.scenario, point.job.overrides())
        assert "preset" in dict(found.scenario.stack), point.name


def test_no_row_has_too_high_a_class(target: Target) -> None:
    for claim in target.paper.claims:
        assert claim.tolerance.relative in (0.2, None), claim.id
        assert claim.grade != "prediction" or not claim.because, claim.id


def test_the_rows_of_a_drive_agree_with_the_accuracy_page() -> None:
    found: Reproduction = conduct(targets("drives/p4800x"), watch=lambda *_: False)
    rows = {row["id"].rpartition("/")[2]: row for row in found.listed}
    assert all(row["pass"] for row in rows.values())
    assert "prediction" not in {row["class"] for row in rows.values()}
