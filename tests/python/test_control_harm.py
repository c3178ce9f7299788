"""Tests media errors and power losses that are injected into a served device."""

from __future__ import annotations

import json
from pathlib import Path

import nbd_client
import pytest
from controlling import KIB, client_of, control_of, refused, served_drive, serving, told
from nacre.devices.control import Control
from nbd_client import Client
from refusing import fails_with
from serving import Server, scenario, until

server = pytest.fixture(scope="module")(served_drive)
client = pytest.fixture(client_of)
control = pytest.fixture(control_of)


def test_sectors_fail_until_they_are_healed(
    server: Server, client: Client, control: Control
) -> None:
    client.write(1024 * KIB, b"m" * 8192)
    said = told("media-error", server.image, 1024 * KIB + 4096 + 100, 10)
    first = 1024 * KIB + 4096
    assert said.startswith(f"bytes {first:,} to {first + 511:,}, 1 sector of 512 bytes: reads fail")
    with pytest.raises(nbd_client.NbdError) as failed:
        client.read(1024 * KIB, 8192)
    assert failed.value.number == nbd_client.EIO
    assert client.read(1024 * KIB, 4096) == b"m" * 4096
    client.write(1024 * KIB + 4096, b"n" * 512)
    assert client.read(1024 * KIB + 4096, 1024) == b"n" * 512 + b"m" * 512
    ended = json.loads(told("media-error", server.image, "1 MiB", "1.024e3", "--json"))
    assert ended == {"offset": 1024 * KIB, "length": 1024, "harm": "reads"}
    assert json.loads(told("media-error", server.image, 100, 10, "--heal", "--json")) == {
        "offset": 0,
        "length": 512,
        "harm": "heal",
    }
    assert "not a number of bytes" in refused("media-error", server.image, "1.5", 10)
    assert "the range is empty" in refused("media-error", server.image, 0, 0)
    client.write(1024 * KIB, b"m" * 1024)
    control.media_error(0, 512, "writes")
    with pytest.raises(nbd_client.NbdError):
        client.write(0, b"x" * 512)
    assert "works again" in told("media-error", server.image, 0, 512, "--heal")
    client.write(0, b"x" * 512)
    with fails_with("invalid-value"):
        control.media_error(client.export.size, 512)


def test_flushed_data_survives_a_power_loss(server: Server, control: Control) -> None:
    client = Client(server.uri)
    client.write(2048 * KIB, b"p" * 4096)
    client.flush()
    outage = control.power_fail()
    assert outage.acknowledged_lost == 0, "the drive's buffer is protected"
    with pytest.raises((nbd_client.GoneError, ConnectionError)):
        client.read(0, 512)
    client.close()
    with Client(server.uri) as again:
        assert again.read(2048 * KIB, 4096) == b"p" * 4096
    assert "power failed" in told("power-fail", server.image)
    assert control.stats().connections.dropped == 0


def test_a_power_loss_interrupts_a_write_in_progress(tmp_path: Path) -> None:
    # A write takes 30 s of device time, but no test waits for its end.
    device = scenario(tmp_path, "slow", latency="30 s")
    with serving(tmp_path, device=device) as server, Control(server.image) as control:
        client = Client(server.uri)
        client.send(nbd_client.WRITE, 0, 4096, b"n" * 4096)
        until(lambda: control.stats().export().components[0].counters["writes"] == 1)
        outage = control.power_fail()
        assert (outage.under_way, outage.acknowledged_lost, outage.bytes_lost) == (1, 0, 0)
        assert outage.ready_after_s < 1
        with pytest.raises((nbd_client.GoneError, ConnectionError)):
            client.answer()
        client.close()


def test_without_a_model_a_power_loss_is_rejected(tmp_path: Path) -> None:
    with serving(tmp_path, "--timing", "none") as server, Client(server.uri) as client:
        client.write(0, b"k" * 512)
        with (
            Control(server.image) as control,
            fails_with("not-supported"),
        ):
            control.power_fail()
        assert client.read(0, 512) == b"k" * 512, "a client was disconnected"
