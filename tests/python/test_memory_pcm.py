"""Tests `nacre.open` with a drive that writes in place, and data losses after a power failure."""

from pathlib import Path

import nacre
import pytest

SMALL: dict[str, object] = {
    "stack": {
        "kind": "onyx",
        "controllers": 2,
        "ranks": 2,
        "row_ranks": 2,
        "chip": "4 KiB",
        "row": "1 KiB",
        "buffered_writes": 64,
        "wear_leveling": {"kind": "start_gap", "interval": 2, "randomize": True},
    }
}


def test_the_shipped_drive_opens_and_keeps_its_bytes(tmp_path: Path) -> None:
    image = tmp_path / "onyx.nacre"
    with nacre.open("onyx", image=image) as memory:
        assert len(memory) == 8 << 30
        memory[5:13] = b"in place"
        memory[8:13] = b"PLACE"
        memory.write(7 << 30, bytes(range(256)) * 40)
    with nacre.open("onyx", image=image) as memory:
        assert memory[4:14] == b"\0in PLACE\0"
        assert memory.read(7 << 30, 10_240) == bytes(range(256)) * 40
        memory.power_fail()
        assert memory.recover().bytes_lost == 0


def test_a_drive_without_transactions_reports_it() -> None:
    with (
        nacre.open(SMALL) as memory,
        pytest.raises(nacre.errors.Error, match="stack, onyx: it has no transactions, envy has"),
        memory.transaction(),
    ):
        pass


def test_data_that_small_capacitors_cannot_program_is_lost() -> None:
    short = {"stack.program_energy": "1 uJ", "stack.capacitors": "15 uJ"}
    with pytest.raises(nacre.errors.ConfigError, match="may_lose_writes = true") as refused:
        nacre.open(SMALL, {**short, "stack.row_ranks": 3})
    assert "stack.row_ranks" in str(refused.value), "all errors at once"
    with nacre.open(SMALL, {**short, "stack.may_lose_writes": True}) as memory:
        for chunk in range(8):
            memory[chunk * 256 : (chunk + 1) * 256] = b"\xff" * 256
        memory.power_fail()
        recovery = memory.recover()
        assert (recovery.programs_finished, recovery.programs_lost) == (3, 5)
        assert memory[:2048].count(0) == recovery.bytes_lost > 0
