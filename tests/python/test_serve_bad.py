"""Tests that misbehaving clients receive an error of the protocol or are disconnected, and that
other clients are not affected."""

from __future__ import annotations

import random
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbd_client import EINVAL, ENOSPC, READ, TRIM, WRITE, Client, GoneError, NbdError, address
from serving import MIB, Server, until

DATA = random.Random(3).randbytes(MIB)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """Runs a server whose device has known bytes in its first MiB."""
    served = Server(folder, "--timing", "none")
    with Client(served.uri) as client:
        client.write(0, DATA)
    yield served
    served.close()


@pytest.fixture(autouse=True)
def unharmed(server: Server) -> Iterator[None]:
    """Checks that clients read unchanged data from the device before and after the block."""
    with Client(server.uri) as witness:
        yield
        assert witness.read(0, MIB) == DATA
    with Client(server.uri) as client:
        assert client.read(0, MIB) == DATA


def raw(server: Server) -> socket.socket:
    """Opens a connection without the NBD handshake."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    place, _ = address(server.uri)
    connection.connect(place)
    return connection


def is_dropped(connection: socket.socket) -> bool:
    """Waits until the server closes the connection, possibly after replies. Returns true."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    connection.close()
    return True


@pytest.mark.parametrize("seed", range(20))
def test_garbage_ends_the_connection(server: Server, seed: int) -> None:
    choose = random.Random(seed)
    connection = raw(server)
    greeting = struct.pack(">I", 3) if seed % 2 else b""
    try:
        connection.sendall(greeting + b"\xff" + choose.randbytes(choose.randrange(40, 5000)))
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # The connection was closed before everything was sent.
    assert is_dropped(connection)


@pytest.mark.parametrize("seed", range(10))
def test_garbage_after_negotiation_ends_the_connection(server: Server, seed: int) -> None:
    client = Client(server.uri)
    client.wire.send(b"\xee" + random.Random(seed).randbytes(2000))
    with pytest.raises((GoneError, ConnectionError)):
        client.wire.take(1)
    client.close()


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize(
    ("command", "offset", "length", "error"),
    [
        (READ, 64 * MIB - 4095, 4096, EINVAL),
        (READ, 2**64 - 4096, 4096, EINVAL),
        (READ, 2**63, 1, EINVAL),
        (READ, 0, 0, EINVAL),
        (WRITE, 64 * MIB, 512, ENOSPC),
        (TRIM, 64 * MIB, 2**32 - 1, ENOSPC),
        (99, 0, 0, EINVAL),
    ],
)
def test_a_request_out_of_range_is_rejected_and_the_client_stays_connected(
    server: Server, command: int, offset: int, length: int, error: int, structured: bool
) -> None:
    data = bytes(length) if command == WRITE else b""
    with Client(server.uri, structured=structured) as client:
        with pytest.raises(NbdError) as refused:
            client.ask(command, offset, length, data)
        assert refused.value.number == error
        assert client.read(4096, 4096) == DATA[4096:8192]


def test_a_read_that_is_too_long_is_rejected(server: Server) -> None:
    with Client(server.uri) as client:
        with pytest.raises(NbdError):
            client.ask(READ, 0, client.export.block[2] + 4096)
        assert client.read(0, 16) == DATA[:16]


def test_a_write_that_is_too_long_ends_the_connection(server: Server) -> None:
    client = Client(server.uri)
    client.send(WRITE, 0, client.export.block[2] + 1)
    with pytest.raises((GoneError, ConnectionError)):
        client.answer()
    client.close()


@pytest.mark.parametrize("sent", [0, 1, 4000, MIB - 1])
def test_a_truncated_write_changes_nothing(server: Server, sent: int) -> None:
    client = Client(server.uri)
    client.send(WRITE, 0, MIB, b"\x55" * sent)
    client.close()


@pytest.mark.parametrize("sent", [1, 17, 27])
def test_a_truncated_request_ends_only_its_connection(server: Server, sent: int) -> None:
    client = Client(server.uri)
    client.wire.send(struct.pack(">IHHQQI", 0x25609513, 0, READ, 1, 0, 4096)[:sent])
    client.close()


def test_silent_clients_and_clients_that_read_nothing_block_no_other_client(server: Server) -> None:
    silent = [raw(server) for _ in range(10)]
    deaf = [Client(server.uri) for _ in range(5)]
    for client in deaf:
        client.wire.socket.setblocking(False)
        try:
            while True:
                client.send(READ, 0, MIB)
        except BlockingIOError:
            pass
    with Client(server.uri) as client:
        for at in range(100):
            assert client.read(at * 4096, 4096) == DATA[at * 4096 :][:4096]
    for connection in silent:
        connection.close()
    for client in deaf:
        client.close()


def test_a_client_that_sends_single_bytes_is_served(server: Server) -> None:
    with Client(server.uri) as client:
        for byte in struct.pack(">IHHQQI", 0x25609513, 0, READ, 77, 512, 512):
            client.wire.send(bytes([byte]))
        client._lengths[77] = 512
        assert client.answer().data == DATA[512:1024]


def test_three_hundred_connections_in_a_row_are_served(server: Server) -> None:
    clients = []
    for _ in range(300):
        try:
            clients.append(Client(server.uri))
        except (GoneError, ConnectionError):
            break
    # The server accepts 256 clients, including the client of `unharmed`.
    assert 200 <= len(clients) < 300
    assert clients[-1].read(0, 4096) == DATA[:4096]
    for client in clients:
        client.close()

    def is_open() -> bool:
        try:
            with Client(server.uri) as client:
                return client.read(0, 1) == DATA[:1]
        except (GoneError, ConnectionError):
            return False

    until(is_open)


def test_a_second_server_cannot_use_the_image(server: Server, tmp_path: Path) -> None:
    other = Server.__new__(Server)
    other.folder, other.device, other.image = tmp_path, server.device, server.image
    other.options = ("--timing", "none", "--listen", f"unix:{tmp_path}/other.sock")
    with pytest.raises(pytest.fail.Exception, match="end that process first"):
        other.start()
