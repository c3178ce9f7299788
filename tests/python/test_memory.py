"""Tests `nacre.open`: data, latencies, and transactions of a simulated memory."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import nacre
import numpy as np
import pytest
from memories import CAPACITY, digest, small
from refusing import fails_with


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return tmp_path / "x.nacre"


def test_a_memory_is_indexed_like_a_sequence_of_bytes() -> None:
    mem = small()
    assert len(mem) == CAPACITY
    assert mem[:] == bytes(CAPACITY)
    mem[3] = 255
    mem[-1] = 7
    mem[10:13] = b"abc"
    mem[20:24] = np.array([1, 2], dtype="<u2")
    assert (mem[3], mem[-1], mem[CAPACITY - 1]) == (255, 7, 7)
    assert mem[9:14] == b"\0abc\0"
    assert mem[-CAPACITY:4] == b"\0\0\0\xff"
    assert mem[20:24] == b"\1\0\2\0"
    assert mem[5:5] == b"" == mem[9:5]
    assert mem[:].count(0) == CAPACITY - 7


def test_a_memory_is_read_and_written_at_addresses() -> None:
    mem = small()
    mem.write(100, memoryview(b"hello"))
    assert mem.read(100, 5) == b"hello"
    words = np.zeros(2, dtype="<u4")
    assert mem.readinto(100, words) == 8
    assert words.tobytes() == b"hello\0\0\0"
    assert mem.word_size == 4
    mem.write_word(8, 0x01020304)
    assert mem[8:12] == b"\4\3\2\1"
    assert mem.read_word(8) == 0x01020304


def test_every_operation_takes_its_modeled_time() -> None:
    mem = small(None, {"stack.mmu_entries": 0})
    assert (mem.now, mem.latency) == (0, 0)
    mem.read_word(0)
    assert mem.latency == pytest.approx(160e-9), "one access"
    mem.write_word(0, 1)
    assert mem.latency == pytest.approx(260e-9), "an access, and the copy of the page"
    mem.write_word(4, 1)
    assert mem.latency == pytest.approx(160e-9), "the page is in the buffer already"
    mem.read(0, 16)
    assert mem.latency == pytest.approx(4 * 160e-9), "four words"
    before = mem.now
    mem.idle(0.5)
    assert mem.now == pytest.approx(before + 0.5)


def test_idle_time_is_used_to_drain_the_write_buffer() -> None:
    mem = small()
    for page in range(4):
        mem.write(page * 16, b"x")
    assert mem.statistics().counters.pages_drained == 0
    mem.idle(1e-3)
    assert mem.statistics().counters.pages_drained == 3, "down to the threshold, one page of four"


def test_statistics_are_a_component_of_a_record() -> None:
    with small() as mem:
        mem.write(0, bytes(40))
        mem.read(0, 7)
        found = mem.statistics()
    assert (found.path, found.kind) == ("stack", "envy")
    assert (found.counters.writes, found.counters.bytes_written) == (1, 40)
    assert (found.counters.reads, found.counters.bytes_read) == (1, 7)
    assert found.counters.copies_on_write == 3
    assert set(found.busy) >= {"read", "write", "copy_on_write"}
    assert found.wear is not None


def test_written_data_exists_after_a_restart(image: Path) -> None:
    with small(image) as mem:
        mem[10:15] = b"hello"
        now = mem.now
    with small(image) as mem:
        assert mem.now == pytest.approx(now)
        assert mem.latency == 0
        assert mem[10:15] == b"hello"
        assert mem.statistics().counters.writes == 0, "counts are those since it was opened"
    assert repr(mem) == f"<nacre.Memory, 192 bytes, image='{image}', closed>"
    assert repr(small()) == "<nacre.Memory, 192 bytes>"


def test_without_an_image_no_data_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with small() as mem:
        mem[0] = 1
        mem.flush()
    assert list(tmp_path.iterdir()) == []
    assert small()[0] == 0


def test_a_transaction_is_atomic(image: Path) -> None:
    with small(image) as mem:
        with mem.transaction() as same:
            assert same is mem
            assert mem.in_transaction
            mem[0] = 1
            mem[100] = 2
        assert not mem.in_transaction
        with contextlib.suppress(ZeroDivisionError), mem.transaction():
            mem[0] = 3
            assert mem[0] == 3, "a transaction sees what it wrote"
            mem[101] = 1 // 0
            pytest.fail("the exception passes on")
        assert (mem[0], mem[100], mem[101]) == (1, 2, 0)
    with small(image) as mem:
        assert (mem[0], mem[100], mem[101]) == (1, 2, 0)


def test_transactions_do_not_nest() -> None:
    mem = small()
    with mem.transaction():
        mem[0] = 1
        with fails_with("transaction-open", nacre.errors.TransactionError), mem.transaction():
            pytest.fail("the block is not entered")
        mem[1] = 2
    assert mem[:2] == b"\1\2"


def test_a_write_too_large_for_its_transaction_changes_nothing(image: Path) -> None:
    mem = small(image)
    mem[:] = bytes(range(CAPACITY))
    mem.flush()
    before, now = digest(image), mem.now
    with mem.transaction():
        begun = digest(image)
        assert begun != before
        with pytest.raises(nacre.errors.TransactionTooLarge) as raised:
            mem[0:100] = bytes(100)
        assert digest(image) == begun
        assert mem[:] == bytes(range(CAPACITY))
        mem[5] = 99
    assert str(raised.value) == (
        "the transaction is too large: one transaction can always change 1 pages of 16 bytes,"
        " since their old and new versions take half of the write buffer; the write was not"
        " performed; commit earlier, or use a larger stack.buffer"
    )
    assert isinstance(raised.value, nacre.errors.TransactionError)
    assert isinstance(raised.value, nacre.errors.Error)
    assert mem[5] == 99
    assert mem.now > now


def test_closing_rolls_back_an_open_transaction(image: Path) -> None:
    mem = small(image)
    block = mem.transaction()
    block.__enter__()
    mem[0] = 1
    mem.close()
    with fails_with("closed"):
        block.__exit__(None, None, None)
    with small(image) as mem:
        assert mem[0] == 0
    mem.close()
    with pytest.raises(nacre.errors.Error, match="the memory is closed; open it again"):
        mem[0]


def test_threads_are_serialized(image: Path) -> None:
    mem = small(image)

    def write(number: int) -> None:
        for _ in range(300):
            mem.write(number * 8, bytes([number]) * 8)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mem[:64] == b"".join(bytes([number]) * 8 for number in range(8))
    assert mem.statistics().counters.writes == 8 * 300
