"""Checks that every kind of saved result can be loaded with equal content."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import nacre
import pytest
from controlling import serving
from nacre import kinds
from nacre.devices.control import Control
from nacre.errors import ConfigError, TraceError
from nacre.kinds.kind import Kind
from nacre.kinds.reports import name_of
from nacre.papers import output
from nacre.papers.result import Reproduction
from nacre.papers.spec.plan import Job
from nacre.results.base import Result
from nacre.results.curves import CacheCurves, MissRatioCurve
from nacre.results.record import Record
from refusing import fails_with
from serving import scenario
from small_paper import PLAN, reproduced, written

FAST = {
    "workload": {
        "kind": "uniform",
        "footprint": "1 MiB",
        "requests": 200,
        "arrival": {"kind": "closed", "queue_depth": 1},
    },
    "stack": {"kind": "measured", "read": "10 us", "write": "20 us"},
}
SIZES = ["1 MiB", "4 MiB"]
IN_ONE_DOCUMENT: dict[str, Callable[[], Result]] = {
    "TraceInfo": lambda: nacre.traces.info("pgbench", limit=2000),
    "MissRatioCurve": lambda: nacre.traces.mrc("pgbench", limit=2000),
    "CacheCurves": lambda: nacre.traces.caches("pgbench", sizes=SIZES, limit=2000),
    "CheckedScenario": lambda: nacre.check(FAST),
}


def test_every_kind_that_has_files_can_be_loaded() -> None:
    never = Kind.__dataclass_fields__["read"].default
    unread = [known.result for known in kinds.KINDS if kinds.at(known.place).read is never]
    # A fitted workload is saved as a part of a scenario, and not as a result.
    assert unread == ["FittedWorkload"]
    unwritten = [
        known.result
        for known in kinds.KINDS
        if (kind := kinds.at(known.place)).write is None and kind.encode is None
    ]
    assert unwritten == ["StudyResult"], "a study keeps its points while it runs"


def test_no_two_kinds_are_identified_by_the_same_file_or_field() -> None:
    marks = [mark for known in kinds.KINDS for mark in (known.seal, known.field) if mark]
    assert len({*marks}) == len(marks)


@pytest.mark.parametrize("kind", IN_ONE_DOCUMENT)
def test_a_result_in_one_document_is_loaded_from_it(kind: str, tmp_path: Path) -> None:
    result = IN_ONE_DOCUMENT[kind]()
    file = result.save(tmp_path / "result.json")
    loaded = nacre.load(file)
    assert type(loaded).__name__ == type(result).__name__ == kind
    assert repr(loaded) == repr(result)
    assert loaded.to_dict() == result.to_dict()  # type: ignore[attr-defined]
    assert type(result).load(file).to_dict() == result.to_dict()  # type: ignore[attr-defined]


@pytest.mark.parametrize("mark", ["curve", "caches", "exports", "answered", "blocks_audited"])
def test_a_document_without_its_fields_is_rejected(mark: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps({mark: None}))
    with fails_with("invalid-content"):
        nacre.load(tmp_path / "bad.json")


def test_a_loaded_curve_answers_for_the_sizes_of_its_file(tmp_path: Path) -> None:
    curve = nacre.traces.mrc("pgbench", limit=2000)
    loaded = MissRatioCurve.load(curve.save(tmp_path / "curve.json"))
    assert loaded.plot().to_dict() == curve.plot().to_dict()
    for size in map(int, curve.sizes):
        assert loaded.miss_ratio(size) == pytest.approx(curve.miss_ratio(size), abs=1e-12)
        assert loaded.ci95(size) == curve.ci95(size)
    largest = int(curve.sizes[-1])
    with pytest.raises(TraceError, match=f"the nearest are {largest} bytes"):
        loaded.hits(largest + 4096)
    with pytest.raises(TraceError, match="has no steps"):
        loaded.steps()


def test_a_curve_of_reads_alone_is_loaded_with_its_intervals(tmp_path: Path) -> None:
    trace = tmp_path / "reads.csv"
    lines = [f"128166372003061629,web,0,Read,{at * 7 % 900 * 4096},4096,100" for at in range(3000)]
    trace.write_text("\n".join(lines))
    curve = nacre.traces.mrc(trace, format="msr", sample=0.2)
    loaded = MissRatioCurve.load(curve.save(tmp_path / "curve.json"))
    assert loaded.kinds() == curve.kinds() == ["reads"]
    size = int(curve.sizes[2])
    for kind in ("all", "reads"):
        assert loaded.miss_ratio(size, kind) == pytest.approx(curve.miss_ratio(size, kind))
        assert loaded.ci95(size, kind) == curve.ci95(size, kind)


def test_caches_are_loaded_with_their_ratios(tmp_path: Path) -> None:
    curves = nacre.traces.caches("pgbench", ["lru", "sieve"], sizes=SIZES, limit=2000)
    loaded = CacheCurves.load(curves.save(tmp_path / "caches.json"))
    assert loaded.to_polars().equals(curves.to_polars())
    assert loaded.miss_ratio("sieve", 1 << 20) == curves.miss_ratio("sieve", 1 << 20)


def test_a_comparison_is_saved_with_its_records_and_loaded(tmp_path: Path) -> None:
    records = {"fast": nacre.run(FAST), "half/speed": nacre.run(FAST, {"stack.read": "20 us"})}
    compared = nacre.compare(records)
    compared.save(tmp_path / "both", figures=True)
    assert (tmp_path / "both" / "latency-read.svg").is_file()
    loaded = nacre.load(tmp_path / "both")
    assert type(loaded) is type(compared)
    assert loaded.to_polars().equals(compared.to_polars())
    compared.save(tmp_path / "both")
    with pytest.raises(FileExistsError):
        compared.save(tmp_path / "both", replace=False)
    (tmp_path / "both" / "comparison.json").write_text("[]")
    with fails_with("invalid-content"):
        nacre.load(tmp_path / "both")


def test_server_statistics_are_saved_and_loaded(tmp_path: Path) -> None:
    disk = scenario(tmp_path)
    with serving(tmp_path, device=disk) as server, Control(server.image) as control:
        statistics, outage = control.stats(), control.power_fail()
    for result in (statistics, statistics.export(), outage):
        loaded = nacre.load(result.save(tmp_path / "served.json"))
        assert type(loaded) is type(result)
        assert loaded == result
    document = statistics.to_dict()
    del document["exports"][0]["bytes"]
    (tmp_path / "served.json").write_text(json.dumps(document))
    with pytest.raises(ConfigError, match=r"exports\[0\]\.bytes is missing"):
        nacre.load(tmp_path / "served.json")


def test_a_reproduction_is_loaded_as_it_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tmp_path / "papers")
    monkeypatch.setattr(output, "SHIPPED", folder)
    found = reproduced(folder)
    loaded = nacre.load(found.save(tmp_path / "out"))
    assert repr(loaded) == repr(found)
    assert loaded.to_dict() == found.to_dict()  # type: ignore[attr-defined]
    assert loaded.complete  # type: ignore[attr-defined]
    assert loaded.passed  # type: ignore[attr-defined]
    records: dict[str, Record] = dict(loaded.records)  # type: ignore[attr-defined]
    assert records.keys() == found.records.keys()
    for name, record in found.records.items():
        assert records[name] == record, "columns and all"
    assert loaded.plot.figure("fig1").to_dict() == found.plot.figure("fig1").to_dict()
    assert nacre.report({"paper": loaded}) == nacre.report({"paper": found})


def test_a_failed_run_is_loaded_with_its_reason_and_a_changed_one_without_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = PLAN.replace('depth" = 1', 'depth" = 0')
    folder = written(tmp_path / "papers", plan=broken)
    monkeypatch.setattr(output, "SHIPPED", folder)
    found = reproduced(folder)
    runs = {
        run["runs"]: run
        for run in json.loads((found.save(tmp_path / "out") / "runs.json").read_text())
    }
    assert "queue_depth" in runs["alone"]["failed"]
    loaded = nacre.load(tmp_path / "out")
    assert loaded.complete  # type: ignore[attr-defined]
    assert [str(loaded.failure(job)) for job in failures(found)] == [  # type: ignore[attr-defined]
        str(found.failure(job)) for job in failures(found)
    ]
    written(folder, plan=PLAN.replace('depth" = 1', 'depth" = 8'))
    assert not nacre.load(tmp_path / "out").complete  # type: ignore[attr-defined]


def failures(found: Reproduction) -> list[Job]:
    jobs = [point.job for target in found.targets for point in target.points]
    return [job for job in jobs if found.failure(job)]


def test_documents_in_one_directory_have_distinct_names(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    sealed = tmp_path / "run" / "record.json"
    assert [name_of(path, [a, b, sealed]) for path in (a, b, sealed)] == ["a.json", "b.json", "run"]


def test_every_kind_of_result_has_a_dict_and_tables_are_data_frames() -> None:
    for known in kinds.KINDS:
        kinds.at(known.place)
    found = {each.__name__: each for each in results(Result)}
    assert all(hasattr(found[known.result], "to_dict") for known in kinds.KINDS)
    checked = nacre.check(FAST).to_polars()
    assert checked.filter(checked["path"] == "workload.requests")["value"].to_list() == ["200"]
    crashed = nacre.simulate.crash_random(3, points=20)
    assert crashed.to_polars()["points"].to_list() == [each.points for each in crashed.faults]


def results(base: type[Result]) -> Iterator[type[Result]]:
    """Yields all subclasses of a class of results."""
    for each in base.__subclasses__():
        yield each
        yield from results(each)


def test_modules_list_their_public_names() -> None:
    for module in (nacre.catalog, nacre.errors, nacre.policies):
        assert dir(module) == sorted(module.__all__)
