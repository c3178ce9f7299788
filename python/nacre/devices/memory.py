"""A simulated memory as a Python object, optionally stored in an image file."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex, TypeAlias, overload

from nacre import _core
from nacre.base.view import View
from nacre.results.record import Component, Record
from nacre.scenario.source import Scenario, assignments, read, warn_of_host
from nacre.simulate.running import state_of

if TYPE_CHECKING:
    from typing import Any, Self

    import numpy as np
    from typing_extensions import Buffer

    # NumPy declares the buffer protocol to type checkers only from Python 3.12 on.
    Data: TypeAlias = Buffer | np.ndarray[Any, Any]


class Recovery(View):
    """Report about the recovery of a memory after a power loss, including the lost data."""

    programs_repeated: int
    erases_repeated: int
    is_cleaning: bool
    pages_rolled_back: int
    programs_finished: int
    programs_lost: int
    bytes_lost: int
    pages_damaged: int
    duration_s: float


class Zone(NamedTuple):
    """A zone of a memory over `zns_ssd`.

    Its bytes are from `start` up to, but not including, `end`.
    """

    start: int
    end: int
    write_pointer: int
    state: str


def open(  # noqa: A001 (as of gzip and shelve: nacre.open)
    scenario: Scenario,
    overrides: Mapping[str, object] | None = None,
    *,
    image: str | os.PathLike[str] | None = None,
    start: str | os.PathLike[str] | Record | None = None,
    checksums: bool = True,
) -> Memory:
    """Opens the stack of a scenario, e.g. `"envy"`, as a memory.

    If `image` is given, this file stores data and state. If the file does not exist, it is created.
    Every completed operation is in the file, even if the process is killed. If the process is
    killed during a transaction, the transaction is rolled back, as after a power loss. Without
    `image`, data and state are lost when the process ends.

    Every page of a new image has a checksum. Data that the host disk has corrupted is therefore
    detected and never returned (see `nacre.devices.images`). If `checksums` is false, such data is
    not detected.

    Without `start`, the memory is new. With `start`, which is the saved state or the record of a
    run, the memory continues from the final state of this run. The run saved no data, so the bytes
    that it wrote read as zero. With `start`, the image must not exist.

    Raises `ConfigError` for errors in the scenario, and for stacks that cannot store data. If the
    file is not an image of this memory, raises `Error` and does not change the file.
    """
    source, settings = read(scenario), assignments(overrides)
    warn_of_host(source, settings, "a program issues one operation at a time and waits for it")
    path, begin = None if image is None else os.fspath(image), state_of(start)
    return Memory(source.call(_core.Memory.open, settings, path, begin, checksums), path)


class Memory:
    """A simulated memory with byte access, transactions, and power failures.

    For example, `mem[i]` reads a byte, and `mem[a:b] = data` writes bytes.

    Operations are serial, and `now` is the simulated time. Lost data is never returned: a read of
    lost data raises `Error` until all of this data is rewritten. The first flush after a loss also
    raises `Error`, and so do writes that the device rejects. During an operation, other threads can
    run. Operations of several threads take turns. A transaction belongs to the memory and not to a
    thread.
    """

    def __init__(self, core: _core.Memory, image: str | None) -> None:
        self._core = core
        self._image = image

    def __len__(self) -> int:
        return self._core.capacity

    @overload
    def __getitem__(self, place: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> bytes: ...
    def __getitem__(self, place: SupportsIndex | slice) -> int | bytes:
        if isinstance(place, slice):
            start, stop = self._bounds(place)
            return self._core.read(start, stop - start)
        return self._core.read(self._address(place), 1)[0]

    def __setitem__(self, place: SupportsIndex | slice, value: SupportsIndex | Data) -> None:
        if not isinstance(place, slice):
            self._core.write(self._address(place), _byte(value))
            return
        start, stop = self._bounds(place)
        data = _bytes(value)
        if len(data) != stop - start:
            raise ValueError(
                f"a memory keeps its size: {stop - start} bytes at address {start} cannot be"
                f" replaced by {len(data)}; give data of that size, or use write(address, data)"
            )
        self._core.write(start, data)

    def read(self, address: int, size: int) -> bytes:
        """Returns `size` bytes from `address`. Bytes that were never written are zero."""
        return self._core.read(address, size)

    def readinto(self, address: int, buffer: Data) -> int:
        """Fills a writable buffer with bytes from `address`. Returns the number of bytes."""
        view = _view(buffer)
        if view.readonly:
            raise TypeError("readinto needs a buffer that can be written, such as a bytearray")
        view = view.cast("B")
        view[:] = self._core.read(address, len(view))
        return len(view)

    def write(self, address: int, data: Data) -> None:
        """Writes the bytes of `data` at `address`."""
        self._core.write(address, _bytes(data))

    def zone(self, address: int) -> Zone:
        """Returns the zone that contains `address`.

        Its `state` is `"empty"`, `"implicitly_open"` (opened by a write), `"explicitly_open"`
        (opened by `open_zone`), `"closed"`, or `"full"`. Raises `Error` if there are no zones.
        """
        return Zone(*self._core.zone(address))

    def append(self, zone: int, data: Data) -> int:
        """Appends `data` to the zone that begins at address `zone`.

        Returns the address of the data.

        Like all zone commands, this method raises `Error` if the zone rejects the command.
        """
        return self._core.append(zone, _bytes(data))

    def open_zone(self, zone: int) -> None:
        """Opens the zone that begins at address `zone`.

        It remains open until it is closed, full, or reset.
        """
        self._core.zone_command("open", zone)

    def close_zone(self, zone: int) -> None:
        """Closes the zone that begins at address `zone`. A later write reopens the zone."""
        self._core.zone_command("close", zone)

    def finish_zone(self, zone: int) -> None:
        """Changes the state of the zone that begins at address `zone` to `"full"`."""
        self._core.zone_command("finish", zone)

    def reset_zone(self, zone: int) -> None:
        """Empties the zone that begins at address `zone`. Its data is discarded."""
        self._core.zone_command("reset", zone)

    @property
    def word_size(self) -> int:
        """Word size in bytes, i.e. the size of one access to the memory."""
        return self._core.word_bytes

    def read_word(self, address: int) -> int:
        """Reads the word at `address` as an unsigned little-endian number."""
        return int.from_bytes(self._core.read(address, self.word_size), "little")

    def write_word(self, address: int, value: int) -> None:
        """Writes `value` to the word at `address` as an unsigned little-endian number."""
        number, bits = operator.index(value), 8 * self.word_size
        if not 0 <= number < 1 << bits:
            raise ValueError(f"a word has {bits} bits: from 0 to {(1 << bits) - 1}; given {number}")
        self._core.write(address, number.to_bytes(self.word_size, "little"))

    @contextmanager
    def transaction(self) -> Iterator[Self]:
        """Starts a transaction, which commits at the end of the block.

        If the block raises an exception, the transaction is rolled back. Raises `TransactionError`
        inside another transaction. A write that exceeds the space of the transaction raises
        `TransactionTooLarge`.
        """
        self._core.begin()
        try:
            yield self
        except BaseException:
            # If power failed or the memory was closed in the block, the transaction is already
            # rolled back.
            if not self._core.closed and self._core.has_power and self._core.in_transaction:
                self._core.abort()
            raise
        self._core.commit()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._core.in_transaction

    def power_fail(self) -> None:
        """Cuts power. Until `recover` is called, all other operations fail."""
        self._core.power_fail()

    def recover(self) -> Recovery:
        """Restores power and rolls back an open transaction. Returns a recovery report."""
        return Recovery(json.loads(self._core.recover()))

    @property
    def has_power(self) -> bool:
        """Whether the power is on."""
        return self._core.has_power

    @property
    def now(self) -> float:
        """Simulated seconds since the memory was created, including earlier sessions."""
        return self._core.clock()[0]

    @property
    def latency(self) -> float:
        """Simulated latency of the last operation in seconds."""
        return self._core.clock()[1]

    def idle(self, seconds: float) -> None:
        """Advances simulated time by `seconds`, so that the memory can do background work."""
        self._core.idle(seconds)

    def statistics(self) -> Component:
        """Statistics since the memory was opened, in the form of a component in a record."""
        return Component(json.loads(self._core.statistics()))

    def flush(self) -> None:
        """Makes all data durable, so that it also survives a failure of this machine."""
        self._core.flush()

    def close(self) -> None:
        """Closes the memory.

        Rolls back an open transaction, and saves a checkpoint so that the next open is fast.
        """
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether the memory is closed."""
        return self._core.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        image = f", image={self._image!r}" if self._image is not None else ""
        return f"<nacre.Memory, {len(self)} bytes{image}{', closed' if self.closed else ''}>"

    def _address(self, place: SupportsIndex) -> int:
        """Converts an index to an address. Negative indexes count from the end."""
        address, size = operator.index(place), len(self)
        if not -size <= address < size:
            raise IndexError(f"address {address}, size 1: the memory ends at byte {size}")
        return address % size

    def _bounds(self, place: slice) -> tuple[int, int]:
        """Returns the bounds of a slice.

        Unlike the bounds of a list slice, they must be within the memory.
        """
        if place.step is not None and operator.index(place.step) != 1:
            raise ValueError(f"slices of a memory must have step 1; given {place.step}")
        size = len(self)
        start = 0 if place.start is None else operator.index(place.start)
        stop = size if place.stop is None else operator.index(place.stop)
        start, stop = (at + size if at < 0 else at for at in (start, stop))
        if not 0 <= start <= size or stop > size:
            raise IndexError(
                f"address {start}, size {max(stop - start, 0)}: the memory ends at byte {size}"
            )
        return start, max(start, stop)


def _byte(value: object) -> bytes:
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"a byte is an int from 0 to 255; given {value!r} ({type(value).__name__})"
        ) from None
    if not 0 <= number <= 255:
        raise ValueError(f"a byte is an int from 0 to 255; given {number}")
    return bytes((number,))


def _bytes(data: object) -> bytes:
    return data if type(data) is bytes else _view(data).tobytes()


def _view(data: object) -> memoryview:
    try:
        return memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            "bytes, a bytearray, a NumPy array or another buffer is needed;"
            f" given {data!r} ({type(data).__name__})"
        ) from None
