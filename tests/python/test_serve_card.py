"""Serves the NVRAM cards to a real program, and replays the recorded trace."""

from __future__ import annotations

from pathlib import Path

import nacre
import pytest
from nacre.devices.control import Control
from serving import Server, needs, run

REQUESTS = 24
"""Number of reads, which is also the number of writes."""


def card(folder: Path, preset: str) -> Path:
    path = folder / f"{preset}.toml"
    path.write_text(f'schema = 1\nname = "{preset}"\n[stack]\npreset = "{preset}"\n')
    return path


@pytest.mark.parametrize("preset", ["nvram_ddr3_flash", "nvram_mram"])
def test_the_requests_of_qemu_to_a_card_are_recorded_and_replayed(
    tmp_path: Path, preset: str
) -> None:
    """For every request, the modeled latency in the server equals the latency in the replay of the
    recorded trace."""
    qemu_io = needs("qemu-io", "qemu-utils")
    trace = tmp_path / "qemu.nacre"
    # The device is slowed down 200 times, so that QEMU is faster than the device.
    options = ("--dilate", "200", "--record", str(trace))
    server = Server(tmp_path, *options, device=card(tmp_path, preset))
    try:
        asked = [f"aio_write -P 7 {page * 81920} 4k" for page in range(REQUESTS)]
        asked += ["aio_flush"] + [f"aio_read -P 7 {page * 81920} 4k" for page in range(REQUESTS)]
        said = run(
            [qemu_io, "-f", "raw", *(word for each in asked for word in ("-c", each)), server.uri]
        )
        assert "Pattern verification failed" not in said
        with Control(server.image) as control:
            served = control.stats().export()
        server.stop()
    finally:
        server.close()
    replayed = nacre.run(
        {
            "name": "replay",
            "workload": {"kind": "trace", "file": str(trace)},
            "stack": {"preset": preset},
        }
    )
    for op in ("read", "write"):
        model, again = served.modeled[op], replayed.latency[op]
        assert model["count"] == again["count"] == REQUESTS
        # The clocks of server and replay start at different times, so refreshes delay different
        # requests. Arrivals are rounded.
        assert model["mean_ns"] == pytest.approx(again["mean_ns"], rel=0.05)
    # By default, QEMU flushes after every write.
    assert replayed.requests.flushes == REQUESTS + 1
