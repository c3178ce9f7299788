"""Tests descriptions of models, templates for scenarios, and schemas."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import nacre
import pytest
from nacre.scenario import models
from nacre.scenario.examples import EXAMPLES, FOLDER
from serving import NACRE

ROOT = Path(__file__).parents[2]
DEVICES = [model.kind for model in models.models() if model.family == "device"]


def command(
    *arguments: str, given: str | None = None, where: Path | None = None
) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "nacre", *arguments]
    return subprocess.run(
        line, check=False, cwd=where, input=given, text=True, capture_output=True, timeout=120
    )


@pytest.mark.parametrize("kind", DEVICES)
def test_a_new_scenario_of_every_kind_is_valid(kind: str, tmp_path: Path) -> None:
    text = models.new(kind)
    (tmp_path / "new.toml").write_text(text)
    resolved = nacre.check(tmp_path / "new.toml")
    assert resolved.scenario.stack.kind == kind
    own = {line.split(" =")[0].lstrip("#") for line in text.splitlines() if " = " in line}
    (model,) = models.describe(f"device/{kind}")
    named = {setting.name for setting in model.settings if "." not in setting.name}
    tables = {line.strip("[]").removeprefix("stack.") for line in text.splitlines() if "[" in line}
    assert named <= own | tables


def test_every_model_and_preset_is_described() -> None:
    for model in models.models():
        assert model in models.describe(model.kind)
        assert "# Not modeled" in model.doc
    assert models.describe("tlc_nvme")[0].kind == "ssd"
    assert [model.family for model in models.describe("zipf")] == ["workload", "pattern"]
    with pytest.raises(nacre.errors.ConfigError, match='did you mean "zipf"'):
        models.describe("zipff")


def test_the_commands_print_models_and_templates(tmp_path: Path) -> None:
    shown = command("describe", "lru")
    assert shown.returncode == 0
    assert "NOT MODELED" in shown.stdout
    (described,) = json.loads(command("describe", "tlc_nvme", "--json").stdout)
    assert "channels" in [setting["name"] for setting in described["settings"]]
    for name in ("scenario", "record"):
        published = json.loads((ROOT / "schema" / f"{name}.json").read_text())
        assert json.loads(command("schema", name).stdout) == published
    assert command("new", "ssd", "-o", "my.toml", where=tmp_path).returncode == 0
    again = command("new", "ssd", "-o", "my.toml", where=tmp_path)
    assert (again.returncode, "it already exists" in again.stderr) == (2, True)
    assert command("new", "sdd").returncode == 2
    none = command("new", "-o", "other.toml", where=tmp_path)
    assert (none.returncode, none.stdout) == (2, "")
    assert "KIND: it is not given; name one" in none.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["my.toml"]


def test_examples_come_with_the_package(tmp_path: Path) -> None:
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == set(EXAMPLES)
    for name in EXAMPLES:
        written = command("new", name, "-o", name, where=tmp_path)
        assert written.returncode == 0, written.stderr
        assert written.stdout.startswith(f"{name}: run it with: ")
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes()


def test_without_a_name_everything_is_listed() -> None:
    listed = command("describe")
    assert listed.returncode == 0
    for model in models.models():
        assert f" {model.kind} " in listed.stdout
    policies = json.loads(command("describe", "replacement", "--json").stdout)
    assert {policy["family"] for policy in policies} == {"replacement"}
    kinds = command("new").stdout.splitlines()
    assert {line.split()[1] for line in kinds if line.startswith("example")} == set(EXAMPLES)
    assert {line.split()[1] for line in kinds if line.startswith("device")} == set(DEVICES)
    with pytest.raises(
        nacre.errors.ConfigError, match=r"it is a setting of uniform, .*describe uniform"
    ):
        models.describe("read_share")


@pytest.mark.parametrize("name", sorted(set(models.stacks()) - set(DEVICES)))
def test_a_new_scenario_of_every_catalog_device_is_valid(name: str) -> None:
    text = models.new(name)
    resolved = nacre.check(tomllib.loads(text))
    assert resolved.scenario.stack.kind == nacre.catalog.entries()[name].kind
    assert f'preset = "{name}"' in text


def test_the_shell_completes_names_and_files(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "server.toml").touch()
    (tmp_path / "server-of-mine.toml").touch()
    (tmp_path / "server.txt").touch()
    for words, completed in (
        ("describe tlc", ["tlc_nvme", "tlc_nvme_aged", "tlc_nvme_worn"]),
        ("new s45", ["s4500_960gb"]),
        ("catalog show server-cache-", ["server-cache-zipf"]),
        ("reproduce nvm-", ["nvm-servers"]),
        ("run server-", ["server-cache-zipf", "server-cache", "server-of-mine.toml"]),
        ("check mi", ["mine/"]),
        ("study mine/", ["mine/server.toml"]),
    ):
        asked = {
            "_NACRE_COMPLETE": "complete_bash",
            "COMP_WORDS": f"nacre {words}",
            "COMP_CWORD": str(len(words.split())),
        }
        done = subprocess.run(
            [NACRE], env=os.environ | asked, cwd=tmp_path, text=True, capture_output=True
        )
        assert done.stdout.split() == completed, words


def test_names_are_case_insensitive() -> None:
    for given, meant in (("S3-FIFO", "s3_fifo"), ("NVMe", "nvme"), ("TLC-NVMe", "tlc_nvme")):
        with pytest.raises(nacre.errors.ConfigError, match=f'did you mean "{meant}"'):
            models.describe(given)


def test_help_has_a_short_option() -> None:
    assert "describe" in command("-h").stdout
    assert "--seed" in command("run", "-h").stdout


def test_standard_input_can_be_a_scenario_a_trace_a_study_or_a_job(tmp_path: Path) -> None:
    scenario = models.new("measured").replace("100_000", "1e3")
    done = command("run", "-", "--json", given=scenario)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]["issued"] == 1000
    trace = "timestamp_us,op,offset,length\n0,read,0,512\n5,write,4096,512\n"
    assert json.loads(command("trace", "info", "-", "--json", given=trace).stdout)["records"] == 2
    axis = '[[axis]]\npath = "workload.requests"\nvalues = [10, 20]\n'
    study = command("study", "-", given=f'scenario = "disk-15k"\n{axis}', where=tmp_path)
    assert study.stdout.startswith("study: 2 points"), study.stderr
    assert study.stdout.endswith("results are in study.study\n")
    job = command("import", "fio", "-", given="[load]\nrw=randread\nsize=1m\n")
    assert job.stdout.splitlines()[0].startswith("# "), job.stderr
