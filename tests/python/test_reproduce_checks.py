"""Tests each check of claims on curves with known results."""

from collections.abc import Mapping

import pytest
from nacre.errors import Error
from nacre.papers.judging.judge import allowed, number, rows
from nacre.papers.measures.measures import CHECKS, Results, check
from nacre.papers.running.outcome import Outcomes, UnknownError
from nacre.papers.spec.claim import Claim, Tolerance
from nacre.papers.spec.paper import Paper
from nacre.papers.spec.plan import Group, Selection
from nacre.results.record import Record
from nacre.studies.spec.axis import Axis, Choice

XS = (1.0, 2.0, 4.0)
CURVES: Mapping[str, tuple[float, ...]] = {
    "falling": (8.0, 4.0, 3.0),
    "valley": (6.0, 2.0, 5.0),
    "flat": (2.0, 2.0, 2.0),
    "zero": (0.0, 0.0, 0.0),
}


def place(x: float) -> Choice:
    return Choice(f"{x:g}", {"workload.requests": x})


CURVE = Axis("curve", tuple(Choice(name, {"name": name}) for name in CURVES), None, {}, "")
AXES = (CURVE, Axis("x", tuple(map(place, XS)), None, {}, ""))
NUMBERS = {"x": {f"{x:g}": x for x in XS}}
GROUP = Group("points", "small", {}, 1.0, AXES, numbers=NUMBERS)
# Points of this group are repeats over the axis `x`.
REPEATED = Group("repeated", "small", {}, 1.0, AXES, over="x", numbers=NUMBERS)


def results() -> Results:
    ended = {}
    for point in (*GROUP.points({}), *REPEATED.points({})):
        labels = dict(point.labels)
        value = CURVES[labels["curve"]][XS.index(float(labels["x"]))]
        ended[point.job] = Record({"name": "made up", "cleaning_cost": value, "origins": []}, {})
    paper = Paper("made up", "", (), {}, {"points": GROUP, "repeated": REPEATED})
    return Results(paper, Outcomes(ended))


def at(**where: object) -> Selection:
    chosen = {
        axis: tuple(str(label) for label in (given if isinstance(given, tuple) else (given,)))
        for axis, given in where.items()
    }
    return Selection("points", chosen)


def repeated(curve: str) -> Selection:
    return Selection("repeated", {"curve": (curve,)})


def claim(
    name: str,
    of: Selection,
    to: Selection | None = None,
    *,
    published: float | str = "",
    tolerance: Tolerance = Tolerance(),  # noqa: B008 - it cannot change
    measure: str = "cleaning_cost",
) -> Claim:
    return Claim(
        id="c", figure="fig1", metric="m", published=published, unit="", kind="trend",
        grade="trend", because="", misses="", source="s", note="", check=name, measure=measure,
        of=of, to=to, tolerance=tolerance,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "of", "to", "expected"),
    [
        ("value", at(curve="falling", x=2), None, 4),
        ("highest", at(curve="valley"), None, 6),
        ("lowest", at(curve="valley"), None, 2),
        ("value", repeated("falling"), None, 5),
        ("highest_run", repeated("falling"), None, 8),
        ("lowest_run", repeated("falling"), None, 3),
        # The variance of 8, 4, and 3 is 7. Student's t for two degrees of freedom is 4.3027.
        ("widest_interval", repeated("falling"), None, 100 * 4.3027 * (7 / 3) ** 0.5 / 5),
        ("ratio", at(curve="falling", x=1), at(curve="falling", x=2), 2),
        ("highest_ratio", at(curve="falling"), at(curve="valley"), 8 / 6),
        ("largest_ratio", at(curve="falling"), at(curve="valley"), 2),
        ("largest_ratio", at(curve="falling"), at(curve="flat", x=1), 4),
        ("smallest_ratio", at(curve="falling"), at(curve="valley"), 0.6),
        ("largest_gap", at(curve="falling"), at(curve="valley"), 1),
        ("largest_gap", at(curve="flat", x=1), at(curve="valley", x=4), 0.6),
        ("largest_step", at(curve="falling"), None, 0.75),
        ("smallest_step", at(curve="falling"), None, 0.5),
        ("largest_step", at(curve="valley"), None, 2.5),
        ("highest_at", at(curve="falling"), at(x=2), 1),
        ("gain", at(curve="falling"), at(curve="flat"), 300),
        ("gain", at(curve="flat"), at(curve="flat"), 0),
        # `falling` has the maximum 8, and the value 4 at 2. `valley` has 6 and 2.
        ("lowest_gain", at(curve=("falling", "valley")), at(curve=("falling", "valley"), x=2), 100),
        (
            "highest_gain",
            at(curve=("falling", "valley")),
            at(curve=("falling", "valley"), x=2),
            200,
        ),
        # The differences are 8 - 6, 4 - 2, and 3 - 5. The sign changes halfway between 2 and 4.
        ("crossing", at(curve="falling"), at(curve="valley"), 3),
        ("crossing", at(curve="valley"), at(curve="falling"), 3),
        # The means over the curves at 1, 2, and 4 are 4, 2, and 2.5.
        ("lowest_at", at(), at(x=2), 2),
        ("lowest_at", at(curve="falling"), at(x=2), 4),
        # The slope is -4 from 1 to 2, and -0.5 from 2 to 4.
        ("steepening", at(curve="falling", x=(1, 2)), at(curve="falling", x=(2, 4)), 8),
    ],
)
def test_a_check_computes_what_its_name_says(
    name: str, of: Selection, to: Selection | None, expected: float
) -> None:
    assert check(claim(name, of, to), results()) == pytest.approx(expected, rel=1e-12)


