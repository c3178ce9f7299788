"""Checks that the published schemas agree with the models."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import nacre
import pytest
from nacre import _core
from nacre.config import (
    ClosedArrival,
    LruReplacement,
    MeasuredDevice,
    Preset,
    Run,
    Scenario,
    ServerCacheDevice,
    ServerCacheDeviceLevel,
    ZipfWorkload,
)

ROOT = Path(__file__).parents[2]
SCENARIOS = {name: text for name, _, text in _core.shipped_scenarios()}


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "schema" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def typed() -> Scenario:
    return Scenario(
        workload=ZipfWorkload(
            requests=2_000, footprint="4 MiB", arrival=ClosedArrival(queue_depth=4)
        ),
        stack=ServerCacheDevice(
            level=[
                ServerCacheDeviceLevel(
                    device=MeasuredDevice(capacity="1 MiB", read="6.7 us", write="128.3 us"),
                    policy=LruReplacement(),
                )
            ],
            backing=Preset("network_store"),
        ),
        run=Run(seed=3),
    )


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_shipped_scenario_fits_the_schema(name: str) -> None:
    jsonschema.validate(tomllib.loads(SCENARIOS[name]), schema("scenario"))


def test_a_typed_scenario_fits_the_schema_and_runs_like_its_table() -> None:
    table = typed().to_dict()
    jsonschema.validate(table, schema("scenario"))
    assert nacre.run(typed()).to_json() == nacre.run(table).to_json()


def test_a_misspelled_setting_fits_neither_the_schema_nor_the_model() -> None:
    table = typed().to_dict()
    table["stack"]["blok"] = "4 KiB"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table, schema("scenario"))
    with pytest.raises(nacre.errors.ConfigError, match="blok"):
        nacre.run(table)


@pytest.mark.parametrize("share", [0.3, 1, 0.0000001, "30 %", ".3"])
def test_a_share_that_the_model_accepts_fits_the_schema(share: float | str) -> None:
    table = typed().to_dict()
    table["workload"]["read_share"] = share
    jsonschema.validate(table, schema("scenario"))
    nacre.run(table)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("read_share", -0.3),
        ("read_share", "0.3.1"),
        ("locality", "0/90"),
        ("locality", "10/101"),
        ("requests", -1),
        ("requests", 0),
    ],
)
def test_values_that_the_model_rejects_do_not_fit_the_schema(name: str, given: float | str) -> None:
    table = typed().to_dict()
    table["workload"] |= {"kind": "hot_cold", name: given}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(table, schema("scenario"))
    with pytest.raises(nacre.errors.ConfigError, match=name):
        nacre.run(table)


def test_a_record_fits_the_schema() -> None:
    record = nacre.run(typed())
    jsonschema.validate(json.loads(record.to_json()), schema("record"))
