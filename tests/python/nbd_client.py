"""A small NBD client for tests of servers.

Numbers are from "NBD protocol" (doc/proto.md of the reference implementation). Methods wait for the
reply to their request. The exceptions are `send` and `answer`, with which several requests can be
outstanding.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

_OPTION = 0x49484156454F5054  # "IHAVEOPT"
_GREETING = b"NBDMAGIC" + _OPTION.to_bytes(8, "big")
_OPTION_REPLY = 0x0003E889045565A9
_REQUEST = 0x25609513
_SIMPLE = 0x67446698
_STRUCTURED = 0x668E33EF

EXPORT_NAME, ABORT, LIST, STARTTLS, INFO, GO = 1, 2, 3, 5, 6, 7
STRUCTURED, LIST_META, SET_META = 8, 9, 10
ACK, SERVER, ABOUT, META_CONTEXT = 1, 2, 3, 4
READ, WRITE, DISCONNECT, FLUSH, TRIM, CACHE, WRITE_ZEROES, BLOCK_STATUS = range(8)
FUA, NO_HOLE, DF, REQ_ONE, FAST_ZERO = 1, 2, 4, 8, 16

EPERM, EIO, EINVAL, ENOSPC, ENOTSUP = 1, 5, 22, 28, 95


class NbdError(Exception):
    """The server replied to a request with an error."""

    def __init__(self, number: int, reason: str = "") -> None:
        super().__init__(f"error {number}: {reason}")
        self.number = number
        self.reason = reason


class OptionError(Exception):
    """The server replied to an option with an error."""

    def __init__(self, kind: int, reason: str) -> None:
        super().__init__(f"option refused, {kind:#x}: {reason}")
        self.kind = kind
        self.reason = reason


class GoneError(Exception):
    """The server closed the connection."""


@dataclass
class Export:
    """Description of an export by the server."""

    size: int = 0
    flags: int = 0
    name: str = ""
    description: str = ""
    block: tuple[int, int, int] = (1, 4096, 32 << 20)


@dataclass
class Answer:
    """Reply to a request."""

    cookie: int
    data: bytes = b""
    extents: list[tuple[int, int]] = field(default_factory=list)
    error: NbdError | None = None

    def checked(self) -> Self:
        """Returns the reply. Raises the error of the reply, if any."""
        if self.error:
            raise self.error
        return self


def address(uri: str) -> tuple[str | tuple[str, int], str]:
    """Parses a URI. Returns the path of a unix socket or (host, port), and the name of the
    export."""
    parts = urlsplit(uri)
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme == "nbd+unix":
        return parse_qs(parts.query)["socket"][0], name
    assert parts.hostname, uri
    return (parts.hostname, parts.port or 10809), name


class Wire:
    """Sends and receives whole messages over a socket."""

    def __init__(self, place: str | tuple[str, int], patience: float = 20.0) -> None:
        if isinstance(place, str):
            self.socket = socket.socket(socket.AF_UNIX)
        else:
            self.socket = socket.socket(socket.AF_INET)
        self.socket.settimeout(patience)
        try:
            self.socket.connect(place)
        except BaseException:
            self.close()
            raise

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def take(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self.socket.recv(count - len(parts))
            if not part:
                raise GoneError(f"{len(parts)} of {count} bytes came")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        self.socket.close()


class Client:
    """A connection to one export of a server.

    `uri` is the address that the server prints. With `go=False`, the client remains in the
    negotiation phase, in which `option`, `exports`, and `info` can be called.
    """

    def __init__(
        self,
        uri: str,
        export: str | None = None,
        *,
        structured: bool = True,
        allocation: bool = True,
        go: bool = True,
        patience: float = 20.0,
    ) -> None:
        place, named = address(uri)
        self.export_name = named if export is None else export
        self.wire = Wire(place, patience)
        self.export = Export()
        self.structured = False
        self.allocation: int | None = None
        self._cookie = 0
        self._lengths: dict[int, int] = {}
        try:
            self._negotiate(structured=structured, allocation=allocation, go=go)
        except BaseException:
            self.close()
            raise

    def _negotiate(self, *, structured: bool, allocation: bool, go: bool) -> None:
        greeting = self.wire.take(18)
        assert greeting[:16] == _GREETING, greeting
        self.wire.send((3).to_bytes(4, "big"))  # fixed newstyle, no zeroes
        if structured:
            self.option(STRUCTURED)
            self.structured = True
        if structured and allocation:
            wanted = _contexts(self.export_name, ["base:allocation"])
            for kind, data in self.option(SET_META, wanted):
                if kind == META_CONTEXT:
                    self.allocation = int.from_bytes(data[:4], "big")
        if go:
            self.export = self._about(GO)

    def option(self, number: int, data: bytes = b"") -> list[tuple[int, bytes]]:
        """Sends an option. Returns the replies before the acknowledgment. Raises `OptionError` for
        an error reply."""
        self.wire.send(struct.pack(">QII", _OPTION, number, len(data)) + data)
        replies: list[tuple[int, bytes]] = []
        while True:
            magic, of, kind, length = struct.unpack(">QIII", self.wire.take(20))
            assert (magic, of) == (_OPTION_REPLY, number)
            told = self.wire.take(length)
            if kind == ACK:
                return replies
            if kind & 1 << 31:
                raise OptionError(kind, told.decode())
            replies.append((kind, told))

    def exports(self) -> list[str]:
        """Returns the names of the exports."""
        return [_name(data)[0] for kind, data in self.option(LIST) if kind == SERVER]

    def info(self) -> Export:
        """Returns the description of the export without selecting the export."""
        return self._about(INFO)

    def _about(self, number: int) -> Export:
        name = self.export_name.encode()
        data = struct.pack(">I", len(name)) + name + struct.pack(">HHHH", 3, 1, 2, 3)
        export = Export()
        for kind, told in self.option(number, data):
            if kind != ABOUT:
                continue
            fact, rest = int.from_bytes(told[:2], "big"), told[2:]
            if fact == 0:
                export.size, export.flags = struct.unpack(">QH", rest)
            elif fact == 1:
                export.name = rest.decode()
            elif fact == 2:
                export.description = rest.decode()
            elif fact == 3:
                export.block = struct.unpack(">III", rest)
        return export

    def send(
        self, command: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0
    ) -> int:
        """Sends a request without waiting for the reply. Returns the cookie of the request."""
        self._cookie += 1
        header = struct.pack(">IHHQQI", _REQUEST, flags, command, self._cookie, offset, length)
        self._lengths[self._cookie] = length if command == READ else 0
        self.wire.send(header + data)
        return self._cookie

    def answer(self) -> Answer:
        """Receives the next reply, which may belong to any outstanding request."""
        magic = int.from_bytes(self.wire.take(4), "big")
        if magic == _SIMPLE:
            error, cookie = struct.unpack(">IQ", self.wire.take(12))
            length = self._lengths.pop(cookie)
            if error:
                return Answer(cookie, error=NbdError(error))
            return Answer(cookie, self.wire.take(length))
        assert magic == _STRUCTURED, hex(magic)
        return self._chunks()

    def _chunks(self) -> Answer:
        """Receives the chunks of a reply, after its magic number."""
        answer: Answer | None = None
        data = bytearray()
        while True:
            flags, kind, cookie, length = struct.unpack(">HHQI", self.wire.take(16))
            body = self.wire.take(length)
            if answer is None:
                answer = Answer(cookie)
            assert answer.cookie == cookie, "this client's servers do not mix the chunks of replies"
            if kind == 1:
                data += body[8:]
            elif kind == 2:
                data += bytes(int.from_bytes(body[8:], "big"))
            elif kind == 5:
                answer.extents = [struct.unpack_from(">II", body, at) for at in range(4, length, 8)]
            elif kind & 1 << 15:
                number, words = struct.unpack_from(">IH", body)
                answer.error = NbdError(number, body[6 : 6 + words].decode())
            if flags & 1:
                self._lengths.pop(cookie)
                answer.data = bytes(data)
                return answer
            assert int.from_bytes(self.wire.take(4), "big") == _STRUCTURED

    def ask(
        self, command: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0
    ) -> Answer:
        """Sends a request and waits for the reply. Raises `NbdError` for an error reply."""
        cookie = self.send(command, offset, length, data, flags)
        answer = self.answer()
        assert answer.cookie == cookie
        return answer.checked()

    def read(self, offset: int, length: int, flags: int = 0) -> bytes:
        data = self.ask(READ, offset, length, flags=flags).data
        assert len(data) == length
        return data

    def write(self, offset: int, data: bytes, flags: int = 0) -> None:
        self.ask(WRITE, offset, len(data), data, flags)

    def flush(self) -> None:
        self.ask(FLUSH)

    def trim(self, offset: int, length: int, flags: int = 0) -> None:
        self.ask(TRIM, offset, length, flags=flags)

    def zero(self, offset: int, length: int, flags: int = 0) -> None:
        self.ask(WRITE_ZEROES, offset, length, flags=flags)

    def cache(self, offset: int, length: int) -> None:
        self.ask(CACHE, offset, length)

    def block_status(self, offset: int, length: int, flags: int = 0) -> list[tuple[int, int]]:
        """Returns ranges as (bytes, state). State 0 is data, and 3 is a hole that reads as
        zeros."""
        return self.ask(BLOCK_STATUS, offset, length, flags=flags).extents

    def disconnect(self) -> None:
        """Sends the disconnect request, and closes the connection."""
        self.send(DISCONNECT)
        self.close()

    def close(self) -> None:
        """Closes the connection without a disconnect request."""
        self.wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None and self.export.size:
            self.disconnect()
        else:
            self.close()


def _contexts(name: str, queries: list[str]) -> bytes:
    parts = [struct.pack(">I", len(name.encode())), name.encode(), struct.pack(">I", len(queries))]
    for query in queries:
        parts += [struct.pack(">I", len(query)), query.encode()]
    return b"".join(parts)


def _name(data: bytes) -> tuple[str, str]:
    length = int.from_bytes(data[:4], "big")
    return data[4 : 4 + length].decode(), data[4 + length :].decode()
