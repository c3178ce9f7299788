"""`nacre.open`: a simulated memory that programs use, over restarts, kills and power failures."""

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nacre
import numpy as np
import pytest

SMALL: dict[str, object] = {
    "stack": {
        "kind": "envy",
        "segments": 4,
        "segment": "128 B",
        "page": "16 B",
        "banks": 1,
        "buffer": "64 B",
        "utilisation": "50 %",
        "threshold": "25 %",
        "cleaning": "greedy",
        "wear_swap_gap": 3,
    }
}
CAPACITY = 192
"""Half of the three segments that hold data."""


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return tmp_path / "x.nacre"


def small(image: Path | None = None, settings: Mapping[str, object] | None = None) -> nacre.Memory:
    return nacre.open(SMALL, settings, image=image)


def digest(path: Path) -> str:
    """Of the bytes that are not zero, and of where they are: an image is mostly holes."""
    found, end = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as file:
        start = 0
        while start < end:
            try:
                start = os.lseek(file.fileno(), start, os.SEEK_DATA)
            except OSError:
                break
            stop = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            file.seek(start)
            while start < stop:
                # A file system may or may not call room that is only reserved a hole.
                part = file.read(min(stop - start, 4096 - start % 4096))
                if part.strip(b"\0"):
                    found.update(f"{start} ".encode() + part)
                start += len(part)
    return f"{end} {found.hexdigest()}"


def test_it_is_indexed_like_a_sequence_of_bytes() -> None:
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


def test_it_is_read_and_written_at_addresses() -> None:
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


def test_every_operation_takes_its_modelled_time() -> None:
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


def test_what_is_written_is_there_after_a_restart(image: Path) -> None:
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


def test_without_an_image_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with small() as mem:
        mem[0] = 1
        mem.flush()
    assert list(tmp_path.iterdir()) == []
    assert small()[0] == 0


def test_a_transaction_lasts_as_a_whole_or_not_at_all(image: Path) -> None:
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
        with pytest.raises(nacre.TransactionError, match="do not nest"), mem.transaction():
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
        with pytest.raises(nacre.TransactionTooLarge) as raised:
            mem[0:100] = bytes(100)
        assert digest(image) == begun
        assert mem[:] == bytes(range(CAPACITY))
        mem[5] = 99
    assert str(raised.value) == (
        "the transaction is too large: one may surely change 1 pages of 16 bytes, since old and new"
        " versions of them take half of the write buffer; nothing of this write was done; commit"
        " earlier, or give a larger stack.buffer"
    )
    assert isinstance(raised.value, nacre.TransactionError)
    assert isinstance(raised.value, nacre.Error)
    assert mem[5] == 99
    assert mem.now > now


def test_nothing_but_recovering_is_possible_without_power(image: Path) -> None:
    mem = small(image)
    mem[0] = 1
    mem.power_fail()
    assert not mem.has_power
    asked: list[Callable[[], object]] = [
        lambda: mem[0],
        lambda: mem.write(0, b"x"),
        lambda: mem.write(0, b""),
        lambda: mem.read(0, 0),
        lambda: mem.idle(1),
        lambda: mem.power_fail(),
        mem.transaction().__enter__,
    ]
    for ask in asked:
        with pytest.raises(nacre.Error, match=r"the power is off; call recover\(\) first"):
            ask()
    assert mem.now > 0
    recovery = mem.recover()
    assert (recovery.pages_rolled_back, recovery.duration_s) == (0, 0)
    assert mem[0] == 1
    with pytest.raises(nacre.Error, match=r"nothing to recover from; call power_fail\(\) first"):
        mem.recover()


def test_a_power_failure_takes_an_open_transaction_back() -> None:
    mem = small()
    mem[0] = 1
    mem.idle(1)
    block = mem.transaction()
    block.__enter__()
    mem[0] = 2
    mem.power_fail()
    with pytest.raises(nacre.Error, match="the power is off"):
        block.__exit__(None, None, None)
    recovery = mem.recover()
    assert recovery.pages_rolled_back == 1
    assert recovery.duration_s == pytest.approx(160e-9), "an access for each page"
    assert mem[0] == 1


