"""Tests published files other than code: reference pages, the notebook, and metadata."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.config import PoissonArrival, Preset, Scenario, UniformWorkload, presets

ROOT = Path(__file__).parents[2]


def tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_generated_files_are_up_to_date() -> None:
    done = tool("reference.py", "--check")
    assert done.returncode == 0, done.stderr


def test_a_build_is_trained_with_every_shipped_scenario() -> None:
    training = tomllib.loads((ROOT / "crates/bench/training.toml").read_text())
    assert list(training) == ["runs", "crashes", "traces"]
    assert set(training["runs"]) == {scenario.name for scenario in nacre.catalog.scenarios()}
    for scenario, each in training["runs"].items():
        assert each, scenario
        for settings in each:
            nacre.check(scenario, settings)
    assert set(training["crashes"]) < set(training["runs"])
    assert list(training["traces"]) == nacre.traces.shipped()


def test_every_command_has_a_man_page_that_names_its_options() -> None:
    pages = ROOT / "packaging/data/share/man/man1"
    run = (pages / "nacre-run.1").read_text()
    assert run.startswith('.TH NACRE-RUN 1 "" "nacre ')
    for option in (r"\-\-set", r"\-\-seed", r"\-\-until", r"\-\-json"):
        assert option in run
    assert r".BR nacre\-run (1)" in (pages / "nacre.1").read_text()
    assert not re.search(r"(?m)^\.(?!TH|SH|B |BR|PP|TP)", run), "no line is taken for a macro"


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "examples/first_look.ipynb").read_text())
    names: dict[str, Any] = {}
    shown = []
    for number, cell in enumerate(notebook["cells"]):
        assert not cell.get("outputs"), "the notebook is stored without outputs"
        if cell["cell_type"] != "code":
            continue
        block = ast.parse("".join(cell["source"]), f"cell {number}")
        last = block.body.pop()
        exec(compile(block, f"cell {number}", "exec"), names)
        assert isinstance(last, ast.Expr), "a cell ends in what it shows"
        value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        shown.append(value)
    assert all(hasattr(value, "_repr_html_") or hasattr(value, "to_html") for value in shown)
    assert names["study"].designs["runs"].min() >= 5


def test_the_metadata_agree() -> None:
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"version: {nacre.__version__}\n" in citation
    assert f"license: {metadata['project']['license']}\n" in citation


def test_addresses_are_those_of_the_repository_that_releases(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "CITATION.cff"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    done = tool("project_urls.py", "https://example.org/nacre/", str(tmp_path))
    assert done.returncode == 0, done.stderr
    metadata = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert metadata["urls"]["Repository"] == "https://example.org/nacre"
    assert metadata["scripts"]["nacre"] == "nacre.cli:main"
    assert (tmp_path / "CITATION.cff").read_text().endswith('example.org/nacre"\n')


def test_a_source_distribution_may_leave_crates_out_of_the_lock_file() -> None:
    # The package has fewer crates than the source tree, so cargo would change Cargo.lock despite
    # --locked.
    assert "locked" not in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    makefile = (ROOT / "Makefile").read_text()
    wheels = [line for line in makefile.splitlines() if "--config-setting build-args" in line]
    assert wheels
    assert all("--locked" in line for line in wheels)


def test_the_release_workflow_uses_existing_files() -> None:
    text = (ROOT / ".github/workflows/release.yml").read_text()
    targets = set(re.findall(r"run: make ([a-z-]+)", text))
    assert targets <= set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    for script in re.findall(r"(?:tools|tests)/\w+\.\w+", text):
        assert (ROOT / script).is_file()


def test_presets_are_functions_with_the_settings_of_their_model() -> None:
    for name in presets.__all__:
        assert getattr(presets, name)() == Preset(name)
        assert nacre.catalog.entries()[name].family == "device"
    scenario = Scenario(
        workload=UniformWorkload(
            requests=50, footprint="1 MiB", arrival=PoissonArrival(rate="1 kHz")
        ),
        stack=presets.pcm_ssd(capacity="1 GiB", parallelism=2),
    )
    resolved = nacre.check(scenario).scenario
    assert resolved["stack"]["parallelism"] == 2
    assert nacre.run(scenario).requests.completed == 50
