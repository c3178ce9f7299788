"""Tests the address distance between objects in traces that contain object numbers instead of
addresses."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import nacre
import pytest
from nacre.errors import TraceError
from refusing import fails_with
from serving import NACRE


@pytest.fixture
def sectors(tmp_path: Path) -> Path:
    """Returns a trace with two passes over 64 adjacent objects of 512 B, i.e. over 32 KiB."""
    records = [(index, index % 64, 512, -1) for index in range(128)]
    file = tmp_path / "sectors.oracleGeneral"
    file.write_bytes(b"".join(struct.pack("<IQIq", *record) for record in records))
    return file


def test_object_numbers_have_the_given_spacing(sectors: Path) -> None:
    assert nacre.traces.info(sectors).footprint_bytes == 64 * 4096
    for page in (512, "512", "512 B", "0.5 KiB"):
        assert nacre.traces.info(sectors, page=page).footprint_bytes == 64 * 512
    assert nacre.traces.mrc(sectors, page=512).about.largest_bytes == 64 * 512
    said = nacre.traces.info(sectors).warnings
    assert any("--page" in line for line in said)
    assert any("all objects have 512 B" in line for line in said)
    assert not any("all objects" in line for line in nacre.traces.info(sectors, page=512).warnings)


def test_every_trace_command_accepts_the_spacing(sectors: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.nacre"
    for name, rest in (
        ("info", []), ("mrc", []), ("convert", ["-o", str(out)]), ("fit", []),
        ("sample", ["--fraction", "0.5", "-o", str(tmp_path / "part.nacre")]),
    ):  # fmt: skip
        done = subprocess.run(
            [NACRE, "trace", name, str(sectors), "--page", "512", *rest],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert nacre.traces.info(out).footprint_bytes == 64 * 512


def test_an_invalid_spacing_is_rejected(sectors: Path) -> None:
    with pytest.raises(TraceError, match="it is a size, as 512"):
        nacre.traces.info(sectors, page="half")
    with fails_with("invalid-value", TraceError):
        nacre.traces.info(sectors, page=500)
    with pytest.raises(TraceError, match="gives its addresses in bytes or sectors"):
        nacre.traces.info("pgbench", page=512)