def test_a_power_failure_interrupts_what_is_under_way() -> None:
    mem = small(None, {"stack.program": "100 us", "stack.resume_after": "5 us"})
    for page in range(4):
        mem.write(page * 16, bytes([page + 1]))
    mem.idle(50e-6)
    mem.power_fail()
    recovery = mem.recover()
    assert recovery.programs_repeated == 1, "the first page was half programmed"
    assert recovery.erases_repeated == 0
    assert [mem[page * 16] for page in range(4)] == [1, 2, 3, 4]


def test_a_memory_closed_without_power_has_it_when_it_is_opened(image: Path) -> None:
    mem = small(image)
    mem[0] = 1
    mem.power_fail()
    mem.close()
    with small(image) as mem:
        assert mem.has_power
        assert mem[0] == 1


def test_closing_takes_an_open_transaction_back(image: Path) -> None:
    mem = small(image)
    block = mem.transaction()
    block.__enter__()
    mem[0] = 1
    mem.close()
    with pytest.raises(nacre.Error, match="closed"):
        block.__exit__(None, None, None)
    with small(image) as mem:
        assert mem[0] == 0
    mem.close()
    with pytest.raises(nacre.Error, match="the memory is closed; open it again"):
        mem[0]


class Twin:
    """A memory and the bytes it has to hold."""

    def __init__(self, path: Path, seed: int, settings: dict[str, object]) -> None:
        self.path, self.settings = path, settings
        self.random = random.Random(seed)
        self.memory = small(path, settings)
        self.bytes = bytearray(CAPACITY)
        self.before: bytearray | None = None
        self.block: Any = None

    def step(self) -> None:
        kinds = ["write", "read", "begin", "end", "idle", "power", "reopen"]
        getattr(self, self.random.choices(kinds, [60, 15, 6, 6, 6, 1, 1])[0])()

    def span(self) -> tuple[int, int]:
        start = self.random.randrange(CAPACITY)
        return start, min(CAPACITY, start + self.random.choice([1, 1, 2, 4, 17, 40]))

    def write(self) -> None:
        start, end = self.span()
        data = self.random.randbytes(end - start)
        try:
            self.memory[start:end] = data
        except nacre.TransactionTooLarge:
            assert self.before is not None
        else:
            self.bytes[start:end] = data

    def read(self) -> None:
        start, end = self.span()
        assert self.memory[start:end] == self.bytes[start:end]

    def begin(self) -> None:
        if self.before is None:
            self.block = self.memory.transaction()
            self.block.__enter__()
            self.before = bytearray(self.bytes)

    def end(self) -> None:
        if self.before is None:
            return
        if self.random.random() < 0.7:
            self.block.__exit__(None, None, None)
            self.before = None
        else:
            self.block.__exit__(KeyError, KeyError("taken back"), None)
            self.roll_back()

    def idle(self) -> None:
        self.memory.idle(self.random.choice([1e-6, 1e-5, 1e-4, 0.1]))

    def power(self) -> None:
        self.memory.power_fail()
        self.memory.recover()
        self.roll_back()

    def reopen(self) -> None:
        if self.random.random() < 0.5:
            self.memory.close()
        else:
            # As a kill: what holds the file goes without closing.
            self.memory._core = SimpleNamespace(closed=True)  # type: ignore[assignment]
        self.block = None
        self.memory = small(self.path, self.settings)
        self.roll_back()
        assert self.memory[:] == self.bytes

    def roll_back(self) -> None:
        if self.before is not None:
            self.bytes, self.before = self.before, None


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"stack.cleaning": "d_choices", "stack.erase": "20 us"},
        {"stack.buffer": "256 B", "stack.concurrency": 2, "stack.banks": 2},
    ],
)
def test_it_holds_what_a_bytearray_holds(image: Path, settings: dict[str, object]) -> None:
    twin = Twin(image, seed=4711, settings=settings)
    for _ in range(4000):
        twin.step()
    assert twin.memory[:] == twin.bytes


