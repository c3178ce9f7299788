"""What the explorer answers to its pages."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import nacre
import pytest
from exploring import ENDLESS, SMALL, Client, client
from nacre.record import Record
from serving import until


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with client(tmp_path_factory.mktemp("explored")) as made:
        yield made


def test_a_run_is_kept_as_the_command_line_keeps_it(inside: Client) -> None:
    last = inside.done("/api/runs", {"tree": SMALL})
    assert (last["state"], last["address"]) == ("done", "/design?run=small-1")
    folder = inside.explorer.folder.root / "runs" / "small-1"
    assert Record.load(folder).to_json() == nacre.run(SMALL).to_json()
    assert tomllib.loads((folder / "scenario.toml").read_text()) == SMALL
    assert not list(folder.glob(".nacre-*"))


def test_a_run_shows_what_a_report_says_and_the_scenario_as_it_was_given(inside: Client) -> None:
    inside.done("/api/runs", {"tree": SMALL})
    shown = inside.get("/api/runs/small-1").json()
    assert shown["scenario"] == SMALL
    assert "requests a second" in shown["headline"][0]
    figures = [inside.get(f"/api/runs/small-1/figures/{name}") for name in shown["figures"]]
    assert {"latency", "time_spent"} <= set(shown["figures"])
    assert all("vega-lite" in figure.json()["$schema"] for figure in figures)
    assert inside.get("/api/runs/small-1/figures/none").status_code == 422
    report = inside.get("/api/runs/small-1/report")
    assert "<svg" in report.text
    assert "script" not in report.headers["content-security-policy"]


def test_runs_are_put_side_by_side(inside: Client) -> None:
    for _ in range(2):
        inside.done("/api/runs", {"tree": SMALL})
    names = [run["id"] for run in inside.get("/api/runs").json()][:2]
    found = inside.get(f"/api/compared/{','.join(names)}").json()
    assert found["names"] == names
    assert [row[0] for row in found["tables"][0]["rows"]] == names
    path = f"/api/compared/{','.join(names)}/figures/{found['figures'][0]}"
    assert inside.get(path).status_code == 200
    assert inside.get(f"/api/compared/{names[0]}").status_code == 422


def test_a_run_that_is_stopped_keeps_what_was_finished(inside: Client) -> None:
    job = inside.post("/api/runs", json={"tree": ENDLESS}).json()
    until(lambda: inside.get("/api/jobs").json()[0]["done"] > 0)
    inside.post(f"/api/jobs/{job['number']}/stop")
    last = inside.events(job)[-1]
    assert last["state"] == "stopped"
    assert "stopped early" in last["note"]
    assert inside.get("/api/runs/endless-1").json()["complete"] is False


def test_all_mistakes_come_at_once_with_their_fields(inside: Client) -> None:
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


def test_a_changed_scenario_is_told_as_settings_of_the_shipped_one(inside: Client) -> None:
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


def test_what_is_no_toml_says_where(inside: Client) -> None:
    assert inside.post("/api/parse", json={"toml": "a = 1"}).json() == {"tree": {"a": 1}}
    answer = inside.post("/api/parse", json={"toml": "a = \n"})
    assert answer.status_code == 422
    assert "line 1" in answer.json()["error"]


def test_every_claim_is_listed_before_anything_has_run(inside: Client) -> None:
    papers = inside.get("/api/papers").json()
    rows = [row for paper in papers for row in paper["rows"]]
    assert len(papers) == 6
    assert {row["class"] for row in rows} == {
        "prediction", "calibration", "arithmetic", "trend", "unclosed",
    }  # fmt: skip
    assert {row["verdict"] for row in rows} <= {"not run", "unclosed"}


def test_a_recomputed_figure_is_beside_what_was_published(inside: Client) -> None:
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
    assert inside.post("/api/papers", json={"paper": "nobody"}).status_code == 422


def test_nothing_is_served_of_a_folder_that_is_no_run(inside: Client) -> None:
    (inside.explorer.folder.root / "runs" / "empty-1").mkdir(parents=True)
    answer = inside.get("/api/runs/empty-1")
    assert answer.status_code == 400
    assert "holds no record" in answer.json()["error"]
    assert "empty-1" not in [run["id"] for run in inside.get("/api/runs").json()]
