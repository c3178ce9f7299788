"""Checks that results are saved completely or not at all."""

import fcntl
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nacre
import pytest
from nacre.base import toml
from nacre.cli.app import app
from nacre.files.atomic import replacing, unfinished, write_file
from nacre.files.staging import Staging
from typer.testing import CliRunner


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@contextmanager
def small_files() -> Iterator[None]:
    """Limits the size of files to 4 KiB, which has the effect of a full disk.

    This function is not a fixture, because the limit would then also apply to files of pytest.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_files_appear_together_when_all_are_written(tmp_path: Path) -> None:
    with Staging(tmp_path / "a" / "b") as staging:
        staging.write("one", b"1")
        staging.write("two", b"2")
        assert names(tmp_path / "a" / "b") == [staging._stage.name]
    assert names(tmp_path / "a" / "b") == ["one", "two"]


def stage_and_fail(directory: Path) -> None:
    with Staging(directory) as staging:
        staging.write("record.json", b"new")
        raise KeyboardInterrupt


def test_a_failure_leaves_no_files_and_keeps_old_results(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "record.json").write_text("old")
    for directory in (tmp_path / "kept", tmp_path / "made" / "for it"):
        with pytest.raises(KeyboardInterrupt):
            stage_and_fail(directory)
    assert names(tmp_path) == ["kept"]
    assert names(tmp_path / "kept") == ["record.json"]
    assert (tmp_path / "kept" / "record.json").read_text() == "old"


def test_an_incomplete_file_does_not_appear(tmp_path: Path) -> None:
    with (
        small_files(),
        pytest.raises(OSError, match=r"record\.json") as failure,
        Staging(tmp_path / "d") as staging,
    ):
        staging.write("record.json", bytes(8192))
    assert failure.value.filename == str(tmp_path / "d" / "record.json")
    assert names(tmp_path) == []
    target = tmp_path / "page.html"
    target.write_bytes(b"old")
    with small_files(), pytest.raises(OSError, match=r"page\.html"):
        write_file(target, bytes(8192))
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["page.html"]


def test_a_directory_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file") as failure, Staging(tmp_path / "file"):
        pass
    assert failure.value.filename == str(tmp_path / "file")


def test_a_file_is_replaced_with_default_permissions_and_links_are_not_followed(
    tmp_path: Path,
) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    mask = os.umask(0o027)
    try:
        write_file(target, b"w")
        write_file(target, b"x")
    finally:
        os.umask(mask)
    assert target.stat().st_mode & 0o777 == 0o640
    link.symlink_to(target)
    with pytest.raises(FileExistsError, match="it is a symbolic link"):
        write_file(link, b"y")
    link.unlink()
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError, match="it is a symbolic link"):
        write_file(link, b"y")
    assert link.is_symlink()
    assert target.read_bytes() == b"x"
    assert names(tmp_path) == ["link", "target"]


def test_a_file_created_later_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    with pytest.raises(FileExistsError, match="the file already exists"), replacing(target):
        target.write_text("late")
    with pytest.raises(FileExistsError, match="--force"):
        write_file(target, b"new", replace=False)
    assert target.read_text() == "late"
    assert names(tmp_path) == ["page.html"]


def test_new_results_replace_old_ones_and_keep_other_files(
    tmp_path: Path,
) -> None:
    record = '{"schema": "nacre-record-1"}'
    row = dict.fromkeys(("id", "paper", "figure", "metric", "published", "simulated", "pass"), "")
    for content, seal in ((record, "record.json"), (json.dumps([row]), "rows.json")):
        ours = tmp_path / seal
        for _ in range(2):
            with Staging(ours, [seal]) as staging:
                staging.write(seal, content.encode())
    for name, content in (
        ("record.json", '{"mine": 1}'),
        ("record.json", '{"schema": 3, "version": "2.0"}'),
        ("record.json", '{"schema": "https://example.org/nacre-record-1"}'),
        ("record.json", '["schema"]'),
        ("record.json", '[{"schema": "nacre-record-9"}]'),
        ("rows.json", "[]"),
        ("rows.json", '[{"paper": "mine"}]'),
        ("mixes.json", '{"mixes": []}'),
        ("crash.json", '{"blocks_audited": 1}'),
        ("served.json", '{"wall_s": 1}'),
        ("latency.svg", ""),
    ):
        theirs = tmp_path / f"theirs {len(names(tmp_path))}"
        theirs.mkdir()
        (theirs / name).write_text(content)
        with pytest.raises(
            FileExistsError, match="it holds a file of this name but no results"
        ) as failure:
            Staging(theirs, [name]).__enter__()
        assert failure.value.filename == str(theirs / name)
        staging = Staging(theirs)
        with pytest.raises(FileExistsError), staging:
            staging.write(name, b"new")
        staging = Staging(theirs)
        staging.discard([name])
        with pytest.raises(FileExistsError), staging:
            staging.write("other", b"new")
        assert (theirs / name).read_text() == content
        assert names(theirs) == [name]


def test_in_a_directory_of_results_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("mine")
    ours = tmp_path / "ours"
    with Staging(ours) as staging:
        staging.write("record.json", b'{"schema": "nacre-record-1"}')
    (ours / "latency.svg").symlink_to(tmp_path / "letter")
    staging = Staging(ours)
    with pytest.raises(FileExistsError, match="it is a symbolic link"), staging:
        staging.write("latency.svg", b"new")
    assert (tmp_path / "letter").read_text() == "mine"


def test_only_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a file"), replacing(tmp_path / "pipe"):
        pass
    assert names(tmp_path) == ["pipe"]
    with (
        pytest.raises(FileNotFoundError, match="no such directory"),
        replacing(tmp_path / "x" / "y"),
    ):
        pass


WRITERS = (
    ("report", "record", "--html", "taken"),
    ("trace", "info", "io.csv", "--html", "taken"),
    ("trace", "mrc", "io.csv", "-o", "taken.csv"),
    ("trace", "fit", "io.csv", "-o", "taken"),
    ("trace", "convert", "io.csv", "-o", "taken.nacre"),
    ("trace", "convert", "io.csv", "-o", "taken.parquet"),
    ("trace", "sample", "io.csv", "--by", "first", "--limit", "2", "-o", "taken.nacre"),
)


def test_commands_replace_files_only_with_force_and_follow_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stack = {"kind": "measured", "read": "10 us", "write": "20 us"}
    workload = {"kind": "uniform", "footprint": "1 MiB", "requests": 100}
    nacre.run({"workload": workload, "stack": stack}).save("record")
    lines = [f"{number},read,{4096 * number},4096" for number in range(200)]
    Path("io.csv").write_text("\n".join(["timestamp_us,op,offset,length", *lines]))
    for command in WRITERS:
        taken = Path(command[-1])
        elsewhere = Path("elsewhere")
        for place in (taken, elsewhere):
            place.write_text("mine")
        refused = CliRunner().invoke(app, list(command))
        assert refused.exit_code != 0, command
        assert "overwrite it with --force" in refused.stderr
        assert taken.read_text() == "mine"
        forced = CliRunner().invoke(app, [*command, "--force"])
        assert forced.exit_code == 0, forced.output
        assert taken.read_bytes() != b"mine"
        taken.unlink()
        taken.symlink_to(elsewhere)
        for force in ([], ["--force"]):
            linked = CliRunner().invoke(app, [*command, *force])
            assert linked.exit_code != 0, command
            assert "it is a symbolic link" in linked.stderr
        assert taken.is_symlink()
        assert elsewhere.read_text() == "mine"
        taken.unlink()


RESULTS = (
    (("run", "small.toml"), "record.json"),
    (("mixes", "tiers", "--steps", "4", "--set", "workload.requests=100"), "mixes.json"),
    (("crash", "small.toml", "--points", "20"), "crash.json"),
)
"""Commands that save results in a directory. Each has the name of a file of its result."""


@pytest.mark.parametrize(("command", "sealed"), RESULTS, ids=lambda given: given[0])
def test_results_of_another_scenario_are_not_overwritten_without_force(
    command: tuple[str, ...], sealed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    workload = {"kind": "uniform", "footprint": "1 MiB", "requests": 100}
    stack = {"kind": "measured", "read": "10 us", "write": "20 us", "capacity": "1 MiB"}
    Path("small.toml").write_text(toml.document({"workload": workload, "stack": stack}))
    first = CliRunner().invoke(app, [*command, "--out", "out"])
    assert first.exit_code == 0, first.output
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    assert Path("out", sealed) in before
    other = [*command, "--set", "workload.requests=90", "--out", "out"]
    refused = CliRunner().invoke(app, other)
    assert refused.exit_code == 1, refused.output
    assert "out: the directory already holds results" in refused.stderr
    assert "--force" in refused.stderr
    assert refused.stdout == ""
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before
    forced = CliRunner().invoke(app, [*other, "--force"])
    assert forced.exit_code == 0, forced.output
    if command[0] != "crash":  # requests are generated regardless of the workload
        assert Path("out", sealed).read_bytes() != before[Path("out", sealed)]


READERS = (
    ("trace", "info", "io.csv", "--html"),
    ("trace", "mrc", "io.csv", "-o"),
    ("trace", "fit", "io.csv", "-o"),
    ("trace", "convert", "io.csv", "--to", "nacre", "-o"),
    ("trace", "sample", "io.csv", "--fraction", "1", "--to", "nacre", "-o"),
    ("import", "fio", "io.csv", "-o"),
    ("report", "io.csv", "-o"),
    ("run", "disk-15k", "--from", "io.csv", "--save-state"),
)
"""Commands that read `io.csv`. The path of the output file follows the last option."""


@pytest.mark.parametrize("command", READERS, ids=lambda command: " ".join(command[:2]))
def test_no_command_overwrites_its_input(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "timestamp_us,op,offset,length\n0,read,0,4096\n1,read,4096,4096\n"
    read = Path("io.csv")
    read.write_text(text)
    Path("hard.csv").hardlink_to(read)
    Path("link.csv").symlink_to(read)
    Path("folder").symlink_to(".")
    replacing = [] if command[0] == "run" else ["--force"]
    for name in ("io.csv", "./io.csv", "hard.csv", "link.csv", "folder/io.csv"):
        refused = CliRunner().invoke(app, [*command, name, *replacing])
        assert refused.exit_code == 1, (name, refused.output)
        assert "it is also an input file" in refused.stderr, name
        assert str(Path(name)) in refused.stderr
        assert read.read_text() == Path("hard.csv").read_text() == text
    assert names(Path()) == ["folder", "hard.csv", "io.csv", "link.csv"]


def test_a_report_does_not_replace_its_results(tmp_path: Path) -> None:
    stack = {"kind": "measured", "read": "10 us", "write": "20 us"}
    workload = {"kind": "uniform", "footprint": "1 MiB", "requests": 100}
    results, record = tmp_path / "results", tmp_path / "results" / "record.json"
    nacre.run({"workload": workload, "stack": stack}).save(results)
    before = record.read_bytes()
    for read in (results, record):
        for part in ("record.json", "latency.parquet"):
            command = ["report", str(read), "-o", str(results / part), "--force"]
            assert "it is also an input file" in CliRunner().invoke(app, command).stderr
    assert record.read_bytes() == before
    page = ["report", str(results), "-o", str(results / "page.html"), "--force"]
    for _ in range(2):
        assert CliRunner().invoke(app, page).exit_code == 0


def test_only_files_of_a_killed_write_are_removed(tmp_path: Path) -> None:
    ours, theirs = tmp_path / ".results-a1b2_c3d.parquet", tmp_path / ".results-backup.csv"
    others = [theirs, tmp_path / ".study-notes.md", tmp_path / ".results-a1b2_c3.parquet"]
    for file in [ours, *others]:
        file.write_text("precious")
    assert unfinished(tmp_path, "results.parquet", "study.json") == [ours]
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path)
    assert unfinished(linked, "results.parquet") == []
    with suppress(KeyboardInterrupt), replacing(tmp_path / "results.parquet") as path:
        assert path in unfinished(tmp_path, "results.parquet")
        raise KeyboardInterrupt


def test_a_locked_file_is_not_replaced(tmp_path: Path) -> None:
    """Servers and memories lock their images with `flock`. A file with such a lock is not
    replaced."""
    target = tmp_path / "disk.img"
    target.write_text("an image")
    with target.open("rb") as image:
        fcntl.flock(image, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="in use") as failure:
            write_file(target, b"new")
        assert failure.value.filename == str(target)
    write_file(target, b"new")
    page = replacing(target)
    page.__enter__().write_bytes(b"newer")
    with target.open("rb") as image:
        fcntl.flock(image, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="in use"):
            page.__exit__(None, None, None)
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["disk.img"]
