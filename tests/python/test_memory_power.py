"""Tests a simulated memory across restarts, kills, and power failures."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nacre
import pytest
from memories import CAPACITY, SMALL, small
from refusing import fails_with


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return tmp_path / "x.nacre"


def test_without_power_only_recovery_is_possible(image: Path) -> None:
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
        with pytest.raises(nacre.errors.Error, match=r"the power is off; call recover\(\) first"):
            ask()
    assert mem.now > 0
    recovery = mem.recover()
    assert (recovery.pages_rolled_back, recovery.duration_s) == (0, 0)
    assert mem[0] == 1
    with pytest.raises(nacre.errors.Error, match=r"the power is on; call power_fail\(\) first"):
        mem.recover()


def test_a_power_loss_rolls_back_an_open_transaction() -> None:
    mem = small()
    mem[0] = 1
    mem.idle(1)
    block = mem.transaction()
    block.__enter__()
    mem[0] = 2
    mem.power_fail()
    with fails_with("power-off"):
        block.__exit__(None, None, None)
    recovery = mem.recover()
    assert recovery.pages_rolled_back == 1
    assert recovery.duration_s == pytest.approx(160e-9), "an access for each page"
    assert mem[0] == 1


def test_a_power_loss_interrupts_operations_in_progress() -> None:
    mem = small(None, {"stack.program": "100 us", "stack.resume_after": "5 us"})
    for page in range(4):
        mem.write(page * 16, bytes([page + 1]))
    mem.idle(50e-6)
    mem.power_fail()
    recovery = mem.recover()
    assert recovery.programs_repeated == 1, "the first page was half programmed"
    assert recovery.erases_repeated == 0
    assert [mem[page * 16] for page in range(4)] == [1, 2, 3, 4]


def test_a_memory_closed_without_power_has_power_after_opening(image: Path) -> None:
    mem = small(image)
    mem[0] = 1
    mem.power_fail()
    mem.close()
    with small(image) as mem:
        assert mem.has_power
        assert mem[0] == 1


class Twin:
    """A memory, and the bytes that it should contain."""

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
        except nacre.errors.TransactionTooLarge:
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
            # Imitate a kill: the owner of the file disappears without closing it.
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
def test_a_memory_holds_the_same_bytes_as_a_bytearray(
    image: Path, settings: dict[str, object]
) -> None:
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


def test_a_killed_process_loses_no_completed_write(image: Path) -> None:
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
        # The process was killed in the transaction or write after the last one that it reported.
        with small(image) as mem:
            newest = mem.read_word(0)
            assert newest in (last, last + 1)
            assert mem.read_word(4) == newest, "one transaction wrote both"
            for number in range(1, last + 1):
                words[8 + number * 4 % 176] = number
            for address, number in words.items():
                assert mem.read_word(address) in {number, newest if newest > last else number}


def test_a_forked_child_cannot_change_the_memory_of_its_parent(tmp_path: Path) -> None:
    memory = nacre.open(SMALL, image=tmp_path / "x.nacre")
    memory[0:6] = b"before"
    child = os.fork()
    if child == 0:
        # The child exits immediately, without unwinding the frames of the test.
        try:
            memory[0:6] = b"child!"
        except nacre.errors.Error as error:
            os._exit(0 if "is a fork of it" in str(error) else 2)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    memory[0:6] = b"parent"
    del memory
    with nacre.open(SMALL, image=tmp_path / "x.nacre") as memory:
        assert memory[0:6] == b"parent"
