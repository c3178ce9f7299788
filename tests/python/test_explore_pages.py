"""Tests the explorer's responses to its pages."""

from __future__ import annotations

import ast
import json
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nacre
import pytest
from exploring import ENDLESS, SMALL, Client, client
from nacre.explorer import runs
from nacre.papers import known
from nacre.results.record import Record
from nacre.studies.points.planner import sound
from serving import Server, until


@pytest.fixture(scope="module")
def inside(folder: Path) -> Iterator[Client]:
    with client(folder) as made:
        yield made


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Client]:
    """Runs an explorer with an empty folder."""
    with client(tmp_path) as made:
        yield made


def test_a_run_is_saved_like_on_the_command_line(inside: Client) -> None:
    last = inside.done("/api/runs", {"tree": SMALL})
    assert (last["state"], last["address"]) == ("done", "/design?run=small-1")
    folder = inside.explorer.folder.root / "runs" / "small-1"
    assert Record.load(folder).to_json() == nacre.run(SMALL).to_json()
    assert tomllib.loads((folder / "scenario.toml").read_text()) == SMALL
    assert not list(folder.glob(".nacre-*"))


def test_a_run_shows_its_report_and_the_given_scenario(inside: Client) -> None:
    inside.done("/api/runs", {"tree": SMALL})
    shown = inside.get("/api/runs/small-1").json()
    assert shown["scenario"] == SMALL
    assert "requests per second" in shown["headline"][0]
    figures = [inside.get(f"/api/runs/small-1/figures/{name}") for name in shown["figures"]]
    assert {"latency", "time_spent"} <= set(shown["figures"])
    assert all("vega-lite" in figure.json()["$schema"] for figure in figures)
    assert inside.get("/api/runs/small-1/figures/none").status_code == 422
    report = inside.get("/api/runs/small-1/report")
    assert "<svg" in report.text
    assert "script" not in report.headers["content-security-policy"]


def test_runs_are_compared_side_by_side(inside: Client) -> None:
    for _ in range(2):
        inside.done("/api/runs", {"tree": SMALL})
    names = [run["id"] for run in inside.get("/api/runs").json()["runs"]][:2]
    found = inside.get(f"/api/compared/{','.join(names)}").json()
    assert found["names"] == names
    assert [row[0] for row in found["tables"][0]["rows"]] == names
    path = f"/api/compared/{','.join(names)}/figures/{found['figures'][0]}"
    assert inside.get(path).status_code == 200
    assert inside.get(f"/api/compared/{names[0]}").status_code == 422


def test_a_stopped_run_keeps_finished_results(inside: Client) -> None:
    job = inside.post("/api/runs", json={"tree": ENDLESS}).json()
    until(lambda: inside.get("/api/jobs").json()[0]["done"] > 0)
    inside.post(f"/api/jobs/{job['number']}/stop")
    last = inside.last(job)
    assert last["state"] == "stopped"
    assert "stopped early" in last["note"]
    assert inside.get("/api/runs/endless-1").json()["complete"] is False


def test_a_queued_run_is_stopped_immediately(inside: Client) -> None:
    jobs = [inside.post("/api/runs", json={"tree": ENDLESS}).json() for _ in range(3)]
    told = inside.post(f"/api/jobs/{jobs[2]['number']}/stop").json()
    for job in jobs[:2]:
        inside.post(f"/api/jobs/{job['number']}/stop")
        inside.last(job)
    assert (told["state"], told["note"]) == ("stopped", "stopped before it started")
    assert inside.last(jobs[2]) == told


def test_all_errors_are_returned_together_with_their_fields(inside: Client) -> None:
    tree = {
        "workload": {"kind": "zipf", "requests": 5, "footprint": "10 kg"},
        "stack": {"kind": "server_cache", "level": [{"device": {"preset": "pcm_sd"}}]},
    }
    checked = inside.post("/api/check", json={"tree": tree}).json()
    paths = {problem["path"] for problem in checked["problems"]}
    assert paths == {"workload.footprint", "stack.level[0].device.preset", "stack.backing"}
    refused = inside.post("/api/runs", json={"tree": tree})
    assert refused.status_code == 422
    assert len(refused.json()["problems"]) == 3
    assert not (inside.explorer.folder.root / "runs" / "scenario-1").exists()