WRITER = """
import sys, nacre, json
scenario, image = json.loads(sys.argv[1]), sys.argv[2]
mem = nacre.open(scenario, image=image)
start = mem.read_word(0)
# Its transaction lasts, but the write behind it may not have been reached.
mem.write_word(8 + start * 4 % 176, start)
for number in range(start + 1, start + 100_000):
    with mem.transaction():
        mem.write_word(0, number)
        mem.write_word(4, number)
    mem.write_word(8 + number * 4 % 176, number)
    if number % 10 == 0:
        mem.idle(1e-4)
    print(number, flush=True)
"""


def test_a_killed_process_loses_nothing_it_was_told_is_written(image: Path) -> None:
    words: dict[int, int] = {}
    last = 0
    for kill in (1, 30, 200, 701):
        command = [sys.executable, "-c", WRITER, json.dumps(SMALL), str(image)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(kill):
                last = int(child.stdout.readline())
            child.send_signal(signal.SIGKILL)
            told = child.stdout.read().split("\n")[:-1]
        last = max([last, *map(int, told)])
        # It was killed at any point of the transaction or the write after the last it told of.
        with small(image) as mem:
            newest = mem.read_word(0)
            assert newest in (last, last + 1)
            assert mem.read_word(4) == newest, "one transaction wrote both"
            for number in range(1, last + 1):
                words[8 + number * 4 % 176] = number
            for address, number in words.items():
                assert mem.read_word(address) in {number, newest if newest > last else number}


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda m: m[CAPACITY], IndexError, "address 192, size 1: the memory ends at byte 192"),
        (lambda m: m[-193], IndexError, "address -193, size 1: the memory ends at byte 192"),
        (lambda m: m[190:200], IndexError, "address 190, size 10: the memory ends at byte 192"),
        (lambda m: m[0:10:2], ValueError, "the step is 1; given 2"),
        (lambda m: m[10:0:-1], ValueError, "the step is 1; given -1"),
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
        (lambda m: m.__setitem__(slice(0, 4, 2), b"ab"), ValueError, "the step is 1; given 2"),
        (lambda m: m.write_word(0, 2**32), ValueError, "from 0 to 4294967295; given 4294967296"),
        (lambda m: m.write_word(0, -1), ValueError, "given -1"),
        (lambda m: m.read_word(189), IndexError, "address 189, size 4"),
        (lambda m: m.idle(-1), ValueError, "not negative; given -1"),
        (lambda m: m.idle(float("nan")), ValueError, "given NaN"),
        (lambda m: m.idle(float("inf")), nacre.Error, "simulated time ends after 200 days"),
        (lambda m: m.recover(), nacre.Error, "the power is on"),
    ],
)
def test_a_mistake_is_named_and_changes_nothing(
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


def test_a_file_that_is_no_image_is_left_as_it_is(image: Path) -> None:
    image.write_bytes(b"precious data" * 1000)
    with pytest.raises(nacre.Error, match="it is not a Nacre image: it begins with") as raised:
        small(image)
    assert str(image) in str(raised.value)
    assert image.read_bytes() == b"precious data" * 1000


def test_an_image_of_another_device_is_left_as_it_is(image: Path) -> None:
    small(image).close()
    before = digest(image)
    with pytest.raises(nacre.Error) as raised:
        small(image, {"stack.segments": 8, "stack.cleaning": "fifo", "run.seed": 5})
    text = str(raised.value)
    assert text.startswith(f"{image}: it holds another device: ")
    assert "`stack.segments` is 4 in it, 8 was asked for" in text
    assert "`stack.cleaning.kind` is greedy in it, fifo was asked for" in text
    assert "`run.seed` is 1 in it, 5 was asked for" in text
    assert text.endswith("use the image's settings, or another image")
    assert digest(image) == before


def test_neither_the_workload_nor_the_run_decide_which_device_it_is(image: Path) -> None:
    with small(image) as mem:
        mem[0] = 1
    workload = {"kind": "uniform", "requests": 5, "footprint": "8 KiB"}
    other = {"workload": workload, "run.warm_up": 3, "stack.segment": "0.125 KiB"}
    assert small(image, other)[0] == 1


def test_an_image_cut_short_is_left_as_it_is(image: Path) -> None:
    with small(image) as mem:
        mem[:] = bytes(range(CAPACITY))
    with image.open("r+b") as file:
        file.truncate(image.stat().st_size - 1)
    before = digest(image)
    with pytest.raises(nacre.Error, match="it is cut short"):
        small(image)
    assert digest(image) == before


def test_an_image_of_another_version_is_left_as_it_is(image: Path) -> None:
    small(image).close()
    with image.open("r+b") as file:
        for start in (0, 64 << 10):
            # Magic, version, checksum of version and all that follows, length, body.
            file.seek(start + 16)
            length = file.read(8)
            rest = length + file.read(int.from_bytes(length, "little"))
            version = (9).to_bytes(4, "little")
            file.seek(start + 8)
            file.write(version + zlib.crc32(version + rest).to_bytes(4, "little"))
    before = digest(image)
    with pytest.raises(nacre.Error, match="its format is version 9"):
        small(image)
    assert digest(image) == before


def test_one_process_holds_an_image(image: Path) -> None:
    with small(image) as mem:
        mem[0] = 1
        with pytest.raises(nacre.Error, match="it is open in another process"):
            small(image)
        mem[1] = 2
    assert small(image)[:2] == b"\1\2"


def test_what_cannot_be_an_image_is_refused(tmp_path: Path) -> None:
    with pytest.raises(nacre.Error, match="it is a directory, not a file"):
        small(tmp_path)
    with pytest.raises(nacre.Error, match="creating it failed: No such file or directory"):
        small(tmp_path / "missing" / "x.nacre")
    assert list(tmp_path.iterdir()) == []


def test_a_memory_without_an_end_is_refused(image: Path) -> None:
    with pytest.raises(nacre.ConfigError) as raised:
        nacre.open("server-cache", image=image)
    assert str(raised.value) == (
        "stack: a memory has an end, and this has none, given server_cache; give it a capacity"
    )
    assert not image.exists()


def test_every_mistake_of_a_scenario_is_named_and_no_image_made(image: Path) -> None:
    with pytest.raises(nacre.ConfigError) as raised:
        small(image, {"stack.segments": 1, "stack.pagee": "16 B"})
    assert len(raised.value.problems) == 2
    with pytest.raises(nacre.ConfigError, match="no function was given under this name"):
        small(image, {"stack.cleaning": {"kind": "external", "function": "mine"}})
    with pytest.raises(TypeError, match="a scenario cannot hold"):
        small(image, {"stack.cleaning": lambda _: 0})
    assert not image.exists()


def test_threads_take_turns(image: Path) -> None:
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


def test_a_forked_child_changes_nothing_of_its_parents_memory(tmp_path: Path) -> None:
    memory = nacre.open(SMALL, image=tmp_path / "x.nacre")
    memory[0:6] = b"before"
    child = os.fork()
    if child == 0:
        # No test frame may be unwound here: the child ends at once, with what it found.
        try:
            memory[0:6] = b"child!"
        except nacre.Error as error:
            os._exit(0 if "a copy (fork)" in str(error) else 2)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    memory[0:6] = b"parent"
    del memory
    with nacre.open(SMALL, image=tmp_path / "x.nacre") as memory:
        assert memory[0:6] == b"parent"
