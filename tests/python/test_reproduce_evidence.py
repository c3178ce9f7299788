"""Tests the evidence of rows: classes, known misses, fitted values, and sensitivity."""

import re
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.cli import reproduce as command
from nacre.papers import work
from nacre.papers.judging import judge
from nacre.papers.judging.sensitivity import sensitivity
from nacre.papers.judging.trial import JUDGED
from nacre.papers.judging.value import LESS, MORE, Value
from nacre.papers.showing.table import verdict
from small_paper import CLAIMS, reproduced, running, status, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "papers")


def test_a_known_miss_prints_its_cause_and_still_fails_the_command(
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


def test_a_listed_miss_that_holds_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = CLAIMS.replace("published = 100_000", 'published = 100_000\nmisses = "one server"')
    assert status(work.targets(None, written(tmp_path, claims))) == 0
    assert "tiny/rate/rate is listed as a miss, but holds" in capsys.readouterr().err


def test_a_row_without_a_published_number_is_compared_with_a_closed_form(tmp_path: Path) -> None:
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
    """Only predictions that hold are compared with the number of fitted values. Rows of other
    classes do not count."""
    monkeypatch.setattr(judge, "_fitted", lambda _claim, _results: ["a = 1", "b = 2"])
    assert status(work.targets(None, folder)) == 1
    said = capsys.readouterr()
    assert "tiny, fitted: a = 1" in said.out
    ratio = "tiny: 2 fitted values for 1 prediction that hold, 2.0 to one"
    assert ratio in said.out
    assert f"{ratio}: too many fitted values" in said.err
    assert status(work.targets("tiny/rate", folder)) == 0  # unknown for a single figure


def test_sensitivity_changes_assumed_values(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running() as runs:
        rises, found = sensitivity(work.targets(None, folder)[0], runs, None) or []
    assert (rises["id"], rises["class"]) == ("tiny/fig1/rises", "trend")
    assert found["class"] == "prediction"
    assert (found["id"], found["simulated"], found["holds"]) == ("tiny/rate/rate", 100_000, True)
    assert found["half_width"] == 0  # every read takes 10 us with any seed
    values = {doubt["value"]: doubt for doubt in found["values"]}
    reads = values["workload.read_share = 100 %"]
    # The mean is 0.8 x 10 us + 0.2 x 20 us.
    assert reads["less"]["simulated"] == pytest.approx(1e6 / 12, rel=0.02)
    assert (reads["less"]["holds"], reads["flips"]) == (False, True)
    assert reads["more"] == {"given": "120 %", "simulated": None, "holds": None}
    servers = values["stack.parallelism = 1"]
    assert servers["more"] == {"given": "2", "simulated": 100_000, "holds": True}
    assert not servers["flips"]
    command.carry_out_moves(work.targets(None, folder), as_json=False)
    table = capsys.readouterr().out
    verdicts = [line.split()[-1] for line in table.splitlines() if "read_share" in line]
    assert verdicts.count("flips") == 1
    # With a second server, the waiting time at depth four halves, but it still rises. Zero servers
    # are rejected.
    (line,) = (line for line in table.splitlines() if "parallelism" in line)
    assert line.split()[-3:] == ["refused", "2.00", "stays"]


@pytest.mark.parametrize(
    ("given", "less", "more"),
    [
        ("6 us", "4.8 us", "7.2 us"),
        ("25 %", "20 %", "30 %"),
        (64, "51", "77"),
        (3, "2", "4"),
        (8.0, "6.40", "9.60"),
        (("590 us",), '["472 us"]', '["708 us"]'),
        ("early", None, None),
        ("0 s", None, None),
        (True, None, None),
    ],
)
def test_sensitivity_changes_values_by_20_percent(
    given: Any, less: str | None, more: str | None
) -> None:
    value = Value("path", given, "fitted", "")
    assert (value.times(LESS), value.times(MORE)) == (less, more)


def test_values_of_a_default_component_are_moved_without_naming_it() -> None:
    """The host interface of the card is the default (NVMe) and is not named in the scenario. Its
    assumed times can still be decreased and increased."""
    card = {"workload.requests": "100"}
    moved = [
        {origin.path: text}
        for origin in nacre.run("nvram-card", card).origins
        if origin.path.startswith("stack.host.") and origin.confidence == "assumed"
        for factor in (LESS, MORE)
        if str(origin.value).endswith("s")
        and (text := Value(origin.path, origin.value, "assumed", "").times(factor))
    ]
    assert {"stack.host.driver": "1.2 us"} in moved
    for settings in moved:
        nacre.check("nvram-card", card | settings)


PAPERS = ("envy", "nvm-servers", "nvram-cards", "onyx", "pcm-enterprise")


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_of_a_paper_has_rows_or_a_reason_and_rows_that_assert_are_of_a_claim(
    paper: str,
) -> None:
    """Every row that the accuracy page names exists, and the page names all predictions,
    calibrations, and trends. Each claim of the paper has rows or a reason."""
    page = Path(__file__).parents[2] / "docs" / "accuracy" / f"{paper}.md"
    _, _, table = page.read_text().partition("## Claims of the paper")
    (target,) = work.targets(paper)
    figures = "|".join(target.figures)
    named = set(re.findall(rf"`((?:{figures})/[^`]+)`", table))
    claims = {f"{claim.figure}/{claim.id}": claim for claim in target.paper.claims}
    assert named <= set(claims)
    assert {row for row, claim in claims.items() if claim.grade in JUDGED} <= named
    answers = [line.split("|")[2].strip() for line in table.splitlines() if line.startswith("| ")]
    assert len(answers) > 10
    assert all(answer.startswith(("`", "none: ")) for answer in answers[1:])


def test_the_counts_of_the_accuracy_page_are_those_of_the_claims() -> None:
    """For each class, the accuracy page lists the number of rows that are not known misses, and the
    number of all rows."""
    page = (Path(__file__).parents[2] / "docs" / "accuracy" / "README.md").read_text()
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


def test_the_readme_counts_the_predictions_that_hold() -> None:
    rows = [row for each in work.targets(None) for row in each.paper.claims]
    predictions = [row for row in rows if row.grade == "prediction"]
    said = f"{sum(not row.misses for row in predictions)} of {len(predictions)}"
    root = Path(__file__).parents[2]
    assert f"{said} predictions hold" in (root / "README.md").read_text()
    assert f"{said} hold" in (root / "docs" / "accuracy" / "README.md").read_text()
