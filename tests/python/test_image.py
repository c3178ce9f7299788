"""Tests that images are checked, and that intact data is copied from damaged images."""

import json
from pathlib import Path

import nacre
import pytest
from nacre.cli.app import app
from refusing import fails_with
from serving import Server, run, scenario
from typer.testing import CliRunner, Result

DEVICE = {
    "stack": {"kind": "measured", "read": "5 us", "write": "10 us", "capacity": "1 MiB"},
}


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Returns the image of a closed memory of 20 pages."""
    place = tmp_path / "x.img"
    with nacre.open(DEVICE, image=place) as memory:
        for page in range(20):
            memory[page * 4096 : (page + 1) * 4096] = bytes([page + 1]) * 4096
    return place


def damage(image: Path, page: int) -> None:
    """Flips a bit of a page in the image."""
    data = image.read_bytes()
    at = data.index(bytes([0xFF ^ (page + 1)]) * 4096)
    with image.open("r+b") as file:
        file.seek(at + 100)
        file.write(bytes([0xFF ^ (page + 1) ^ 4]))


def asked(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["image", *map(str, arguments)])


def test_an_intact_image_is_reported_as_intact(image: Path) -> None:
    found = nacre.devices.images.check(image)
    assert found.is_good
    assert found.pages.programmed == 20
    assert found.pages.are_checked
    done = asked("check", image)
    assert done.exit_code == 0, done.output
    assert "pages: 20 of 4 KiB, all good" in done.stdout
    assert "all durable data is intact" in done.stdout


def test_a_changed_bit_is_reported_and_never_returned(image: Path, tmp_path: Path) -> None:
    damage(image, 7)
    with nacre.open(DEVICE, image=image) as memory:
        assert memory[0] == 1
        with pytest.raises(
            nacre.errors.Error, match=r"damaged: page 7 of the medium.*nacre image repair"
        ):
            memory[7 * 4096]
        with pytest.raises(nacre.errors.Error, match="page 7"):
            memory[0] = 2
        with pytest.raises(nacre.errors.Error, match="page 7"):
            memory.close()
    done = asked("check", image)
    assert done.exit_code == 1
    assert "1 damaged: 7" in done.stdout
    assert "nacre image repair" in done.stdout
    copy = tmp_path / "copy.img"
    done = asked("repair", image, "--out", copy, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["pages"]["named"] == [7]
    assert nacre.devices.images.check(copy).is_good
    assert not nacre.devices.images.check(image).is_good, "the image is as it was"
    with nacre.open(DEVICE, image=copy) as memory:
        assert memory[0] == 1
        assert memory[7 * 4096 : 8 * 4096] == bytes([8]) * 100 + bytes([8 ^ 4]) + bytes([8]) * 3995
    done = asked("repair", image, "--out", copy)
    assert done.exit_code == 1
    assert "the file already exists" in done.stderr.replace("\n", " ")


def test_without_checksums_changed_bytes_are_returned(tmp_path: Path) -> None:
    place = tmp_path / "plain.img"
    with nacre.open(DEVICE, image=place, checksums=False) as memory:
        memory[:4096] = bytes([1]) * 4096
    damage(place, 0)
    assert not nacre.devices.images.check(place).pages.are_checked
    with nacre.open(DEVICE, image=place) as memory:
        assert memory[100] == 1 ^ 4


def test_the_copy_of_an_image_ends_at_the_damage_of_its_journal(tmp_path: Path) -> None:
    place, copy = tmp_path / "x.img", tmp_path / "copy.img"
    memory = nacre.open(DEVICE, image=place)
    for number in range(9):
        memory[number] = number + 1
        memory.flush()
    snapshot = tmp_path / "left.img"
    run(["cp", "--sparse=always", place, snapshot])
    memory.close()
    with snapshot.open("r+b") as file:
        file.seek((128 << 10) + 230)
        byte = file.read(1)
        file.seek((128 << 10) + 230)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(nacre.errors.Error, match="it is damaged: its journal"):
        nacre.open(DEVICE, image=snapshot)
    found = nacre.devices.images.repair(snapshot, copy)
    assert found.journal.damage
    # There are nine writes, each followed by a flush. One of these records is damaged.
    assert found.journal.records + found.journal.lost == 2 * 9 - 1
    with nacre.open(DEVICE, image=copy) as memory:
        left = (found.journal.records + 1) // 2
        assert memory[:9] == bytes(range(1, left + 1)) + bytes(9 - left)


def test_raw_bytes_cannot_be_checked(tmp_path: Path) -> None:
    device = scenario(tmp_path, mib=1)
    server = Server(tmp_path, device=device)
    server.stop()
    found = nacre.devices.images.check(server.image)
    assert found.is_good
    assert found.raw_bytes == 1 << 20
    assert "stack.capacity = 1 MiB" in found.identity
    assert "raw bytes: 1 MiB, without checksums" in asked("check", server.image).stdout


def test_other_files_are_rejected_as_images(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    with fails_with("unknown-format"):
        nacre.devices.images.check(notes)
    with fails_with("file-not-found"):
        nacre.devices.images.check(tmp_path / "none")
