"""Tests conventions of command line and Python: invalid input, output, and files."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.base import toml
from nacre.cli.app import app
from nacre.figures import save
from refusing import fails_with
from typer.testing import CliRunner

STACK = {"kind": "measured", "capacity": "1 MiB", "read": "10 us", "write": "20 us"}
WORKLOAD = {"kind": "uniform", "footprint": "1 MiB", "requests": 100}
SMALL: dict[str, Any] = {"workload": WORKLOAD, "stack": STACK}


def told(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["run", "check", "crash", "mixes", "study"])
def test_an_empty_name_is_a_user_error(command: str) -> None:
    status, _, said = told(command, "")
    assert status == 2, said
    assert "is named" in said
    assert "bug" not in said


@pytest.mark.parametrize("no_color", ["", "1"])
def test_no_color_gives_plain_text(no_color: str) -> None:
    terminal, its_end = pty.openpty()
    environment = os.environ | {"NO_COLOR": no_color, "TERM": "xterm", "COLUMNS": "200"}
    process = subprocess.Popen(
        [sys.executable, "-m", "nacre", "catalog", "list"], stdout=its_end, env=environment
    )
    os.close(its_end)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        shown += part
    assert process.wait() == 0
    assert b"pcm_ssd" in shown
    assert (b"\x1b[" in shown) != bool(no_color)


def test_commands_without_a_workload_do_not_require_one(tmp_path: Path) -> None:
    device = tmp_path / "device.toml"
    device.write_text(toml.document({"stack": STACK}))
    status, said, wrong = told("check", str(device))
    assert status == 0, wrong
    assert "workload." not in said
    assert said.endswith("note: it has no workload; nacre run needs one\n")
    status, said, wrong = told("step", str(device), "read:0:4096")
    assert status == 0, wrong
    assert "10,000.0 ns" in said
    status, _, wrong = told("crash", str(device), "--points", "20")
    assert status == 0, wrong
    assert "workload" not in nacre.check(device).scenario
    status, _, wrong = told("run", str(device))
    assert status == 2
    assert "give a workload" in wrong
    with pytest.raises(nacre.errors.ConfigError, match="give a workload"):
        nacre.check(device, needs_workload=True)
    with pytest.raises(nacre.errors.ConfigError, match=r"stack\.reed"):
        nacre.check({"stack": {**STACK, "reed": "1 us"}})


@pytest.mark.parametrize(
    ("name", "begins"),
    [("x.pdf", b"%PDF"), ("x.png", b"\x89PNG"), ("x.svg", b"<svg"), ("x.html", b"<!DOCTYPE html")],
)
def test_a_figure_is_written_in_the_format_of_its_suffix(
    name: str, begins: bytes, tmp_path: Path
) -> None:
    chart = nacre.run(SMALL).plot.latency()
    save(chart, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_figure_without_a_suffix_is_written_as_svg_and_png(tmp_path: Path) -> None:
    save(nacre.run(SMALL).plot.latency(), tmp_path / "of.1.5")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["of.1.5.png", "of.1.5.svg"]


def test_a_notebook_shows_a_figure_without_a_network() -> None:
    record = nacre.run(SMALL)
    for chart in (record.plot.latency(), record.plot.throughput(), record.plot.time_spent()):
        # IPython prefers attributes of an object to attributes of its class.
        bundle: Any = chart._repr_mimebundle_
        shown = bundle(include=None, exclude=None)
        assert shown["image/svg+xml"].startswith("<svg")
        assert "text/html" not in shown
        assert not any("<script" in str(each) for each in shown.values())


def test_values_of_a_tenant_are_columns_of_a_study() -> None:
    tenants = [
        {"name": "logs", "workload": WORKLOAD | {"read_share": "0 %"}},
        {"name": "web", "workload": WORKLOAD | {"read_share": "100 %"}},
    ]
    stack = STACK | {"capacity": "2 MiB"}
    scenario = {"workload": {"kind": "tenants", "tenant": tenants}, "stack": stack}
    record = nacre.run(scenario)
    found = nacre.study(
        {
            "scenario": scenario,
            "axis": [{"path": "stack.write", "values": ["20 us", "40 us"]}],
            "columns": {
                "logs_ns": 'tenants["logs"].latency.write.mean_ns',
                "web_iops": "tenants[1].throughput.iops",
            },
        },
        workers=1,
    )
    named = {tenant.name: tenant for tenant in record.tenants}
    logs = named["logs"].latency.write
    assert logs is not None
    assert found.table["logs_ns"][0] == logs.mean_ns
    assert found.table["logs_ns"][1] > found.table["logs_ns"][0]
    assert found.table["web_iops"][0] == named["web"].throughput.iops


def test_a_number_out_of_range_is_not_called_text(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(toml.document(SMALL))
    for name in ("workload.requests", "run.seed"):
        given = f"{name}=12345678901234567890"
        status, _, said = told("run", str(tmp_path / "small.toml"), "--set", given)
        assert status == 2
        assert "it is too large" in said
        assert "text" not in said


def test_a_boolean_in_place_of_a_table_is_reported_as_one() -> None:
    _, _, said = told("check", "ssd", "--set", "run.fill=true")
    assert "it is true or false, given true" not in said
    assert "it is a truth value, given true; give" in said


def test_an_optional_setting_of_a_preset_can_be_removed() -> None:
    bought = {**SMALL, "stack": {"preset": "optane_p4800x", "capacity": "1 MiB"}}
    whole, free = nacre.run(bought), nacre.run(bought, {"stack.price": False})
    assert whole.cost
    assert free.cost is None
    # The scenario in the record contains the setting. If it runs again, the record is equal.
    assert free.scenario.stack.price is False
    again = nacre.run(free.scenario.to_dict())
    assert (again.cost, again.scenario.stack.price) == (None, False)
    with fails_with("wrong-type", nacre.errors.ConfigError):
        nacre.run(bought, {"stack.capacity": False, "stack.read": False})
