"""Makes each disk operation fail once. Earlier results must remain, and finished results must be
kept."""

import itertools
from pathlib import Path

import nacre
import pytest
from failing_disk import OPERATIONS, failing
from nacre.files.atomic import write_file
from nacre.results.record import Record
from nacre.studies.engines.task import Outcome
from nacre.studies.keep.store import Store


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return [nacre.run("server-cache", {"run.requests": number}) for number in (100, 200, 300)]


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_results_are_either_old_or_new(
    operation: str, records: list[Record], tmp_path: Path
) -> None:
    first, second, _ = records
    second.save(tmp_path / "new")
    new = content(tmp_path / "new")
    for number in itertools.count(1):
        out = tmp_path / f"{number}"
        first.save(out)
        before = content(out)
        try:
            with failing(operation, number) as disk:
                second.save(out)
        except OSError:
            assert content(out) == before, number
        else:
            assert content(out) == new, number
        if not disk.has_failed:
            break
        second.save(out)
        assert content(out) == new


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("is_there", [True, False])
def test_a_file_is_either_old_or_new(operation: str, is_there: bool, tmp_path: Path) -> None:
    for number in itertools.count(1):
        target = tmp_path / f"{number}.html"
        if is_there:
            target.write_bytes(b"before")
        try:
            with failing(operation, number) as disk:
                write_file(target, b"new")
        except OSError:
            assert content(tmp_path).get(target.name) == (b"before" if is_there else None)
        else:
            assert target.read_bytes() == b"new"
        left = list(tmp_path.glob(".*"))
        assert not left or (operation == "unlink" and disk.has_failed), left
        for path in left:
            path.unlink()
        if not disk.has_failed:
            break


def kept(out: Path, outcomes: list[Outcome], *, resume: bool) -> dict[str, object]:
    """Adds missing outcomes to a store of points, each in a separate file, and merges the files."""
    with Store(out, {"name": "points"}, {}, points=len(outcomes), resume=resume) as store:
        for outcome in outcomes:
            if outcome.key not in store.rows:
                store.add(outcome)
                store.flush(at_once=True)
        store.compact()
        return {outcome.key: store.record(outcome.key) for outcome in outcomes}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_study_continues_after_any_failure_with_every_point(
    operation: str, records: list[Record], tmp_path: Path
) -> None:
    outcomes = [Outcome(f"{i}", record.to_json(), None, 0.1) for i, record in enumerate(records)]
    whole = kept(tmp_path / "whole", outcomes, resume=False)
    for number in itertools.count(1):
        out = tmp_path / f"{number}"
        try:
            with failing(operation, number) as disk:
                found = kept(out, outcomes, resume=False)
        except OSError:
            found = kept(out, outcomes, resume=True)
        assert found == whole, number
        if not disk.has_failed:
            break
