"""Runs transactions of a program on a device that is used as a memory.

The program reads and writes the words of TPC-A: nodes of three B-trees on random pages, then three
records. A run of the scenario first brings the device into its steady state. With `ending =
"commit"`, every transaction of TPC-A is a hardware transaction; with `"roll back"`, every tenth
transaction is rolled back; with `"none"`, there are no hardware transactions.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

from nacre.base.view import View
from nacre.devices import memory
from nacre.devices.memory import Memory
from nacre.papers.spec.plan import Job
from nacre.simulate.running import run

TRANSACTED_FILE = "transacted.json"
_NODES = 10
"""Number of nodes that a search visits in the three trees, which have 2, 3, and 5 levels."""
_WORDS_PER_NODE = 7
_RECORDS = 3
_PAGE = 256
_WORD = 4
_EVERY = 10
"""Number of transactions per rollback."""


class Transacted(View):
    """Results of a program with transactions, in simulated time.

    `restored` is the share of rolled-back words that have their old value after the rollback.
    `rollback_ns` is the mean time of a rollback in nanoseconds. Both are None if there are no
    rollbacks.
    """

    name: str
    transactions: int
    rolled_back: int
    simulated_s: float
    throughput: View
    restored: float | None
    rollback_ns: float | None

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Writes transacted.json."""
        from nacre.files.staging import Staging

        with Staging(Path(directory)) as staging:
            text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
            staging.write(TRANSACTED_FILE, f"{text}\n".encode())
        return Path(directory)


class _RolledBackError(Exception):
    """Raised to end the block of a transaction that is to be rolled back."""


def measured(job: Job, folder: str | None) -> dict[str, Any]:
    """Runs the transactions of a job. Temporary files, e.g. the steady state, are in `folder`."""
    with tempfile.TemporaryDirectory(prefix="nacre-", dir=folder) as place:
        steady = run(job.scenario, job.overrides(), save_state=Path(place) / "steady")
        with memory.open(job.scenario, job.overrides(), start=steady) as device:
            return _document(device, job, steady.name)


def _document(device: Memory, job: Job, name: str) -> dict[str, Any]:
    draws = random.Random(1)  # noqa: S311 (reproducible)
    begin, rollbacks, restored = device.now, [], []
    for number in range(job.transactions):
        records = [_WORD * draws.randrange(len(device) // _WORD) for _ in range(_RECORDS)]
        if job.ending == "none":
            _transact(device, draws, records, number)
            continue
        is_undone = job.ending == "roll back" and number % _EVERY == 0
        before = [device.read_word(address) for address in records] if is_undone else []
        try:
            with device.transaction():
                _transact(device, draws, records, number)
                if is_undone:
                    ended = device.now
                    raise _RolledBackError
        except _RolledBackError:
            rollbacks.append(device.now - ended)
            restored += [
                device.read_word(address) == old
                for address, old in zip(records, before, strict=True)
            ]
    took = device.now - begin
    return {
        "name": name,
        "transactions": job.transactions,
        "rolled_back": len(rollbacks),
        "simulated_s": took,
        "throughput": {"units_per_s": job.transactions / took},
        "restored": sum(restored) / len(restored) if restored else None,
        "rollback_ns": 1e9 * sum(rollbacks) / len(rollbacks) if rollbacks else None,
    }


def _transact(device: Memory, draws: random.Random, records: list[int], number: int) -> None:
    """Searches the trees, and writes the balances of the records."""
    for _ in range(_NODES):
        node = _PAGE * draws.randrange(len(device) // _PAGE)
        for _ in range(_WORDS_PER_NODE):
            device.read_word(node + _WORD * draws.randrange(_PAGE // _WORD))
    for address in records:
        device.write_word(address, number + 1)
