"""Tests all forms in which a scenario can be given, and errors in scenarios."""

import os
from pathlib import Path
from typing import Any

import nacre
import pytest

TABLE: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "footprint": "64 MiB",
        "requests": 100,
        "arrival": {"kind": "closed", "queue_depth": 2},
    },
    "stack": {"preset": "emlc_ssd"},
}
TEXT = """\
schema = 1
name = ""
[workload]
kind = "uniform"
footprint = "64 MiB"
requests = 100
arrival = { kind = "closed", queue_depth = 2 }
[stack]
preset = "emlc_ssd"
"""


@pytest.mark.parametrize("scenario", [None, 5, ["disk-15k"], object()])
def test_an_invalid_type_of_scenario_is_a_type_error(scenario: Any) -> None:
    for verb in (nacre.run, nacre.check):
        with pytest.raises(TypeError, match="a scenario is a name, a path, a table"):
            verb(scenario)


def test_overrides_are_a_table_of_paths() -> None:
    with pytest.raises(TypeError, match="overrides are a table of paths and values"):
        nacre.run(TABLE, "workload.requests=5")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="path of an override is text; given 3"):
        nacre.check(TABLE, {3: "x"})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="a scenario cannot hold None"):
        nacre.check(TABLE, {"workload.requests": None})
    with pytest.raises(TypeError, match="progress is True, False or a function"):
        nacre.run(TABLE, progress=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**63, 2**70])
def test_a_seed_out_of_range_is_an_error_of_the_scenario(seed: int) -> None:
    with pytest.raises(nacre.errors.ConfigError, match="seed: it is out of range, given") as raised:
        nacre.run(TABLE, seed=seed)
    assert raised.value.problems[0]["given"] == str(seed)
    with pytest.raises(TypeError):
        nacre.run(TABLE, seed="1")  # type: ignore[arg-type]


def test_errors_of_a_table_have_no_line_numbers() -> None:
    mistaken = TABLE | {"workload": TABLE["workload"] | {"footprnt": "1 MiB"}}
    with pytest.raises(nacre.errors.ConfigError) as raised:
        nacre.check(mistaken)
    assert "workload.footprnt (<dict>): there is no such setting" in str(raised.value)
    assert {problem["where"] for problem in raised.value.problems} == {"<dict>"}
    record = nacre.run(TABLE)
    workload = (origin for origin in record.origins if origin.path.startswith("workload"))
    assert {origin.place for origin in workload if origin["from"] == "file"} == {"<dict>"}
    assert record.name == nacre.check(TABLE).name == "scenario"
    assert nacre.run(TABLE | {"name": "mine"}).name == "mine"


def test_an_empty_name_is_replaced_by_that_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "unnamed.toml"
    file.write_text(TEXT)
    assert nacre.run(file).name == "unnamed.toml"
    assert nacre.check(file).name == "unnamed.toml"


def test_a_file_whose_name_is_not_utf_8_runs(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/bad\xff.toml"
    Path(os.fsdecode(name)).write_text(TEXT)
    assert nacre.run(os.fsdecode(name)).name == r"bad\udcff.toml"
    with pytest.raises(nacre.errors.ConfigError, match="it is not UTF-8 text"):
        nacre.check(TABLE, {"workload.kind": "\udcff"})


def test_the_error_for_a_similar_name_suggests_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text("[stack]\n")
    for given, told in (
        ("mine", 'did you mean "mine.toml"?'),
        ("ssd.toml", "the scenario that ships with Nacre is called ssd"),
    ):
        with pytest.raises(nacre.errors.ConfigError) as refused:
            nacre.run(given)
        assert told in str(refused.value)
    with pytest.raises(FileNotFoundError):
        nacre.run("nothing.toml")


def test_the_error_for_a_catalog_device_suggests_nacre_new() -> None:
    with pytest.raises(nacre.errors.ConfigError, match=r"it is a device .* nacre new pcm_ssd"):
        nacre.run("pcm_ssd")


def test_a_share_of_a_drive_that_is_too_small_reports_the_minimum() -> None:
    level = {"device": {"preset": "tlc_nvme", "capacity": "4 GiB"}}
    with pytest.raises(
        nacre.errors.ConfigError, match=r"no space for data in such a small share.*give at"
    ):
        nacre.check("server-cache-zipf", {"stack.level": [level]})