def test_a_changed_scenario_is_shown_as_overrides_of_the_built_in_one(inside: Client) -> None:
    known = inside.get("/api/vocabulary").json()
    tree = known["scenarios"]["ssd"]["tree"]
    tree["stack"]["channels"] = 8
    asked = {"tree": tree, "from": "ssd", "changes": [["stack.channels", 8]]}
    words = inside.post("/api/check", json=asked).json()
    assert words["shell"].split("\\\n")[1].strip() == "--set stack.channels=8"
    assert '"stack.channels": 8' in words["python"]
    assert tomllib.loads(words["toml"]) == tree
    assert words["values"]["stack.pages"] == {
        "value": "48", "from": "file", "source": "", "confidence": "",
    }  # fmt: skip
    words = inside.post("/api/check", json={**asked, "changes": []}).json()
    assert words["shell"] == "nacre run scenario.toml --out results", "the settings do not make it"


def test_invalid_toml_is_reported_with_its_location(inside: Client) -> None:
    assert inside.post("/api/parse", json={"toml": "a = 1"}).json() == {"tree": {"a": 1}}
    answer = inside.post("/api/parse", json={"toml": "a = \n"})
    assert answer.status_code == 422
    assert "line 1" in answer.json()["error"]


def test_every_claim_is_listed_before_any_run(
    empty: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "REPRODUCED", empty.explorer.folder.root / "none.json")
    papers = empty.get("/api/papers").json()
    rows = [row for paper in papers for row in paper["rows"]]
    assert len(papers) == 6
    assert {row["class"] for row in rows} == {
        "prediction", "calibration", "arithmetic", "trend", "unclosed",
    }  # fmt: skip
    assert {row["verdict"] for row in rows} <= {"not run", "unclosed"}


