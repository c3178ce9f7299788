"""Tests errors of a simulated memory: messages are precise, and errors do not affect data."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import nacre
import pytest
from memories import CAPACITY, digest, small
from refusing import fails_with


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return tmp_path / "x.nacre"


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda m: m[CAPACITY], IndexError, "address 192, size 1: the memory ends at byte 192"),
        (lambda m: m[-193], IndexError, "address -193, size 1: the memory ends at byte 192"),
        (lambda m: m[190:200], IndexError, "address 190, size 10: the memory ends at byte 192"),
        (lambda m: m[0:10:2], ValueError, "must have step 1; given 2"),
        (lambda m: m[10:0:-1], ValueError, "must have step 1; given -1"),
        (lambda m: m["a"], TypeError, "'str' object cannot be interpreted as an integer"),
        (lambda m: m.read(190, 3), IndexError, "address 190, size 3: the memory ends at byte 192"),
        (lambda m: m.read(-1, 1), IndexError, "address -1, size 1: the memory ends at byte 192"),
        (lambda m: m.read(2**70, 1), IndexError, "the memory ends at byte 192"),
        (lambda m: m.read(0, 2**63), IndexError, "the memory ends at byte 192"),
        (lambda m: m.read(2**64 - 1, 2), IndexError, "the memory ends at byte 192"),
        (lambda m: m.write(190, b"abc"), IndexError, "address 190, size 3"),
        (lambda m: m.write(-2, b"abc"), IndexError, "address -2, size 3"),
        (lambda m: m.write(0, "abc"), TypeError, "another buffer is needed; given 'abc' (str)"),
        (lambda m: m.write(0, 5), TypeError, "another buffer is needed; given 5 (int)"),
        (lambda m: m.write(0.5, b"a"), TypeError, "float"),
        (lambda m: m.readinto(0, b"abc"), TypeError, "a buffer that can be written"),
        (lambda m: m.readinto(190, bytearray(3)), IndexError, "address 190, size 3"),
        (lambda m: m.__setitem__(0, 256), ValueError, "an int from 0 to 255; given 256"),
        (lambda m: m.__setitem__(0, -1), ValueError, "an int from 0 to 255; given -1"),
        (lambda m: m.__setitem__(0, b"a"), TypeError, "given b'a' (bytes)"),
        (lambda m: m.__setitem__(192, 1), IndexError, "address 192, size 1"),
        (lambda m: m.__setitem__(slice(0, 2), b"abc"), ValueError, "cannot be replaced by 3"),
        (lambda m: m.__setitem__(slice(0, 4, 2), b"ab"), ValueError, "must have step 1; given 2"),
        (lambda m: m.write_word(0, 2**32), ValueError, "from 0 to 4294967295; given 4294967296"),
        (lambda m: m.write_word(0, -1), ValueError, "given -1"),
        (lambda m: m.read_word(189), IndexError, "address 189, size 4"),
        (lambda m: m.idle(-1), ValueError, "cannot be negative; given -1"),
        (lambda m: m.idle(float("nan")), ValueError, "given NaN"),
        (lambda m: m.idle(float("inf")), nacre.errors.Error, "simulated time ends after 200 days"),
        (lambda m: m.recover(), nacre.errors.Error, "the power is on"),
    ],
)
def test_an_error_is_reported_and_changes_nothing(
    image: Path, ask: Any, error: type[Exception], text: str
) -> None:
    with small(image) as mem:
        mem[:] = bytes(range(CAPACITY))
        mem.flush()
        before, now = digest(image), mem.now
        with pytest.raises(error) as raised:
            ask(mem)
        assert text in str(raised.value)
        assert digest(image) == before
        assert mem.now == now
        assert mem[:] == bytes(range(CAPACITY))


def test_a_memory_of_unlimited_size_is_rejected(image: Path) -> None:
    with pytest.raises(nacre.errors.ConfigError) as raised:
        nacre.open("server-cache", image=image)
    assert str(raised.value) == (
        "stack.backing: a device of fixed size is required, and this one has no capacity,"
        ' given network; set its capacity, e.g. stack.backing.capacity = "1 GiB"'
    )
    assert not image.exists()


def test_every_error_of_a_scenario_is_reported_and_no_image_is_created(image: Path) -> None:
    with pytest.raises(nacre.errors.ConfigError) as raised:
        small(image, {"stack.segments": 1, "stack.pagee": "16 B"})
    assert len(raised.value.problems) == 2
    with pytest.raises(nacre.errors.ConfigError, match="no function was given under this name"):
        small(image, {"stack.cleaning": {"kind": "external", "function": "mine"}})
    with pytest.raises(TypeError, match="a scenario cannot hold"):
        small(image, {"stack.cleaning": lambda _: 0})
    assert not image.exists()


def test_a_file_that_is_not_an_image_is_unchanged(image: Path) -> None:
    image.write_bytes(b"precious data" * 1000)
    with pytest.raises(nacre.errors.Error, match="it is not a Nacre image") as raised:
        small(image)
    assert str(image) in str(raised.value)
    assert image.read_bytes() == b"precious data" * 1000


def test_an_image_of_another_device_is_unchanged(image: Path) -> None:
    small(image).close()
    before = digest(image)
    with pytest.raises(nacre.errors.Error) as raised:
        small(image, {"stack.segments": 8, "stack.cleaning": "fifo", "run.seed": 5})
    text = str(raised.value)
    assert text.startswith(f"{image}: it holds another device: ")
    assert "`stack.segments` is 4 in the image, but 8 was requested" in text
    assert "`stack.cleaning.kind` is greedy in the image, but fifo was requested" in text
    assert "`run.seed` is 1 in the image, but 5 was requested" in text
    assert text.endswith("use the image's settings, or another image")
    assert digest(image) == before


def test_workload_and_run_do_not_identify_the_device(image: Path) -> None:
    with small(image) as mem:
        mem[0] = 1
    workload = {"kind": "uniform", "requests": 5, "footprint": "8 KiB"}
    other = {"workload": workload, "run.warm_up": 3, "stack.segment": "0.125 KiB"}
    assert small(image, other)[0] == 1


def test_a_truncated_image_is_unchanged(image: Path) -> None:
    with small(image) as mem:
        mem[:] = bytes(range(CAPACITY))
    with image.open("r+b") as file:
        file.truncate(image.stat().st_size - 1)
    before = digest(image)
    with fails_with("damaged"):
        small(image)
    assert digest(image) == before


def test_an_image_of_another_version_is_unchanged(image: Path) -> None:
    small(image).close()
    with image.open("r+b") as file:
        for start in (0, 64 << 10):
            # Layout: magic, version, checksum of the version and all later bytes, length, body.
            file.seek(start + 16)
            length = file.read(8)
            rest = length + file.read(int.from_bytes(length, "little"))
            version = (9).to_bytes(4, "little")
            file.seek(start + 8)
            file.write(version + zlib.crc32(version + rest).to_bytes(4, "little"))
    before = digest(image)
    with pytest.raises(nacre.errors.Error, match="its format is version 9"):
        small(image)
    assert digest(image) == before


def test_only_one_process_can_open_an_image(image: Path) -> None:
    with small(image) as mem:
        mem[0] = 1
        with fails_with("in-use"):
            small(image)
        mem[1] = 2
    assert small(image)[:2] == b"\1\2"


def test_files_that_cannot_be_images_are_rejected(tmp_path: Path) -> None:
    with fails_with("not-a-file"):
        small(tmp_path)
    with pytest.raises(nacre.errors.Error, match="creating it failed: No such file or directory"):
        small(tmp_path / "missing" / "x.nacre")
    assert list(tmp_path.iterdir()) == []
