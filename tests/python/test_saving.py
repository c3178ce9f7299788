"""Results appear complete or not at all."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nacre.saving import Staging, replacing, write_file


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@contextmanager
def small_files() -> Iterator[None]:
    """No file may grow past 4 KiB: what a full disk does, without one.

    Not a fixture, which would hold for what pytest writes of the test, too.
    """
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_files_appear_together_when_all_is_written(tmp_path: Path) -> None:
    with Staging(tmp_path / "a" / "b") as staging:
        staging.write("one", b"1")
        staging.write("two", b"2")
        assert names(tmp_path / "a" / "b") == [staging._stage.name]
    assert names(tmp_path / "a" / "b") == ["one", "two"]


def stage_and_fail(directory: Path) -> None:
    with Staging(directory) as staging:
        staging.write("record.json", b"new")
        raise KeyboardInterrupt


def test_a_failure_leaves_nothing_behind_and_old_results_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "record.json").write_text("old")
    for directory in (tmp_path / "kept", tmp_path / "made" / "for it"):
        with pytest.raises(KeyboardInterrupt):
            stage_and_fail(directory)
    assert names(tmp_path) == ["kept"]
    assert names(tmp_path / "kept") == ["record.json"]
    assert (tmp_path / "kept" / "record.json").read_text() == "old"


def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path: Path) -> None:
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


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file") as failure, Staging(tmp_path / "file"):
        pass
    assert failure.value.filename == str(tmp_path / "file")


def test_a_file_is_replaced_through_its_link_with_the_usual_rights(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    mask = os.umask(0o027)
    try:
        write_file(tmp_path / "link", b"x")
    finally:
        os.umask(mask)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"x"
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o640


def test_what_is_not_a_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a file"), replacing(tmp_path / "pipe"):
        pass
    assert names(tmp_path) == ["pipe"]
    with (
        pytest.raises(FileNotFoundError, match="no such directory"),
        replacing(tmp_path / "x" / "y"),
    ):
        pass