def test_results_of_an_older_version_are_shown_next_to_the_published_values(
    empty: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = nacre.papers.published()["nvram-cards"]
    asked, other, *_ = (row for row in paper.rows if row["kind"] != "unclosed")
    outcome = {"simulated": 3.25, "error": 0.02, "pass": True, "note": ""}
    kept = {
        "date": "2026-11-22",
        "version": "0.1.0",
        "models": known.versions() | {"device/ssd": 0},
        "rows": known.shipped_rows(
            [{**asked, **outcome}, {**other, **outcome, "tolerance": "within 99 %"}]  # type: ignore[typeddict-item]
        ),
    }
    place = empty.explorer.folder.root / "reproduced.json"
    place.write_text(json.dumps(kept))
    monkeypatch.setattr(known, "REPRODUCED", place)
    (listed,) = (p for p in empty.get("/api/papers").json() if p["name"] == paper.name)
    rows = {row["id"]: row for row in listed["rows"]}
    told = rows[asked["id"]]
    assert (told["verdict"], told["error"]) == ("pass", "+2.0 %")
    assert told["simulated"].startswith("3.25")
    assert told["made"] == {
        "date": "2026-11-22", "version": "0.1.0", "changed": ["device/ssd"],
    }  # fmt: skip
    assert rows[other["id"]]["verdict"] == "not run", "it is judged otherwise now"


def test_the_outcome_of_every_decidable_claim_is_shipped() -> None:
    papers = nacre.papers.published().values()
    document = json.loads(known.REPRODUCED.read_bytes())
    assert {row["id"] for row in document["rows"]} <= {row["id"] for p in papers for row in p.rows}
    claims = [claim for paper in papers for claim in paper.claims()]
    unknown = [claim.row["id"] for claim in claims if claim.verdict == "not run"]
    assert unknown == [], "after `make reproduced`"
    assert any(claim.verdict == "pass" for claim in claims)


def test_the_shown_time_of_a_paper_is_the_measured_one() -> None:
    took = json.loads(known.REPRODUCED.read_bytes())["seconds"]
    papers = nacre.papers.published()
    assert took.keys() == papers.keys(), "after `make reproduced`"
    assert {name: paper.seconds for name, paper in papers.items()} == took


def test_a_crash_accepts_every_seed_of_the_command(inside: Client) -> None:
    seed = str(2**64 - 1)  # text, because JavaScript cannot represent it exactly
    tree = tomllib.loads({row.name: row for row in nacre.catalog.scenarios()}["disk-15k"].text)
    tree["name"] = "seeds"
    last = inside.done("/api/crashes", {"tree": tree, "points": 20, "seed": seed})
    shown = inside.get(f"/api/crashes/{last['address'].rpartition('=')[2]}").json()
    assert shown["asked"]["seed"] == seed
    beyond = {"tree": tree, "points": 20, "seed": str(2**64)}
    assert inside.post("/api/crashes", json=beyond).status_code == 422


def test_pages_call_only_public_functions() -> None:
    public: tuple[str, ...]
    public = ("nacre", "nacre.errors", "nacre.base", "nacre.scenario", "nacre.results")
    public += (
        "nacre.catalog",
        "nacre.kinds",
        "nacre.words",
        "nacre.traces",
        "nacre.simulate",
        "nacre.devices",
    )
    public += ("nacre.files.atomic", "nacre.explorer", "nacre.papers", "nacre.studies")
    foreign = set()
    for file in Path(nacre.__file__).parent.glob("explorer/*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nacre"):
                module = str(node.module)
                names = {alias.name for alias in node.names}
                is_public = module.startswith(public[1:]) or module == "nacre"
                if not is_public or "_core" in names:
                    foreign.add(f"{file.name}: {module}")
    assert not foreign


def test_runs_are_listed_page_by_page(inside: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        inside.done("/api/runs", {"tree": SMALL})
    monkeypatch.setattr(runs, "SHOWN", 2)
    first = inside.get("/api/runs").json()
    assert (len(first["runs"]), first["next"]) == (2, 2)
    assert first["total"] >= 3
    second = inside.get("/api/runs?from=2").json()
    assert second["total"] == first["total"]
    assert not {run["id"] for run in first["runs"]} & {run["id"] for run in second["runs"]}
    assert inside.get("/api/runs?from=x").json()["problems"][0]["path"] == "from"


def test_the_scenario_of_a_run_is_copied_as_its_file(inside: Client) -> None:
    run = inside.done("/api/runs", {"tree": SMALL})["address"].partition("=")[2]
    words = inside.post("/api/check", json={"tree": SMALL, "run": run}).json()
    file = shlex.split(words["shell"])[2]
    assert nacre.check(file).to_dict()["scenario"] == nacre.check(SMALL).to_dict()["scenario"]
    assert f'nacre.run("{file}")' in words["python"]
    other = {**SMALL, "name": "other"}
    words = inside.post("/api/check", json={"tree": other, "run": run}).json()
    assert words["shell"] == "nacre run scenario.toml --out results"


def test_the_number_of_runs_per_design_is_validated(inside: Client) -> None:
    for runs_ in ("many", 0, 2.5):
        asked = {"study": STUDY, "runs": runs_}
        (problem,) = inside.post("/api/studies", json=asked).json()["problems"]
        assert problem["path"] == "runs"
    text = inside.post("/api/study-text", json={"study": STUDY, "runs": 3}).json()["toml"]
    assert tomllib.loads(text)["seeds"] == [1, 2, 3]


def test_a_recomputed_figure_is_shown_next_to_the_published_values(inside: Client) -> None:
    last = inside.done("/api/papers", {"paper": "nvram-cards", "figure": "capacitor"})
    assert last["state"] == "done", last
    assert last["address"] == "/papers?paper=nvram-cards&figure=capacitor"
    (paper,) = (each for each in inside.get("/api/papers").json() if each["name"] == "nvram-cards")
    rows = [row for row in paper["rows"] if row["figure"] == "capacitor"]
    assert {row["verdict"] for row in rows} <= {"pass", "miss", "unclosed"}
    assert all(row["made"]["version"] == nacre.__version__ for row in rows)
    assert paper["drawn"] == ["capacitor"]
    assert "vega-lite" in inside.get("/api/papers/nvram-cards/capacitor").json()["$schema"]
    assert inside.get("/api/papers/nvram-cards/fig7").status_code == 404
    assert paper["figures"]["capacitor"] == ["capacitors"]
    study = inside.get("/api/papers/nvram-cards/runs/capacitors").json()["toml"]
    assert sound(tomllib.loads(study))[1].total == 16
    assert inside.get("/api/papers/nvram-cards/runs/none").status_code == 404
    assert inside.post("/api/papers", json={"paper": "unknown"}).status_code == 422


def test_files_are_served_only_from_result_folders(inside: Client) -> None:
    (inside.explorer.folder.root / "runs" / "empty-1").mkdir(parents=True)
    answer = inside.get("/api/runs/empty-1")
    assert answer.status_code == 400
    assert "has no record yet" in answer.json()["error"]
    assert "empty-1" not in [run["id"] for run in inside.get("/api/runs").json()["runs"]]


def test_power_losses_are_saved_like_on_the_command_line(inside: Client) -> None:
    tree = inside.get("/api/vocabulary").json()["scenarios"]["disk-15k"]["tree"]
    asked = {"tree": tree, "points": 200, "seed": 3, "faults": ["bit_rot"]}
    last = inside.done("/api/crashes", asked)
    assert last["address"] == "/crash?found=disk-15k-1", last
    shown = inside.get("/api/crashes/disk-15k-1").json()
    assert shown["asked"] == asked
    assert any(" power losses in " in fact for fact in shown["facts"]), shown["facts"]
    kept = inside.explorer.folder.root / "crashes" / "disk-15k-1"
    assert nacre.crash(tree, points=200, seed=3, faults=["bit_rot"]).to_dict() == json.loads(
        (kept / "crash.json").read_text()
    )
    assert inside.get("/api/crashes").json()[0]["id"] == "disk-15k-1"
    refused = inside.post("/api/crashes", json={"tree": tree, "points": 0}).json()
    assert refused["problems"][0]["path"] == "points"


STUDY = {
    "name": "speeds",
    "scenario": SMALL,
    "axis": [{"path": "stack.read", "values": ["5 us", "9 us"]}],
    "objective": [{"of": "mean"}, {"of": "iops"}],
}


def test_a_study_is_saved_shown_and_continued(inside: Client) -> None:
    last = inside.done("/api/studies", {"study": STUDY})
    assert last["address"] == "/study?study=speeds-1", last
    shown = inside.get("/api/studies/speeds-1").json()
    assert shown["asked"] == STUDY
    assert tomllib.loads(shown["toml"]) == STUDY
    assert shown["result"]["headline"][0] == "2 designs."
    assert {"pareto", "sensitivity"} <= set(shown["result"]["figures"])
    figure = inside.get("/api/studies/speeds-1/figures/pareto")
    assert "vega-lite" in figure.json()["$schema"]
    again = inside.last(inside.post("/api/studies/speeds-1/resume").json())
    assert again["state"] == "done", again
    assert [each["id"] for each in inside.get("/api/studies").json()] == ["speeds-1"]


def test_a_running_study_shows_its_front_so_far(inside: Client) -> None:
    axes = [{"path": "workload.requests", "values": [100, 10**12]}]
    job = inside.post(
        "/api/studies", json={"study": {**STUDY, "name": "live", "axis": axes}}
    ).json()
    path = "/api/studies/live-1/live"
    until(lambda: inside.get(path).json()["figure"])
    assert inside.get(path).json()["facts"][0].startswith("1 of 1 designs are on the Pareto front")
    inside.post(f"/api/jobs/{job['number']}/stop")
    assert inside.last(job)["state"] == "stopped"
    assert inside.get(path).json() == {"facts": [], "figure": None}


def test_every_error_of_a_study_is_reported_before_a_point_runs(inside: Client) -> None:
    axes = [{"path": "stack.reed", "values": ["5 us"]}, {"path": "stack.write", "values": ["9 kg"]}]
    refused = inside.post("/api/studies", json={"study": {**STUDY, "name": "bad", "axis": axes}})
    paths = [problem["path"] for problem in refused.json()["problems"]]
    assert paths == ["stack.reed", "stack.write.latency"]
    assert not (inside.explorer.folder.root / "studies" / "bad-1").exists()


def test_a_served_device_is_monitored_and_its_power_is_cut(inside: Client, tmp_path: Path) -> None:
    served = Server(tmp_path, "--timing", "emulated")
    try:
        image = str(served.image)
        found = inside.get("/api/device", params={"image": image}).json()
        (export,) = found["exports"]
        assert (export["sample"]["reads"], export["sample"]["writes"]) == (0, 0)
        drawing = inside.get("/api/device/served").json()
        assert drawing["data"]["name"] == drawing["usermeta"]["data"]
        asked = {"image": image, "export": export["name"]}
        requests = [["write", 0, 4096], ["read", 0, 4096]]
        (table,) = inside.post("/api/device/step", json=asked | {"requests": requests}).json()[
            "tables"
        ]
        assert [row[0] for row in table["rows"]] == ["write 4,096 B at 0", "read 4,096 B at 0"]
        harm = asked | {"offset": 100, "length": 1000, "harm": "reads"}
        (said,) = inside.post("/api/device/media-error", json=harm).json()["facts"]
        assert said.startswith("bytes 0 to 1,535, 3 sectors of 512 bytes: reads fail")
        reads = asked | {"requests": [["read", 0, 512]]}
        (table,) = inside.post("/api/device/step", json=reads).json()["tables"]
        assert table["rows"][0][0] == "read 512 B at 0: the device reported an error"
        for key, wrong in (("harm", "curse"), ("length", 0), ("offset", "x")):
            refused = inside.post("/api/device/media-error", json=harm | {key: wrong}).json()
            assert refused["problems"][0]["path"] == key
        fault = asked | {"kind": "stall", "settings": 'start = "1 h", duration = "5 s"'}
        told = inside.post("/api/device/fault", json=fault).json()
        assert told["facts"] == ["fault 0 was added: stall"]
        inside.post("/api/device/fault", json=asked | {"kind": "slow", "settings": "factor = 2.0"})
        (export,) = inside.get("/api/device", params={"image": image}).json()["exports"]
        assert export["faults"] == [{"number": 0, "kind": "stall"}, {"number": 1, "kind": "slow"}]
        listed = next(table for table in export["tables"] if table["columns"][0] == "fault")
        assert [row[0] for row in listed["rows"]] == ["0", "1"]
        for key, wrong, status in (("settings", "start = 1 s", 422), ("kind", "gremlin", 422)):
            refused = inside.post("/api/device/fault", json=fault | {key: wrong})
            assert refused.status_code == status
        for number, said in (({"number": 0}, "1 fault cleared"), ({}, "1 fault cleared")):
            told = inside.post("/api/device/fault-clear", json=asked | number).json()
            assert told["facts"] == [said]
        (export,) = inside.get("/api/device", params={"image": image}).json()["exports"]
        assert export["faults"] == []
        told = inside.post("/api/device/power-fail", json=asked).json()
        assert told["facts"]
        told = inside.get("/api/device", params={"image": image}).json()["exports"][0]
        assert any("1 unsafe shutdown" in str(line) for line in told["facts"])
        assert inside.get("/api/device/wear", params={"image": image}).status_code in (400, 422)
    finally:
        served.close()
    for nowhere, status in ((image, 400), ("", 422), (str(tmp_path / "none"), 400)):
        assert inside.get("/api/device", params={"image": nowhere}).status_code == status


def test_single_requests_have_latency_breakdowns(inside: Client) -> None:
    asked = {"tree": SMALL, "requests": [["read", 0, 4096], ["write", 4096, 4096]]}
    (table,) = inside.post("/api/step", json=asked).json()["tables"]
    assert [row[:2] for row in table["rows"]] == [
        ["read 4,096 B at 0", "10.0 us"],
        ["write 4,096 B at 4,096", "20.0 us"],
    ]
    for wrong in ([], [["read", 0]], [["fly", 0, 1]], [["read", "0", 1]]):
        refused = inside.post("/api/step", json={"tree": SMALL, "requests": wrong})
        assert refused.json()["problems"][0]["path"] == "requests"