def test_every_check_is_tested() -> None:
    test = test_a_check_computes_what_its_name_says
    (mark,) = test.pytestmark  # type: ignore[attr-defined]
    assert {row[0] for row in mark.args[1]} == set(CHECKS)


@pytest.mark.parametrize(
    ("name", "of", "to"),
    [
        ("ratio", at(curve="flat", x=1), at(curve="zero", x=1)),
        ("highest_ratio", at(curve="flat"), at(curve="zero")),
        ("steepening", at(curve="falling", x=(1, 2)), at(curve="flat", x=(1, 2))),
        ("largest_step", at(curve="zero"), None),
        ("gain", at(curve="flat"), at(curve="zero")),
    ],
)
def test_division_by_zero_fails_a_row(name: str, of: Selection, to: Selection | None) -> None:
    with pytest.raises(UnknownError):
        check(claim(name, of, to), results())


def test_a_check_that_does_not_exist_is_named() -> None:
    with pytest.raises(Error, match='fig1/c: no check "mean"'):
        check(claim("mean", at(curve="flat")), results())
    with pytest.raises(Error, match='ratio needs a "to"'):
        check(claim("ratio", at(curve="flat", x=1)), results())


@pytest.mark.parametrize(
    ("published", "tolerance", "passes"),
    [
        (4.0, Tolerance(relative=0.02), True),
        (4.1, Tolerance(relative=0.02), False),
        (3.9, Tolerance(relative=0.02), False),
        (4.5, Tolerance(absolute=0.5), True),
        (4.6, Tolerance(absolute=0.5), False),
        (4.0, Tolerance(absolute=0), True),
        ("", Tolerance(bounds={"above": 4}), False),
        ("", Tolerance(bounds={"at_least": 4}), True),
        ("", Tolerance(bounds={"at_most": 4}), True),
        ("", Tolerance(bounds={"below": 4}), False),
        ("", Tolerance(bounds={"above": 3, "below": 5}), True),
        ("", Tolerance(bounds={"above": 3, "below": 3.5}), False),
    ],
)
def test_a_number_passes_within_its_tolerance_only(
    published: float | str, tolerance: Tolerance, passes: bool
) -> None:
    made = claim("value", at(curve="falling", x=2), published=published, tolerance=tolerance)
    found = results()
    paper = Paper("made up", "", (made,), {}, found.paper.plan)
    (row,) = rows(Results(paper, found.outcomes), ["fig1"])
    assert row["simulated"] == 4
    assert row["pass"] is passes


def test_tolerances_and_numbers_are_printed_as_text() -> None:
    assert allowed(Tolerance(relative=0.1), "ns") == "within 10 %"
    assert allowed(Tolerance(absolute=5), "%") == "within 5 points"
    assert allowed(Tolerance(absolute=0), "segments") == "equal"
    assert allowed(Tolerance(bounds={"at_least": 0.95, "below": 1}), "") == ">= 0.95, < 1"
    assert number(16.0, "segments") == "16 segments"
    assert number(4.0, "") == "4.00"
    assert number(10376.4, "/s") == "10,376 /s"
    assert number(None, "ns") == "-"
