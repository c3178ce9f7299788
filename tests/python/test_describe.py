"""Finding out what there is without the repository: models, scenarios to begin with, schemas."""

import json
import subprocess
import sys
from pathlib import Path

import nacre
import pytest
from nacre import describe

ROOT = Path(__file__).parents[2]
DEVICES = [model.kind for model in describe.models() if model.family == "device"]


def command(
    *arguments: str, given: str | None = None, where: Path | None = None
) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "nacre", *arguments]
    return subprocess.run(
        line, check=False, cwd=where, input=given, text=True, capture_output=True, timeout=120
    )


@pytest.mark.parametrize("kind", DEVICES)
def test_a_new_scenario_of_every_kind_is_sound(kind: str, tmp_path: Path) -> None:
    text = describe.new(kind)
    (tmp_path / "new.toml").write_text(text)
    resolved = nacre.check(tmp_path / "new.toml")
    assert resolved.scenario.stack.kind == kind
    own = {line.split(" =")[0].lstrip("#") for line in text.splitlines() if " = " in line}
    (model,) = describe.describe(f"device/{kind}")
    named = {setting.name for setting in model.settings if "." not in setting.name}
    tables = {line.strip("[]").removeprefix("stack.") for line in text.splitlines() if "[" in line}
    assert named <= own | tables


def test_every_model_and_preset_is_described() -> None:
    for model in describe.models():
        assert model in describe.describe(model.kind)
        assert "# Leaves out" in model.doc
    assert describe.describe("tlc_nvme")[0].kind == "ssd"
    assert [model.family for model in describe.describe("zipf")] == ["workload", "pattern"]
    with pytest.raises(nacre.ConfigError, match='did you mean "zipf"'):
        describe.describe("zipff")


def test_the_commands_print_what_there_is(tmp_path: Path) -> None:
    shown = command("describe", "lru")
    assert shown.returncode == 0
    assert "LEAVES OUT" in shown.stdout
    (described,) = json.loads(command("describe", "tlc_nvme", "--json").stdout)
    assert "channels" in [setting["name"] for setting in described["settings"]]
    for name in ("scenario", "record"):
        published = json.loads((ROOT / "schema" / f"{name}.json").read_text())
        assert json.loads(command("schema", name).stdout) == published
    assert command("new", "ssd", "-o", "my.toml", where=tmp_path).returncode == 0
    again = command("new", "ssd", "-o", "my.toml", where=tmp_path)
    assert (again.returncode, "it is there already" in again.stderr) == (2, True)
    assert command("new", "sdd").returncode == 2


def test_names_are_found_in_other_letters_too() -> None:
    for given, meant in (("S3-FIFO", "s3_fifo"), ("NVMe", "nvme"), ("TLC-NVMe", "tlc_nvme")):
        with pytest.raises(nacre.ConfigError, match=f'did you mean "{meant}"'):
            describe.describe(given)


def test_help_is_there_under_its_short_name() -> None:
    assert "describe" in command("-h").stdout
    assert "--seed" in command("run", "-h").stdout


def test_standard_input_is_a_scenario_or_a_trace() -> None:
    scenario = describe.new("measured").replace("100_000", "1e3")
    done = command("run", "-", "--json", given=scenario)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]["issued"] == 1000
    trace = "timestamp_us,op,offset,length\n0,read,0,512\n5,write,4096,512\n"
    assert json.loads(command("trace", "info", "-", "--json", given=trace).stdout)["records"] == 2
