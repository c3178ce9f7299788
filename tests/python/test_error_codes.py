"""Tests that errors have a stable code and data for programs."""

from __future__ import annotations

import ast
import json
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import nacre
import pytest
from controlling import serving
from nacre.base._codes import Code
from nacre.errors import Problem, code_of, config_error
from serving import NACRE, scenario

ROOT = Path(__file__).parents[2]
ERRORS = {"Error", "TraceError", "SystemLimitError"}
CASES: dict[str, tuple[str, dict[str, Any], Code, dict[str, Any]]] = {
    "no such setting": (
        "onyx", {"workload.footprnt": "1 GiB"}, "unknown-setting", {"nearest": "footprint"},
    ),
    "no such model": ("onyx", {"stack": "onix"}, "unknown-name", {"nearest": "onyx"}),
    "no such preset": (
        "onyx", {"stack": {"preset": "onyxx"}}, "unknown-name", {"nearest": "onyx"},
    ),
    "text for a number": (
        "ssd", {"stack.channels": "many"}, "wrong-type", {"expected": "a whole number"},
    ),
    "no unit": ("ssd", {"workload.footprint": 3.5}, "needs-unit", {}),
    "too large": ("ssd", {"run.warm_up": -1}, "out-of-range", {"min": 0}),
    "past the end": ("ssd", {"workload.footprint": "1 TiB"}, "past-the-end", {"end": 1 << 40}),
    "no such trace": (
        "ssd", {"workload": {"kind": "trace", "file": "none.csv"}}, "file-not-found", {},
    ),
    "no such function": (
        "server-cache", {"stack.level[0].policy": {"kind": "external", "function": "f"}},
        "no-function", {},
    ),
}  # fmt: skip


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command, and waits until it exits."""
    return subprocess.run(
        [str(NACRE), *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("name", CASES)
def test_an_error_has_a_code_and_data_for_programs(name: str) -> None:
    given, settings, code, data = CASES[name]
    with pytest.raises(nacre.errors.ConfigError) as raised:
        nacre.run(given, settings)
    (problem, *_) = raised.value.problems
    assert problem["code"] == raised.value.code == code
    assert {key: problem["data"].get(key) for key in data} == data
    assert raised.value.data == problem["data"]


def test_errors_keep_code_and_data_between_processes() -> None:
    first = Problem(code="out-of-range", data={"max": 3}, path="a", problem="it is too large")
    for error in (
        nacre.errors.Error("text", "no-data", known=["a"]),
        config_error([first, Problem(code="wrong-type", problem="it is text")]),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert (str(copy), copy.code, copy.data) == (str(error), error.code, error.data)
        assert getattr(copy, "problems", []) == getattr(error, "problems", [])


@pytest.mark.parametrize(
    ("ask", "code", "data"),
    [
        (lambda memory: memory.read(1 << 40, 2), "past-the-end", {"end": (1 << 40) + 2}),
        (lambda memory: memory.recover(), "power-on", {}),
        (lambda memory: memory.transaction().__enter__(), "not-supported", {}),
    ],
)
def test_a_memory_error_has_a_code(
    ask: Callable[[nacre.devices.Memory], object], code: Code, data: dict[str, Any]
) -> None:
    with nacre.open("ssd") as memory, pytest.raises(nacre.errors.Error) as raised:
        ask(memory)
    assert raised.value.code == code
    assert {key: raised.value.data[key] for key in data} == data


def test_a_system_error_has_a_code_for_its_number(tmp_path: Path) -> None:
    codes = {}
    acts: dict[str, Callable[[], object]] = {
        "missing": lambda: (tmp_path / "none").read_bytes(),
        "folder": tmp_path.read_bytes,
        "there": tmp_path.mkdir,
    }
    for name, act in acts.items():
        with pytest.raises(OSError, match=str(tmp_path)) as raised:
            act()
        codes[name], data = code_of(raised.value)
        assert data == {"errno": raised.value.errno}
    assert codes == {"missing": "file-not-found", "folder": "not-a-file", "there": "file-exists"}
    assert code_of(OSError("without a number")) == ("os-error", {})
    assert code_of(ZeroDivisionError()) == ("bug", {})


def test_the_command_line_gives_codes_as_json(tmp_path: Path) -> None:
    done = run("check", "onyx", "--set", "workload.footprnt=1 GiB", "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["code"]) == (2, "unknown-setting")
    assert [problem["code"] for problem in told["problems"]] == ["unknown-setting"]
    assert told["problems"][0]["data"]["nearest"] == "footprint"
    missing = run("check", str(tmp_path / "none.toml"), "--json")
    assert (missing.returncode, json.loads(missing.stdout)["code"]) == (2, "file-not-found")


def test_a_server_prints_its_addresses_in_one_line(tmp_path: Path) -> None:
    second = scenario(tmp_path, "second", mib=1)
    image = tmp_path / "second.img"
    metrics = f"unix:{tmp_path}/metrics"
    options = ("--export", f"b={second}:{image}", "--metrics", metrics)
    with serving(tmp_path, *options, device=scenario(tmp_path)) as server:
        ready = server.ready
    first = {"name": "disk", "uri": server.uris[0], "bytes": 64 << 20, "image": str(server.image)}
    other = {"name": "b", "uri": server.uris[1], "bytes": 1 << 20, "image": str(image)}
    assert ready == {
        "event": "ready",
        "control": f"{server.image}.ctl",
        "metrics": metrics,
        "exports": [first, other],
    }


def test_every_code_is_documented_once() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert [row for row in rows if row[0].islower()] == list(get_args(Code))


def test_no_error_is_raised_without_a_code() -> None:
    nameless = []
    for path in (ROOT / "python" / "nacre").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                continue
            if node.func.id in ERRORS and len(node.args) < 2 and not node.keywords:
                nameless.append(f"{path}:{node.lineno}")
    assert nameless == []
