"""What rows are worth as evidence: classes, named misses, fitted values."""

from pathlib import Path

import pytest
from nacre.cli import reproduce as command
from nacre.reproduce import judge, work
from nacre.reproduce.table import verdict
from small_paper import CLAIMS, reproduced, status, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "papers")


def test_a_miss_that_is_known_says_why_and_fails_the_command_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = CLAIMS.replace("published = 100_000", 'published = 80_000\nmisses = "one server"')
    folder = written(tmp_path, claims)
    assert status(work.targets(None, folder)) == 1
    said = capsys.readouterr()
    assert "FAIL" not in said.out
    assert "rate, requests a second: misses: one server" in said.out
    assert "misses" not in said.err
    (row,) = (row for row in reproduced(folder).listed if row["misses"])
    assert (row["pass"], verdict(row)) == (False, "miss")


def test_a_miss_that_holds_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims = CLAIMS.replace("published = 100_000", 'published = 100_000\nmisses = "one server"')
    assert status(work.targets(None, written(tmp_path, claims))) == 0
    assert "tiny/rate/rate is said to miss, and holds" in capsys.readouterr().err


def test_where_the_paper_prints_nothing_a_row_is_held_against_a_law(tmp_path: Path) -> None:
    claims = CLAIMS.replace("published = 10_000", "law = 9_900")
    (row, *_) = reproduced(written(tmp_path, claims)).listed
    assert (row["published"], row["law"]) == (None, 9_900)
    assert row["error"] == pytest.approx(1 / 99)
    assert (row["tolerance"], row["pass"]) == ("within 2 % of 9900", True)
    claims = CLAIMS.replace("published = 10_000", "law = 9_000")
    assert reproduced(written(tmp_path, claims)).listed[0]["pass"] is False


def test_as_many_fitted_values_as_predictions_that_hold_fail_the_paper(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows of other classes do not count, however many pass."""
    monkeypatch.setattr(judge, "_fitted", lambda _claim, _results: ["a = 1", "b = 2"])
    assert status(work.targets(None, folder)) == 1
    said = capsys.readouterr()
    assert "tiny, fitted: a = 1" in said.out
    ratio = "tiny: 2 fitted values for 1 prediction that hold, 2.0 to one"
    assert ratio in said.out
    assert f"{ratio}; more was fitted than is predicted" in said.err
    assert status(work.targets("tiny/rate", folder)) == 0  # one figure cannot tell


def test_the_counts_of_the_validation_page_are_those_of_the_claims() -> None:
    """Of each class: rows that are not known to miss, of all rows."""
    page = (Path(__file__).parents[2] / "docs" / "validation.md").read_text()
    for target in work.targets(None):
        name = target.paper.name
        (line,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        said = [cell.strip() for cell in line.split("|")[2:6]]
        counted = []
        for grade in ("prediction", "calibration", "arithmetic", "trend"):
            rows = [claim for claim in target.paper.claims if claim.grade == grade]
            counted.append(f"{sum(not row.misses for row in rows)} of {len(rows)}")
        assert said == [one.replace("0 of 0", "none") for one in counted], name
        unclosed = sum(claim.grade == "unclosed" for claim in target.paper.claims)
        assert line.split("|")[6].strip() == str(unclosed), name
