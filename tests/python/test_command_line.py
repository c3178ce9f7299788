"""Tests output streams and exit statuses of the command line."""

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import nacre
import pytest
import typer
from nacre.cli.app import app

SCENARIO = """\
schema = 1
name = "small"
[workload]
kind = "uniform"
footprint = "64 MiB"
read_share = "70 %"
requests = 5_000
arrival = { kind = "poisson", rate = "30 kHz" }
[stack]
preset = "emlc_ssd"
"""
MISTAKEN = SCENARIO.replace("footprint", "footprnt").replace("30 kHz", "30 kilos")
BOXES = re.compile("[\\u2500-\\u257f\\x1b]")

Runner = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def scenarios(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO)
    (tmp_path / "mistaken.toml").write_text(MISTAKEN)


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    def nacre_command(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nacre", *arguments]
        kept = {"cwd": tmp_path, "text": True, "capture_output": True, "timeout": 120, **options}
        return subprocess.run(command, check=False, **kept)  # type: ignore[call-overload, no-any-return]

    return nacre_command


def test_json_output_is_a_single_document(run: Runner) -> None:
    done = run("run", "small.toml", "--seed", "5", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    record = json.loads(done.stdout)
    assert record["schema"] == "nacre-record-1"
    assert record["seed"] == 5
    assert record["requests"]["issued"] == record["requests"]["completed"] == 5000
    again = run("run", "small.toml", "--seed", "5", "--json")
    assert again.stdout == done.stdout


def test_the_command_line_and_python_give_the_same_record(run: Runner, tmp_path: Path) -> None:
    done = run("run", "small.toml", "--set", "workload.read_share=20 %", "--json")
    record = nacre.run(tmp_path / "small.toml", {"workload.read_share": "20 %"})
    assert json.loads(done.stdout)["latency"] == record.to_dict()["latency"]


def test_output_to_a_pipe_has_plain_lines(run: Runner) -> None:
    done = run("run", "small.toml")
    assert done.returncode == 0
    assert "5,000 requests" in done.stdout
    assert not BOXES.search(done.stdout)
    assert done.stderr == ""


def test_all_errors_are_reported_together_on_standard_error(run: Runner) -> None:
    done = run("run", "mistaken.toml", "--set", "nonsense", "--set", "stack.paralelism=2")
    assert done.returncode == 2
    assert done.stdout == ""
    for place in ("nonsense", "footprnt", "30 kilos", "paralelism"):
        assert place in done.stderr
    assert "mistaken.toml:5" in done.stderr
    assert 'did you mean "footprint"' in done.stderr
    assert "Traceback" not in done.stderr


def test_python_and_the_command_line_report_the_same_error(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("check", "mistaken.toml")
    assert done.returncode == 2
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nacre.errors.ConfigError) as raised:
        nacre.check("mistaken.toml")
    lines = str(raised.value).splitlines()
    assert done.stderr.splitlines() == [f"error: {line}" for line in lines]
    assert len(raised.value.problems) == len(lines)
    assert isinstance(raised.value, ValueError)


def test_the_error_for_an_unknown_scenario_lists_the_built_in_ones(run: Runner) -> None:
    done = run("run", "server-cahe")
    assert done.returncode == 2
    assert 'did you mean "server-cache"' in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_error_for_a_setting_as_an_option_suggests_set(run: Runner) -> None:
    said = run("run", "small.toml", "--requests", "10").stderr
    assert "to change a setting, use --set workload.requests=... or --set run.requests=..." in said
    assert "--set workload.arrival.queue_depth=..." in run("check", "x", "--queue-depth=1").stderr
    assert "Possible options: --seed" in run("run", "small.toml", "--sed", "1").stderr
    assert "--set" not in run("report", "small.toml", "--requests", "10").stderr


def test_the_error_for_a_setting_without_its_table_has_the_full_path(run: Runner) -> None:
    wrong = ("--set", "policy=arc", "--set", "run.seeed=1")
    said = run("run", "server-cache-zipf", *wrong).stderr
    assert "policy (--set policy=arc): there is no such setting; write its whole path:" in said
    assert "whole path: stack.level[0].policy\n" in said
    assert 'did you mean "seed"?' in said, "with all other errors"
    inside = run("check", "server-cache-zipf", "--set", "stack.level.policy=arc").stderr
    assert "it follows a list; choose one of its entries, [0] to [0]" in inside


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "nowhere.toml"],
        ["run", "small.toml", "--sed", "1"],
        ["run"],
        ["catalog", "show", "pcm"],
        ["trace", "info", "nowhere.csv"],
        ["trace", "convert", "small.toml", "-o", "out.nosuch"],
        ["trace", "convert", "small.toml", "-o", "out.nacre"],
        ["report", "nowhere", "--html", "page.html"],
    ],
)
def test_user_errors_have_exit_status_2(run: Runner, arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_results_are_a_record_columns_and_figures(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("run", "small.toml", "--out", "out/here", "--json")
    assert done.returncode == 0
    record = nacre.results.Record.load(tmp_path / "out" / "here")
    figures = {f"{name}.{suffix}" for name in dir(record.plot) for suffix in ("svg", "png")}
    files = {path.name for path in (tmp_path / "out" / "here").iterdir()}
    assert files == {"latency.parquet", "record.json", "time.parquet", *figures}
    assert {"latency.svg", "throughput.png", "time_spent.svg", "time_split.png"} <= figures
    assert record.to_dict() == json.loads(done.stdout)
    monkeypatch.chdir(tmp_path)
    assert record == nacre.run("small.toml")


def test_a_full_disk_is_reported_and_leaves_no_files(run: Runner, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = run("run", "small.toml", "--out", "made", preexec_fn=small_files)
    assert done.returncode == 1
    assert re.fullmatch(r"error: made/\w+\.\w+: .*\n", done.stderr)
    assert not (tmp_path / "made").exists()


def test_an_unwritable_output_is_reported_before_the_run(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    done = run("run", "small.toml", "--out", "file")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: file: ")
    assert (tmp_path / "file").read_text() == "kept"


def test_a_full_standard_output_is_reported(run: Runner) -> None:
    with Path("/dev/full").open("w") as full:
        done = run("run", "small.toml", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == (
        "error: standard output: the disk is full: free space, or choose another location\n"
    )


def test_a_closed_pipe_is_not_an_error(run: Runner) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run("run", "small.toml", capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr == ""


INTERRUPTED = """
import os, signal, sys
import nacre.cli.run as command
from nacre.cli import main

class Impatient(command.Bar):
    def __call__(self, done, total=None, *rest):
        os.kill(os.getpid(), signal.SIGINT)

command.Bar = Impatient
sys.argv = ["nacre", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("as_json", [True, False])
def test_an_interrupted_run_keeps_finished_results(tmp_path: Path, as_json: bool) -> None:
    (tmp_path / "interrupted.py").write_text(INTERRUPTED)
    arguments = ["run", "small.toml", "--set", "workload.requests=1000000000", "--out", "part"]
    command = [sys.executable, "interrupted.py", *arguments, *(["--json"] if as_json else [])]
    done = subprocess.run(
        command, cwd=tmp_path, text=True, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "stopped early" in done.stderr
    record = nacre.results.Record.load(tmp_path / "part")
    assert record.complete is False
    assert 0 < record.requests.completed < 1_000_000_000
    assert record.requests.issued == record.requests.completed
    assert record.latency_distribution("read").height > 0
    assert not list((tmp_path / "part").glob("*.svg")), "figures would take longer than a second"
    if as_json:
        assert json.loads(done.stdout) == record.to_dict()


def test_a_bug_is_one_line_that_describes_how_to_report_it(tmp_path: Path) -> None:
    (tmp_path / "buggy.py").write_text(
        "import sys\nimport nacre.cli.run as command\nfrom nacre.cli import main\n"
        "command.facts = None\nsys.argv = ['nacre', 'run', 'small.toml']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "buggy.py"],
        cwd=tmp_path, text=True, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "this is a bug in Nacre" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_check_shows_every_value_with_its_origin(run: Runner) -> None:
    done = run("check", "small.toml", "--set", "workload.read_share=20 %", "--json")
    assert done.returncode == 0
    origins = {row["path"]: row for row in json.loads(done.stdout)["origins"]}
    assert origins["workload.read_share"]["from"] == "override"
    assert origins["workload.footprint"]["from"] == "file"
    assert origins["stack.read.latency"]["from"] == "catalog"
    assert "stack.read.latency" in run("check", "small.toml").stdout


def test_the_catalog_lists_and_shows(run: Runner) -> None:
    listed = run("catalog", "list")
    assert listed.returncode == 0
    assert "pcm_ssd" in listed.stdout
    assert "server-cache" in listed.stdout
    assert run("catalog").stdout == listed.stdout
    shown = run("catalog", "show", "pcm_ssd")
    assert "6.7 us" in shown.stdout
    assert "kim-2014" in shown.stdout
    assert json.loads(run("catalog", "show", "pcm_ssd", "--json").stdout)["name"] == "pcm_ssd"
    text = run("catalog", "show", "server-cache").stdout
    assert "[stack]" in text


def test_saved_records_become_one_page_without_a_network(run: Runner, tmp_path: Path) -> None:
    small = tmp_path / "small.toml"
    records = [nacre.run(small), nacre.run(small, {"stack.preset": "pcm_ssd"})]
    records[0].save(tmp_path / "a")
    records[1].save(tmp_path / "b")
    done = run("report", "a", "b", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 2 + sum(len(dir(record.plot)) for record in records)
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)


def test_the_error_for_results_as_a_simulator_names_the_right_command(run: Runner) -> None:
    done = run("compare", "small.toml", "other.toml")
    assert done.returncode == 2
    assert "nacre report small.toml other.toml -o PAGE.html" in " ".join(done.stderr.split())


def test_help_names_every_command(run: Runner) -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("run", "check", "catalog", "trace", "report"):
        assert re.search(rf"^  {command} ", done.stdout, re.MULTILINE)
    assert run("--version").stdout == f"nacre {nacre.__version__}\n"


def test_help_shows_every_option_and_many_under_headings() -> None:
    root = typer.main.get_command(app)
    commands = dict(getattr(root, "commands", {}))
    shown = {}
    while commands:
        name, command = commands.popitem()
        commands |= {f"{name} {word}": c for word, c in getattr(command, "commands", {}).items()}
        shown[name] = command.get_help(typer.Context(command, info_name=name))
        for option in (each for each in command.params if each.param_type_name == "option"):
            assert re.search(rf"^ .*{option.opts[-1]}\b", shown[name], re.MULTILINE), name
    headings = {name: re.findall(r"^(\w.*):$", text, re.MULTILINE) for name, text in shown.items()}
    assert headings["run"] == ["Arguments", "Options", "State", "Execution", "Results"]
    assert headings["trace info"] == ["Arguments", "Options", "Reading the trace", "Results"]
    assert headings["step"] == ["Arguments", "Options"]


def test_the_catalog_shows_an_entry_and_a_scenario_with_the_same_name(run: Runner) -> None:
    done = run("catalog", "show", "onyx")
    assert "akel-2011" in done.stdout
    assert "onyx is also a scenario: nacre run onyx" in done.stdout
    assert "[workload]" in done.stdout
    shown = json.loads(run("catalog", "show", "onyx", "--json").stdout)
    assert "[workload]" in shown["scenario"]["text"]


def test_a_file_in_an_override_is_relative_to_the_working_directory(
    run: Runner, tmp_path: Path
) -> None:
    (tmp_path / "far").mkdir()
    trace = '[workload]\nkind = "trace"\nfile = "none.csv"\n[stack]\npreset = "pcm_ssd"\n'
    (tmp_path / "far" / "trace.toml").write_text(trace)
    (tmp_path / "io.csv").write_text("timestamp_us,op,offset,length\n0,read,0,512\n")
    done = run("run", "far/trace.toml", "--set", "workload.file=io.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["requests"]["reads"] == 1
    for table in ('{kind="trace", file="io.csv"}', '{kind="trace", files=["io.csv"]}'):
        done = run("run", "far/trace.toml", "--set", f"workload={table}", "--json")
        assert done.returncode == 0, done.stderr
    missing = run("run", "far/trace.toml", "--set", "workload.file=io.cvs")
    assert missing.returncode == 2
    assert str(tmp_path / "far" / "io.cvs") in missing.stderr


def test_replacing_a_value_with_a_source_does_not_warn(run: Runner, tmp_path: Path) -> None:
    text = (tmp_path / "small.toml").read_text()
    sourced = 'requests = { value = 100, source = "a test", confidence = "assumed" }'
    (tmp_path / "sourced.toml").write_text(re.sub(r"requests = .*", sourced, text))
    done = run("run", "sourced.toml", "--set", "workload.requests=50", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["requests"]["completed"] == 50


def test_replacing_a_table_warns_about_removed_settings(run: Runner) -> None:
    table = 'workload={kind="zipf", footprint="1 MiB", requests=100}'
    done = run("run", "small.toml", "--set", table, "--json")
    assert done.returncode == 0, done.stderr
    assert "--set workload replaces the whole table" in done.stderr
    assert "which removes workload.read_share, workload.arrival" in done.stderr
    assert json.loads(done.stdout)["requests"]["completed"] == 100
    whole = (
        "--set",
        "workload.arrival={kind='periodic', rate='1 kHz'}",
        "--set",
        'stack={preset="pcm_ssd"}',
    )
    assert run("check", "small.toml", *whole).stderr == "", "nothing but names goes"
    first = ("--set", "run.warm_up=5", "--set", "run={seed=2}")
    assert "which removes run.warm_up" in run("check", "small.toml", *first).stderr


def test_a_report_of_another_file_is_a_user_error(run: Runner, tmp_path: Path) -> None:
    done = run("report", "small.toml", "--html", "page.html")
    assert done.returncode == 2
    assert "small.toml is a scenario, not a result" in done.stderr
    assert not (tmp_path / "page.html").exists()
    nacre.run(tmp_path / "small.toml").save(tmp_path / "out")
    assert run("report", "out", "--html", "page.html").stdout == "page.html: 1 record\n"


def test_the_version_is_printed_without_loading_the_commands(run: Runner) -> None:
    assert run("-V").stdout == run("--version").stdout == f"nacre {nacre.__version__}\n"
    unused = {"numpy", "typer", "nacre.simulate.running"}
    loads = f"import sys, nacre; assert not {unused} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", loads], check=True)


def test_a_command_loads_only_the_modules_it_uses() -> None:
    for words, unused in (
        (
            ["check", "server-cache"],
            {"numpy", "nacre.studies", "nacre.cli.serve", "nacre.cli.study"},
        ),
        (["run", "disk-15k"], {"numpy", "nacre.studies", "nacre.figures", "pydantic"}),
        (["--help"], {"numpy", "polars", "altair", "pydantic"}),
    ):
        loads = (
            f"import sys; sys.argv = ['nacre', *{words}]; from nacre.cli import main\n"
            "try: main()\nexcept SystemExit as end: assert not end.code\n"
            f"print({unused} & set(sys.modules), file=sys.stderr)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", loads], capture_output=True, text=True, check=True
        )
        assert ran.stderr.splitlines()[-1] == "set()"


def test_the_package_shows_functions_and_modules_and_no_name_is_both() -> None:
    folders = {path.stem for path in Path(nacre.__file__).parent.iterdir()}
    shown = {name for name in dir(nacre) if not name.startswith("__")}
    functions = {name for name in shown if not isinstance(getattr(nacre, name), ModuleType)}
    assert len(functions) == 13
    assert not functions & folders
    assert shown - functions <= folders
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        _ = nacre.rum  # type: ignore[attr-defined]


@pytest.mark.parametrize("package", ["results", "simulate", "devices", "studies", "papers"])
def test_every_public_name_of_a_package_exists(package: str) -> None:
    of = getattr(nacre, package)
    assert all(getattr(of, name) is not None for name in dir(of))
