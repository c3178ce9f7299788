"""Tests that the Pareto figure of thousands of designs is small and has no artificial gaps."""

from __future__ import annotations

import random
from typing import Any

from nacre.figures.pareto import _BEATEN, _DOTS_MAX, _FRONT, _OUT, _distinguishable, _places


def rows(number: int) -> list[dict[str, Any]]:
    chance = random.Random(7)
    found = []
    for _ in range(number):
        x = 10 ** chance.uniform(3, 6)
        kind = _OUT if chance.random() < 0.3 else _BEATEN
        found.append({"x": x, "y": chance.gauss(100, 20) + x / 1e5, "kind": kind})
    for row in found[::400]:
        row["kind"] = _FRONT
    return found


def test_many_designs_become_few_dots_and_all_of_the_front() -> None:
    every = rows(20_000)
    drawn = _distinguishable(every)
    assert len(drawn) < _DOTS_MAX + 51
    assert [row for row in every if row["kind"] == _FRONT] == [
        row for row in drawn if row["kind"] == _FRONT
    ]


def test_omitted_designs_are_next_to_a_dot_of_their_kind() -> None:
    every = rows(20_000)
    drawn = _distinguishable(every)
    spots = [_places(every, key) for key in ("x", "y")]
    where = {id(row): (spots[0][number], spots[1][number]) for number, row in enumerate(every)}
    cells = {(row["kind"], tuple(int(8 * at) for at in where[id(row)])) for row in drawn}
    for row in every:
        assert (row["kind"], tuple(int(8 * at) for at in where[id(row)])) in cells


def test_few_designs_are_all_drawn() -> None:
    every = rows(_DOTS_MAX)
    assert _distinguishable(every) is every
