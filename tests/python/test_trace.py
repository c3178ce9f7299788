"""Tests traces in Python and on the command line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nacre
import polars as pl
import pytest
from nacre import traces
from nacre.cli.app import app
from polars.testing import assert_frame_equal
from refusing import fails_with
from typer.testing import CliRunner

MSR = """\
128166372003061629,hm,0,Read,383496192,32768,413
128166372003061700,hm,0,Write,4096,4096,50
128166372003062000,hm,1,Read,383496192,4096,60
"""
DAMAGED = MSR + "not,a,record\n"
TYPES = {
    "arrival_ps": pl.UInt64,
    "address": pl.UInt64,
    "bytes": pl.UInt32,
    "volume": pl.UInt32,
    "op": pl.Enum(["read", "write", "trim", "flush"]),
}


@pytest.fixture
def msr(tmp_path: Path) -> Path:
    file = tmp_path / "small.csv"
    file.write_text(MSR)
    return file


def nacre_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nacre", "trace", *map(str, arguments)]
    return subprocess.run(command, text=True, capture_output=True, timeout=60, check=False)


def test_a_trace_is_described(msr: Path) -> None:
    info = traces.info(msr)
    assert info.format == "msr"
    assert (info.records, info.reads, info.writes, info.bad_records) == (3, 2, 1, 0)
    assert info.bytes_read == 36864
    assert info.footprint_4k_blocks == 8 + 1 + 1
    assert info.volumes == 2
    assert json.loads(nacre_command("info", msr, "--json").stdout) == info.to_dict()
    shown = nacre_command("info", msr).stdout
    assert "2 (66.7 %)" in shown


def test_a_frame_has_one_row_per_request(msr: Path) -> None:
    frame = traces.read(msr)
    assert dict(frame.schema) == TYPES
    assert frame["op"].to_list() == ["read", "write", "read"]
    assert frame["address"].to_list() == [383496192, 4096, 383496192]
    assert frame["arrival_ps"].to_list() == [0, 7_100_000, 37_100_000]
    assert traces.read(msr, limit=2).height == 2


@pytest.mark.parametrize("name", ["t.nacre", "t.parquet"])
def test_a_converted_trace_is_the_same_trace(msr: Path, tmp_path: Path, name: str) -> None:
    written = traces.convert(msr, tmp_path / name)
    assert written.records == 3
    assert written.bytes == (tmp_path / name).stat().st_size
    assert_frame_equal(traces.read(tmp_path / name), traces.read(msr))
    back = tmp_path / "back.nacre"
    done = nacre_command("convert", tmp_path / name, "-o", back)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{back}: 3 requests")
    assert_frame_equal(traces.read(back), traces.read(msr))
    assert traces.info(tmp_path / name).footprint_4k_blocks == 10


def test_a_sample_of_blocks_keeps_all_requests_of_a_block(tmp_path: Path) -> None:
    rows = [f"{128166372003061629 + 10 * i},hm,0,Read,{4096 * (i % 50)},4096,1" for i in range(500)]
    whole = tmp_path / "whole.csv"
    whole.write_text("\n".join(rows) + "\n")
    for name in ("s.nacre", "s.parquet"):
        traces.sample(whole, tmp_path / name, fraction=0.3, seed=3)
        counts = traces.read(tmp_path / name).group_by("address").len()
        assert set(counts["len"]) == {10}
        assert 3 <= counts.height <= 30
    assert_frame_equal(traces.read(tmp_path / "s.nacre"), traces.read(tmp_path / "s.parquet"))
    first = tmp_path / "first.nacre"
    done = nacre_command("sample", whole, "-o", first, "--by", "first", "--limit", "7")
    assert done.returncode == 0, done.stderr
    assert traces.read(first).height == 7


def test_the_formats_are_listed_with_their_columns() -> None:
    listed = CliRunner().invoke(app, ["trace", "formats"]).stdout
    assert re.search(r"^nacre_csv +us +yes +.*timestamp_us,op,offset,length", listed, re.MULTILINE)
    found = json.loads(CliRunner().invoke(app, ["trace", "formats", "--json"]).stdout)
    assert [each["kind"] for each in found] == [each.kind for each in traces.formats()]


def test_damage_is_counted_or_rejected_with_strict(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.csv"
    damaged.write_text(DAMAGED)
    info = traces.info(damaged)
    assert (info.records, info.bad_records) == (3, 1)
    assert "4" in info.first_bad[0].place
    with pytest.raises(nacre.errors.TraceError) as refusal:
        traces.info(damaged, strict=True)
    done = nacre_command("info", damaged, "--strict")
    assert done.returncode == 2
    assert done.stderr == f"error: {refusal.value}\n"


def test_the_error_for_a_read_only_format_lists_the_writable_ones(msr: Path) -> None:
    with pytest.raises(nacre.errors.TraceError, match=r'did you mean "nacre"\?'):
        traces.convert(msr, "x", to="nacer")
    with fails_with("missing-setting", nacre.errors.TraceError):
        traces.convert(msr, "x.unknown")


def test_a_failed_conversion_keeps_the_old_file(msr: Path, tmp_path: Path) -> None:
    target = tmp_path / "kept.nacre"
    target.write_text("old")
    before = sorted(tmp_path.iterdir())
    damaged = tmp_path / "damaged.csv"
    damaged.write_text(DAMAGED)
    with pytest.raises(nacre.errors.TraceError):
        traces.convert(damaged, target, strict=True)
    damaged.unlink()
    assert target.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before
    with fails_with("not-a-file", nacre.errors.TraceError):
        traces.convert(msr, tmp_path, to="nacre")


def test_other_parquet_files_are_rejected(tmp_path: Path) -> None:
    file = tmp_path / "other.parquet"
    pl.DataFrame({"address": [1]}).write_parquet(file)
    with fails_with("invalid-content", nacre.errors.TraceError):
        traces.read(file)
    file.write_bytes(b"PAR1")
    with pytest.raises(nacre.errors.TraceError, match=r"other\.parquet"):
        traces.info(file)
    with pytest.raises(FileNotFoundError):
        traces.read(tmp_path / "nowhere.parquet")


def test_an_interrupted_conversion_leaves_no_file(tmp_path: Path) -> None:
    endless = tmp_path / "endless.csv"
    os.mkfifo(endless)

    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    line = MSR.splitlines()[0]
    writer = subprocess.Popen(["sh", "-c", f"exec yes {line} > {endless}"])
    with writer, pytest.raises(KeyboardInterrupt):
        traces.convert(endless, tmp_path / "t.nacre", format="msr", progress=interrupt)
    assert sorted(tmp_path.iterdir()) == [endless]


def test_a_misspelled_option_and_numbers_out_of_range_are_rejected(
    msr: Path, tmp_path: Path
) -> None:
    with pytest.raises(TypeError, match=r"no option 'fromat'; did you mean 'format'\?"):
        traces.read(msr, fromat="msr")  # type: ignore[call-arg]
    parquet = tmp_path / "t.parquet"
    traces.convert(msr, parquet)
    for file in (msr, parquet):
        for limit in (0, -1, 2**63):
            with pytest.raises(ValueError, match=f"limit is {limit}; .* from 1 to"):
                traces.read(file, limit=limit)
    for seed in (-1, 2**63, 2**70):
        with pytest.raises(ValueError, match=f"seed is {seed}; .* from 0 to"):
            traces.sample(msr, tmp_path / "s.nacre", fraction=0.5, seed=seed)
    with pytest.raises(TypeError, match="integer"):
        traces.read(msr, limit="3")  # type: ignore[arg-type]


@pytest.mark.parametrize(("seed", "bound"), [(-1, 0), (2**70, 2**63 - 1)])
def test_a_seed_out_of_range_is_a_user_error(
    msr: Path, tmp_path: Path, seed: int, bound: int
) -> None:
    done = nacre_command("sample", msr, "-o", tmp_path / "s", "--fraction", 1, "--seed", seed)
    assert done.returncode == 2
    assert re.search(rf"--seed.*\b{bound}\b", done.stderr)


def test_the_error_for_a_misspelled_built_in_trace_suggests_the_right_one() -> None:
    done = nacre_command("info", "pgbnch")
    assert done.returncode == 2
    assert done.stderr == (
        'error: pgbnch: no such file; did you mean the shipped trace "pgbench"?\n'
    )


def test_a_directory_is_rejected_as_a_trace(tmp_path: Path) -> None:
    done = nacre_command("info", tmp_path)
    assert done.returncode != 0
    assert done.stderr.startswith(f"error: {tmp_path}")
    assert "standard output" not in done.stderr
    missing = nacre_command("info", tmp_path / "no.parquet")
    assert missing.returncode == 2
    assert missing.stderr == f"error: {tmp_path / 'no.parquet'}: No such file or directory\n"


def test_a_note_reports_that_a_block_sample_cuts_requests(msr: Path, tmp_path: Path) -> None:
    for name in ("s.nacre", "s.parquet"):
        cut = traces.sample(msr, tmp_path / name, fraction=1)
        assert any("requests are cut" in note for note in cut.notes)
    whole = traces.sample(msr, tmp_path / "r.nacre", fraction=1, by="request")
    assert not any("requests are cut" in note for note in whole.notes)


@pytest.mark.parametrize(("name", "remedy"), [("-", "./-"), ("", "empty")])
def test_an_output_trace_needs_a_file_name(msr: Path, name: str, remedy: str) -> None:
    done = nacre_command("convert", msr, "-o", name, "--to", "nacre")
    assert done.returncode == 2
    assert remedy in done.stderr
    with fails_with("missing-setting", nacre.errors.TraceError):
        traces.convert(msr, "", to="nacre")


def test_a_file_name_that_is_not_utf_8_is_rejected_clearly(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.csv")
    Path(name).write_text(MSR)
    with pytest.raises(nacre.errors.TraceError, match="not UTF-8; rename it"):
        traces.info(name)
    done = nacre_command("info", name)
    assert done.returncode == 2
    assert r"bad\udcff.csv: its name is not UTF-8; rename it" in done.stderr
