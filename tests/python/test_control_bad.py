"""Tests sockets that are not control sockets, and invalid commands."""

from __future__ import annotations

import json
import socket
import stat
import threading
from contextlib import suppress
from pathlib import Path

import nacre
import pytest
from controlling import refused, served_drive
from nacre.cli.app import app
from nacre.devices.control import Control, socket_of
from serving import Server
from typer.testing import CliRunner

server = pytest.fixture(scope="module")(served_drive)
EMPTY = b'{"command": "media-error", "offset": 0, "length": 0, "harm": "heal"}'


def test_invalid_commands_get_an_error_and_have_no_effect(server: Server) -> None:
    path = socket_of(server.image)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with socket.socket(socket.AF_UNIX) as wire:
        wire.settimeout(20)
        wire.connect(str(path))
        answers = wire.makefile("rb")
        for line, code in {
            b"hello": "invalid-syntax",
            b"{}": "missing-setting",
            b'{"command": 3}': "missing-setting",
            b'{"command": "fly"}': "invalid-value",
            b"\xff\xfe": "invalid-syntax",
            b"": "invalid-syntax",
            b'{"command": "stats", "export": "b"}': "invalid-value",
            b'{"command": "record-end", "export": "b"}': "unknown-name",
            b'{"command": "record-end"}': "no-data",
            EMPTY: "invalid-value",
        }.items():
            wire.sendall(line + b"\n")
            assert json.loads(answers.readline())["code"] == code, line
        wire.sendall(b"[" * 100_000)
        refused = json.loads(answers.readline())
        assert (refused["code"], "65536 bytes at most" in refused["error"]) == ("over-limit", True)
        # The server does not read the rest of the line, so the client may receive a reset.
        with suppress(ConnectionResetError):
            assert answers.readline() == b""
    with Control(path) as control:
        assert control.stats().up_s > 0


def test_the_error_for_another_socket_names_it(server: Server, tmp_path: Path) -> None:
    assert "no server for" in refused("stats", tmp_path / "no.img", status=1)
    assert "not a control socket" in refused("stats", f"{server.image}.sock", status=1)
    dead = tmp_path / "dead.img.ctl"
    with socket.socket(socket.AF_UNIX) as wire:
        wire.bind(str(dead))
    assert "no server listens on this socket" in refused("stats", tmp_path / "dead.img", status=1)
    assert "either a trace to write or --stop" in refused("record", server.image)
    assert "use a name that ends in .svg" in refused(
        "wear", server.image, "--out", tmp_path / "wear.bmp"
    )


def test_a_truncated_reply_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "cut.img.ctl"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer(said: bytes) -> None:
            wire, _ = listener.accept()
            with wire:
                wire.recv(1000)
                wire.sendall(said)

        for said, words in ((b'{"ok": {"up', "cut short"), (b"", "ended before it answered")):
            thread = threading.Thread(target=answer, args=(said,))
            thread.start()
            with Control(path) as control, pytest.raises(nacre.errors.Error, match=words):
                control.stats()
            thread.join()


def test_unavailable_addresses_are_user_errors(tmp_path: Path) -> None:
    def error_of(*options: str) -> str:
        command = ["serve", "disk-15k", str(tmp_path / "d.img"), *options]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 2, done.output
        return done.stderr

    assert "metrics are local only" in error_of("--metrics", "tcp:0.0.0.0:0")
    assert "too long for a socket" in error_of("--control", "x" * 120)
    assert "no such" in error_of("--record", f"{tmp_path}/no/io.nacre").lower()
